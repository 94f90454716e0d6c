//! A record of the journal, and its line in a segment. It does no I/O.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::Timestamp;
use thru_redact::Clean;

use crate::checked;
use crate::error::{Error, Result};

/// The version of the format that this build writes.
const VERSION: u64 = 1;

/// The longest record in bytes. Hooks keep far less; this bounds the memory that a damaged segment
/// costs.
pub const MAX_RECORD_BYTES: usize = 16 * 1024 * 1024;

/// The maximum nesting of a body. JSON nested deeper than 128 levels could be written, but not read
/// again.
const MAX_DEPTH: usize = 100;

/// A fact to be recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Of entries with the same key only the first counts, so that appending again does no harm. It
    /// consists of ids and hashes only: it is not redacted.
    pub key: String,
    /// The time of the fact.
    pub at: Timestamp,
    /// The type of the body, for example `project-renamed`.
    pub kind: String,
    /// The fact itself.
    pub body: Clean<Value>,
}

/// The order in which the fields are written.
#[derive(Serialize)]
struct Written<'a> {
    v: u64,
    key: &'a str,
    host: &'a str,
    at: Timestamp,
    kind: &'a str,
    body: &'a Value,
}

/// A record as read.
#[derive(Deserialize)]
pub(super) struct Read {
    v: u64,
    pub(super) key: String,
    pub(super) host: String,
    pub(super) at: Timestamp,
    pub(super) kind: String,
    pub(super) body: Value,
}

/// The parsed content of a line.
pub(super) enum Content {
    /// A record.
    Record(Read),
    /// The first line of a segment that was rewritten, and how many times. It makes the segment begin
    /// differently than before.
    Rewritten(u64),
}

/// The line for [`Content::Rewritten`], which also parses enough of a newer version's line to tell its
/// version.
#[derive(Serialize, Deserialize)]
struct Other {
    v: u64,
    #[serde(default)]
    rewritten: Option<u64>,
}

/// The reason why a line is no record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is damaged.
    Damaged,
    /// It is intact, but written by a newer version. The version is missing if only the form of the
    /// record reveals that.
    Newer(Option<u64>),
}

/// Returns the line of an entry, with its newline.
pub(super) fn encode(host: &str, entry: &Entry) -> Result<Vec<u8>> {
    if entry.key.is_empty() {
        return Err(Error::Unrecordable("a journal entry has no key".to_owned()));
    }
    encode_again(host, entry)
}

/// Returns the line of an entry that was read from the journal, whose key is therefore not checked.
pub(super) fn encode_again(host: &str, entry: &Entry) -> Result<Vec<u8>> {
    let body = entry.body.get();
    if !is_shallow(body, MAX_DEPTH) {
        return Err(Error::Unrecordable(format!("JSON nested deeper than {MAX_DEPTH} levels")));
    }
    line(&Written { v: VERSION, key: &entry.key, host, at: entry.at, kind: &entry.kind, body })
}

/// Returns the first line of a segment that was rewritten this many times.
pub(super) fn encode_rewritten(times: u64) -> Result<Vec<u8>> {
    line(&Other { v: VERSION, rewritten: Some(times) })
}

fn line(written: &impl Serialize) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(written)
        .map_err(|error| Error::Unrecordable(format!("journal entry: {error}")))?;
    if json.len() > MAX_RECORD_BYTES {
        let length = json.len();
        let rule = format!("is too long; the limit is {MAX_RECORD_BYTES}");
        return Err(Error::Unrecordable(format!("a journal entry of {length} bytes {rule}")));
    }
    let mut line = Vec::new();
    checked::seal(&json, &mut line);
    Ok(line)
}

/// Returns the kind of a record from the beginning of its line, without parsing the rest; `None` if it
/// is not obvious.
pub(super) fn kind_of(line: &[u8]) -> Option<&str> {
    /// The header before the body: a version, a key, a host and a time, none of them long.
    const HEAD: usize = 256;
    const KIND: &[u8] = b",\"kind\":\"";
    let head = &line[..line.len().min(HEAD)];
    let body = memchr::memmem::find(head, b",\"body\":").unwrap_or(head.len());
    let start = memchr::memmem::find(&head[..body], KIND)? + KIND.len();
    let length = memchr::memchr(b'"', &head[start..])?;
    std::str::from_utf8(&head[start..start + length]).ok()
}

/// Parses a line, given without its newline.
pub(super) fn decode(line: &[u8]) -> Result<Content, Unreadable> {
    let json = checked::open(line).ok_or(Unreadable::Damaged)?;
    match serde_json::from_slice::<Read>(json) {
        Ok(record) if record.v <= VERSION => Ok(Content::Record(record)),
        Ok(record) => Err(Unreadable::Newer(Some(record.v))),
        Err(_) => match serde_json::from_slice::<Other>(json) {
            Ok(Other { v, rewritten: Some(times) }) if v <= VERSION => {
                Ok(Content::Rewritten(times))
            }
            // The line is intact, so its writer knew a form that this version does not.
            other => Err(Unreadable::Newer(other.ok().map(|other| other.v))),
        },
    }
}

/// True if a line that is no record is the beginning of one: a checksum, and JSON that ends early.
pub(super) fn is_cut_short(line: &[u8]) -> bool {
    const DIGITS: usize = 16;
    let (sum, rest) = line.split_at(line.len().min(DIGITS));
    let is_sum = !sum.is_empty() && sum.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    let ends_early = match rest.strip_prefix(b" ") {
        Some(json) => serde_json::from_slice::<IgnoredAny>(json).is_err_and(|error| error.is_eof()),
        None => rest.is_empty(),
    };
    is_sum && ends_early
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return false;
    };
    match value {
        Value::Array(items) => items.iter().all(|item| is_shallow(item, below)),
        Value::Object(fields) => fields.values().all(|field| is_shallow(field, below)),
        _ => true,
    }
}

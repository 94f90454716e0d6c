//! One record of the journal, and the line that it is written as. No files here.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::Timestamp;
use thru_redact::Clean;

use crate::checked;
use crate::error::{Error, Result};

/// The version of the format that this build writes.
const VERSION: u64 = 1;

/// The longest record. Hooks keep far less; this bounds the memory that a damaged segment costs.
pub const MAX_RECORD_BYTES: usize = 16 * 1024 * 1024;

/// The deepest body. JSON nested deeper than 128 levels could be written, but not read again.
const MAX_DEPTH: usize = 100;

/// A fact to be recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Of entries with the same key only the first counts, so that appending again does no harm. Ids
    /// and hashes only: it is not redacted.
    pub key: String,
    /// When it happened.
    pub at: Timestamp,
    /// What the body is about, for example `project-renamed`.
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

/// A record as it is read.
#[derive(Deserialize)]
pub(super) struct Read {
    v: u64,
    pub(super) key: String,
    pub(super) host: String,
    pub(super) at: Timestamp,
    pub(super) kind: String,
    pub(super) body: Value,
}

/// What a line can be.
pub(super) enum Content {
    /// A record.
    Record(Read),
    /// The first line of a segment that was rewritten, so many times. It makes the segment begin
    /// otherwise than before.
    Rewritten(u64),
}

/// What [`Content::Rewritten`] is written as, and as much of the form of a newer version as tells
/// which one.
#[derive(Serialize, Deserialize)]
struct Other {
    v: u64,
    #[serde(default)]
    rewritten: Option<u64>,
}

/// Why a line is no record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is not what was written.
    Damaged,
    /// It is whole, but made by a newer version. The version is missing if only the form of the
    /// record tells.
    Newer(Option<u64>),
}

/// The line of an entry, with its newline.
pub(super) fn encode(host: &str, entry: &Entry) -> Result<Vec<u8>> {
    if entry.key.is_empty() {
        return Err(Error::Unrecordable("a journal entry has no key".to_owned()));
    }
    encode_again(host, entry)
}

/// The line of an entry that was read, and so has the key that it has.
pub(super) fn encode_again(host: &str, entry: &Entry) -> Result<Vec<u8>> {
    let body = entry.body.get();
    if !is_shallow(body, MAX_DEPTH) {
        return Err(Error::Unrecordable(format!("JSON nested deeper than {MAX_DEPTH} levels")));
    }
    line(&Written { v: VERSION, key: &entry.key, host, at: entry.at, kind: &entry.kind, body })
}

/// The first line of a segment that was rewritten so many times.
pub(super) fn encode_rewritten(times: u64) -> Result<Vec<u8>> {
    line(&Other { v: VERSION, rewritten: Some(times) })
}

fn line(written: &impl Serialize) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(written)
        .map_err(|error| Error::Unrecordable(format!("journal entry: {error}")))?;
    if json.len() > MAX_RECORD_BYTES {
        let length = json.len();
        let rule = format!("is too long; at most {MAX_RECORD_BYTES} can be kept");
        return Err(Error::Unrecordable(format!("a journal entry of {length} bytes {rule}")));
    }
    let mut line = Vec::new();
    checked::seal(&json, &mut line);
    Ok(line)
}

/// The kind that the line of a record begins to tell, without a look at the rest: nothing where that is
/// not to be seen at once.
pub(super) fn kind_of(line: &[u8]) -> Option<&str> {
    /// Before the body come a version, a key, a host and a time: nothing long.
    const HEAD: usize = 256;
    const KIND: &[u8] = b",\"kind\":\"";
    let head = &line[..line.len().min(HEAD)];
    let body = memchr::memmem::find(head, b",\"body\":").unwrap_or(head.len());
    let start = memchr::memmem::find(&head[..body], KIND)? + KIND.len();
    let length = memchr::memchr(b'"', &head[start..])?;
    std::str::from_utf8(&head[start..start + length]).ok()
}

/// What a line says, given without its newline.
pub(super) fn decode(line: &[u8]) -> Result<Content, Unreadable> {
    let json = checked::open(line).ok_or(Unreadable::Damaged)?;
    match serde_json::from_slice::<Read>(json) {
        Ok(record) if record.v <= VERSION => Ok(Content::Record(record)),
        Ok(record) => Err(Unreadable::Newer(Some(record.v))),
        Err(_) => match serde_json::from_slice::<Other>(json) {
            Ok(Other { v, rewritten: Some(times) }) if v <= VERSION => {
                Ok(Content::Rewritten(times))
            }
            // Whole it is, so whoever wrote it knew a form that we do not.
            other => Err(Unreadable::Newer(other.ok().map(|other| other.v))),
        },
    }
}

/// Whether a line that is no record is the beginning of one: a checksum, and JSON that ends early.
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

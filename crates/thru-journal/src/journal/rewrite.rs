//! Rewriting: taking out of the journal what must not be in it any more.
//!
//! The one exception to "nothing here changes what was written", for redaction and for forgetting.
//! A segment keeps its name; a first line that says how often it was rewritten makes cursors notice.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use thru_redact::Clean;

use super::append::lock;
use super::cursor::Position;
use super::record::{self, Content, Entry, Unreadable};
use super::replay::{JournalProblem, ProblemKind, Stored};
use super::segment::{Listed, Name};
use super::{Journal, disk, scan, seal, segment};
use crate::error::{At, Error, Result};
use crate::files;

/// How many times longer than an append rewriting waits for the writer of a segment. Nobody waits for
/// it, so it can wait for a machine under load; who holds the lock for five seconds hangs.
const MORE_PATIENCE: u32 = 100;

/// What is to become of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It stays as it is.
    Keep,
    /// It gets another body. Key, kind, time and host stay.
    Replace(Clean<Value>),
    /// It goes.
    Remove,
}

/// What is to become of lines that cannot be read, in segments that are rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damaged {
    /// They stay as they are, and are reported.
    #[default]
    Keep,
    /// They go: nobody can say what they hold. A segment with such lines always has something to
    /// change.
    Remove,
}

/// What [`Journal::rewrite`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// How many segments were written anew.
    pub segments: u64,
    /// How many records got another body, by their kind.
    pub replaced: BTreeMap<String, u64>,
    /// How many records were removed, by their kind.
    pub removed: BTreeMap<String, u64>,
    /// Lines that were not understood: what should have been changed may be in them.
    pub problems: Vec<JournalProblem>,
}

/// A segment, as it is to be.
struct Draft {
    lines: Vec<u8>,
    /// How often the segment was rewritten before.
    times: u64,
    changed: bool,
}

impl Journal {
    /// Shows every record to `change`, those of repeated keys as well, and writes anew every segment
    /// of which it changes anything. Afterwards no file of the journal holds what was taken out.
    /// Seals first.
    ///
    /// Any number of processes may append and read meanwhile, but only one may seal or rewrite.
    /// Readers whose cursor stands in a rewritten segment read it from its start again. Stopped half
    /// way, every segment is as it was or as it is to be; run again, the rest follows.
    ///
    /// # Errors
    /// [`Error::Locked`] where somebody does not stop writing a segment.
    pub fn rewrite(&self, change: &mut dyn FnMut(&Stored) -> Change) -> Result<Rewritten> {
        self.rewrite_with(Damaged::Keep, change)
    }

    /// As [`Journal::rewrite`]; says what is to become of what cannot be read.
    pub fn rewrite_with(
        &self,
        damaged: Damaged,
        change: &mut dyn FnMut(&Stored) -> Change,
    ) -> Result<Rewritten> {
        self.seal()?;
        let mut done = Rewritten::default();
        for listed in segment::list(&self.dir)? {
            self.rewrite_segment(&listed, damaged, change, &mut done)?;
        }
        Ok(done)
    }

    fn rewrite_segment(
        &self,
        listed: &Listed,
        damaged: Damaged,
        change: &mut dyn FnMut(&Stored) -> Change,
        done: &mut Rewritten,
    ) -> Result<()> {
        let path = self.dir.join(&listed.name);
        let _held = match listed.plain {
            true => match lock_to_rewrite(&path, self.lock_patience * MORE_PATIENCE)? {
                // An unused spill that its writer gave up.
                None => return Ok(()),
                held => held,
            },
            false => None,
        };
        let Some((content, whole)) = scan::read_whole(&path)? else { return Ok(()) };
        let mut draft = draft(&listed.name, &content, damaged, change, done)?;
        if !whole {
            let segment = listed.name.clone();
            let line = memchr::memchr_iter(b'\n', &content).count() as u64 + 1;
            let position = Position { segment, line, offset: content.len() as u64 };
            done.problems.push(JournalProblem { position, kind: ProblemKind::Damaged });
            // The rest cannot be unpacked; to write anew what can be would throw the rest away.
            match damaged {
                Damaged::Keep if draft.changed => return Err(unreadable(&path)),
                Damaged::Keep => {}
                Damaged::Remove => draft.changed = true,
            }
        }
        if !draft.changed {
            return Ok(());
        }
        let mut new = record::encode_rewritten(draft.times + 1)?;
        new.append(&mut draft.lines);
        if listed.sealed {
            let packed = seal::pack(&path, &new)?;
            disk::replace(&*self.disk, &self.dir, &segment::sealed(&path), &packed)?;
        } else {
            self.follow_active(&listed.name)?;
            disk::replace(&*self.disk, &self.dir, &path, &new)?;
        }
        done.segments += 1;
        Ok(())
    }

    /// Starts the segment behind this one if nobody did: whoever waits for this one goes on there,
    /// and so does everybody who comes later.
    fn follow_active(&self, name: &str) -> Result<()> {
        let Some(name) = Name::parse(name).filter(|name| !name.spill) else { return Ok(()) };
        if segment::newest(&self.dir, name.host)? == name.number {
            let next = self.dir.join(segment::name(name.host, name.number + 1));
            self.disk.open(&next).at(&next)?;
            self.disk.sync_dir(&self.dir)?;
            self.active.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The lock of a plain segment, so that nobody appends to what is about to be replaced; nothing if it
/// is gone.
fn lock_to_rewrite(path: &Path, patience: Duration) -> Result<Option<std::fs::File>> {
    let file = match OpenOptions::new().read(true).append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.at(path)?,
    };
    if !lock(&file, patience) {
        return Err(Error::Locked { path: path.to_owned() });
    }
    Ok(files::is_still(path, &file.metadata().at(path)?)?.then_some(file))
}

fn unreadable(path: &Path) -> Error {
    Error::corrupt(&segment::sealed(path), "cannot be unpacked to its end, so it is not rewritten")
}

fn draft(
    name: &str,
    content: &[u8],
    damaged: Damaged,
    change: &mut dyn FnMut(&Stored) -> Change,
    done: &mut Rewritten,
) -> Result<Draft> {
    let mut draft = Draft { lines: Vec::with_capacity(content.len()), times: 0, changed: false };
    let (mut line, mut offset) = (0, 0);
    for bytes in content.split_inclusive(|&byte| byte == b'\n') {
        line += 1;
        let position = Position { segment: name.to_owned(), line, offset };
        offset += bytes.len() as u64;
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let problem = match record::decode(text) {
            Ok(Content::Record(record)) => {
                draft.add(text, &Stored::new(position, record), change, done)?;
                continue;
            }
            // Written again if need be.
            Ok(Content::Rewritten(times)) => {
                draft.times = times;
                continue;
            }
            Err(Unreadable::Damaged) => ProblemKind::Damaged,
            Err(Unreadable::Newer(version)) => ProblemKind::Newer(version),
        };
        done.problems.push(JournalProblem { position, kind: problem });
        if problem == ProblemKind::Damaged && damaged == Damaged::Remove {
            draft.changed = true;
        } else {
            draft.keep(text);
        }
    }
    Ok(draft)
}

impl Draft {
    fn keep(&mut self, text: &[u8]) {
        self.lines.extend_from_slice(text);
        self.lines.push(b'\n');
    }

    fn add(
        &mut self,
        text: &[u8],
        stored: &Stored,
        change: &mut dyn FnMut(&Stored) -> Change,
        done: &mut Rewritten,
    ) -> Result<()> {
        let body = match change(stored) {
            Change::Replace(body) if *body.get() != stored.body => body,
            Change::Keep | Change::Replace(_) => {
                self.keep(text);
                return Ok(());
            }
            Change::Remove => {
                self.changed = true;
                *done.removed.entry(stored.kind.clone()).or_default() += 1;
                return Ok(());
            }
        };
        let Stored { key, at, kind, host, .. } = stored.clone();
        *done.replaced.entry(kind.clone()).or_default() += 1;
        self.lines.extend(record::encode(&host, &Entry { key, at, kind, body })?);
        self.changed = true;
        Ok(())
    }
}

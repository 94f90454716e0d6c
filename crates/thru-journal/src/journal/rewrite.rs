//! Rewriting: removing records from the journal that must not be in it any more.
//!
//! The one exception to the append-only rule, for redaction and for forgetting. A segment keeps its
//! name; a first line with the number of its rewrites lets cursors detect them.

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

/// The factor by which rewriting waits longer for the writer of a segment than an append. No agent
/// waits for it, so it can tolerate a machine under load; a lock held for five seconds belongs to a
/// process that hangs.
const MORE_PATIENCE: u32 = 100;

/// The change to make to a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Leaves it as it is.
    Keep,
    /// Replaces its body. Key, kind, time and host stay.
    Replace(Clean<Value>),
    /// Removes it.
    Remove,
}

/// The treatment of unreadable lines in rewritten segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damaged {
    /// Keeps and reports them.
    #[default]
    Keep,
    /// Removes them, since it is unknown what they hold. A segment with such lines is always rewritten.
    Remove,
}

/// The result of [`Journal::rewrite`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The number of segments that were rewritten.
    pub segments: u64,
    /// The number of replaced bodies by kind.
    pub replaced: BTreeMap<String, u64>,
    /// The number of removed records by kind.
    pub removed: BTreeMap<String, u64>,
    /// Unreadable lines, which may contain records that should have been changed.
    pub problems: Vec<JournalProblem>,
}

/// The new content of a segment.
struct Draft {
    lines: Vec<u8>,
    /// The number of times that the segment was rewritten before.
    times: u64,
    changed: bool,
}

impl Journal {
    /// Passes every record to `change`, including those with repeated keys, and rewrites every segment
    /// in which it changes anything. Afterwards no file of the journal holds what was removed. Seals
    /// first.
    ///
    /// Any number of processes may append and read meanwhile, but only one may seal or rewrite. Readers
    /// whose cursor stands in a rewritten segment read it from its start again. After an interruption
    /// every segment is in its old or its new state; another run completes the rest.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process does not stop writing a segment, [`Error::Corrupt`] if a
    /// segment to be changed cannot be unpacked completely; other errors if the disk cannot be read or
    /// written.
    pub fn rewrite(&self, change: &mut dyn FnMut(&Stored) -> Change) -> Result<Rewritten> {
        self.rewrite_with(Damaged::Keep, change)
    }

    /// As [`Journal::rewrite`], with a choice of what happens to unreadable lines.
    ///
    /// # Errors
    /// As for [`Journal::rewrite`].
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
            // The rest cannot be unpacked; rewriting the readable part would discard it.
            match damaged {
                Damaged::Keep if draft.changed => return Err(unreadable(&path)),
                Damaged::Keep => {}
                Damaged::Remove => draft.changed = true,
            }
        }
        if !draft.changed {
            return Ok(());
        }
        let mut new = record::encode_rewritten(draft.times.wrapping_add(1))?;
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

    /// Starts the segment after this one unless it exists: writers waiting for this one continue there,
    /// and so do all later ones.
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

/// Locks a plain segment, so that it gets no appends while it is replaced; returns `None` if it is
/// gone.
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
            // Written again if necessary.
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
        self.lines.extend(record::encode_again(&host, &Entry { key, at, kind, body })?);
        self.changed = true;
        Ok(())
    }
}

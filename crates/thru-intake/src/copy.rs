//! Copies one source file: its new lines go to the archive, and from there to the writer.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;
use thru_agents::{Source, agents};
use thru_core::SourceKind;
use thru_journal::archive::{
    Appender, Archive, BLOCK_BYTES, Block, Compressor, EntryName, FINGERPRINTED_BYTES, Fingerprint,
    SourceInfo, SourcePosition,
};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{SourceCursor, SourceStamp};

use crate::plan::stamp_of;
use crate::projector::Projector;
use crate::stages::{Stage, Stages};
use crate::write::Step;
use crate::{IntakeError, Result};

/// Bytes per read.
const CHUNK: usize = 1024 * 1024;

/// The state that all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) archive: &'a Archive,
    pub(crate) redactor: &'a Redactor,
    pub(crate) verbatim: bool,
    pub(crate) forgotten: &'a [String],
    pub(crate) excluded: &'a (dyn Fn(&Path) -> bool + Sync),
    pub(crate) stages: &'a Stages,
    pub(crate) cancelled: &'a AtomicBool,
    pub(crate) steps: Sender<Step>,
}

/// A file being copied, with the lines that are read but not archived yet.
pub(crate) struct Transfer<'a> {
    shared: &'a Shared<'a>,
    compressor: &'a mut Compressor,
    entry: EntryName,
    info: SourceInfo,
    projector: Projector,
    report: Report,
    /// Clean lines that are not archived yet, and the same lines before cleaning.
    clean: Vec<Clean<Vec<u8>>>,
    clean_bytes: usize,
    raw: Vec<u8>,
    /// Number of lines in the archived file so far.
    lines: u64,
    /// The first bytes of the source, and the last ones before the lines not archived yet.
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The offset in the source just after the last archived line.
    end: u64,
    /// True if the source changed before the offset it was read up to.
    rewritten: bool,
}

/// Copies the new lines of `source` and passes them on. `cursor` reads the store's cursor of an entry.
pub(crate) fn copy(
    shared: &Shared<'_>,
    compressor: &mut Compressor,
    source: &Source,
    cursor: impl Fn(&EntryName) -> Result<SourceCursor>,
) -> Result<Report> {
    let info = SourceInfo {
        agent: source.agent,
        session: source.session.clone(),
        kind: source.kind,
        path: source.path.to_string_lossy().into_owned(),
    };
    let entry = entry_of(shared.archive, &source.archive_name, &info)?;
    let mut file = File::open(&source.path).map_err(|e| IntakeError::io(&source.path, e))?;
    let metadata = file.metadata().map_err(|e| IntakeError::io(&source.path, e))?;
    let stamp = stamp_of(&metadata);
    if source.kind == SourceKind::Attachment {
        return copy_attachment(shared, &entry, info, &mut file, stamp);
    }
    let mut appender = shared.archive.appender(&entry, &info)?;
    let cursor = cursor(&entry)?;
    let resumed = Projector::resume(&info, &entry, cursor.reader.as_deref());
    let (cursor_lines, projector) = match resumed {
        Some(projector) if cursor.lines <= appender.lines() => (cursor.lines, projector),
        // The store is ahead of the archive (a power cut took a block), or its state is of another
        // version: it reads this file again from the beginning.
        _ => {
            let _ = shared.steps.send(Step::restart(entry.clone(), info.clone()));
            let projector =
                Projector::resume(&info, &entry, None).ok_or(IntakeError::WorkerLost)?;
            (0, projector)
        }
    };
    let mut copy = Transfer {
        shared,
        compressor,
        entry,
        info,
        projector,
        report: Report::default(),
        clean: Vec::new(),
        clean_bytes: 0,
        raw: Vec::new(),
        lines: cursor_lines,
        head: Vec::new(),
        tail: Vec::new(),
        end: 0,
        rewritten: false,
    };
    if cursor_lines < appender.lines() {
        copy.catch_up(cursor_lines)?;
    }
    let position = appender.position().copied();
    let fits = match &position {
        Some(position) => position.fits(&mut file).map_err(|e| IntakeError::io(&source.path, e))?,
        None => true,
    };
    if !fits {
        // Records that the archive holds lines from beyond the source's position.
        appender.mark(SourcePosition::after(0, b"", b""), copy.projector.carry())?;
    }
    let known = match fits && !copy.was_rewritten()? {
        true => None,
        false => Some(copy.known_lines()?),
    };
    copy.rewritten = !fits;
    let from = position.filter(|_| fits).map_or(0, |position| position.end);
    copy.read_from(&mut file, from, known.as_ref(), &mut appender).map_err(
        |error| match error {
            IntakeError::Io { source: cause, .. } => IntakeError::io(&source.path, cause),
            error => error,
        },
    )?;
    let interrupted = shared.cancelled.load(Ordering::Relaxed);
    copy.finish(&mut appender, !fits, (!interrupted).then_some(stamp))?;
    Ok(copy.report)
}

impl Transfer<'_> {
    /// Passes on the lines that the archive holds and the store does not.
    fn catch_up(&mut self, from: u64) -> Result<()> {
        let Some(mut reader) = self.shared.archive.reader(&self.entry)? else { return Ok(()) };
        for lines in reader.blocks_from(from) {
            let lines = lines?;
            for (_, line) in lines.iter() {
                self.clean_line(line);
            }
            self.lines = lines.first_line;
            self.raw.clear();
            self.pass_on(None);
        }
        Ok(())
    }

    /// Reads the source from an offset up to the end of its last whole line.
    fn read_from(
        &mut self,
        file: &mut File,
        from: u64,
        known: Option<&HashSet<Fingerprint>>,
        appender: &mut Appender,
    ) -> Result<()> {
        let io = |source| IntakeError::Io { path: Default::default(), source };
        self.end = from;
        if from > 0 {
            let width = from.min(FINGERPRINTED_BYTES);
            file.seek(SeekFrom::Start(0)).map_err(io)?;
            file.by_ref().take(width).read_to_end(&mut self.head).map_err(io)?;
            file.seek(SeekFrom::Start(from - width)).map_err(io)?;
            file.by_ref().take(width).read_to_end(&mut self.tail).map_err(io)?;
        }
        file.seek(SeekFrom::Start(from)).map_err(io)?;
        let mut buffer: Vec<u8> = Vec::new();
        let mut searched = 0;
        loop {
            let start = buffer.len();
            let read = self
                .shared
                .stages
                .time(Stage::Read, || file.by_ref().take(CHUNK as u64).read_to_end(&mut buffer))
                .map_err(io)?;
            if read == 0 {
                break;
            }
            searched = searched.max(start);
            let Some(last) = memchr::memrchr(b'\n', &buffer[searched..]) else {
                searched = buffer.len();
                continue;
            };
            let whole = searched + last + 1;
            let mut line_start = 0;
            for line_end in memchr::memchr_iter(b'\n', &buffer[..whole]) {
                self.line(&buffer[line_start..=line_end], known, appender)?;
                line_start = line_end + 1;
            }
            buffer.drain(..whole);
            searched = buffer.len();
            if self.shared.cancelled.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
        // A record without a newline is still being written, unless it is already whole.
        if is_whole_record(&buffer) {
            self.line(&buffer, known, appender)?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        line: &[u8],
        known: Option<&HashSet<Fingerprint>>,
        appender: &mut Appender,
    ) -> Result<()> {
        // The newline of a record that was read before it had one.
        let late_newline = line == b"\n" && self.tail.last().is_some_and(|byte| *byte != b'\n');
        if self.head.len() < FINGERPRINTED_BYTES as usize {
            let missing = FINGERPRINTED_BYTES as usize - self.head.len();
            self.head.extend_from_slice(&line[..line.len().min(missing)]);
        }
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if late_newline {
            self.note_tail(line);
            self.end += line.len() as u64;
            return Ok(());
        }
        if self.info.kind == SourceKind::PromptHistory && self.is_excluded(text) {
            self.note_tail(line);
            self.end += line.len() as u64;
            return Ok(());
        }
        let stages = self.shared.stages;
        stages.time(Stage::Redact, || self.clean_line(text));
        let is_known = known.is_some_and(|known| {
            let archived = if self.shared.verbatim {
                Fingerprint::hash(text)
            } else {
                self.clean.last().map_or_else(|| Fingerprint::hash(b""), fingerprint)
            };
            // Lines without an id may legitimately repeat; only a rewritten source repeats them all.
            known.contains(&archived)
                && (self.rewritten || agents::line_has_record_id(self.info.agent, text))
        });
        if is_known {
            if let Some(line) = self.clean.pop() {
                self.clean_bytes -= line.get().len();
            }
        } else if self.shared.verbatim {
            self.raw.extend_from_slice(text);
            self.raw.push(b'\n');
        }
        self.note_tail(line);
        self.end += line.len() as u64;
        if self.clean_bytes >= BLOCK_BYTES {
            self.flush(appender, None)?;
        }
        Ok(())
    }

    /// Returns true if a prompt in a list was written in an excluded directory.
    fn is_excluded(&self, line: &[u8]) -> bool {
        agents::directory_of_prompt(line)
            .is_some_and(|directory| (self.shared.excluded)(Path::new(&directory)))
    }

    fn note_tail(&mut self, line: &[u8]) {
        let width = FINGERPRINTED_BYTES as usize;
        if line.len() >= width {
            self.tail.clear();
        }
        self.tail.extend_from_slice(&line[line.len().saturating_sub(width)..]);
        let excess = self.tail.len().saturating_sub(width);
        self.tail.drain(..excess);
    }

    fn clean_line(&mut self, line: &[u8]) {
        let is_forgotten = self.info.kind == SourceKind::PromptHistory
            && self
                .shared
                .forgotten
                .iter()
                .any(|id| memchr::memmem::find(line, id.as_bytes()).is_some());
        let clean = if is_forgotten {
            self.shared.redactor.blank_json_line(line, &mut self.report)
        } else {
            self.projector.clean(self.shared.redactor, line, &mut self.report)
        };
        self.clean_bytes += clean.get().len() + 1;
        self.clean.push(clean);
    }

    /// Archives the waiting lines, then passes them on. The order matters: the archive holds everything the
    /// store holds.
    fn flush(&mut self, appender: &mut Appender, stamp: Option<SourceStamp>) -> Result<()> {
        let position = SourcePosition::after(self.end, &self.head, &self.tail);
        if self.clean.is_empty() {
            if appender.position() != Some(&position) {
                appender.mark(position, self.projector.carry())?;
            }
            if stamp.is_some() {
                self.pass_on(stamp);
            }
            return Ok(());
        }
        let lines = join(&self.clean);
        let block =
            if self.shared.verbatim { Block::Verbatim(&self.raw) } else { Block::Clean(&lines) };
        self.shared.stages.time(Stage::Archive, || -> Result<()> {
            let prepared = self.compressor.prepare(block)?;
            Ok(appender.append_prepared(&prepared, position, self.projector.carry())?)
        })?;
        self.raw.clear();
        self.lines = appender.lines() - self.clean.len() as u64;
        self.send(&lines, stamp);
        Ok(())
    }

    fn pass_on(&mut self, stamp: Option<SourceStamp>) {
        let lines = join(&self.clean);
        self.send(&lines, stamp);
    }

    fn send(&mut self, lines: &Clean<Vec<u8>>, stamp: Option<SourceStamp>) {
        let count = self.clean.len() as u64;
        let stages = self.shared.stages;
        let (reads, diagnostics) =
            stages.time(Stage::Parse, || self.projector.read(lines, self.lines));
        self.lines += count;
        self.clean.clear();
        self.clean_bytes = 0;
        let step = Step {
            entry: self.entry.clone(),
            info: self.info.clone(),
            reads,
            diagnostics,
            lines: self.lines,
            state: self.projector.state(),
            bytes: lines.get().len() as u64,
            stamp,
            restart: false,
        };
        // The writer is gone only when it failed, and then its error is the one that counts.
        let _ = self.shared.steps.send(step);
    }

    fn finish(
        &mut self,
        appender: &mut Appender,
        rewritten: bool,
        stamp: Option<SourceStamp>,
    ) -> Result<()> {
        // A source that shrank or was rewritten is followed from where it ends now.
        if rewritten || !self.clean.is_empty() || stamp.is_some() {
            self.flush(appender, stamp)?;
        }
        Ok(())
    }

    /// Returns true if the source was ever rewritten: a read may have been cut short then, and lines beyond its
    /// position may already be archived.
    fn was_rewritten(&self) -> Result<bool> {
        let reader = self.shared.archive.reader(&self.entry)?;
        Ok(reader.is_some_and(|reader| {
            reader.blocks().iter().any(|block| block.next_line() > 0 && block.position.end == 0)
        }))
    }

    /// Returns the fingerprints of all archived lines of this source.
    fn known_lines(&self) -> Result<HashSet<Fingerprint>> {
        let mut known = HashSet::new();
        if let Some(mut reader) = self.shared.archive.reader(&self.entry)? {
            for lines in reader.blocks_from(0) {
                known.extend(lines?.iter().map(|(_, line)| Fingerprint::hash(line)));
            }
        }
        Ok(known)
    }
}

fn fingerprint(line: &Clean<Vec<u8>>) -> Fingerprint {
    Fingerprint::hash(line.get())
}

/// Joins clean lines, each with its newline.
fn join(lines: &[Clean<Vec<u8>>]) -> Clean<Vec<u8>> {
    Clean::join(lines, b'\n')
}

/// Returns true if the bytes after the last newline are a record that only lacks its newline.
fn is_whole_record(bytes: &[u8]) -> bool {
    bytes.trim_ascii().starts_with(b"{")
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Archives a file that belongs to a session but is no transcript, whole and as it is now.
fn copy_attachment(
    shared: &Shared<'_>,
    entry: &EntryName,
    info: SourceInfo,
    file: &mut File,
    stamp: SourceStamp,
) -> Result<Report> {
    let mut report = Report::default();
    let mut content = Vec::new();
    file.read_to_end(&mut content).map_err(|e| IntakeError::io(info.path.as_ref(), e))?;
    let position = SourcePosition::after(content.len() as u64, &content, &content);
    let clean =
        shared.stages.time(Stage::Redact, || shared.redactor.clean_bytes(&content, &mut report));
    let block = if shared.verbatim { Block::Verbatim(&content) } else { Block::Clean(&clean) };
    shared.stages.time(Stage::Archive, || shared.archive.replace(entry, &info, block, position))?;
    let _ = shared.steps.send(Step::attachment(entry.clone(), info, content.len() as u64, stamp));
    Ok(report)
}

/// Returns the archived name of a source. Two sessions never share an archived file, even if their files have
/// the same name in folders of the same name.
fn entry_of(archive: &Archive, name: &str, info: &SourceInfo) -> Result<EntryName> {
    let unnamed = |error: thru_journal::archive::InvalidEntryName| {
        IntakeError::io(info.path.as_ref(), std::io::Error::other(error))
    };
    let entry = EntryName::new(name).map_err(unnamed)?;
    let taken = archive
        .reader(&entry)?
        .and_then(|reader| reader.info().map(|known| known.session != info.session))
        .unwrap_or(false);
    if !taken {
        return Ok(entry);
    }
    let hash = thru_core::Id::derive(&[info.session.as_str().as_bytes()]).to_string();
    let (stem, suffix) = name.rsplit_once('.').unwrap_or((name, "jsonl"));
    EntryName::new(&format!("{stem}~{}.{suffix}", &hash[..8])).map_err(unnamed)
}

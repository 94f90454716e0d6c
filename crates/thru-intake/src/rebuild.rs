//! Rebuilds store and index from journal and archive.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{bounded, unbounded};
use thru_core::SourceKind;
use thru_journal::archive::EntryName;
use thru_redact::{Clean, Redactor, Report};
use thru_store::index::{IndexWriter, remove_other_indexes};
use thru_store::{SourceCursor, SourceRow, Store};

use crate::distil::{DistilProgress, DistilScope};
use crate::loss::{Loss, OnLoss};
use crate::parts::{Until, share};
use crate::projector::{Projector, Reads};
use crate::sessions::Indexer;
use crate::stages::Stages;
use crate::write::{Step, StepWriter};
use crate::{Intake, IntakeError, IntakeLock, Result};

/// A commit holds about this much of transcripts.
const COMMIT_BYTES: u64 = 8 * 1024 * 1024;

/// Memory for the text index while it is made.
const INDEX_MEMORY: usize = 120_000_000;

/// The time for which a rebuild waits for processes that read the old store.
const READER_PATIENCE: Duration = Duration::from_secs(600);

/// The report of a rebuild, so far or in all.
#[derive(Debug, Default)]
pub struct RebuildReport {
    /// Archived files in all.
    pub sources: usize,
    /// Archived files that were read.
    pub done: usize,
    /// Passages written.
    pub passages: u64,
    /// Sessions distilled, and the memories of them.
    pub distilled: DistilProgress,
    /// Counts of text redacted by rules newer than the archive.
    pub redacted: Report,
    /// Archived files that could not be read, each with the problem.
    pub problems: Vec<(String, String)>,
    /// Parts of the old store that the new one lacks.
    pub lost: Loss,
    /// Total time.
    pub elapsed: Duration,
}

/// A store and an index that are made beside the ones in use, in one go or in parts.
pub(crate) struct Replacement {
    pub(crate) store: Store,
    /// Archived files to read.
    files: Vec<EntryName>,
    /// Lists of prompts among them, which come last: they only fill in for transcripts that are gone.
    lists: Vec<EntryName>,
    /// The archived files so far, each with its size when it was listed.
    listed: HashMap<EntryName, u64>,
    /// The index, while it follows the store.
    pub(crate) index: Option<IndexWriter>,
    report: RebuildReport,
}

/// The outcome of reading an archived file.
enum Outcome {
    Read,
    /// It is a list of prompts, and those come later.
    List,
}

impl Intake {
    /// Builds a new store and index beside the current ones, and swaps them in when they are complete.
    /// Until then readers use the old ones, which stay if the rebuild stops early (invariant I-4). The swap waits for
    /// processes that read.
    ///
    /// # Errors
    /// Returns [`IntakeError::WouldLose`] if the new store would lack something of the old one and that is to be
    /// refused. Fails if the new store cannot be written, or the old one is still being read after ten minutes.
    pub fn rebuild(
        &self,
        _lock: &IntakeLock,
        on_loss: OnLoss,
        cancelled: &AtomicBool,
        progress: &mut dyn FnMut(&RebuildReport),
    ) -> Result<RebuildReport> {
        // The archive stays as older rules left it.
        let in_use = Store::open_to_read(&self.layout).and_then(|store| store.redactor());
        let rules = in_use.ok().flatten().unwrap_or_else(|| self.fingerprint.clone());
        self.remake(on_loss, &rules, cancelled, progress)
    }

    /// [`Self::rebuild`] for a caller that holds the intake lock already, and knows the fingerprint of the rules by which
    /// everything that is kept was cleaned.
    pub(crate) fn remake(
        &self,
        on_loss: OnLoss,
        rules: &str,
        cancelled: &AtomicBool,
        progress: &mut dyn FnMut(&RebuildReport),
    ) -> Result<RebuildReport> {
        let started = Instant::now();
        let until = Until::cancelled(cancelled);
        let mut making = self.begin_replacement(rules)?;
        if !self.read_again(&mut making, until, progress)? {
            return Err(IntakeError::Interrupted);
        }
        self.note_shorter(&mut making)?;
        making.report.lost = self.loss(&making.store)?;
        if on_loss == OnLoss::Refuse && !making.report.lost.is_none() {
            making.store.discard()?;
            return Err(IntakeError::WouldLose(making.report.lost));
        }
        if !self.derive(&mut making, until, progress)? {
            return Err(IntakeError::Interrupted);
        }
        if let Some(index) = &mut making.index {
            index.merge_all()?;
        }
        let patient_until = Instant::now() + READER_PATIENCE;
        let mut report = self.put_in_place(making, &mut |report| {
            progress(report);
            !cancelled.load(Ordering::Relaxed) && Instant::now() < patient_until
        })?;
        // Vectors of texts that are still there stay.
        self.sweep_vectors()?;
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Creates an empty replacement of the store.
    pub(crate) fn begin_replacement(&self, rules: &str) -> Result<Replacement> {
        let mut store = Store::open_replacement(&self.layout, self.new_generation())?;
        let batch = store.begin()?;
        batch.set_redactor(rules)?;
        batch.commit()?;
        self.replacement(store)
    }

    /// Continues the replacement that a process was making by these rules when it ended, if there is one.
    pub(crate) fn resume_replacement(&self, rules: &str) -> Result<Option<Replacement>> {
        match Store::resume_replacement(&self.layout, self.new_generation())? {
            Some(store) if store.redactor()?.as_deref() == Some(rules) => {
                self.replacement(store).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn replacement(&self, store: Store) -> Result<Replacement> {
        let mut making = Replacement {
            store,
            files: Vec::new(),
            lists: Vec::new(),
            listed: HashMap::new(),
            index: None,
            report: RebuildReport::default(),
        };
        self.list_archived(&mut making)?;
        Ok(making)
    }

    /// Lists the archived files that are new or have grown. Returns true if there are any.
    pub(crate) fn list_archived(&self, making: &mut Replacement) -> Result<bool> {
        for entry in self.archive.entries()? {
            let size = self.archive.size(&entry)?.unwrap_or(0);
            if making.listed.insert(entry.clone(), size) != Some(size) {
                making.files.push(entry);
            }
        }
        making.report.sources = making.listed.len();
        Ok(!making.files.is_empty())
    }

    /// Brings the replacement up to journal and archive. Returns true if nothing is left.
    pub(crate) fn read_again(
        &self,
        making: &mut Replacement,
        until: Until<'_>,
        progress: &mut dyn FnMut(&RebuildReport),
    ) -> Result<bool> {
        self.apply_journal(&mut making.store)?;
        let applied = self.apply_events(&mut making.store)?;
        let files = std::mem::take(&mut making.files);
        making.files = self.read_archived(making, files, false, until, progress)?;
        if making.files.is_empty() {
            let lists = std::mem::take(&mut making.lists);
            making.lists = self.read_archived(making, lists, true, until, progress)?;
        }
        if !making.files.is_empty() || !making.lists.is_empty() {
            return Ok(false);
        }
        self.settle_events(&mut making.store, applied)?;
        Ok(true)
    }

    /// Makes what follows from the passages: memories and the other projections, and the index. Returns true if nothing is
    /// left.
    pub(crate) fn derive(
        &self,
        making: &mut Replacement,
        until: Until<'_>,
        progress: &mut dyn FnMut(&RebuildReport),
    ) -> Result<bool> {
        let Replacement { store, index, report, .. } = making;
        let scope = until.left().map_or(DistilScope::All, DistilScope::AllWithin);
        let projections = self.projections(Indexer::new(self));
        let distilled = self.distil(
            store,
            scope,
            &projections,
            until.cancelled,
            &Stages::default(),
            &mut |distilled| {
                report.distilled = distilled;
                progress(report);
            },
        )?;
        report.distilled = distilled;
        if distilled.is_unfinished() || until.is_cancelled() {
            return Ok(false);
        }
        if index.is_none() {
            let threads = self.options.threads;
            *index = Some(IndexWriter::open(&self.layout, store, threads, INDEX_MEMORY)?);
        }
        let Some(index) = index else { return Ok(false) };
        if !index.catch_up_until(store, &|| until.is_now())? {
            return Ok(false);
        }
        let cleared = index.commit()?.cleared;
        crate::import::clear(store, std::iter::once(cleared))?;
        Ok(true)
    }

    /// Has a complete replacement take the place of the store in use, and waits for its readers as long as `wait` says.
    pub(crate) fn put_in_place(
        &self,
        making: Replacement,
        wait: &mut dyn FnMut(&RebuildReport) -> bool,
    ) -> Result<RebuildReport> {
        let Replacement { store, index, report, .. } = making;
        index.map_or(Ok(()), IndexWriter::finish)?;
        store.take_over(&mut || wait(&report))?;
        let rebuilt = Store::open_to_read(&self.layout)?;
        remove_other_indexes(&self.layout, &rebuilt)?;
        for projection in self.projections(Indexer::new(self)).all() {
            projection.rebuilt(&rebuilt)?;
        }
        Ok(report)
    }

    /// Notes archived files that hold fewer lines than the store in use has read of them: damage at the end of one looks like
    /// an append that never ended.
    fn note_shorter(&self, making: &mut Replacement) -> Result<()> {
        let in_use = Store::open_to_read(&self.layout).and_then(|store| store.sources());
        let Ok(in_use) = in_use else { return Ok(()) };
        let read = making.store.sources()?.into_iter().map(|source| (source.entry, source.lines));
        let read: HashMap<String, u64> = read.collect();
        let problems = &mut making.report.problems;
        for SourceRow { entry, lines: held, .. } in in_use {
            let lost = held.saturating_sub(read.get(&entry).copied().unwrap_or_default());
            if lost > 0 && !problems.iter().any(|(known, _)| *known == entry) {
                problems.push((entry, format!("{lost} lines that were read before are gone")));
            }
        }
        Ok(())
    }

    /// Returns what the store in use holds and this one lacks. A store that cannot be read is compared with nothing.
    fn loss(&self, rebuilt: &Store) -> Result<Loss> {
        let in_use = Store::open_to_read(&self.layout).and_then(|store| store.holdings());
        Ok(match in_use {
            Ok(held) => Loss::between(&held, &rebuilt.holdings()?, &rebuilt.forgotten()?),
            Err(_) => Loss::default(),
        })
    }

    /// Reads archived files, and returns those that there was no time for. Lists of prompts are put aside, unless it is
    /// their turn.
    fn read_archived(
        &self,
        making: &mut Replacement,
        mut entries: Vec<EntryName>,
        are_lists: bool,
        until: Until<'_>,
        progress: &mut dyn FnMut(&RebuildReport),
    ) -> Result<Vec<EntryName>> {
        if entries.is_empty() {
            return Ok(entries);
        }
        let Replacement { store, lists, report, .. } = making;
        let known = Mutex::new(store.reader()?);
        let (steps, received) = bounded::<Result<Step>>(16);
        let (done, finished) = unbounded::<(EntryName, Report, Result<Outcome>)>();
        let mut note_finished = |report: &mut RebuildReport| {
            for (entry, redacted, outcome) in finished.try_iter() {
                report.redacted.merge(&redacted);
                match outcome {
                    Ok(Outcome::Read) => report.done += 1,
                    Ok(Outcome::List) => lists.push(entry),
                    Err(error) => {
                        report.done += 1;
                        report.problems.push((entry.as_str().to_owned(), error.to_string()));
                    }
                }
            }
        };
        let taken = std::thread::scope(|scope| -> Result<usize> {
            let (entries, known) = (&entries, &known);
            let reading = scope.spawn(move || {
                share(entries, self.options.threads, until, |entry| {
                    let mut redacted = Report::default();
                    let outcome = self.project(entry, are_lists, known, &mut redacted, &steps);
                    let _ = done.send((entry.clone(), redacted, outcome));
                    Ok(())
                })
            });
            self.write_rebuilt(store, received, report, &mut |report| {
                note_finished(report);
                progress(report);
            })?;
            reading.join().map_err(|_| IntakeError::WorkerLost)?
        })?;
        note_finished(report);
        Ok(entries.split_off(taken))
    }

    /// Writes the workers' steps until they are done. Owns the receiver and drops it on an error, so that
    /// no worker blocks forever on a full queue.
    fn write_rebuilt(
        &self,
        store: &mut Store,
        received: crossbeam_channel::Receiver<Result<Step>>,
        report: &mut RebuildReport,
        progress: &mut dyn FnMut(&mut RebuildReport),
    ) -> Result<()> {
        let mut writing = StepWriter::new(self, store)?;
        while let Ok(first) = received.recv() {
            let mut batch = store.begin()?;
            let mut bytes = 0;
            let mut step = Some(first);
            while let Some(next) = step {
                let next = next?;
                bytes += next.bytes;
                report.passages += writing.write(&mut batch, &next)?.passages;
                step = if bytes < COMMIT_BYTES { received.try_recv().ok() } else { None };
            }
            batch.commit()?;
            progress(report);
        }
        Ok(())
    }

    /// Reads the rest of an archived file, and passes on its rows.
    fn project(
        &self,
        entry: &EntryName,
        is_their_turn: bool,
        known: &Mutex<Store>,
        redacted: &mut Report,
        steps: &crossbeam_channel::Sender<Result<Step>>,
    ) -> Result<Outcome> {
        let Some(mut reader) = self.archive.reader(entry)? else { return Ok(Outcome::Read) };
        let Some(info) = reader.info().cloned() else {
            reader.check_headers()?;
            return Ok(Outcome::Read);
        };
        let step = |(reads, diagnostics): Reads, lines, state, bytes| Step {
            entry: entry.clone(),
            info: info.clone(),
            reads,
            diagnostics,
            lines,
            state,
            bytes,
            stamp: None,
            restart: false,
        };
        match info.kind {
            SourceKind::PromptHistory if !is_their_turn => return Ok(Outcome::List),
            SourceKind::Attachment => {
                let _ = steps.send(Ok(step(Reads::default(), 0, String::new(), 0)));
                return Ok(Outcome::Read);
            }
            _ => {}
        }
        let known = known.lock().map_err(|_| IntakeError::WorkerLost)?.cursor(entry.as_str())?;
        let SourceCursor { lines: mut from, reader: state } = known.unwrap_or_default();
        let resumed = Projector::resume(&info, entry, state.as_deref());
        let mut projector = match resumed {
            Some(projector) if from <= reader.lines() => projector,
            _ => {
                let _ = steps.send(Ok(Step::restart(entry.clone(), info.clone())));
                from = 0;
                Projector::resume(&info, entry, None).ok_or(IntakeError::WorkerLost)?
            }
        };
        let mut damage = Ok(());
        for lines in reader.blocks_from(from) {
            // What stands behind a damaged block is read all the same.
            let lines = match lines {
                Ok(lines) => lines,
                Err(error) => {
                    damage = damage.and(Err(error));
                    continue;
                }
            };
            let clean = clean_lines(&mut projector, &self.redactor, &lines, redacted);
            let (first, count) = (lines.first_line, clean.len() as u64);
            let joined = Clean::join(&clean, b'\n');
            let reads = projector.read(&joined, first);
            let done = step(reads, first + count, projector.state(), joined.get().len() as u64);
            if steps.send(Ok(done)).is_err() {
                break;
            }
        }
        damage?;
        reader.check_headers()?;
        Ok(Outcome::Read)
    }
}

fn clean_lines(
    projector: &mut Projector,
    redactor: &Redactor,
    lines: &thru_journal::archive::Lines,
    report: &mut Report,
) -> Vec<Clean<Vec<u8>>> {
    lines.iter().map(|(_, line)| projector.clean(redactor, line, report)).collect()
}

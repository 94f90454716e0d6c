//! Rebuilds store and index from journal and archive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{bounded, unbounded};
use thru_core::SourceKind;
use thru_journal::archive::{EntryName, SourceInfo};
use thru_redact::{Clean, Redactor, Report};
use thru_store::Store;
use thru_store::index::{IndexWriter, remove_other_indexes};

use crate::distil::{DistilProgress, DistilScope};
use crate::loss::{Loss, OnLoss};
use crate::projector::{Projector, Reads};
use crate::sessions::Indexer;
use crate::stages::Stages;
use crate::write::{Step, StepWriter};
use crate::{Intake, IntakeError, IntakeLock, Result};

/// A commit holds about this much of transcripts.
const COMMIT_BYTES: u64 = 8 * 1024 * 1024;

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
        self.remake(on_loss, cancelled, progress)
    }

    /// [`Self::rebuild`] for a caller that holds the intake lock already.
    pub(crate) fn remake(
        &self,
        on_loss: OnLoss,
        cancelled: &AtomicBool,
        progress: &mut dyn FnMut(&RebuildReport),
    ) -> Result<RebuildReport> {
        let started = Instant::now();
        let mut report = RebuildReport::default();
        let mut store = Store::open_replacement(&self.layout, self.new_generation())?;
        self.apply_journal(&mut store)?;
        let applied = self.apply_events(&mut store)?;
        let batch = store.begin()?;
        batch.set_redactor(&self.fingerprint)?;
        batch.commit()?;
        let mut entries = self.archived()?;
        report.sources = entries.len();
        // Transcripts before lists of prompts, which only fill in for transcripts that are gone.
        entries
            .sort_by_key(|(entry, info)| (info.kind == SourceKind::PromptHistory, entry.clone()));
        let next = std::sync::atomic::AtomicUsize::new(0);
        let (lists, files): (Vec<_>, Vec<_>) =
            entries.iter().partition(|(_, info)| info.kind == SourceKind::PromptHistory);
        for entries in [files, lists] {
            next.store(0, Ordering::Relaxed);
            let (steps, received) = bounded::<Result<Step>>(16);
            let (done, finished) = unbounded::<(EntryName, Report, Option<String>)>();
            std::thread::scope(|scope| -> Result<()> {
                for _ in 0..self.options.threads.max(1).min(entries.len()) {
                    let (steps, done, entries, next) =
                        (steps.clone(), done.clone(), &entries, &next);
                    scope.spawn(move || {
                        while let Some((entry, info)) =
                            entries.get(next.fetch_add(1, Ordering::Relaxed))
                        {
                            if cancelled.load(Ordering::Relaxed) {
                                break;
                            }
                            let mut redacted = Report::default();
                            let problem = self.project(entry, info, &mut redacted, &steps).err();
                            let _ = done.send((
                                entry.clone(),
                                redacted,
                                problem.map(|e| e.to_string()),
                            ));
                        }
                    });
                }
                drop((steps, done));
                let note_finished = |report: &mut RebuildReport| {
                    for (entry, redacted, problem) in finished.try_iter() {
                        note(report, &entry, &redacted, problem);
                    }
                };
                self.write_rebuilt(&mut store, received, &mut report, &mut |report| {
                    note_finished(report);
                    progress(report);
                })?;
                note_finished(&mut report);
                Ok(())
            })?;
        }
        if cancelled.load(Ordering::Relaxed) {
            return Err(IntakeError::Interrupted);
        }
        self.settle_events(&mut store, applied)?;
        report.lost = self.loss(&store)?;
        if on_loss == OnLoss::Refuse && !report.lost.is_none() {
            store.discard()?;
            return Err(IntakeError::WouldLose(report.lost));
        }
        let projections = self.projections(Indexer::new(self));
        let distilled = self.distil(
            &mut store,
            DistilScope::All,
            &projections,
            cancelled,
            &Stages::default(),
            &mut |distilled| {
                report.distilled = distilled;
                progress(&report);
            },
        )?;
        report.distilled = distilled;
        if cancelled.load(Ordering::Relaxed) {
            return Err(IntakeError::Interrupted);
        }
        let mut index = IndexWriter::open(&self.layout, &store, self.options.threads, 120_000_000)?;
        index.catch_up(&store)?;
        let cleared = index.commit()?.cleared;
        index.merge_all()?;
        index.finish()?;
        crate::import::clear(&mut store, std::iter::once(cleared))?;
        let patient_until = Instant::now() + READER_PATIENCE;
        store.take_over(&mut || {
            progress(&report);
            !cancelled.load(Ordering::Relaxed) && Instant::now() < patient_until
        })?;
        remove_other_indexes(&self.layout, &Store::open_to_read(&self.layout)?)?;
        // Vectors of texts that are still there stay.
        self.sweep_vectors()?;
        let rebuilt = Store::open_to_read(&self.layout)?;
        for projection in projections.all() {
            projection.rebuilt(&rebuilt)?;
        }
        report.elapsed = started.elapsed();
        Ok(report)
    }

    /// Returns what the store in use holds and this one lacks. A store that cannot be read is compared with nothing.
    fn loss(&self, rebuilt: &Store) -> Result<Loss> {
        let in_use = Store::open_to_read(&self.layout).and_then(|store| store.holdings());
        Ok(match in_use {
            Ok(held) => Loss::between(&held, &rebuilt.holdings()?, &rebuilt.forgotten()?),
            Err(_) => Loss::default(),
        })
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

    /// Every archived file, with the source it is a copy of.
    fn archived(&self) -> Result<Vec<(EntryName, SourceInfo)>> {
        let mut found = Vec::new();
        for entry in self.archive.entries()? {
            let Some(reader) = self.archive.reader(&entry)? else { continue };
            if let Some(info) = reader.info().cloned() {
                found.push((entry, info));
            }
        }
        Ok(found)
    }

    /// Reads an archived file from its beginning, and passes on its rows.
    fn project(
        &self,
        entry: &EntryName,
        info: &SourceInfo,
        redacted: &mut Report,
        steps: &crossbeam_channel::Sender<Result<Step>>,
    ) -> Result<()> {
        let Some(mut reader) = self.archive.reader(entry)? else { return Ok(()) };
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
        if info.kind == SourceKind::Attachment {
            let _ = steps.send(Ok(step(Reads::default(), 0, String::new(), 0)));
            return Ok(());
        }
        let mut projector = Projector::resume(info, entry, None).ok_or(IntakeError::WorkerLost)?;
        for lines in reader.blocks_from(0) {
            let lines = lines?;
            let clean = clean_lines(&mut projector, &self.redactor, &lines, redacted);
            let count = clean.len() as u64;
            let joined = Clean::join(&clean, b'\n');
            let reads = projector.read(&joined, lines.first_line);
            let done =
                step(reads, lines.first_line + count, projector.state(), joined.get().len() as u64);
            if steps.send(Ok(done)).is_err() {
                break;
            }
        }
        Ok(())
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

fn note(report: &mut RebuildReport, entry: &EntryName, redacted: &Report, problem: Option<String>) {
    report.done += 1;
    report.redacted.merge(redacted);
    if let Some(problem) = problem {
        report.problems.push((entry.as_str().to_owned(), problem));
    }
}

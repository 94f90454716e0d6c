//! Imports the files of a plan: workers read and archive, one thread writes, one indexes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use serde::{Serialize, Serializer};
use thru_agents::Source;
use thru_core::{Layout, SessionKey, SourceKind};
use thru_journal::archive::{Archive, EntryName};
use thru_redact::Report;
use thru_store::index::Collection;
use thru_store::{SourceCursor, Store, StoreFile, Written};

use crate::copy::{Shared, copy};
use crate::distil::{DistilProgress, DistilScope};
use crate::loss::OnLoss;
use crate::plan::{Plan, SourceProblem};
use crate::rebuild::RebuildReport;
use crate::sessions::{IndexedSessions, Indexer};
use crate::stages::{Stage, Stages};
use crate::write::{Step, StepWriter};
use crate::{Intake, IntakeError, IntakeLock, Result, indexing};

/// Steps that may wait for the writer. Each is a block of about 1 MiB, which bounds the memory.
const WAITING_STEPS: usize = 8;
/// A commit holds about this much of transcripts …
const COMMIT_BYTES: u64 = 48 * 1024 * 1024;
/// … or as much as arrived in this time. Ids are spread evenly, so every commit rewrites most of their index:
/// few large commits cost far less than many small ones.
const COMMIT_EVERY: Duration = Duration::from_secs(2);
/// The most work that a power cut may undo.
const SYNC_EVERY: Duration = Duration::from_secs(30);

/// Options of an import.
#[derive(Clone, Copy)]
pub struct ImportOptions<'a> {
    /// Returns true if a directory is excluded by settings or project files.
    pub excluded: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Sessions to distil, and to index if they were left.
    pub distil: DistilScope<'a>,
    /// True to bring the text index up to date. It may lag a little behind: readers scan the new rows
    /// themselves, as long as they are few.
    pub index: bool,
}

impl<'a> ImportOptions<'a> {
    /// Returns the options for a complete import.
    pub fn whole(excluded: &'a (dyn Fn(&Path) -> bool + Sync)) -> Self {
        Self { excluded, distil: DistilScope::All, index: true }
    }
}

/// Called with the progress of an import, from the thread that runs it.
pub type Progress<'a> = &'a mut dyn FnMut(&ImportReport);

/// The report of an import, so far or in all.
#[derive(Debug, Default, Serialize)]
pub struct ImportReport {
    /// Bytes of clean records that were read.
    pub bytes: u64,
    /// Files that were read to their end.
    #[serde(rename = "files")]
    pub sources: usize,
    /// Sessions whose transcripts were read to their end.
    pub sessions: usize,
    /// Passages written.
    #[serde(flatten)]
    pub written: Written,
    /// Sessions distilled, and the memories of them.
    #[serde(flatten)]
    pub distilled: DistilProgress,
    /// The outcome for sessions that were left.
    #[serde(skip)]
    pub indexed: IndexedSessions,
    /// Counts of redacted secrets.
    #[serde(flatten, serialize_with = "redactions")]
    pub redacted: Report,
    /// Malformed lines, by kind. They are kept all the same.
    #[serde(rename = "broken_lines")]
    pub diagnostics: BTreeMap<&'static str, u64>,
    /// Sources that could not be read.
    pub problems: Vec<SourceProblem>,
    /// True if the user stopped it.
    pub interrupted: bool,
    /// Time spent per stage.
    #[serde(rename = "stage_seconds")]
    pub stages: Stages,
    /// Total time.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
}

fn redactions<S: Serializer>(report: &Report, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Redactions<'a> {
        redacted: &'a BTreeMap<String, u64>,
        private: u64,
    }
    Redactions { redacted: &report.secrets, private: report.private }.serialize(serializer)
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    time.as_secs_f64().serialize(serializer)
}

impl Intake {
    /// True if the store was lost: there is an archive, and no store or an empty file in its place, or the file is none. The
    /// next writer that has the time makes it again.
    ///
    /// # Errors
    /// Fails if the archive cannot be read.
    pub fn is_lost(layout: &Layout) -> Result<bool> {
        Ok(match Store::file(layout) {
            StoreFile::Database => false,
            StoreFile::Foreign => true,
            StoreFile::None => !Archive::new(layout.archive()).entries()?.is_empty(),
        })
    }

    /// Opens the store for writing. One that is lost is made again first: an empty one in its place would pass for all that
    /// there is. The caller holds the intake lock.
    pub(crate) fn open_store(&self, progress: thru_store::Progress<'_>) -> Result<Store> {
        if Self::is_lost(&self.layout)? {
            let mut report = |report: &RebuildReport| {
                progress("reading the archive", report.done as u64, report.sources as u64);
            };
            self.remake(OnLoss::Refuse, &self.fingerprint, &AtomicBool::new(false), &mut report)?;
        }
        let mut store = Store::open_to_write(&self.layout, self.new_generation(), progress)?;
        if store.redactor()?.is_none() {
            let batch = store.begin()?;
            batch.set_redactor(&self.fingerprint)?;
            batch.commit()?;
        }
        thru_store::index::remove_other_indexes(&self.layout, &store)?;
        Ok(store)
    }

    /// Imports the files of a plan. Prompts in lists that were written in excluded directories are left out.
    /// `cancelled` stops the work between two blocks and keeps everything done so far.
    ///
    /// # Errors
    /// Fails if the store, the index or the archive as a whole cannot be written. Problems with single files
    /// are in the report.
    pub fn import(
        &self,
        _lock: &IntakeLock,
        plan: Plan,
        options: &ImportOptions<'_>,
        cancelled: &AtomicBool,
        migrating: thru_store::Progress<'_>,
        progress: Progress<'_>,
    ) -> Result<ImportReport> {
        let started = Instant::now();
        let mut store = self.open_store(migrating)?;
        self.apply_journal(&mut store)?;
        self.requeue_abandoned(&mut store)?;
        let applied = self.apply_events(&mut store)?;
        let mut report =
            ImportReport { problems: plan.problems.clone(), ..ImportReport::default() };
        let mut projections = self.projections(Indexer::new(self));
        let forgotten: Vec<String> =
            self.forgotten.iter().map(|session| session.id.as_str().to_owned()).collect();
        let job = Job {
            intake: self,
            forgotten,
            excluded: options.excluded,
            cancelled,
            stages: Stages::default(),
            failed: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            problems: Mutex::new(Vec::new()),
            redacted: Mutex::new(Report::default()),
        };
        let (news, heard) = unbounded::<()>();
        let (cleared, to_clear) = unbounded::<Vec<(Collection, i64)>>();

        let rounds = rounds(&plan.sources);

        let outcome = std::thread::scope(|scope| -> Result<()> {
            let stages = &job.stages;
            let following = match options.index {
                true => {
                    let reading = Store::open_to_read(&self.layout)?;
                    let follow =
                        move || indexing::follow(&self.layout, &reading, &heard, &cleared, stages);
                    Some(scope.spawn(follow))
                }
                false => None,
            };
            let mut writing = StepWriter::new(self, &store)?;
            let mut read = HashSet::new();
            for sources in &rounds {
                job.next.store(0, Ordering::Relaxed);
                let (steps, received) = bounded::<Step>(WAITING_STEPS);
                let workers: Vec<_> = (0..self.options.threads.max(1).min(sources.len()))
                    .map(|_| {
                        let (steps, job) = (steps.clone(), &job);
                        scope.spawn(move || job.work(sources, steps))
                    })
                    .collect();
                drop(steps);
                let mut writer = Writer {
                    store: &mut store,
                    writing: &mut writing,
                    read: &mut read,
                    to_clear: &to_clear,
                    news: &news,
                    stages: &job.stages,
                };
                // Owns the receiver: if it fails, no worker waits for it forever.
                let written = writer.run(received, &mut report, progress);
                if written.is_err() {
                    job.failed.store(true, Ordering::Relaxed);
                }
                for worker in workers {
                    worker.join().map_err(|_| IntakeError::WorkerLost)??;
                }
                written?;
            }
            stages.time(Stage::Store, || self.settle_events(&mut store, applied))?;
            projections.episodes.unreadable = unreadable_sessions(&plan.sources, &job);
            self.close_inactive(&mut store)?;
            self.see_commits(&mut store)?;
            self.mark_indexing(&mut store, options.distil)?;
            let distilled = self.distil(
                &mut store,
                options.distil,
                &projections,
                cancelled,
                stages,
                &mut |distilled| {
                    report.distilled = distilled;
                    let _ = news.send(());
                    progress(&report);
                },
            );
            // Before the error is returned: the indexer waits until this is dropped.
            drop(news);
            report.distilled = distilled?;
            if !cancelled.load(Ordering::Relaxed) {
                self.index_queued(&mut store, options.distil, &projections.episodes)?;
            }
            match following {
                Some(following) => following.join().map_err(|_| IntakeError::WorkerLost)?,
                None => Ok(()),
            }
        });
        outcome?;
        clear(&mut store, to_clear.try_iter())?;
        report.indexed = projections.episodes.finish();
        report.problems.extend(job.problems.into_inner().unwrap_or_default());
        report.redacted = job.redacted.into_inner().unwrap_or_default();
        report.stages = job.stages;
        report.interrupted = cancelled.load(Ordering::Relaxed);
        report.elapsed = started.elapsed();
        Ok(report)
    }
}

/// The sessions with unreadable files, and the problem of each.
fn unreadable_sessions(sources: &[Source], job: &Job<'_>) -> HashMap<SessionKey, String> {
    let Ok(problems) = job.problems.lock() else { return HashMap::new() };
    let of_path: HashMap<&Path, &Source> =
        sources.iter().map(|source| (source.path.as_path(), source)).collect();
    let unreadable = problems.iter().filter_map(|problem| {
        let source = of_path.get(problem.path.as_path())?;
        let key = SessionKey { agent: source.agent, id: source.session.clone() };
        Some((key, problem.message.clone()))
    });
    unreadable.collect()
}

/// The state that the workers of one import share.
struct Job<'a> {
    intake: &'a Intake,
    forgotten: Vec<String>,
    excluded: &'a (dyn Fn(&Path) -> bool + Sync),
    cancelled: &'a AtomicBool,
    stages: Stages,
    failed: AtomicBool,
    /// The next file to take.
    next: AtomicUsize,
    problems: Mutex<Vec<SourceProblem>>,
    redacted: Mutex<Report>,
}

impl Job<'_> {
    /// Copies one file after another until none is left.
    fn work(&self, sources: &[&Source], steps: Sender<Step>) -> Result<()> {
        let shared = Shared {
            archive: &self.intake.archive,
            redactor: &self.intake.redactor,
            verbatim: self.intake.options.verbatim,
            forgotten: &self.forgotten,
            excluded: self.excluded,
            stages: &self.stages,
            cancelled: self.cancelled,
            steps,
        };
        let mut compressor = self.intake.archive.compressor()?;
        let known = Store::open_to_read(&self.intake.layout)?;
        let cursor = |entry: &EntryName| -> Result<SourceCursor> {
            Ok(known.cursor(entry.as_str())?.unwrap_or_default())
        };
        while !self.cancelled.load(Ordering::Relaxed) && !self.failed.load(Ordering::Relaxed) {
            let Some(source) = sources.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            match copy(&shared, &mut compressor, source, cursor) {
                Ok(report) => {
                    if let Ok(mut all) = self.redacted.lock() {
                        all.merge(&report);
                    }
                }
                Err(error) if is_of_one_source(&error) => {
                    if let Ok(mut problems) = self.problems.lock() {
                        problems.push(SourceProblem {
                            path: source.path.clone(),
                            message: error.to_string(),
                        });
                    }
                }
                Err(error) => {
                    self.failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// The thread that writes to the store.
struct Writer<'a, 'b> {
    store: &'a mut Store,
    writing: &'a mut StepWriter<'b>,
    /// The sessions with a transcript that was read to its end.
    read: &'a mut HashSet<SessionKey>,
    to_clear: &'a Receiver<Vec<(Collection, i64)>>,
    news: &'a Sender<()>,
    stages: &'a Stages,
}

impl Writer<'_, '_> {
    /// Writes the workers' steps until they are done.
    fn run(
        &mut self,
        received: Receiver<Step>,
        report: &mut ImportReport,
        progress: Progress<'_>,
    ) -> Result<()> {
        let mut synced = Instant::now();
        while let Ok(first) = received.recv() {
            if synced.elapsed() >= SYNC_EVERY {
                self.writing.settle(self.store)?;
                synced = Instant::now();
            }
            let opened = Instant::now();
            let mut bytes = 0;
            let mut batch = self.store.begin()?;
            for rows in self.to_clear.try_iter() {
                batch.clear_retired(&rows)?;
            }
            let mut next = Some(first);
            while let Some(step) = next {
                let written =
                    self.stages.time(Stage::Store, || self.writing.write(&mut batch, &step))?;
                bytes += step.bytes;
                report.written.passages += written.passages;
                report.written.amended += written.amended;
                report.written.copies += written.copies;
                for diagnostic in step.diagnostics() {
                    *report.diagnostics.entry(diagnostic.kind).or_default() += diagnostic.count;
                }
                if step.stamp.is_some() {
                    report.sources += 1;
                    if step.info.kind == SourceKind::Main {
                        let (agent, id) = (step.info.agent, step.info.session.clone());
                        self.read.insert(SessionKey { agent, id });
                        report.sessions = self.read.len();
                    }
                }
                next = if bytes < COMMIT_BYTES && opened.elapsed() < COMMIT_EVERY {
                    received.recv_timeout(Duration::from_millis(2)).ok()
                } else {
                    None
                };
            }
            self.stages.time(Stage::Store, || batch.commit())?;
            report.bytes += bytes;
            // The indexer is gone only if it failed, and then its own error is returned.
            let _ = self.news.send(());
            progress(report);
        }
        self.writing.settle(self.store)
    }
}

/// The files in reading order, in rounds. Files with one name in the archive (snapshots of a session, say) are
/// in different rounds, so that each sees the outcome of the one before it. Lists of prompts come last, because
/// they must see which sessions have transcripts.
fn rounds(sources: &[Source]) -> Vec<Vec<&Source>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut rounds = [Vec::<Vec<&Source>>::new(), Vec::new()];
    for source in sources {
        let round = seen.entry(&source.archive_name).or_default();
        let rounds = &mut rounds[usize::from(source.kind == SourceKind::PromptHistory)];
        if rounds.len() <= *round {
            rounds.resize(*round + 1, Vec::new());
        }
        rounds[*round].push(source);
        *round += 1;
    }
    rounds.into_iter().flatten().collect()
}

/// Clears the marks of replaced rows that the index no longer holds.
pub(crate) fn clear(
    store: &mut Store,
    rows: impl Iterator<Item = Vec<(Collection, i64)>>,
) -> Result<()> {
    let rows: Vec<(Collection, i64)> = rows.flatten().collect();
    if rows.is_empty() {
        return Ok(());
    }
    let batch = store.begin()?;
    batch.clear_retired(&rows)?;
    batch.commit()?;
    Ok(())
}

/// Returns true if the error concerns one file and the others can go on.
fn is_of_one_source(error: &IntakeError) -> bool {
    match error {
        IntakeError::Io { source, .. } => source.kind() != std::io::ErrorKind::StorageFull,
        IntakeError::Journal(error) => !matches!(
            error,
            thru_journal::Error::DiskFull { .. } | thru_journal::Error::ReadOnly { .. }
        ),
        _ => false,
    }
}

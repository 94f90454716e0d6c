//! From passages to memories: every session that has something new is distilled again as a whole.
//!
//! Which sessions those are is noted in the store, in the transaction that changed them; the note goes
//! in the transaction that writes their memories. Killed in between, the next run goes on.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thru_core::{
    Access, Distillate, FileState, Id, MemoryDecision, MemoryEdit, Observation, Summary,
};
use thru_distil::{Distiller, Moment, wants_text};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{NewMemory, PassageFilter, SessionFilter, Store};

use crate::stages::{Stage, Stages};
use crate::{Intake, IntakeError, Result};

/// A commit holds at most the memories of this time.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// Sessions that wait for the writer.
const WAITING: usize = 64;

/// What distilling made of one session.
struct Distilled {
    session: i64,
    memories: Clean<Vec<NewMemory>>,
    title: Option<String>,
}

/// How distilling gets on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DistilProgress {
    /// Sessions that were distilled.
    pub sessions: usize,
    /// Sessions to be distilled in all.
    pub of: usize,
    /// Memories of those sessions.
    pub memories: u64,
}

impl Intake {
    /// Distils what is new, in this thread's own time.
    pub(crate) fn distil_stale(&self, store: &mut Store) -> Result<DistilProgress> {
        let never = AtomicBool::new(false);
        self.distil(store, &never, &Stages::default(), &mut |_| {})
    }

    /// Distils every session that has something new. `committed` is told after each commit.
    pub(crate) fn distil(
        &self,
        store: &mut Store,
        cancelled: &AtomicBool,
        stages: &Stages,
        committed: &mut dyn FnMut(DistilProgress),
    ) -> Result<DistilProgress> {
        let mut progress = DistilProgress::default();
        if !self.options.distil {
            return Ok(progress);
        }
        if store.distiller()? != Some(thru_distil::VERSION) {
            let batch = store.begin()?;
            batch.distil_all_again()?;
            batch.set_distiller(thru_distil::VERSION)?;
            batch.commit()?;
        }
        let sessions = store.stale_sessions()?;
        progress.of = sessions.len();
        if sessions.is_empty() {
            return Ok(progress);
        }
        let readers = (0..self.options.threads.clamp(1, sessions.len()))
            .map(|_| store.reader())
            .collect::<thru_store::Result<Vec<_>>>()?;
        let decisions = store.memory_decisions()?;
        let next = AtomicUsize::new(0);
        let (done, distilled) = bounded::<Distilled>(WAITING);
        std::thread::scope(|scope| -> Result<()> {
            let workers: Vec<_> = readers
                .into_iter()
                .map(|reader| {
                    let worker = Worker {
                        store: reader,
                        redactor: &self.redactor,
                        decisions: &decisions,
                        stages,
                        cancelled,
                    };
                    let (sessions, next, done) = (&sessions, &next, done.clone());
                    scope.spawn(move || worker.work(sessions, next, &done))
                })
                .collect();
            drop(done);
            // Taken along: when writing fails, no worker waits for a place in the queue for ever.
            let distilled = distilled;
            while let Ok(first) = distilled.recv() {
                let opened = Instant::now();
                let mut batch = store.begin()?;
                let mut next = Some(first);
                while let Some(one) = next {
                    stages.time(Stage::Store, || {
                        batch.put_memories(one.session, one.title.as_deref(), &one.memories)
                    })?;
                    progress.sessions += 1;
                    progress.memories += one.memories.get().len() as u64;
                    next = match opened.elapsed() < COMMIT_EVERY {
                        true => distilled.recv_timeout(Duration::from_millis(2)).ok(),
                        false => None,
                    };
                }
                stages.time(Stage::Store, || batch.commit())?;
                committed(progress);
            }
            drop(distilled);
            for worker in workers {
                worker.join().map_err(|_| IntakeError::WorkerLost)??;
            }
            Ok(())
        })?;
        Ok(progress)
    }
}

/// What one thread distils with.
struct Worker<'a> {
    store: Store,
    redactor: &'a Redactor,
    decisions: &'a HashMap<Id, MemoryDecision>,
    stages: &'a Stages,
    cancelled: &'a AtomicBool,
}

/// When a passage changed a file, and the hash of what it wrote, where that was all of the file.
type Change = (Option<thru_core::Timestamp>, Option<Id>);

impl Worker<'_> {
    /// Distils one session after the other until there are no more.
    fn work(&self, sessions: &[i64], next: &AtomicUsize, done: &Sender<Distilled>) -> Result<()> {
        while !self.cancelled.load(Ordering::Relaxed) {
            let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let distilled = self.stages.time(Stage::Distil, || self.session(*session))?;
            if done.send(distilled).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn session(&self, row: i64) -> Result<Distilled> {
        let filter = SessionFilter { rows: Some(vec![row]), ..SessionFilter::default() };
        let Some(session) = self.store.sessions(&filter)?.pop() else {
            let memories = cleaned(self.redactor, &Vec::<Observation>::new())?.map(|_| Vec::new());
            return Ok(Distilled { session: row, memories, title: None });
        };
        let kept_apart: BTreeSet<Id> = self
            .decisions
            .iter()
            .filter(|(_, decision)| decision.kept_apart)
            .map(|(id, _)| *id)
            .collect();
        let mut distiller = Distiller::new(&session.key, &session.facts, kept_apart);
        let mut changes: HashMap<(Id, String), Change> = HashMap::new();
        let mut touches = self.store.touches_of_session(row)?;
        for passage in self.store.passages(PassageFilter::Session(row))? {
            let wants_text = wants_text(
                passage.kind,
                passage.tool.as_deref(),
                passage.outcome,
                passage.agent_id.is_some(),
            );
            let text = if wants_text { self.store.text_of(&passage)? } else { String::new() };
            let touched = touches.remove(&passage.row).unwrap_or_default();
            for touch in touched.iter().filter(|touch| touch.file.access == Access::Modified) {
                changes.insert((passage.id, touch.file.path.clone()), (passage.at, touch.content));
            }
            distiller.add(Moment {
                length: passage.length(),
                id: passage.id,
                turn: passage.turn,
                kind: passage.kind,
                is_subagent: passage.agent_id.is_some(),
                tool: passage.tool,
                command: passage.command,
                outcome: passage.outcome,
                at: passage.at,
                files: touched.into_iter().map(|touch| touch.file).collect(),
                text,
            });
        }
        let distillate = self.decide(distiller.finish());
        let title = distillate.summary.as_ref().map(|summary| summary.title.clone());
        let observations = cleaned(self.redactor, &distillate.observations)?;
        let summary = cleaned(self.redactor, &distillate.summary)?;
        let title = cleaned(self.redactor, &title)?.into_inner();
        let mut memories = observations.map(|observations| {
            observations
                .iter()
                .map(|observation| {
                    let is_edited = self
                        .decisions
                        .get(&observation.id)
                        .is_some_and(|decision| decision.edit != MemoryEdit::default());
                    NewMemory::observation(
                        observation,
                        is_edited,
                        files_of_observation(observation, &changes),
                    )
                })
                .collect::<Vec<_>>()
        });
        if let Some(summary) = summary.into_inner() {
            let of_summary = NewMemory::summary(&summary, files_of_summary(&summary));
            memories = memories.map(|mut memories| {
                memories.push(of_summary);
                memories
            });
        }
        Ok(Distilled { session: row, memories, title })
    }

    /// What people decided about memories, over what was distilled.
    fn decide(&self, mut distillate: Distillate) -> Distillate {
        if self.decisions.is_empty() {
            return distillate;
        }
        let is_forgotten =
            |id: &Id| self.decisions.get(id).is_some_and(|decision| decision.forgotten);
        distillate.observations.retain(|observation| !is_forgotten(&observation.id));
        for observation in &mut distillate.observations {
            if let Some(decision) = self.decisions.get(&observation.id) {
                decision.edit.apply(observation);
            }
        }
        distillate.summary = distillate.summary.filter(|summary| !is_forgotten(&summary.id));
        distillate
    }
}

/// A value whose every text went through the redactor. The passages that it was made from were clean
/// when they were stored; the rules may be newer.
pub(crate) fn cleaned<T: Serialize + DeserializeOwned>(
    redactor: &Redactor,
    value: &T,
) -> Result<Clean<T>> {
    let written = serde_json::to_value(value).map_err(|_| IntakeError::WorkerLost)?;
    let clean = redactor.clean_value(written, &mut Report::default());
    // Ids and numbers are no secrets, so what was written can be read.
    let read = serde_json::from_value(clean.get().clone()).map_err(|_| IntakeError::WorkerLost)?;
    Ok(clean.map(|_| read))
}

/// The files of an observation, with what is known of each when its session last changed it here.
fn files_of_observation(
    observation: &Observation,
    changes: &HashMap<(Id, String), Change>,
) -> Vec<FileState> {
    let modified = observation.files_modified.iter().map(|path| {
        let last = observation
            .sources
            .iter()
            .rev()
            .find_map(|source| changes.get(&(*source, path.clone())));
        let (at, content) = last.copied().unwrap_or((observation.at, None));
        FileState { path: path.clone(), modified: true, at, content }
    });
    let read = observation
        .files_read
        .iter()
        .filter(|path| !observation.files_modified.contains(path))
        .map(|path| FileState {
            path: path.clone(),
            modified: false,
            at: observation.at,
            content: None,
        });
    modified.chain(read).collect()
}

fn files_of_summary(summary: &Summary) -> Vec<FileState> {
    let files = summary.digest.files.iter();
    files
        .map(|path| FileState { path: path.clone(), modified: true, at: summary.at, content: None })
        .collect()
}

//! From passages to memories: every session with something new is distilled again as a whole.
//!
//! Those sessions are marked in the store by the transaction that changes them; the mark is removed by the
//! transaction that writes their memories. A run that is killed in between is resumed by the next one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use serde::Serialize;
use thru_core::{
    Access, FileState, Id, Observation, Outcome, SessionKey, Speaker, Statement, Summary,
    TITLE_LENGTH, Timestamp, cut,
};
use thru_distil::{Distiller, Moment, UNTITLED, title_of_request, wants_text};
use thru_graph::{FileEdit, Opening, SessionCourse, file_edit, makes_facts};
use thru_lifecycle::Indexing;
use thru_lifecycle::content::{ContentHasher, Message};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{JobKind, NewMemory, NewOpening, NewTurn, PassageFilter, Store, Touch};

use crate::overlay::{MemoryDecisions, Models, Overlay, TurnContent, is_edited};
use crate::projection::{Projections, SessionContent};
use crate::stages::{Stage, Stages};
use crate::{Intake, IntakeError, Result};

/// Longest time between two commits.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// Distilled sessions that may wait for the writer.
const WAITING: usize = 64;

/// The result of distilling one session.
enum Distilled {
    /// Its content.
    Done(Box<SessionContent>),
    /// A bug of ours prevented it; the session's row.
    Failed(i64),
}

/// The choice of sessions to distil, among those with something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistilScope<'a> {
    /// All of them.
    All,
    /// All of them, until this time is over.
    AllWithin(Duration),
    /// Those whose last turn has ended, and those waiting to be indexed. Others will soon have more.
    Finished {
        /// The time after which no further session is begun: the rest is left to the next run, so that others can write
        /// while a whole home is distilled again.
        within: Duration,
    },
    /// The given ones, because a caller asked for them.
    These(&'a [SessionKey]),
}

/// Progress of distilling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DistilProgress {
    /// Sessions that were distilled.
    #[serde(rename = "distilled_sessions")]
    pub sessions: usize,
    /// Sessions to distil in all.
    #[serde(skip)]
    pub of: usize,
    /// Memories of those sessions.
    pub memories: u64,
    /// Sessions that a bug of ours kept from being distilled; they are tried again.
    #[serde(rename = "not_distilled")]
    pub failed: usize,
}

impl DistilProgress {
    /// True while there are sessions that were not distilled: at the end, because there was no time for them.
    pub const fn is_unfinished(&self) -> bool {
        self.sessions < self.of
    }
}

impl Intake {
    /// Distils the sessions with something new, and indexes those that were left in the same transaction. Calls
    /// `committed` after each commit.
    pub(crate) fn distil(
        &self,
        store: &mut Store,
        scope: DistilScope<'_>,
        projections: &Projections<'_>,
        cancelled: &AtomicBool,
        stages: &Stages,
        committed: &mut dyn FnMut(DistilProgress),
    ) -> Result<DistilProgress> {
        let mut progress = DistilProgress::default();
        if !self.options.distil {
            return Ok(progress);
        }
        projections.settle_versions(store)?;
        let sessions = self.to_distil(store, scope)?;
        progress.of = sessions.len();
        if sessions.is_empty() {
            projections.settle(store)?;
            return Ok(progress);
        }
        let readers = (0..self.options.threads.clamp(1, sessions.len()))
            .map(|_| store.reader())
            .collect::<thru_store::Result<Vec<_>>>()?;
        let decisions = store.memory_decisions()?;
        let until = match scope {
            DistilScope::Finished { within } | DistilScope::AllWithin(within) => {
                Instant::now().checked_add(within)
            }
            DistilScope::All | DistilScope::These(_) => None,
        };
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
                        until,
                    };
                    let (sessions, next, done) = (&sessions, &next, done.clone());
                    scope.spawn(move || worker.work(sessions, next, &done))
                })
                .collect();
            drop(done);
            // Moved in: if writing fails, no worker blocks forever on a full queue.
            let distilled = distilled;
            while let Ok(first) = distilled.recv() {
                let opened = Instant::now();
                let mut batch = store.begin()?;
                let mut next = Some(first);
                while let Some(one) = next {
                    progress.sessions += 1;
                    match one {
                        Distilled::Done(content) => {
                            progress.memories += content.memories.get().len() as u64;
                            stages.time(Stage::Store, || {
                                projections
                                    .all()
                                    .try_for_each(|one| one.replace(&mut batch, &content))
                            })?;
                        }
                        // It stays marked, and is tried again.
                        Distilled::Failed(session) => {
                            progress.failed += 1;
                            projections.episodes.not_distilled(&batch, session)?;
                        }
                    }
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
        // What many sessions share is completed once, after the last of them.
        if !progress.is_unfinished() {
            stages.time(Stage::Store, || projections.settle(store))?;
        }
        Ok(progress)
    }
}

impl Intake {
    /// Lists the sessions to distil now.
    fn to_distil(&self, store: &Store, scope: DistilScope<'_>) -> Result<Vec<i64>> {
        let mut sessions = store.stale_sessions()?;
        let now = self.clock.now();
        // Failed sessions are tried again when they are due.
        let (mut due, mut failed) = (HashSet::new(), HashSet::new());
        for job in store.jobs()?.into_iter().filter(|job| job.kind == Some(JobKind::Index)) {
            if job.is_due(now) {
                due.insert(job.session);
            } else if store
                .session_state(job.session)?
                .is_some_and(|state| state.indexing == Indexing::Failed)
            {
                failed.insert(job.session);
            }
        }
        sessions.retain(|session| !failed.contains(session));
        match scope {
            DistilScope::All | DistilScope::AllWithin(_) => return Ok(sessions),
            DistilScope::These(asked) => {
                let asked = rows_of(store, asked)?;
                sessions.retain(|session| asked.contains(session));
                return Ok(sessions);
            }
            DistilScope::Finished { .. } => {}
        }
        let mut wanted = Vec::new();
        for session in sessions {
            let is_wanted = due.contains(&session)
                || store.session_state(session)?.is_some_and(|state| {
                    let conversation = state.lifecycle.at(now, &self.options.limits);
                    conversation.is_none_or(|conversation| conversation.turn().is_none())
                });
            if is_wanted {
                wanted.push(session);
            }
        }
        Ok(wanted)
    }
}

/// The rows of the sessions that the store knows.
pub(crate) fn rows_of(store: &Store, sessions: &[SessionKey]) -> Result<HashSet<i64>> {
    let rows = sessions.iter().map(|session| store.session_by_key(session));
    Ok(rows.filter_map(thru_store::Result::transpose).collect::<thru_store::Result<_>>()?)
}

/// The tools of one worker thread.
struct Worker<'a> {
    store: Store,
    redactor: &'a Redactor,
    decisions: &'a MemoryDecisions,
    stages: &'a Stages,
    cancelled: &'a AtomicBool,
    /// The time after which no further session is begun.
    until: Option<Instant>,
}

/// The time at which a passage changed a file, and the hash of the content if it wrote the whole file.
type Change = (Option<thru_core::Timestamp>, Option<Id>);

impl Worker<'_> {
    /// Distils one session after another until none is left.
    fn work(&self, sessions: &[i64], next: &AtomicUsize, done: &Sender<Distilled>) -> Result<()> {
        while !self.cancelled.load(Ordering::Relaxed) {
            let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            // Distilling reads arbitrary text. A bug that one session triggers must not keep all others, and
            // every decision of people, from being brought in.
            let outcome = self.stages.time(Stage::Distil, || {
                std::panic::catch_unwind(AssertUnwindSafe(|| self.session(*session)))
            });
            let distilled = match outcome {
                Ok(content) => Distilled::Done(Box::new(content?)),
                Err(_) => Distilled::Failed(*session),
            };
            let is_over = self.until.is_some_and(|until| Instant::now() >= until);
            if done.send(distilled).is_err() || is_over {
                break;
            }
        }
        Ok(())
    }

    fn session(&self, row: i64) -> Result<SessionContent> {
        let Some(session) = self.store.session(row)? else {
            return Ok(SessionContent {
                session: row,
                memories: Clean::default(),
                title: None,
                openings: Clean::default(),
                content: ContentHasher::new().finish(),
                turns: Vec::new(),
            });
        };
        let mut content = ContentHasher::new();
        let mut turns: BTreeMap<u32, TurnSoFar> = BTreeMap::new();
        let kept_apart = kept_apart(self.decisions);
        let mut distiller = Distiller::new(&session.key, &session.facts, kept_apart);
        let mut changes: HashMap<(Id, String), Change> = HashMap::new();
        let mut last_changes: HashMap<String, Change> = HashMap::new();
        let mut touches = self.store.touches_of_session(row)?;
        let refinements = self.store.refinements(row)?;
        let mut edits: Vec<FileEdit> = Vec::new();
        // The turn of each passage, for answers of models that name passages.
        let mut turn_of: HashMap<Id, u32> = HashMap::new();
        for passage in self.store.passages(PassageFilter::Session(row))? {
            let wants_text = wants_text(
                passage.kind,
                passage.tool.as_deref(),
                passage.outcome,
                passage.agent_id.is_some(),
            );
            let is_subagent = passage.agent_id.is_some();
            let wants_text = wants_text || passage.kind.is_prose() && !is_subagent;
            let text = if wants_text { self.store.text_of(&passage)? } else { String::new() };
            let touched = touches.remove(&passage.row).unwrap_or_default();
            let message = Message {
                kind: passage.kind,
                is_subagent,
                text: &text,
                tool: passage.tool.as_deref(),
                command: passage.command.as_deref(),
                outcome: passage.outcome,
                files: touched.iter().map(|touch| touch.file.path.as_str()),
            };
            content.add(message.clone());
            if !refinements.is_empty() {
                turn_of.insert(passage.id, passage.turn);
            }
            turns.entry(passage.turn).or_default().add(message, passage.length(), passage.at);
            let is_failed = passage.outcome == Some(Outcome::Failed);
            let is_change = |touch: &&Touch| touch.file.access == Access::Modified && !is_failed;
            for touch in touched.iter().filter(is_change) {
                let change = (passage.at, touch.content);
                changes.insert((passage.id, touch.file.path.clone()), change);
                last_changes.insert(touch.file.path.clone(), change);
                if makes_facts(&touch.file.path) {
                    let whole =
                        if text.is_empty() { &self.store.text_of(&passage)? } else { &text };
                    edits.extend(file_edit(passage.id, &touch.file.path, whole));
                }
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
        distiller.add_commits(self.store.seen_commits(row)?);
        let content = content.finish();
        let turns: Vec<NewTurn> =
            turns.into_iter().map(|(number, turn)| turn.finish(number)).collect();
        let is_named = session.facts.user_title.is_some();
        let contents: Vec<TurnContent> = turns.iter().map(TurnContent::from_turn).collect();
        let models =
            Models::from_rows(&session.key, &refinements, Some(content.hash), &contents, &turn_of);
        let (distillate, steps) = distiller.finish_with_steps();
        let mut overlay = models.over(&session.key, is_named, distillate, self.decisions);
        decide(self.decisions, &mut overlay);
        // The passages were clean when they were stored; the rules may be newer.
        let overlay = self.redactor.clean_texts(overlay, Overlay::texts, &mut Report::default());
        let title = overlay.get().title().map(str::to_owned);
        let openings = thru_graph::extract(&SessionCourse {
            key: &session.key,
            title: session.facts.user_title.as_deref().or(title.as_deref()),
            directory: session.facts.directory.as_deref(),
            first_branch: session.facts.first_branch.as_deref(),
            branch: session.facts.branch.as_deref(),
            steps: &steps,
            edits: &edits,
            observations: overlay.get().distilled(),
            refined: overlay.get().refined(),
        });
        let texts = |openings: &mut Vec<Opening>, each: &mut dyn FnMut(&mut String)| {
            openings.iter_mut().for_each(|opening| opening.texts(each));
        };
        let openings = self.redactor.clean_texts(openings, texts, &mut Report::default());
        let openings = openings.map(|openings| openings.iter().map(stored_opening).collect());
        let memories = overlay.map(|overlay| {
            let observation = |observation: &Observation| {
                let files = files_of_observation(observation, &changes);
                let is_edited = is_edited(self.decisions, &observation.id);
                NewMemory::observation(observation, is_edited, files)
            };
            let summary = |summary: &Summary| {
                NewMemory::summary(summary, files_of_summary(summary, &last_changes))
            };
            overlay.memories(&observation, &summary)
        });
        Ok(SessionContent { session: row, title, memories, openings, content, turns })
    }
}

fn stored_opening(opening: &Opening) -> NewOpening {
    // Plain data: serialising it as JSON cannot fail.
    let body = serde_json::to_string(opening).unwrap_or_default();
    NewOpening { fold: opening.key.hash(), body }
}

/// Returns the observations that must not be merged into others.
pub(crate) fn kept_apart(decisions: &MemoryDecisions) -> BTreeSet<Id> {
    decisions
        .iter()
        // An overwritten one must not vanish into another either.
        .filter(|(_, decision)| decision.kept_apart || !decision.edit.is_empty())
        .map(|(id, _)| *id)
        .collect()
}

/// Applies people's decisions to distilled memories and those of models. Returns the observations that must no
/// longer be shown: the forgotten ones, and the reworded ones as they were.
pub(crate) fn decide(decisions: &MemoryDecisions, overlay: &mut Overlay) -> Vec<Observation> {
    if decisions.is_empty() {
        return Vec::new();
    }
    let forgotten: HashSet<Id> = overlay
        .ids()
        .filter(|id| {
            overlay.is_forgotten(id) || decisions.get(id).is_some_and(|decision| decision.forgotten)
        })
        .collect();
    let unwanted: Vec<Observation> = overlay
        .observations()
        .filter(|one| {
            let decision = decisions.get(&one.id);
            forgotten.contains(&one.id)
                || decision.is_some_and(|decision| decision.edit.rewords(one))
                || overlay.is_overwritten(&one.id)
        })
        .cloned()
        .collect();
    overlay.retain(|id| !forgotten.contains(id));
    for observation in overlay.observations_mut() {
        if let Some(decision) = decisions.get(&observation.id) {
            decision.edit.apply(observation);
        }
        // The words are shared by what a turn gave: they go with the first of it that goes.
        let is_wanted = |said: &Statement| !says_any(said, &unwanted);
        observation.asked = observation.asked.take().filter(is_wanted);
        observation.report = observation.report.take().filter(is_wanted);
    }
    let edited = overlay.observations().filter(|one| is_edited(decisions, &one.id));
    let edited: Vec<Observation> = edited.cloned().collect();
    overlay.change_summaries(|summary| without(summary, &unwanted, &edited));
    unwanted
}

/// The state of a turn while its passages are read.
#[derive(Default)]
struct TurnSoFar {
    content: ContentHasher,
    bytes: u64,
    at: Option<Timestamp>,
}

impl TurnSoFar {
    fn add<'a>(
        &mut self,
        message: Message<'a, impl IntoIterator<Item = &'a str>>,
        bytes: u64,
        at: Option<Timestamp>,
    ) {
        self.content.add(message);
        self.bytes += bytes;
        self.at = self.at.max(at);
    }

    fn finish(self, turn: u32) -> NewTurn {
        // The same count as `estimated_tokens`, without reading the text.
        NewTurn {
            turn,
            content: self.content.finish(),
            tokens: self.bytes.div_ceil(4),
            at: self.at,
        }
    }
}

/// The files of an observation, each with its state at the last change that its session made here.
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

fn files_of_summary(summary: &Summary, changes: &HashMap<String, Change>) -> Vec<FileState> {
    let files = summary.digest.files.iter();
    files
        .map(|path| {
            let (at, content) = changes.get(path).copied().unwrap_or((summary.at, None));
            FileState { path: path.clone(), modified: true, at, content }
        })
        .collect()
}

/// Returns true if a statement says the same as one of these, or comes from the same words of a person.
pub(crate) fn says_any(statement: &Statement, observations: &[Observation]) -> bool {
    observations.iter().any(|observation| {
        let is_from_person = observation.speaker == Speaker::Person;
        let mut words = observation.narrative.iter().chain(&observation.report);
        let same_words =
            observation.title == statement.text || words.any(|said| said.text == statement.text);
        let same_source =
            statement.sources.iter().any(|source| observation.sources.contains(source));
        same_words || is_from_person && same_source
    })
}

/// Returns true if a title is one of an observation, or its words.
fn is_named_in(title: &str, observation: &Observation) -> bool {
    let title = title.trim_matches(['“', '”', '…', '.']).to_lowercase();
    let mut words = observation.statements().map(|statement| statement.text.as_str());
    let is_held = |text: &str| text.to_lowercase().contains(&title);
    is_held(&observation.title) || words.any(is_held)
}

/// Removes unwanted statements from a summary: those that say the same, or that come from the same words of a
/// person. A title that an edited observation shared becomes the one that it has now.
fn without(mut summary: Summary, unwanted: &[Observation], edited: &[Observation]) -> Summary {
    if unwanted.is_empty() {
        return summary;
    }
    let is_wanted = |statement: &Statement| !says_any(statement, unwanted);
    for digest in std::iter::once(&mut summary.digest)
        .chain(summary.turns.iter_mut().map(|(_, digest)| digest))
    {
        digest.request = digest.request.take().filter(is_wanted);
        for statements in digest.lists_mut() {
            statements.retain(is_wanted);
        }
    }
    let mut named = unwanted.iter().filter(|one| is_named_in(&summary.title, one)).peekable();
    if named.peek().is_some() {
        let now = named.find_map(|old| edited.iter().find(|new| new.id == old.id));
        let digest = &summary.digest;
        let done = || digest.completed.first().map(|done| cut(&done.text, TITLE_LENGTH));
        let asked = || digest.request.as_ref().and_then(|asked| title_of_request(&asked.text));
        let title = |one: &Observation| Some(one.title.clone()).filter(|title| !title.is_empty());
        summary.title = now
            .and_then(title)
            .or_else(done)
            .or_else(asked)
            .or_else(|| edited.iter().find_map(title))
            .unwrap_or_else(|| UNTITLED.to_owned());
    }
    summary
}

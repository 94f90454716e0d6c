//! The plan of an import, made from names, sizes and times only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde::{Serialize, Serializer};
use thru_agents::{Discovery, Source, agents};
use thru_core::{Agent, SessionKey, SourceKind};
use thru_journal::archive::EntryName;
use thru_store::{SourceStamp, Stamped, Store};

use crate::{Intake, IntakeError, Result};

/// Up to this many files are looked up one by one; beyond it, all known stamps are read at once.
const FEW: usize = 1_000;

/// A problem with one file that a person may want to know about. The rest goes on without the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceProblem {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub message: String,
}

/// The work that an import would do.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// Files with something new, in the order in which they are read: newest sessions first.
    #[serde(rename = "files", serialize_with = "number")]
    pub sources: Vec<Source>,
    /// New bytes in them, as far as known.
    pub bytes: u64,
    /// Number of sessions that they belong to.
    pub sessions: usize,
    /// The share of each agent with something new.
    #[serde(skip)]
    pub shares: BTreeMap<Agent, Share>,
    /// Files that have not changed since they were last read.
    pub unchanged: usize,
    /// Files excluded by the settings, or of forgotten sessions.
    pub left_out: usize,
    /// Files that could not be examined.
    pub problems: Vec<SourceProblem>,
}

fn number<S: Serializer>(sources: &[Source], serializer: S) -> Result<S::Ok, S::Error> {
    sources.len().serialize(serializer)
}

/// The part of a plan that one agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Files with something new.
    pub files: usize,
    /// Number of sessions that they belong to.
    pub sessions: usize,
    /// New bytes in them, as far as known.
    pub bytes: u64,
}

impl Plan {
    /// Returns true if there is nothing to import.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

impl Intake {
    /// Compares discovered files with the known ones. Of files with something new it opens the beginnings,
    /// and only if the name does not tell all about a file, or `excluded` may apply to the directory of its
    /// session.
    ///
    /// # Errors
    /// Fails if an existing store cannot be read.
    pub fn plan(
        &self,
        discovery: Discovery,
        excluded: Option<&dyn Fn(&std::path::Path) -> bool>,
    ) -> Result<Plan> {
        let store = Store::open_if_there(&self.layout)?;
        self.plan_beside(store.as_ref(), discovery, excluded)
    }

    /// [`Intake::plan`] with the store of this home at hand, if there is one.
    ///
    /// # Errors
    /// See [`Intake::plan`].
    pub fn plan_beside(
        &self,
        store: Option<&Store>,
        discovery: Discovery,
        excluded: Option<&dyn Fn(&std::path::Path) -> bool>,
    ) -> Result<Plan> {
        let stamps = match store {
            Some(store) if discovery.sources.len() > FEW => store.stamps()?,
            Some(store) => stamps_of(store, &discovery.sources)?,
            None => HashMap::new(),
        };
        let mut plan = Plan::default();
        plan.problems.extend(
            discovery
                .problems
                .into_iter()
                .map(|problem| SourceProblem { path: problem.path, message: problem.message }),
        );
        let mut sources = Vec::new();
        let unchanged = self.unchanged(&discovery.sources, &stamps)?;
        for (mut source, is_unchanged) in discovery.sources.into_iter().zip(unchanged) {
            if self.is_forgotten(&source) {
                plan.left_out += 1;
                continue;
            }
            if is_unchanged {
                plan.unchanged += 1;
                continue;
            }
            agents::resolve_session(&mut source);
            if self.is_forgotten(&source) {
                plan.left_out += 1;
                continue;
            }
            let known = stamps.get(source.path.to_string_lossy().as_ref());
            let seen = known.map_or(0, |known| known.stamp.size);
            let new = source.size.saturating_sub(seen);
            sources.push((source, new));
        }
        if let Some(excluded) = excluded {
            plan.left_out += leave_out_excluded(&mut sources, excluded);
        }
        sources.sort_by(|(a, _), (b, _)| order(b).cmp(&order(a)).then(a.path.cmp(&b.path)));
        for (source, new) in &sources {
            let share = plan.shares.entry(source.agent).or_default();
            share.files += 1;
            share.bytes += new;
        }
        plan.bytes = sources.iter().map(|(_, new)| new).sum();
        plan.sources = sources.into_iter().map(|(source, _)| source).collect();
        let main = plan.sources.iter().filter(|source| source.kind == SourceKind::Main);
        let sessions: HashSet<_> = main.map(|source| (source.agent, &source.session)).collect();
        plan.sessions = sessions.len();
        for (agent, _) in sessions {
            plan.shares.entry(agent).or_default().sessions += 1;
        }
        Ok(plan)
    }

    /// Returns true for each file that has not changed since it was last read and is archived. Many files are looked at
    /// on several threads: each takes a look at the disk.
    fn unchanged(
        &self,
        sources: &[Source],
        stamps: &HashMap<String, Stamped>,
    ) -> Result<Vec<bool>> {
        let look = |sources: &[Source]| -> Result<Vec<bool>> {
            let is_unchanged = |source: &Source| {
                let known = stamps.get(source.path.to_string_lossy().as_ref());
                known
                    .filter(|known| known.stamp == stamp(source))
                    .map(|known| self.is_archived(known))
            };
            sources.iter().map(|source| is_unchanged(source).unwrap_or(Ok(false))).collect()
        };
        if sources.len() <= FEW {
            return look(sources);
        }
        let share = sources.len().div_ceil(self.options.threads.max(1));
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                sources.chunks(share).map(|part| scope.spawn(move || look(part))).collect();
            let mut all = Vec::with_capacity(sources.len());
            for part in parts {
                all.extend(part.join().map_err(|_| IntakeError::WorkerLost)??);
            }
            Ok(all)
        })
    }

    fn is_forgotten(&self, source: &Source) -> bool {
        if self.forgotten.is_empty() {
            return false;
        }
        let key = SessionKey { agent: source.agent, id: source.session.clone() };
        self.forgotten.contains(&key)
    }

    /// Returns true if the archive still holds what it held when the source was last read.
    fn is_archived(&self, known: &Stamped) -> Result<bool> {
        let Ok(entry) = EntryName::new(&known.entry) else { return Ok(false) };
        Ok(self.archive.size(&entry)?.unwrap_or(0) >= known.archived)
    }
}

/// The stamps of a few files.
fn stamps_of(store: &Store, sources: &[Source]) -> Result<HashMap<String, Stamped>> {
    let mut stamps = HashMap::new();
    for source in sources {
        let path = source.path.to_string_lossy().into_owned();
        if let Some(stamped) = store.stamp(&path)? {
            stamps.insert(path, stamped);
        }
    }
    Ok(stamps)
}

/// The stamp of a discovered file.
pub(crate) fn stamp(source: &Source) -> SourceStamp {
    let modified = source.modified.map_or(0, |time| time.as_nanosecond());
    SourceStamp { size: source.size, modified: i64::try_from(modified).unwrap_or(i64::MAX) }
}

/// The stamp of an open file, like [`stamp`].
pub(crate) fn stamp_of(metadata: &std::fs::Metadata) -> SourceStamp {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos());
    SourceStamp { size: metadata.len(), modified: i64::try_from(modified).unwrap_or(i64::MAX) }
}

/// The reading order. Lists of prompts come last: they only fill in for transcripts that are gone.
fn order(source: &Source) -> (bool, Option<thru_core::Timestamp>) {
    (source.kind != SourceKind::PromptHistory, source.modified)
}

fn leave_out_excluded(
    sources: &mut Vec<(Source, u64)>,
    excluded: &dyn Fn(&std::path::Path) -> bool,
) -> usize {
    let before = sources.len();
    let mut sessions = HashSet::new();
    let mut directories: HashMap<PathBuf, bool> = HashMap::new();
    let is_transcript =
        |source: &Source| matches!(source.kind, SourceKind::Main | SourceKind::Subagent);
    for (source, _) in sources.iter().filter(|(source, _)| is_transcript(source)) {
        let Some(directory) = agents::directory_of(source.agent, &source.path) else {
            continue;
        };
        let directory = PathBuf::from(directory);
        let is_excluded =
            *directories.entry(directory).or_insert_with_key(|directory| excluded(directory));
        if is_excluded {
            sessions.insert(source.session.clone());
        }
    }
    sources.retain(|(source, _)| !sessions.contains(&source.session));
    before - sources.len()
}

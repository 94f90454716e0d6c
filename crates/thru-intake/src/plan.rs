//! What there is to bring in: found by looking at names, sizes and times only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use thru_agents::{Discovery, Source, agents};
use thru_core::{Agent, SessionKey, SourceKind};
use thru_journal::archive::EntryName;
use thru_store::{SourceStamp, Stamped, Store};

use crate::{Intake, Result};

/// As many files are looked up one by one; with more, all that is known is read at once.
const FEW: usize = 1_000;

/// Something about one file that a person may want to know. The rest goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    /// The file.
    pub path: PathBuf,
    /// What about it.
    pub message: String,
}

/// What an import would do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Files with something new, in the order in which they are read: newest sessions first.
    pub sources: Vec<Source>,
    /// Bytes of them that are new, as far as that can be told.
    pub bytes: u64,
    /// Sessions that they belong to.
    pub sessions: usize,
    /// The same of each agent that has something new.
    pub shares: BTreeMap<Agent, Share>,
    /// Files that are as they were when they were last read.
    pub unchanged: usize,
    /// Files that the settings, or the user's having them forgotten, leave out.
    pub left_out: usize,
    /// What could not be looked at.
    pub problems: Vec<SourceProblem>,
}

/// What of a plan is one agent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Files with something new.
    pub files: usize,
    /// Sessions that they belong to.
    pub sessions: usize,
    /// Bytes of them that are new, as far as that can be told.
    pub bytes: u64,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

impl Intake {
    /// Compares what was found with what is known. Opens no file but the beginnings of those with something
    /// new, and of them only where a name does not say all of what the file is, or `excluded` may say
    /// something of the directory a session ran in.
    ///
    /// # Errors
    /// Where the store that there is cannot be read.
    pub fn plan(
        &self,
        discovery: Discovery,
        excluded: Option<&dyn Fn(&std::path::Path) -> bool>,
    ) -> Result<Plan> {
        let store = Store::open_if_there(&self.layout)?;
        self.plan_beside(store.as_ref(), discovery, excluded)
    }

    /// The same beside the store of this home, if there is one.
    ///
    /// # Errors
    /// As [`Intake::plan`].
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
        for mut source in discovery.sources {
            if self.is_forgotten(&source) {
                plan.left_out += 1;
                continue;
            }
            let stamp = stamp(&source);
            match stamps.get(source.path.to_string_lossy().as_ref()) {
                Some(known) if known.stamp == stamp && self.is_archived(known)? => {
                    plan.unchanged += 1;
                }
                known => {
                    agents::settle(&mut source);
                    if self.is_forgotten(&source) {
                        plan.left_out += 1;
                        continue;
                    }
                    let seen = known.map_or(0, |known| known.stamp.size);
                    let new = source.size.saturating_sub(seen);
                    sources.push((source, new));
                }
            }
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

    fn is_forgotten(&self, source: &Source) -> bool {
        let key = SessionKey { agent: source.agent, id: source.session.clone() };
        self.forgotten.contains(&key)
    }

    /// Whether the archive still holds what it held when the source was last read.
    fn is_archived(&self, known: &Stamped) -> Result<bool> {
        let Ok(entry) = EntryName::new(&known.entry) else { return Ok(false) };
        Ok(self.archive.size(&entry)?.unwrap_or(0) >= known.archived)
    }
}

/// What is known of a few files.
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

/// What a file looked like when it was found.
pub(crate) fn stamp(source: &Source) -> SourceStamp {
    let modified = source.modified.map_or(0, |time| time.as_nanosecond());
    SourceStamp { size: source.size, modified: i64::try_from(modified).unwrap_or(i64::MAX) }
}

/// As [`stamp`], of an open file.
pub(crate) fn stamp_of(metadata: &std::fs::Metadata) -> SourceStamp {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos());
    SourceStamp { size: metadata.len(), modified: i64::try_from(modified).unwrap_or(i64::MAX) }
}

/// Lists of prompts come last: they only fill in for transcripts that are gone.
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

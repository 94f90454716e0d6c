//! The thread that writes to the store: takes the workers' steps, and commits them with their cursors.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use thru_core::{
    Agent, Diagnostic, PassageKind, ProjectKey, ReadBatch, SessionFacts, SessionId, SessionKey,
    SourceKind,
};
use thru_journal::archive::{EntryName, SourceInfo};
use thru_redact::Clean;
use thru_store::{Batch, SourceStamp, Store, Written};

use crate::{Intake, Operation, Result};

/// The result of one step of reading an archived file.
pub(crate) struct Step {
    pub(crate) entry: EntryName,
    pub(crate) info: SourceInfo,
    pub(crate) reads: Vec<(SessionId, Clean<ReadBatch>)>,
    /// Diagnostics that belong to none of the sessions.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Number of lines of the archived file read so far.
    pub(crate) lines: u64,
    pub(crate) state: String,
    pub(crate) bytes: u64,
    /// The stamp of the source, set when it was read to its end.
    pub(crate) stamp: Option<SourceStamp>,
    /// True to drop the store's rows of this file first.
    pub(crate) restart: bool,
}

impl Step {
    pub(crate) fn restart(entry: EntryName, info: SourceInfo) -> Self {
        Self {
            entry,
            info,
            reads: Vec::new(),
            diagnostics: Vec::new(),
            lines: 0,
            state: String::new(),
            bytes: 0,
            stamp: None,
            restart: true,
        }
    }

    pub(crate) fn attachment(
        entry: EntryName,
        info: SourceInfo,
        bytes: u64,
        stamp: SourceStamp,
    ) -> Self {
        Self { bytes, stamp: Some(stamp), restart: false, ..Self::restart(entry, info) }
    }
}

impl Step {
    /// All diagnostics of the step.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let of_sessions = self.reads.iter().flat_map(|(_, read)| &read.get().diagnostics);
        of_sessions.chain(&self.diagnostics)
    }
}

/// Writes steps. Remembers the directories that already have a project.
pub(crate) struct StepWriter<'a> {
    intake: &'a Intake,
    directories: HashSet<String>,
    placed: HashMap<i64, String>,
    /// Sources read to their end whose archived files may not be durable yet.
    unsettled: Vec<(i64, EntryName, String, SourceStamp)>,
}

impl<'a> StepWriter<'a> {
    pub(crate) fn new(intake: &'a Intake, store: &Store) -> Result<Self> {
        Ok(Self {
            intake,
            directories: store.directories()?,
            placed: HashMap::new(),
            unsettled: Vec::new(),
        })
    }

    pub(crate) fn write(&mut self, batch: &mut Batch<'_>, step: &Step) -> Result<Written> {
        let agent = step.info.agent;
        let own = SessionKey { agent, id: step.info.session.clone() };
        let own = match step.info.kind {
            SourceKind::PromptHistory => None,
            _ if batch.is_forgotten(&own)? => return Ok(Written::default()),
            _ => Some(batch.session(&own)?),
        };
        let source = batch.source(step.entry.as_str(), &step.info.path, step.info.kind, own)?;
        let mut written = Written::default();
        if step.restart {
            batch.reset_source(source)?;
            return Ok(written);
        }
        for (id, read) in &step.reads {
            // A list of prompts holds only one type, and those of its prompts that count depend on the
            // transcripts that exist.
            if step.info.kind != SourceKind::PromptHistory {
                batch.count(source, read)?;
            }
            let key = SessionKey { agent, id: id.clone() };
            let session = match own {
                Some(session) => session,
                None if batch.is_forgotten(&key)? => continue,
                None => batch.session(&key)?,
            };
            match step.info.kind {
                // The session in a list of prompts counts only if it has no transcript.
                SourceKind::PromptHistory if batch.has_transcript(session)? => continue,
                SourceKind::Main => batch.drop_prompt_history_of(session)?,
                _ => {}
            }
            let facts = facts_left(batch, agent, read.get())?;
            let facts = batch.merge_facts(session, source, facts)?;
            self.place(batch, session, &facts)?;
            let more = batch.apply(agent, source, session, read)?;
            written.passages += more.passages;
            written.amended += more.amended;
            written.copies += more.copies;
        }
        if step.info.kind != SourceKind::Attachment {
            batch.advance(source, step.lines, &step.state)?;
        }
        batch.note_diagnostics(source, &step.diagnostics)?;
        if let Some(stamp) = step.stamp {
            self.unsettled.push((source, step.entry.clone(), step.info.path.clone(), stamp));
        }
        Ok(written)
    }

    /// Makes the archive durable, and only then marks its sources as read to their end.
    pub(crate) fn settle(&mut self, store: &mut Store) -> Result<()> {
        if self.unsettled.is_empty() {
            return Ok(());
        }
        self.intake.archive.sync(self.unsettled.iter().map(|(_, entry, _, _)| entry))?;
        let batch = store.begin()?;
        for (source, entry, path, stamp) in self.unsettled.drain(..) {
            let archived = self.intake.archive.size(&entry)?.unwrap_or(0);
            batch.stamp(source, &path, stamp, archived)?;
        }
        batch.commit()?;
        Ok(())
    }

    /// Assigns a session to its project, once per directory.
    fn place(&mut self, batch: &Batch<'_>, session: i64, facts: &SessionFacts) -> Result<()> {
        if facts.directory.is_none() || self.placed.get(&session) == facts.directory.as_ref() {
            return Ok(());
        }
        place_session(self.intake, batch, session, facts, &mut self.directories)?;
        self.placed.extend(facts.directory.clone().map(|directory| (session, directory)));
        Ok(())
    }
}

/// Returns the facts that were read, with the first of the prompts that are not forgotten.
fn facts_left(batch: &Batch<'_>, agent: Agent, read: &ReadBatch) -> Result<SessionFacts> {
    let mut facts = read.facts.clone();
    let prompts = read.passages.iter().filter(|one| one.kind == PassageKind::Human);
    let mut left = Vec::new();
    let mut is_all = true;
    for prompt in prompts.filter(|one| one.agent_id.is_none()) {
        match batch.is_left_out(agent, prompt)? {
            true => is_all = false,
            false => left.push(prompt),
        }
    }
    if !is_all {
        (facts.first_prompt, facts.first_prompt_at) = (None, None);
        left.iter().for_each(|prompt| thru_agents::note_prompt(&prompt.text, &mut facts));
    }
    Ok(facts)
}

/// Assigns a session to its project. The project of a new directory is identified and recorded. `placed`
/// holds the directories that have one.
pub(crate) fn place_session(
    intake: &Intake,
    batch: &Batch<'_>,
    session: i64,
    facts: &SessionFacts,
    placed: &mut HashSet<String>,
) -> Result<()> {
    let Some(directory) = &facts.directory else {
        let named = facts.project.as_deref().map(ProjectKey::named);
        return Ok(named.map_or(Ok(()), |project| batch.place_session_in(session, &project))?);
    };
    if !placed.contains(directory) {
        let home = intake.options.home.as_deref();
        let declared = |file: &Path| intake.options.declared.read(file);
        let identity = crate::identity::identify(Path::new(directory), home, &declared);
        let since = batch.placing_since(intake.clock.now())?;
        let settled = match facts.first {
            Some(first) if first < since => identity.trusted(),
            _ => identity.settle(|project| batch.directories_of(project))?,
        };
        // The root speaks for all below it from now on.
        let root = settled.root.map(|root| root.to_string_lossy().into_owned());
        let new: Vec<String> = std::iter::once(directory.clone())
            .chain(root.filter(|root| root != directory && !placed.contains(root)))
            .collect();
        let project = &settled.project;
        let operations: Vec<Operation> = (new.iter().cloned())
            .map(|directory| Operation::DirectoryPlaced { directory, project: project.clone() })
            .collect();
        intake.record(&operations)?;
        for directory in new {
            batch.directory(&directory, project)?;
            placed.insert(directory);
        }
    }
    Ok(batch.place_session(session, directory)?)
}

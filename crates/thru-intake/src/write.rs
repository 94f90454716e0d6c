//! The one thread that writes to the store: takes what the workers read, and commits it with its
//! cursors.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use thru_core::{Diagnostic, ReadBatch, SessionFacts, SessionId, SessionKey, SourceKind};
use thru_journal::archive::{EntryName, SourceInfo};
use thru_redact::Clean;
use thru_store::{Batch, SourceStamp, Store, Written};

use crate::{Intake, Operation, Result};

/// What one step of reading an archived file produced.
pub(crate) struct Step {
    pub(crate) entry: EntryName,
    pub(crate) info: SourceInfo,
    pub(crate) reads: Vec<(SessionId, Clean<ReadBatch>)>,
    /// What belongs to no session of them.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The lines of the archived file that were read so far.
    pub(crate) lines: u64,
    pub(crate) state: String,
    pub(crate) bytes: u64,
    /// Set when the source was read to its end.
    pub(crate) stamp: Option<SourceStamp>,
    /// What the store holds of this file is to be dropped.
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
    /// What in the lines was not as it should be.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let of_sessions = self.reads.iter().flat_map(|(_, read)| &read.get().diagnostics);
        of_sessions.chain(&self.diagnostics)
    }
}

/// Writes steps. Knows which directories have a project already.
pub(crate) struct StepWriter<'a> {
    intake: &'a Intake,
    directories: HashSet<String>,
    placed: HashMap<i64, String>,
    /// Sources that were read to their end, but whose archived files may not be on the disk yet.
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
            // A list of prompts holds one type only, and what counts of it changes with the transcripts
            // that there are.
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
                // What is left of a session in a list of prompts counts only where that is all.
                SourceKind::PromptHistory if batch.has_transcript(session)? => continue,
                SourceKind::Main => batch.drop_prompt_history_of(session)?,
                _ => {}
            }
            let facts = batch.merge_facts(session, source, read.get().facts.clone())?;
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

    /// Makes the archive survive a power cut, and only then notes that its sources need not be looked
    /// at again.
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

    /// Puts a session into its project, once per directory.
    fn place(&mut self, batch: &Batch<'_>, session: i64, facts: &SessionFacts) -> Result<()> {
        if facts.directory.is_none() || self.placed.get(&session) == facts.directory.as_ref() {
            return Ok(());
        }
        place_session(self.intake, batch, session, facts, &mut self.directories)?;
        self.placed.extend(facts.directory.clone().map(|directory| (session, directory)));
        Ok(())
    }
}

/// Puts a session into its project, which is found out and recorded when its directory is new.
/// `placed` are the directories that have one.
pub(crate) fn place_session(
    intake: &Intake,
    batch: &Batch<'_>,
    session: i64,
    facts: &SessionFacts,
    placed: &mut HashSet<String>,
) -> Result<()> {
    let Some(directory) = &facts.directory else { return Ok(()) };
    if !placed.contains(directory) {
        let home = intake.options.home.as_deref();
        let declared = |file: &Path| intake.options.declared.read(file);
        let project = crate::identity::identify(Path::new(directory), home, &declared);
        intake.record(&[Operation::DirectoryPlaced {
            directory: directory.clone(),
            project: project.clone(),
        }])?;
        batch.directory(directory, &project)?;
        placed.insert(directory.clone());
    }
    Ok(batch.place_session(session, directory)?)
}

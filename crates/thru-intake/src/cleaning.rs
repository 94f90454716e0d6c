//! Applies newer redaction rules to what is kept in parts, between which others can write.
//!
//! First journal, archive and the other files are cleaned where they are. If that changed anything, a new store is made
//! beside the one in use, which goes on, and takes its place in the end. The store says how far this has come, so that
//! a process that was killed is followed by one that continues.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thru_journal::archive::EntryName;
use thru_redact::Report;
use thru_store::index::IndexWriter;
use thru_store::{Store, StoreError};

use crate::parts::{Until, share};
use crate::rebuild::Replacement;
use crate::{Intake, IntakeError, IntakeLock, RedactionReport, Result};

/// The time that a new store waits for the readers of the old one before it gives way to other work.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// Cleaning by newer rules that is under way.
pub struct Cleaning {
    mark: Mark,
    /// Archived files that are still to be cleaned, once they were listed.
    left: Option<Vec<EntryName>>,
    making: Option<Replacement>,
    /// True if a process that cleaned before may have changed something.
    is_changed: bool,
    report: RedactionReport,
    /// Archived files that cannot be rewritten, each with the problem.
    problems: Vec<(String, String)>,
}

/// The outcome of a part of cleaning.
#[derive(Debug)]
pub enum Cleaned {
    /// Something is left to be done.
    Unfinished,
    /// Only the old store's readers are waited for.
    Waiting,
    /// Everything is clean.
    Whole {
        /// Counts of the changes. What a killed process did since its last part is not among them.
        report: RedactionReport,
        /// Archived files that could not be rewritten, each with the problem.
        problems: Vec<(String, String)>,
    },
}

/// The mark in the store that says how far cleaning has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The fingerprint of the rules.
    rules: String,
    stage: Stage,
    /// Counts of what was taken out so far: secrets by rule, records of the journal, archived files.
    secrets: BTreeMap<String, u64>,
    records: u64,
    files: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Stage {
    /// Journal, archive and other files: entries up to this one, by name, are clean.
    Archive(Option<String>),
    /// The store.
    Store,
}

impl Mark {
    pub(crate) fn begun(rules: &str) -> Self {
        let (secrets, records, files) = (BTreeMap::new(), 0, 0);
        Self { rules: rules.to_owned(), stage: Stage::Archive(None), secrets, records, files }
    }
}

impl Intake {
    /// Records how far cleaning has come. A process that was killed may have changed more than the mark says.
    pub(crate) fn mark_cleaning(&self, _lock: &IntakeLock, mark: &Mark) -> Result<()> {
        if !self.layout.database().exists() {
            return Ok(());
        }
        let mut store = self.open_store(&mut |_, _, _| {})?;
        let batch = store.begin()?;
        batch.set_cleaning(&serde_json::to_string(mark).unwrap_or_default())?;
        Ok(batch.commit()?)
    }
}

impl Cleaning {
    /// Does a part of the work, which ends soon after `within`; `under_way` holds what is known from the part before it.
    /// Gives the lock back early if what remains of the part does not need it.
    ///
    /// # Errors
    /// Fails if the journal or the store cannot be written. The next part begins where this one did.
    pub fn part(
        under_way: &mut Option<Self>,
        intake: &Intake,
        lock: IntakeLock,
        within: Duration,
        cancelled: &AtomicBool,
    ) -> Result<Cleaned> {
        let until = Until::within(cancelled, within);
        let Some(store) = Store::open_if_there(&intake.layout)? else {
            return Ok(Self::begin(intake, None).finish());
        };
        let (rules, marked) = (store.redactor()?, store.cleaning()?);
        drop(store);
        let mut cleaning = match under_way.take() {
            Some(cleaning) if cleaning.mark.rules == intake.fingerprint => cleaning,
            _ => Self::begin(intake, marked),
        };
        // Another process may have done it.
        if rules.as_ref() == Some(&intake.fingerprint) {
            return Ok(cleaning.finish());
        }
        let is_done = match cleaning.mark.stage.clone() {
            Stage::Archive(after) => cleaning.archive_part(intake, &lock, after, until)?,
            Stage::Store => match cleaning.store_part(intake, lock, until) {
                Err(IntakeError::Store(StoreError::Busy { .. })) => {
                    *under_way = Some(cleaning);
                    return Ok(Cleaned::Waiting);
                }
                done => done?,
            },
        };
        if is_done {
            return Ok(cleaning.finish());
        }
        *under_way = Some(cleaning);
        Ok(Cleaned::Unfinished)
    }

    /// Begins, or continues where a process stopped.
    fn begin(intake: &Intake, marked: Option<String>) -> Self {
        let marked = marked.map(|mark| serde_json::from_str::<Mark>(&mark).ok());
        // It is unknown what that process changed.
        let is_changed = marked.is_some();
        let mark = marked.flatten().filter(|mark| mark.rules == intake.fingerprint);
        let mark = mark.unwrap_or_else(|| Mark::begun(&intake.fingerprint));
        let report = RedactionReport {
            records: mark.records,
            rewritten: mark.files,
            redacted: Report { secrets: mark.secrets.clone(), ..Report::default() },
            ..RedactionReport::default()
        };
        Self { mark, left: None, making: None, is_changed, report, problems: Vec::new() }
    }

    fn finish(self) -> Cleaned {
        Cleaned::Whole { report: self.report, problems: self.problems }
    }

    /// Cleans journal, archive and other files. Returns true if the store can stay as it is.
    fn archive_part(
        &mut self,
        intake: &Intake,
        lock: &IntakeLock,
        after: Option<String>,
        until: Until<'_>,
    ) -> Result<bool> {
        let left = match self.left.take() {
            Some(left) => left,
            None => {
                intake.mark_cleaning(lock, &self.mark)?;
                let report = &mut self.report;
                report.records += intake.rewrite_journal(&mut report.redacted)?;
                let entries = intake.archive.entries()?.into_iter();
                entries.filter(|entry| after.as_deref() < Some(entry.as_str())).collect()
            }
        };
        let found = Mutex::new(Vec::new());
        let taken = share(&left, intake.options.threads, until, |entry| {
            let mut redacted = Report::default();
            let fate = intake.clean_entry(entry, &mut redacted);
            let mut found = found.lock().map_err(|_| IntakeError::WorkerLost)?;
            found.push((entry, fate, redacted));
            Ok(())
        })?;
        for (entry, fate, redacted) in found.into_inner().map_err(|_| IntakeError::WorkerLost)? {
            self.report.redacted.merge(&redacted);
            match fate {
                Ok(fate) => self.report.note(fate),
                // The others are cleaned all the same.
                Err(error) => self.problems.push((entry.as_str().to_owned(), error.to_string())),
            }
        }
        if taken < left.len() {
            let last = left.get(taken.saturating_sub(1)).map(|entry| entry.as_str().to_owned());
            self.mark.stage = Stage::Archive(last);
            self.left = Some(left.get(taken..).unwrap_or_default().to_vec());
        } else {
            intake.redact_elsewhere(&mut self.report)?;
            let RedactionReport { records, rewritten, verbatim, .. } = self.report;
            // The store follows from journal and archive: where these stayed, it is clean. The rows of files that are kept
            // verbatim were clean by the rules of their time.
            if !self.is_changed && records == 0 && rewritten == 0 && verbatim == 0 {
                intake.keep_store(&mut self.report)?;
                return Ok(true);
            }
            self.mark.stage = Stage::Store;
        }
        let RedactionReport { records, rewritten, redacted, .. } = &self.report;
        self.mark.secrets.clone_from(&redacted.secrets);
        (self.mark.records, self.mark.files) = (*records, *rewritten);
        intake.mark_cleaning(lock, &self.mark)?;
        Ok(false)
    }

    /// Makes a new store, and has it take the place of the old one. Returns true once it did.
    fn store_part(&mut self, intake: &Intake, lock: IntakeLock, until: Until<'_>) -> Result<bool> {
        let rules = &self.mark.rules;
        let kept = match self.making.take() {
            // Another process may have begun a rebuild of its own meanwhile.
            Some(making) if making.store.is_in_place()? => Some(making),
            _ => intake.resume_replacement(rules)?,
        };
        let making = match kept {
            Some(making) => making,
            None => intake.begin_replacement(rules)?,
        };
        let making = self.making.insert(making);
        let is_long = making.index.is_some();
        loop {
            if !intake.read_again(making, until, &mut |_| {})?
                || !intake.derive(making, until, &mut |_| {})?
            {
                return Ok(false);
            }
            if !intake.list_archived(making)? {
                break;
            }
        }
        if is_long {
            // Its last merges take long, and need no lock: only this process knows this index.
            drop(lock);
            making.index.take().map_or(Ok(()), IndexWriter::finish)?;
            return Ok(false);
        }
        let Some(making) = self.making.take() else { return Ok(false) };
        let patient_until = Instant::now() + READER_PATIENCE;
        intake.put_in_place(making, &mut |_| {
            !until.is_cancelled() && Instant::now() < patient_until
        })?;
        self.report.rebuilt = true;
        self.report.is_unswept = intake.is_left_unswept()?;
        Ok(true)
    }
}

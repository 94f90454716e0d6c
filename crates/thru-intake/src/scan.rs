//! Scans everything that is kept for text that redaction would remove. Changes nothing, and reports places
//! and rules, never the text itself.

use std::fs;
use std::path::{Path, PathBuf};

use thru_core::{SessionId, SourceKind};
use thru_journal::archive::EntryName;
use thru_journal::journal::{Change, Item, ProblemKind, Stored};
use thru_redact::{Redactor, Report};
use thru_store::Store;

use crate::projector::Projector;
use crate::redact::{GIVEN, Given};
use crate::{Intake, IntakeError, Result};

/// Larger files beside journal, archive, store and index are not scanned.
const LARGEST_FILE: u64 = 1 << 30;

/// The part of the data directory that a trace is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataPart {
    /// A record of the journal.
    Journal,
    /// A line of the archive.
    Archive,
    /// A row of the store. The index holds the words of the same rows and is made again with them.
    Store,
    /// A copy of the store from before an upgrade, or an unfinished store.
    Backup,
    /// Another file in the data directory: an export, a note of a hook.
    File,
}

impl DataPart {
    /// Its name for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Journal => "journal",
            Self::Archive => "archive",
            Self::Store => "store",
            Self::Backup => "backup",
            Self::File => "file",
        }
    }
}

/// A place with text that must not be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The part of the data directory.
    pub part: DataPart,
    /// The segment, archived file, table or other file.
    pub place: String,
    /// The session that it belongs to, if any.
    pub session: Option<SessionId>,
    /// The line in that place, from 1, if it has lines.
    pub line: Option<u64>,
    /// Counts of matches by rule.
    pub found: Report,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Every place, part by part.
    pub traces: Vec<Trace>,
    /// Archived files that are kept exactly as they are, because the user chose that.
    pub verbatim: usize,
    /// Places that could not be read, each with the problem.
    pub unread: Vec<(String, String)>,
}

impl Scan {
    /// Returns the counts of all matches.
    pub fn found(&self) -> Report {
        let mut all = Report::default();
        self.traces.iter().for_each(|trace| all.merge(&trace.found));
        all
    }

    fn note(&mut self, trace: Trace) {
        if !trace.found.is_empty() {
            self.traces.push(trace);
        }
    }
}

impl Intake {
    /// Scans the whole data directory for text that today's rules would remove. `progress` receives the
    /// number of archived files scanned, and of all.
    ///
    /// # Errors
    /// Fails if the journal, the archive or the store cannot be read.
    pub fn scan(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Scan> {
        let mut scan = Scan::default();
        self.scan_journal(&mut scan)?;
        let entries = self.archive.entries()?;
        for (number, entry) in entries.iter().enumerate() {
            if let Err(error) = self.scan_entry(entry, &mut scan) {
                let place = self.named(&format!("archive/{entry}"));
                scan.unread.push((place, error.to_string()));
            }
            progress(number as u64 + 1, entries.len() as u64);
        }
        self.scan_store(&mut scan)?;
        for (part, path) in self.other_files() {
            self.scan_file(part, &path, &mut scan);
        }
        Ok(scan)
    }

    fn scan_journal(&self, scan: &mut Scan) -> Result<()> {
        for item in self.journal.stream(Default::default())? {
            let stored = match item? {
                Item::Entry(stored) => stored,
                Item::Problem(problem) => {
                    if self.hides_text(problem.kind) {
                        let place = format!("journal/{}", problem.position.segment);
                        scan.unread.push((place, problem.to_string()));
                    }
                    continue;
                }
            };
            let mut found = Report::default();
            self.change_of(&stored, &mut found);
            scan.note(Trace {
                part: DataPart::Journal,
                place: stored.position.segment.clone(),
                session: None,
                line: Some(stored.position.line),
                found,
            });
        }
        Ok(())
    }

    /// Returns true if a line that is no record may hold the sought text. The rest of a truncated record
    /// was clean by the rules of its time, but may still hold a given text.
    fn hides_text(&self, kind: ProblemKind) -> bool {
        kind.is_serious() || (kind == ProblemKind::CutShort && self.given.is_some())
    }

    /// Returns the change that today's rules make to a record. A rule that spells out the given text is
    /// removed: once changed, it would match something else.
    pub(crate) fn change_of(&self, stored: &Stored, found: &mut Report) -> Change {
        let bytes = || stored.body.to_string().into_bytes();
        let is_given = |given: &Given| given.sought.is_in(&bytes());
        // The user's rules do not apply to names and patterns that the user gave, least of all to the
        // rules.
        let redactor = match (stored.kind.as_str(), &self.given) {
            ("rule-added", Some(given)) if is_given(given) => {
                count_given(found);
                return Change::Remove;
            }
            ("rule-added" | "rule-removed", _) => return Change::Keep,
            ("project-renamed" | "project-merged", Some(given)) => &given.redactor,
            ("project-renamed" | "project-merged", None) => &Redactor::builtin(),
            _ => &self.redactor,
        };
        let mut report = Report::default();
        let clean = redactor.clean_value(stored.body.clone(), &mut report);
        if clean.get() == &stored.body {
            return Change::Keep;
        }
        found.merge(&report);
        Change::Replace(clean)
    }

    fn scan_entry(&self, entry: &EntryName, scan: &mut Scan) -> Result<()> {
        let Some(mut reader) = self.archive.reader(entry)? else { return Ok(()) };
        let Some(info) = reader.info().cloned() else { return Ok(()) };
        let is_verbatim = reader.blocks().iter().any(|block| block.verbatim);
        scan.verbatim += usize::from(is_verbatim);
        let mut note = |line, found| {
            let (place, session) = (self.named(entry.as_str()), Some(info.session.clone()));
            scan.note(Trace { part: DataPart::Archive, place, session, line, found });
        };
        // Names of files and folders stay, because they identify the source.
        let named = format!("{}\n{entry}", info.path);
        note(None, self.with_given(named.as_bytes(), Report::default()));
        let mut projector = match info.kind {
            SourceKind::Attachment => None,
            _ => Some(Projector::resume(&info, entry, None).ok_or(IntakeError::WorkerLost)?),
        };
        for lines in reader.blocks_from(0) {
            for (number, line) in lines?.iter() {
                let mut found = Report::default();
                match &mut projector {
                    // Kept verbatim on purpose: only the given text is removed from it.
                    _ if is_verbatim => {}
                    Some(projector) => drop(projector.clean(&self.redactor, line, &mut found)),
                    None => drop(self.redactor.clean_bytes(line, &mut found)),
                }
                note(Some(number + 1), self.with_given(line, found));
            }
        }
        Ok(())
    }

    /// Adds the matches of the given text, which also count where redaction leaves things alone.
    fn with_given(&self, text: &[u8], mut found: Report) -> Report {
        if !found.secrets.contains_key(GIVEN)
            && self.given.as_ref().is_some_and(|given| given.sought.is_in(text))
        {
            count_given(&mut found);
        }
        found
    }

    fn scan_store(&self, scan: &mut Scan) -> Result<()> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        store.texts(&mut |stored| {
            let mut found = Report::default();
            let is_json = stored.text.starts_with(['{', '[']);
            let text = stored.text.as_bytes();
            match is_json {
                // As in the journal.
                _ if stored.is_rule => {}
                true => drop(self.redactor.clean_json_line(text, &mut found)),
                false => drop(self.redactor.clean_bytes(text, &mut found)),
            }
            scan.note(Trace {
                part: DataPart::Store,
                place: stored.table.clone(),
                session: stored.session.clone(),
                line: stored.line,
                found: self.with_given(text, found),
            });
        })?;
        Ok(())
    }

    fn scan_file(&self, part: DataPart, path: &Path, scan: &mut Scan) {
        let place = self.name_of(path);
        match part {
            // A database that is not in use is removed as a whole.
            DataPart::Backup => {
                let found = Report::default();
                scan.traces.push(Trace { part, place, session: None, line: None, found });
            }
            _ => match self.cleaned_file(path) {
                Ok((_, found)) => {
                    scan.note(Trace { part, place, session: None, line: None, found });
                }
                Err(error) => scan.unread.push((place, error.to_string())),
            },
        }
    }

    /// The name of a file in the data directory.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        self.named(&path.strip_prefix(self.layout.root()).unwrap_or(path).to_string_lossy())
    }

    /// The name with text that must not be kept removed, fit to be shown.
    fn named(&self, name: &str) -> String {
        self.redactor.clean_text(name, &mut Report::default()).into_inner()
    }

    /// Returns the new content of a file outside journal, archive and store, if it changes, and counts of
    /// the removed text.
    pub(crate) fn cleaned_file(&self, path: &Path) -> Result<(Option<Vec<u8>>, Report)> {
        let io = |source| IntakeError::io(path, source);
        let mut found = Report::default();
        if fs::metadata(path).map_err(io)?.len() > LARGEST_FILE {
            return Err(io(std::io::ErrorKind::FileTooLarge.into()));
        }
        let old = fs::read(path).map_err(io)?;
        // A binary file is not ours, and cleaning would break it.
        if std::str::from_utf8(&old).is_err() {
            return Ok((None, self.with_given(&old, found)));
        }
        let mut new = Vec::with_capacity(old.len());
        for line in old.split_inclusive(|&byte| byte == b'\n') {
            new.extend_from_slice(self.redactor.clean_json_line(line, &mut found).get());
        }
        let found = self.with_given(&old, found);
        Ok(((new != old).then_some(new), found))
    }

    /// Lists the files in the data directory that are not journal, archive, store, index or vectors: copies
    /// from before upgrades, exports, notes of hooks. Left out are the user's own settings, the hooks'
    /// copy of the rules, which is made from the journal, and the token and the hashes by which the server knows
    /// its pages and clients.
    pub(crate) fn other_files(&self) -> Vec<(DataPart, PathBuf)> {
        // Vectors are numbers, and are removed with their texts.
        let ours = [
            self.layout.journal(),
            self.layout.archive(),
            self.layout.index(),
            self.layout.vectors(),
        ];
        let rules = self.layout.rules();
        let mut files = Vec::new();
        let mut pending = vec![self.layout.root().to_owned()];
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy();
                // Rules would match themselves in the hooks' copy, and break it.
                if path == rules {
                    continue;
                }
                if kind.is_dir() && !ours.contains(&path) {
                    pending.push(path);
                } else if kind.is_file() {
                    let is_in_root = folder == self.layout.root();
                    match &*name {
                        name if is_in_root
                            && (name.starts_with("memory.before-v")
                                || name.starts_with("memory.rebuild.db")) =>
                        {
                            files.push((DataPart::Backup, path));
                        }
                        "memory.db" | "memory.db-wal" | "memory.db-shm" if is_in_root => {}
                        "config.toml" | "intake.lock" | "http.token" | "http-clients.json" => {}
                        _ => files.push((DataPart::File, path)),
                    }
                }
            }
        }
        files.sort();
        files
    }
}

fn count_given(found: &mut Report) {
    *found.secrets.entry(GIVEN.to_owned()).or_default() += 1;
}

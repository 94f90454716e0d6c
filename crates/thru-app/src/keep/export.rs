//! Exporting memory as JSON Lines or Markdown, and importing from such a file what people told and decided.

mod markdown;

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use thru_core::{Made, ProjectKey, SessionId, Timestamp};
use thru_intake::{Exported, Intake, Operation};
use thru_recall::parse_date;
use thru_redact::{Clean, Redactor, Report};
use thru_store::{
    MemoryBody, MemoryFilter, MemoryRow, OperationRow, PassageFilter, ProjectName, SessionFilter,
    SessionRow, Store,
};

use crate::answer;
use crate::app::App;
use crate::ask::memory::{self, MemoryEntry};
use crate::ask::named;
use crate::ask::passage::PassageEntry;
use crate::ask::session::SessionEntry;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Context, Result, Trouble};

/// The `kind` in the first line of an export.
const KIND: &str = "throughline-export";
/// The version of the form of an export.
const VERSION: u64 = 1;
/// The longest line that is read, in bytes: more than any passage and its JSON.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// The request for an export.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Only this project, by its name or key.
    pub project: Option<String>,
    /// Only what happened since this day, as a person writes it.
    pub since: Option<String>,
    /// True to leave out everything but what people told and decided: no transcript, and nothing made of one.
    pub only_decisions: bool,
    /// Its form.
    pub form: ExportForm,
}

/// The form of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportForm {
    /// Lines of JSON: everything, for programs.
    #[default]
    Lines,
    /// Markdown: the memories, for people.
    Markdown,
}

/// The number of lines of an export, by kind.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExportCounts {
    /// Sessions.
    pub sessions: u64,
    /// Passages of the sessions.
    pub passages: u64,
    /// Memories.
    pub memories: u64,
    /// Decisions of people.
    pub decisions: u64,
}

/// The first line of an export.
#[derive(Clone, Debug, Serialize)]
struct ExportHeader {
    kind: &'static str,
    version: u64,
    at: Timestamp,
    thru: &'static str,
    project: Option<ProjectKey>,
    since: Option<Timestamp>,
    counts: ExportCounts,
}

/// Another line of an export.
#[derive(Serialize)]
struct ExportLine<T> {
    kind: &'static str,
    body: T,
}

#[derive(Serialize)]
struct PassageLine<'a> {
    #[serde(flatten)]
    passage: PassageEntry,
    session: &'a SessionId,
}

/// A memory without what is true of this disk and of today only.
#[derive(Serialize)]
struct MemoryLine {
    #[serde(flatten)]
    entry: MemoryEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
    body: Clean<MemoryBody>,
}

/// An export that is ready to be written.
struct Exporting<'a> {
    form: ExportForm,
    app: &'a App,
    store: Store,
    intake: Intake,
    header: ExportHeader,
    sessions: Vec<SessionRow>,
    memories: Vec<MemoryRow>,
    decisions: Vec<OperationRow>,
}

/// Writes an export to `output`.
///
/// # Errors
/// Fails if there is no such project, if the day cannot be understood, if the store cannot be read, and if `output` fails.
pub fn export(
    app: &App,
    request: &Export,
    output: &mut dyn Write,
    call: Call<'_>,
) -> Result<ExportCounts> {
    let exporting = Exporting::new(app, request, call)?;
    exporting.write(output)?;
    Ok(exporting.header.counts)
}

/// Writes an export to a new file that only the user may read. Nothing is left of one that could not be finished.
///
/// # Errors
/// As [`export`], and if the file exists already.
pub fn export_to(app: &App, request: &Export, path: &Path, call: Call<'_>) -> Result<ExportCounts> {
    let exporting = Exporting::new(app, request, call)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    let file = match thru_journal::files::private(&mut options).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Trouble::refused(format!("{} exists already", path.display()))
                .advise("nothing was changed; choose another name or move the file away"));
        }
        file => file.with_context(|| format!("{} cannot be written", path.display()))?,
    };
    let mut output = BufWriter::new(file);
    let written = exporting.write(&mut output).and_then(|()| {
        output.flush()?;
        Ok(output.get_ref().sync_all()?)
    });
    if written.is_err() {
        // The error that is returned says what failed.
        let _ = std::fs::remove_file(path);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(exporting.header.counts)
}

impl<'a> Exporting<'a> {
    fn new(app: &'a App, request: &Export, call: Call<'_>) -> Result<Self> {
        let store = fresh::open(app, Freshness::Recorded, call)?;
        let now = app.clock.now();
        let project = request.project.as_deref();
        let project = project.map(|name| named::named_project(&store, name)).transpose()?;
        let since = request.since.as_deref();
        let since = since.map(|text| parse_date(text, now, app.zone())).transpose()?;
        let projects =
            project.as_ref().map(|project| store.project_rows(project.row)).transpose()?;
        let filter =
            SessionFilter { projects: projects.clone(), since, ..SessionFilter::default() };
        let mut sessions = store.sessions(&filter)?;
        let filter =
            MemoryFilter { projects, since, oldest_first: true, ..MemoryFilter::default() };
        let mut memories = store.memories(&filter)?;
        let mut decisions = store.operations()?;
        if let Some(since) = since {
            decisions.retain(|decision| decision.at.is_some_and(|at| at >= since));
        }
        if let Some(project) = &project {
            keep_of_project(&mut decisions, project, &sessions, &memories);
        }
        if request.only_decisions {
            sessions.clear();
            memories.clear();
        }
        let header = ExportHeader {
            kind: KIND,
            version: VERSION,
            at: now,
            thru: env!("CARGO_PKG_VERSION"),
            project: project.map(|project| project.key),
            since,
            counts: ExportCounts {
                sessions: sessions.len() as u64,
                passages: sessions.iter().map(|session| session.passages).sum(),
                memories: memories.len() as u64,
                decisions: decisions.len() as u64,
            },
        };
        let intake = app.intake()?;
        Ok(Self { form: request.form, app, store, intake, header, sessions, memories, decisions })
    }

    fn write(&self, output: &mut dyn Write) -> Result<()> {
        if self.form == ExportForm::Markdown {
            return self.write_markdown(output);
        }
        let (store, redactor) = (&self.store, self.intake.redactor());
        let mut lines = Lines { redactor, output };
        lines.write(&self.header)?;
        for session in &self.sessions {
            let body = SessionEntry::new(self.app, redactor, session);
            lines.write(&ExportLine { kind: "session", body })?;
            for passage in store.passages(PassageFilter::Session(session.row))? {
                let text = redactor.clean_text(&store.text_of(&passage)?, &mut Report::default());
                let passage = PassageEntry::new(redactor, &passage, passage.id.to_string(), text);
                let body = PassageLine { passage, session: &session.key.id };
                lines.write(&ExportLine { kind: "passage", body })?;
            }
        }
        for memory in &self.memories {
            let session = memory::session_of(store, memory)?;
            let mut entry = MemoryEntry::new(store, redactor, memory, session.as_ref())?;
            entry.id = memory.id.to_string();
            let (made, body) = (store.made(memory)?, memory::body(store, redactor, memory)?);
            lines.write(&ExportLine { kind: "memory", body: MemoryLine { entry, made, body } })?;
        }
        for row in &self.decisions {
            let body = json!({
                "key": row.key,
                "at": row.at,
                "kind": row.kind,
                "decision": row.body,
                "undone": row.undone,
            });
            lines.write(&ExportLine { kind: "decision", body })?;
        }
        Ok(())
    }
}

/// The lines of an export, each cleaned by the rules of today: what is stored was clean by those of its time.
struct Lines<'a> {
    redactor: &'a Redactor,
    output: &'a mut dyn Write,
}

impl Lines<'_> {
    fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let line = serde_json::to_vec(&serde_json::to_value(line)?)?;
        let clean = self.redactor.clean_json_line(&line, &mut Report::default());
        self.output.write_all(clean.get())?;
        Ok(self.output.write_all(b"\n")?)
    }
}

/// Leaves decisions that are about a project, its sessions or its memories.
fn keep_of_project(
    decisions: &mut Vec<OperationRow>,
    project: &ProjectName,
    sessions: &[SessionRow],
    memories: &[MemoryRow],
) {
    let is_of = |key: &ProjectKey| *key == project.key || project.merged.contains(key);
    let sessions: HashSet<_> = sessions.iter().map(|session| &session.key).collect();
    let memories: HashSet<_> = memories.iter().map(|memory| memory.id).collect();
    let mut kept: HashSet<String> = HashSet::new();
    decisions.retain(|row| {
        let keep = match Operation::read(&row.kind, &row.body) {
            Some(Operation::MemoryRecorded(recorded)) => {
                recorded.project.as_ref().is_some_and(is_of)
            }
            Some(
                Operation::MemoryEdited { memory, session, .. }
                | Operation::MemoryForgotten { memory, session }
                | Operation::MemorySeparated { memory, session },
            ) => {
                memories.contains(&memory)
                    || session.is_some_and(|session| sessions.contains(&session))
            }
            Some(Operation::ProjectRenamed { project, .. }) => is_of(&project),
            Some(Operation::ProjectMerged { from, into }) => is_of(&from) || is_of(&into),
            Some(Operation::OperationUndone { operation }) => kept.contains(&operation),
            _ => false,
        };
        if keep {
            kept.insert(row.key.clone());
        }
        keep
    });
}

/// Returns true if a file is an export: its first line says so.
pub fn is_export(path: &Path) -> bool {
    let header = || {
        let mut lines = lines(path).ok()?;
        lines.next()?.ok()
    };
    path.is_file() && header().is_some_and(|header| header["kind"] == KIND)
}

/// The lines of a file of JSON Lines.
fn lines(path: &Path) -> Result<impl Iterator<Item = Result<Value>>> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut reader = BufReader::new(file);
    let path = path.to_owned();
    let mut number = 0;
    Ok(std::iter::from_fn(move || {
        let mut line = Vec::new();
        number += 1;
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        match read {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_slice(&line).with_context(|| {
                format!("line {number} of {} is not JSON of an export", path.display())
            })),
            Err(error) => {
                Some(Err(error).with_context(|| format!("{} cannot be read", path.display())))
            }
        }
    }))
}

/// The decisions in exports, and the number of other lines by kind.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "kind", rename = "import-export-plan")]
pub struct ExportPlan {
    version: u32,
    /// The number of decisions.
    #[serde(rename = "decisions", serialize_with = "number_of")]
    decisions: Vec<Exported>,
    /// Lines that are not imported: they are made of transcripts, or not understood.
    #[serde(skip)]
    pub others: BTreeMap<String, u64>,
}

fn number_of<S: serde::Serializer>(
    decisions: &[Exported],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(decisions.len() as u64)
}

impl ExportPlan {
    /// The number of decisions.
    pub fn decisions(&self) -> u64 {
        self.decisions.len() as u64
    }
}

/// The decisions that were imported.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "import-export")]
pub struct ExportImported {
    version: u32,
    /// New decisions, by kind.
    pub new: BTreeMap<String, u64>,
    /// The number of decisions that were known already.
    pub known: u64,
    /// Decisions that would remove something here, by kind.
    pub left_out: BTreeMap<String, u64>,
    /// The number of decisions of a form that this version does not know.
    pub not_understood: u64,
}

/// Reads exports.
///
/// # Errors
/// Fails if a file cannot be read, is no export, or comes from a newer version.
pub fn plan_import(paths: &[PathBuf]) -> Result<ExportPlan> {
    let mut plan = ExportPlan { version: answer::VERSION, ..ExportPlan::default() };
    for path in paths {
        read_decisions(path, &mut plan)?;
    }
    Ok(plan)
}

/// Imports what people told and decided elsewhere.
///
/// # Errors
/// Fails if another process keeps writing, and if journal or store cannot be written.
pub fn import_decisions(app: &App, plan: &ExportPlan, call: Call<'_>) -> Result<ExportImported> {
    let intake = app.intake()?;
    let adopted = intake.adopt(&call.lock(&intake)?, &plan.decisions)?;
    Ok(ExportImported {
        version: answer::VERSION,
        new: adopted.new,
        known: adopted.known,
        left_out: adopted.left_out,
        not_understood: adopted.not_understood,
    })
}

fn read_decisions(path: &Path, plan: &mut ExportPlan) -> Result<()> {
    let mut leave_out = |kind: &str| *plan.others.entry(kind.to_owned()).or_default() += 1;
    for (number, line) in lines(path)?.enumerate() {
        let mut line = line?;
        if number == 0 {
            if line["version"].as_u64().is_none_or(|version| version > VERSION) {
                return Err(Trouble::refused(format!(
                    "{} was written by a newer version of Throughline",
                    path.display()
                ))
                .advise("upgrade `thru`; nothing was changed"));
            }
            continue;
        }
        match line["kind"].as_str() {
            // What this version does not understand is counted, like all that stays behind.
            Some("decision") => match serde_json::from_value(line["body"].take()) {
                Ok(decision) => plan.decisions.push(decision),
                Err(_) => leave_out("unknown"),
            },
            Some(kind @ ("session" | "passage")) => leave_out(kind),
            // What people told comes with the decision that tells it.
            Some("memory") if line["body"]["told"] == true => {}
            Some("memory") => leave_out("distilled"),
            _ => leave_out("unknown"),
        }
    }
    Ok(())
}

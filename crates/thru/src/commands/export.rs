//! `thru export`: memory as JSON Lines, and what `thru import` makes of such a file.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use thru_app::App;
use thru_app::ask::named;

use serde_json::{Value, json};
use thru_app::{Context, Result};
use thru_core::Timestamp;
use thru_intake::{Adopted, Exported, Intake, Operation};
use thru_recall::parse_date;
use thru_redact::{Clean, Report};
use thru_store::{
    MemoryFilter, MemoryRow, OperationRow, PassageFilter, ProjectName, SessionFilter, SessionRow,
    Store,
};

use super::sessions::session_json;
use super::show::passage_json;
use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, count, plural};

/// What the first line of an export says it is.
const KIND: &str = "throughline-export";
/// The form of an export.
const VERSION: u64 = 1;
/// The longest line that is read: more than any passage and its JSON.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// One JSON object a line: a header, then sessions with their passages, memories, and what people
/// decided. Everything goes through the redactor once more. `thru import FILE` brings what people told
/// and decided into another memory; transcripts are carried by copying `archive/` and `journal/`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru export --out memory.jsonl              everything\n  \
    thru export --project rocket --since 2026-01-01\n  \
    thru export | jq -r 'select(.kind == \"memory\") | .body.title'\n  \
    thru import memory.jsonl                    bring in what was told and decided")]
pub(crate) struct Arguments {
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
    /// Only what happened since: `2026-03-01`, `yesterday`, `2 weeks ago`
    #[arg(long)]
    since: Option<String>,
    /// Write to this file, which must not be there yet
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What is to be exported.
struct Chosen {
    sessions: Vec<SessionRow>,
    memories: Vec<MemoryRow>,
    decisions: Vec<OperationRow>,
    passages: u64,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let now = environment.clock.now();
    let project =
        arguments.project.as_deref().map(|name| named::named_project(&store, name)).transpose()?;
    let since = arguments.since.as_deref();
    let since = since.map(|text| parse_date(text, now, environment.zone())).transpose()?;
    let chosen = choose(&store, project.as_ref(), since)?;
    let header = json!({
        "kind": KIND,
        "version": VERSION,
        "at": now,
        "thru": env!("CARGO_PKG_VERSION"),
        "project": project.as_ref().map(|project| project.key.as_str()),
        "since": since,
        "counts": {
            "sessions": chosen.sessions.len(),
            "passages": chosen.passages,
            "memories": chosen.memories.len(),
            "decisions": chosen.decisions.len(),
        },
    });
    let Some(path) = &arguments.out else {
        let mut output = BufWriter::new(std::io::stdout().lock());
        write(&mut output, &header, &chosen, &store, &intake, environment)?;
        output.flush()?;
        return Ok(Outcome::Done);
    };
    write_file(path, |output| write(output, &header, &chosen, &store, &intake, environment))?;
    let mut page = Page::new(environment, plain);
    page.line(format!(
        "Wrote {}, {}, {} memories and {} to {}.",
        plural(chosen.sessions.len() as u64, "session"),
        plural(chosen.passages, "passage"),
        count(chosen.memories.len() as u64),
        plural(chosen.decisions.len() as u64, "decision"),
        environment.shown(path)
    ));
    page.line("Treat it as confidential: redaction has gaps.");
    page.print()?;
    Ok(Outcome::Done)
}

fn choose(
    store: &Store,
    project: Option<&ProjectName>,
    since: Option<Timestamp>,
) -> Result<Chosen> {
    let projects = project.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = SessionFilter { projects: projects.clone(), since, ..SessionFilter::default() };
    let sessions = store.sessions(&filter)?;
    let filter = MemoryFilter { projects, since, oldest_first: true, ..MemoryFilter::default() };
    let memories = store.memories(&filter)?;
    let mut decisions = store.operations()?;
    if let Some(since) = since {
        decisions.retain(|decision| decision.at.is_some_and(|at| at >= since));
    }
    if let Some(project) = project {
        keep_of_project(&mut decisions, project, &sessions, &memories);
    }
    let passages = sessions.iter().map(|session| session.passages).sum();
    Ok(Chosen { sessions, memories, decisions, passages })
}

/// Leaves decisions that are about a project, its sessions or its memories.
fn keep_of_project(
    decisions: &mut Vec<OperationRow>,
    project: &ProjectName,
    sessions: &[SessionRow],
    memories: &[MemoryRow],
) {
    let is_of = |key: &thru_core::ProjectKey| *key == project.key || project.merged.contains(key);
    let sessions: HashSet<_> = sessions.iter().map(|session| &session.key).collect();
    let memories: HashSet<_> = memories.iter().map(|memory| memory.id).collect();
    let mut kept: HashSet<String> = HashSet::new();
    decisions.retain(|row| {
        let keep = match Operation::read(&row.kind, &row.body) {
            Some(Operation::MemoryTold(told)) => told.project.as_ref().is_some_and(is_of),
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

fn write(
    output: &mut dyn Write,
    header: &Value,
    chosen: &Chosen,
    store: &Store,
    intake: &Intake,
    environment: &App,
) -> Result<()> {
    let mut line = |value: &Value| -> Result<()> {
        // What is stored was clean by the rules of its time; they may be newer.
        let clean =
            intake.redactor().clean_json_line(&serde_json::to_vec(value)?, &mut Report::default());
        output.write_all(clean.get())?;
        Ok(output.write_all(b"\n")?)
    };
    line(header)?;
    for session in &chosen.sessions {
        line(&json!({ "kind": "session", "body": session_json(session, environment) }))?;
        for passage in store.passages(PassageFilter::Session(session.row))? {
            let text: Clean<String> =
                intake.redactor().clean_text(&store.text_of(&passage)?, &mut Report::default());
            let mut body = passage_json(&passage, &passage.id.to_string(), &text);
            body["session"] = json!(session.key.id);
            line(&json!({ "kind": "passage", "body": body }))?;
        }
    }
    for memory in &chosen.memories {
        let mut body = memories::whole_json(store, intake.redactor(), memory)?;
        body["id"] = json!(memory.id);
        // True of this disk and of today only.
        for of_this_disk in ["files_changed_since", "files_gone_since"] {
            body.as_object_mut().map(|body| body.remove(of_this_disk));
        }
        line(&json!({ "kind": "memory", "body": body }))?;
    }
    for row in &chosen.decisions {
        line(&json!({ "kind": "decision", "body": {
            "key": row.key,
            "at": row.at,
            "kind": row.kind,
            "decision": row.body,
            "undone": row.undone,
        } }))?;
    }
    Ok(())
}

/// Writes a new file that only the user may read; nothing is left of one that could not be finished.
fn write_file(path: &Path, content: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    let file = match thru_journal::files::private(&mut options).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(advised(
                format!("{} exists already", path.display()),
                "nothing was changed; choose another name or move the file away",
            ));
        }
        file => file.with_context(|| format!("{} cannot be written", path.display()))?,
    };
    let mut output = BufWriter::new(file);
    let written = content(&mut output).and_then(|()| {
        output.flush()?;
        Ok(output.get_ref().sync_all()?)
    });
    if written.is_err() {
        // What failed is said below.
        let _ = std::fs::remove_file(path);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// Whether a file is an export: its first line says so.
pub(crate) fn is_export(path: &Path) -> bool {
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
                format!("line {number} of {} is no JSON of an export", path.display())
            })),
            Err(error) => {
                Some(Err(error).with_context(|| format!("{} cannot be read", path.display())))
            }
        }
    }))
}

/// Brings in what people told and decided elsewhere.
pub(crate) fn bring_in(
    paths: &[PathBuf],
    dry_run: bool,
    as_json: bool,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let mut decisions = Vec::new();
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    for path in paths {
        read_decisions(path, &mut decisions, &mut others)?;
    }
    let mut page = Page::new(environment, plain);
    let adopted = match dry_run {
        true => None,
        false => {
            let intake = environment.intake()?;
            let lock = shared::lock(&intake, environment)?;
            Some(intake.adopt(&lock, &decisions)?)
        }
    };
    match (&adopted, as_json) {
        (Some(adopted), true) => page.json(&adopted_json(adopted))?,
        (None, true) => page.json(&json!({
            "version": 1, "kind": "import-export-plan", "decisions": decisions.len(),
        }))?,
        (Some(adopted), false) => say_adopted(&mut page, adopted),
        (None, false) => {
            let read = plural(decisions.len() as u64, "decision");
            page.line(format!("{read} to bring in, as far as they are not known."));
        }
    }
    let not_read: u64 = others.values().sum();
    if !as_json && not_read > 0 {
        page.line(format!("Not brought in: {}.", kinds_of(&others)));
        page.line(page.paint(
            Tone::Quiet,
            "They are made of transcripts, which are carried by copying `archive/` and `journal/`.",
        ));
    }
    page.print()?;
    Ok(Outcome::Done)
}

fn read_decisions(
    path: &Path,
    decisions: &mut Vec<Exported>,
    others: &mut BTreeMap<String, u64>,
) -> Result<()> {
    for (number, line) in lines(path)?.enumerate() {
        let mut line = line?;
        if number == 0 {
            if line["version"].as_u64().is_none_or(|version| version > VERSION) {
                return Err(advised(
                    format!("{} was written by a newer version of Throughline", path.display()),
                    "upgrade `thru`; nothing was changed",
                ));
            }
            continue;
        }
        match line["kind"].as_str() {
            Some("decision") => {
                let body = line["body"].take();
                // What this version does not understand is counted, like all that stays behind.
                match serde_json::from_value(body) {
                    Ok(decision) => decisions.push(decision),
                    Err(_) => *others.entry("unknown".to_owned()).or_default() += 1,
                }
            }
            Some(kind @ ("session" | "passage")) => {
                *others.entry(kind.to_owned()).or_default() += 1;
            }
            // What people told comes with the decision that tells it.
            Some("memory") if line["body"]["told"] == true => {}
            Some("memory") => *others.entry("distilled".to_owned()).or_default() += 1,
            _ => *others.entry("unknown".to_owned()).or_default() += 1,
        }
    }
    Ok(())
}

/// A kind of decision in words, with how many there are.
fn kinds_of(decisions: &BTreeMap<String, u64>) -> String {
    let shown: Vec<String> =
        decisions.iter().map(|(kind, number)| format!("{kind} {}", count(*number))).collect();
    shown.join(", ")
}

fn say_adopted(page: &mut Page, adopted: &Adopted) {
    let new: u64 = adopted.new.values().sum();
    match new {
        0 => page.line("Nothing new."),
        _ => page.line(format!(
            "Brought in {} ({}). `thru log` lists them.",
            plural(new, "decision"),
            kinds_of(&adopted.new)
        )),
    }
    if adopted.known > 0 {
        page.line(format!("{} known already.", plural(adopted.known, "decision")));
    }
    if !adopted.left_out.is_empty() {
        page.line(format!(
            "Left out what would remove something here: {}. `thru redact add` and `thru forget` do that.",
            kinds_of(&adopted.left_out)
        ));
    }
    if adopted.not_understood > 0 {
        let decisions = plural(adopted.not_understood, "decision");
        page.line(format!("{decisions} of a form that this version does not know."));
    }
}

fn adopted_json(adopted: &Adopted) -> Value {
    json!({
        "version": 1,
        "kind": "import-export",
        "new": adopted.new,
        "known": adopted.known,
        "left_out": adopted.left_out,
        "not_understood": adopted.not_understood,
    })
}

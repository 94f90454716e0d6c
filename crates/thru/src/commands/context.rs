//! `thru context`: exactly what a session that starts here now would be given.

use std::collections::HashSet;
use thru_app::Remedy;
use thru_app::Trouble;
use thru_app::ask::named;

use clap::ValueEnum;
use serde_json::{Value, json};
use thru_app::Result;
use thru_core::MemoryKind;
use thru_recall::{Occasion, Pack, calls_for_memory};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, one_line, plural, printable};
use thru_app::ask::pack::{PackProject, Recipient, make_pack, snapshot_now};
use thru_app::embedding;
use thru_app::fresh::{self, Prepared};

/// Prints what a session that starts here now would be given; nothing where there is nothing to say.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru context                                what a session that starts here is given\n  \
    thru context --prompt 'why is the lock per file'\n  \
    thru context --explain                      why each line is there")]
pub(crate) struct Arguments {
    /// For this project instead of the one you stand in
    #[arg(long, short)]
    project: Option<String>,
    /// What this prompt would be given
    #[arg(long, conflicts_with = "source")]
    prompt: Option<String>,
    /// How the session starts
    #[arg(long, value_enum, default_value = "startup")]
    source: Source,
    /// The session that it is given to (the start of its id is enough)
    #[arg(long, short)]
    session: Option<String>,
    /// Say why each line is there
    #[arg(long)]
    explain: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Stands where a line tells of the session itself and there is no memory to show.
const SESSION_ITSELF: &str = "–";

/// How a session starts, in the agents' own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    Startup,
    Resume,
    Clear,
    Compact,
}

impl Arguments {
    /// What a session that starts in this project, else in the one that one stands in, is given.
    pub(crate) fn at_start(project: Option<&str>) -> Self {
        Self {
            project: project.map(str::to_owned),
            prompt: None,
            source: Source::Startup,
            session: None,
            explain: false,
            json: false,
        }
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let silent = |note: &str| Pack { note: note.to_owned(), ..Pack::default() };
    let (pack, prepared) = match environment.config.context.off {
        true => (silent("silent: `context.off` is set here"), Prepared::default()),
        false => make(arguments, environment)?,
    };
    let is_silent = pack.lines.is_empty();
    if arguments.json {
        let mut answer = as_json(&pack);
        answer["preparation"] = json!(prepared);
        page.json(&answer)?;
    } else if arguments.explain {
        explain(&mut page, &pack);
        shared::show_prepared(&mut page, &prepared);
    } else {
        for line in pack.text.get().lines() {
            page.line(line);
        }
    }
    page.print()?;
    Ok(if is_silent { Outcome::Nothing } else { Outcome::Done })
}

pub(crate) fn make(arguments: &Arguments, environment: &Environment) -> Result<(Pack, Prepared)> {
    let store = match shared::open_store_as_it_is(environment) {
        Ok(store) => store,
        // Nobody can know anything yet.
        Err(error) if is_missing(&error) => {
            let note = "silent: nothing was recorded yet".to_owned();
            return Ok((Pack { note, ..Pack::default() }, Prepared::default()));
        }
        Err(error) => return Err(error),
    };
    let place = match &arguments.project {
        Some(name) => PackProject::known(&store, named::named_project(&store, name)?)?,
        None => PackProject::here(environment, &store)?,
    };
    // It is found out while what is new is brought in.
    let meaning = arguments
        .prompt
        .as_deref()
        .filter(|prompt| calls_for_memory(prompt))
        .map(|prompt| embedding::of_question(environment, prompt));
    let intake = environment.intake_beside(&store)?;
    let shown = shared::Shown::new(environment);
    let call = shown.call();
    let (store, prepared) =
        fresh::for_question(environment, &intake, store, Some(&place.rows), call)?;
    let session = match &arguments.session {
        Some(id) => Some(named::named_session(&store, id)?.row),
        None => None,
    };
    let occasion = match (&arguments.prompt, arguments.source) {
        (Some(prompt), _) => Occasion::Prompt(prompt.clone()),
        (None, Source::Startup | Source::Clear) => Occasion::Start,
        (None, Source::Resume) => Occasion::Resume,
        (None, Source::Compact) => Occasion::Compact,
    };
    let snapshot = match (&occasion, session) {
        (Occasion::Compact, Some(session)) => {
            snapshot_now(&intake, &store, session, environment.clock.now())?
        }
        _ => None,
    };
    let recipient = Recipient { session, told: HashSet::new(), snapshot };
    let meaning = embedding::awaited(meaning);
    let redactor = intake.redactor();
    let pack = make_pack(environment, &store, redactor, place, occasion, recipient, meaning)?;
    Ok((pack, prepared))
}

fn is_missing(error: &Trouble) -> bool {
    error.remedy() == Some(&Remedy::Import)
}

fn explain(page: &mut Page, pack: &Pack) {
    for line in &pack.lines {
        let short_id = line.short_id.as_deref().unwrap_or(SESSION_ITSELF);
        let id = page.paint(Tone::Id, short_id);
        let room = page.columns().saturating_sub(short_id.len() + 2);
        page.line(format!("{id}  {}", one_line(&printable(line.text.get()), room)));
        page.line(format!(
            "{:width$}  {}",
            "",
            page.paint(Tone::Quiet, &line.reason),
            width = short_id.len()
        ));
    }
    page.gap();
    let note = if pack.note.is_empty() { String::new() } else { format!("; {}", pack.note) };
    let lines = plural(pack.lines.len() as u64, "line");
    let line = format!("{lines}, about {} tokens{note}.", pack.tokens);
    page.line(page.paint(Tone::Quiet, &line));
}

fn as_json(pack: &Pack) -> Value {
    let lines: Vec<Value> = pack
        .lines
        .iter()
        .map(|line| {
            json!({
                "id": line.short_id,
                "full_id": line.memory.as_ref().map(|memory| memory.id),
                "session": line.session.as_ref().map(|session| session.as_str()),
                "turn": line.memory.as_ref().map(|memory| memory.turn),
                "kind": line.memory.as_ref().map_or("snapshot", |memory| match memory.kind {
                    MemoryKind::Summary => "summary",
                    MemoryKind::Observation(_) if memory.flags.is_told => "note",
                    MemoryKind::Observation(_) => "observation",
                }),
                "type": line.memory.as_ref().map(|memory| memory.kind.as_str()),
                "title": line.text.get(),
                "tier": line.tier,
                "reason": line.reason,
            })
        })
        .collect();
    json!({
        "version": 1,
        "kind": "context",
        "text": pack.text.get(),
        "tokens": pack.tokens,
        "note": pack.note,
        "lines": lines,
    })
}

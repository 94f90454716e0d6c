//! `thru edit`: correct a memory.

use thru_app::Result;
use thru_core::{MemoryEdit, MemoryKind, ObservationType};
use thru_intake::Operation;
use thru_redact::Report;

use super::{Outcome, memories, remember, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone};
use thru_app::compaction;

/// What you write stands over what was distilled, also after a rebuild. `thru undo` takes it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    thru edit k3f9a --title 'Lock per file, not per process' --type decision")]
#[command(group(
    clap::ArgGroup::new("changes")
        .required(true)
        .multiple(true)
        .args(["title", "text", "kind", "rule"])
))]
#[group(skip)]
pub(crate) struct Arguments {
    /// The memory's id, or the start of it
    id: String,
    /// Another title
    #[arg(long)]
    title: Option<String>,
    /// Another text
    #[arg(long)]
    text: Option<String>,
    /// Another type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<ObservationType>,
    /// Whether it is a rule
    #[arg(long, value_name = "BOOL")]
    rule: Option<bool>,
}

const INSTEAD: memories::Instead = memories::Instead {
    of_session: "`thru show` and `thru timeline` show ids of its memories",
    of_passage: "what was recorded is not edited; `thru remember` tells what you know better",
};

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let mut report = Report::default();
    let told = |text: &Option<String>, report: &mut Report| {
        text.as_deref().map(|text| remember::told(text, report)).transpose()
    };
    let title = told(&arguments.title, &mut report)?;
    if let Some(title) = &title {
        remember::check_title(title)?;
    }
    let text = told(&arguments.text, &mut report)?;
    let store = shared::open_store(environment)?;
    let memory = memories::required(&store, &arguments.id, &INSTEAD)?;
    if memory.kind == MemoryKind::Summary {
        return Err(advised(
            "a summary follows from its session and cannot be edited",
            "forget it with `thru forget`, or tell what you know with `thru remember`",
        ));
    }
    let session = memories::session_of(&store, &memory)?.map(|session| session.key);
    drop(store);
    let edit = MemoryEdit { title, narrative: text, kind: arguments.kind, is_rule: arguments.rule };
    let intake = environment.intake()?;
    let lock = shared::lock(&intake, environment)?;
    let edited = Operation::MemoryEdited { memory: memory.id, session: session.clone(), edit };
    let is_unswept = shared::is_unswept(intake.record_and_apply(&lock, &[edited]))?;
    drop(lock);
    compaction::write_again(environment, Some(session.as_slice()))?;
    let store = shared::open_store(environment)?;
    let mut page = Page::new(environment, plain);
    if let Some(memory) = store.memory(&memory.id)? {
        memories::show(&mut page, &store, intake.redactor(), &memory, environment)?;
        page.gap();
    }
    if is_unswept {
        page.line(page.paint(Tone::Bad, shared::UNSWEPT));
    }
    page.line(page.paint(Tone::Quiet, "Changed. `thru undo` takes it back."));
    page.print()?;
    Ok(Outcome::Done)
}

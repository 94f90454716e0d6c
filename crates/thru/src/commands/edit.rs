//! `thru edit`: correct a memory.

use thru_app::Result;
use thru_app::ask::get::{Get, Piece, Sources, get};
use thru_app::ask::memories;
use thru_app::fresh::Freshness;
use thru_app::keep::edit::{self, Edit};
use thru_core::ObservationType;

use super::{entries, shared};
use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// What you write replaces what was distilled, also after a rebuild. `thru undo` undoes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    thru edit k3f9a --title 'Lock per file, not per process' --type decision")]
#[command(group(
    clap::ArgGroup::new("changes")
        .required(true)
        .multiple(true)
        .args(["title", "text", "kind", "rule", "agree"])
))]
#[group(skip)]
pub(crate) struct EditArguments {
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
    /// Stand behind what an agent recorded, so that starting sessions are told of it
    #[arg(long)]
    agree: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl EditArguments {
    fn request(&self) -> Edit {
        Edit {
            id: self.id.clone(),
            title: self.title.clone(),
            text: self.text.clone(),
            kind: self.kind,
            is_rule: self.rule,
            agreed: self.agree.then_some(true),
            base: None,
        }
    }
}

pub(crate) fn run(arguments: &EditArguments, environment: &Environment) -> Result<Outcome> {
    let shown = environment.progress();
    let edited = edit::edit(&environment.app, &arguments.request(), shown.call())?;
    if edited.is_unswept {
        environment.tell(shared::UNSWEPT)?;
    }
    if arguments.json {
        let history = memories::history(environment, &edited.id.to_string(), shown.call())?;
        return environment.answer(true, &history, |_| {});
    }
    let request = Get {
        ids: vec![edited.id.to_string()],
        sources: Sources::None,
        freshness: Freshness::Recorded,
    };
    let mut page = environment.page();
    for piece in get(environment, &request, shown.call())?.pieces {
        if let Piece::Memory(piece) = piece {
            entries::show(&mut page, &piece.memory, environment);
            page.gap();
        }
    }
    page.toned(Tone::Quiet, &format!("{} `thru undo` undoes it.", edited.said()));
    page.print()
}

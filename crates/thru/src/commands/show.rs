//! `thru show`: memories and passages whole, or the records they came from.

use thru_app::Result;
use thru_app::ask::get::{Get, MemoryPiece, PassagePiece, Piece, SourceLine, Sources, get};
use thru_app::fresh::Freshness;

use super::entries::{self, session_heading, speaker};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, day_and_time, printable};

/// Ids come from `thru search`, `thru timeline` and `thru context`; any unique start of one will do.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArguments {
    /// Ids of memories and passages
    #[arg(required = true)]
    ids: Vec<String>,
    /// Show the transcript records that it was made from
    #[arg(long)]
    source: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ShowArguments, environment: &Environment) -> Result<Outcome> {
    let request = Get {
        ids: arguments.ids.clone(),
        sources: if arguments.source { Sources::Records } else { Sources::None },
        freshness: Freshness::Recorded,
    };
    let pieces = get(environment, &request, environment.progress().call())?.all_known()?;
    environment.answer(arguments.json, &pieces, |page| {
        for piece in &pieces.pieces {
            match piece {
                Piece::Memory(memory) => show_memory(page, memory, environment),
                Piece::Passage(passage) => show_passage(page, passage, environment),
                Piece::Unknown { .. } => {}
            }
        }
    })
}

fn show_memory(page: &mut Page, piece: &MemoryPiece, environment: &Environment) {
    entries::show(page, &piece.memory, environment);
    if let Some(records) = &piece.records {
        page.gap();
        show_records(page, records);
    }
}

fn show_passage(page: &mut Page, piece: &PassagePiece, environment: &Environment) {
    let passage = &piece.entry;
    page.gap();
    if let Some(session) = &piece.session {
        session_heading(page, session, environment);
    }
    let when = day_and_time(passage.at, environment.zone());
    let id = page.paint(Tone::Id, &passage.id);
    let rest = format!("{} · turn {} · {when}", speaker(passage), passage.turn);
    page.line(format!("{id}  {}", page.paint(Tone::Quiet, &rest)));
    page.gap();
    match &piece.records {
        Some(records) => show_records(page, records),
        None => page.line(printable(passage.text.get().trim_end())),
    }
}

fn show_records(page: &mut Page, records: &[SourceLine]) {
    for record in records {
        page.line(printable(record.text().get()));
    }
}

//! `thru show`: memories and passages whole, or the records they came from.

use serde_json::{Value, json};
use thru_app::Result;
use thru_app::ask::memory;
use thru_core::IdPrefix;
use thru_intake::Intake;
use thru_redact::{Clean, Report};
use thru_store::{MemoryRow, PassageRow, Store};

use super::search::{session_heading, speaker};
use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, day_and_time, printable};

/// Ids come from `thru search`, `thru timeline` and `thru context`; any unique start of one will do.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
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

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let mut page = Page::new(environment, plain);
    let (mut shown, mut remembered) = (Vec::new(), Vec::new());
    for id in &arguments.ids {
        if let Some(memory) = memory::memory_named(&store, id)? {
            remembered.extend(show_memory(
                arguments,
                &store,
                &intake,
                &memory,
                &mut page,
                environment,
            )?);
            continue;
        }
        let passage = named_passage(&store, id)?;
        let short_id = store.short_id(&passage.id)?;
        let text = intake.redactor().clean_text(&store.text_of(&passage)?, &mut Report::default());
        let records = match arguments.source {
            true => records(&store, &intake, &passage)?,
            false => Vec::new(),
        };
        if arguments.json {
            let mut value = passage_json(&passage, &short_id, &text);
            value["session"] = store
                .session(passage.session)?
                .map(|s| super::sessions::session_json(&s, environment))
                .into();
            if arguments.source {
                value["source"] = records.iter().map(parsed).collect();
            }
            shown.push(value);
            continue;
        }
        page.gap();
        if let Some(session) = store.session(passage.session)? {
            page.line(session_heading(&page, &session, environment));
        }
        let when = day_and_time(passage.at, environment.zone());
        let id = page.paint(Tone::Id, &short_id);
        let rest = format!("{} · turn {} · {when}", speaker(&passage), passage.turn);
        page.line(format!("{id}  {}", page.paint(Tone::Quiet, &rest)));
        page.gap();
        if arguments.source {
            for record in &records {
                page.line(printable(&String::from_utf8_lossy(record.get())));
            }
        } else {
            page.line(printable(text.get().trim_end()));
        }
    }
    if arguments.json {
        page.json(
            &json!({ "version": 1, "kind": "passages", "passages": shown, "memories": remembered }),
        )?;
    }
    page.print()?;
    Ok(Outcome::Done)
}

/// One memory; with `--source`, the records of all passages that it was made from.
fn show_memory(
    arguments: &Arguments,
    store: &Store,
    intake: &Intake,
    memory: &MemoryRow,
    page: &mut Page,
    environment: &Environment,
) -> Result<Option<Value>> {
    let mut source = Vec::new();
    if arguments.source {
        for id in store.body_of(memory)?.sources() {
            if let Some(passage) = store.passage(&id)? {
                source.extend(records(store, intake, &passage)?);
            }
        }
    }
    if arguments.json {
        let mut value = memories::whole_json(store, intake.redactor(), memory)?;
        if arguments.source {
            value["source"] = source.iter().map(parsed).collect();
        }
        return Ok(Some(value));
    }
    memories::show(page, store, intake.redactor(), memory, environment)?;
    if arguments.source {
        page.gap();
        for record in &source {
            page.line(printable(&String::from_utf8_lossy(record.get())));
        }
    }
    Ok(None)
}

/// The passage whose id starts so; an error with advice where there is none.
pub(crate) fn named_passage(store: &Store, id: &str) -> Result<PassageRow> {
    let prefix: IdPrefix = id.parse()?;
    let mut found = store.passages_by_prefix(&prefix, 4)?;
    match found.len() {
        0 => {
            Err(advised(format!("there is no memory or passage `{id}`"), "`thru search` shows ids"))
        }
        1 => Ok(found.swap_remove(0)),
        _ => {
            let ids = found
                .iter()
                .map(|passage| store.short_id(&passage.id))
                .collect::<Result<Vec<_>, _>>()?;
            Err(advised(
                format!("several passages start with `{id}`"),
                format!("write more of it: {}", ids.join(", ")),
            ))
        }
    }
}

/// The records of a passage, from archive or journal.
fn records(store: &Store, intake: &Intake, passage: &PassageRow) -> Result<Vec<Clean<Vec<u8>>>> {
    let Some(source) = store.source(passage.source)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for record in passage.records.iter().filter(|record| seen.insert(&record.id)) {
        match intake.source_record(&source, record)? {
            Some(line) => found.push(line),
            None => {
                return Err(advised(
                    format!("record {} is lost", record.id),
                    "run `thru verify` to see what else is missing",
                ));
            }
        }
    }
    Ok(found)
}

fn parsed(record: &Clean<Vec<u8>>) -> Value {
    serde_json::from_slice(record.get())
        .unwrap_or_else(|_| json!(String::from_utf8_lossy(record.get())))
}

/// A passage as JSON, in every answer alike.
pub(crate) fn passage_json(passage: &PassageRow, id: &str, text: &Clean<String>) -> Value {
    json!({
        "id": id,
        "full_id": passage.id,
        "kind": passage.kind,
        "turn": passage.turn,
        "at": passage.at,
        "subagent": passage.agent_id,
        "tool": passage.tool,
        "command": passage.command,
        "outcome": passage.outcome,
        "records": passage.records.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(),
        "text": text.get(),
    })
}

//! Questions to recall, and what it finds as rows. All that MCP knows of how recall answers is here.

use thru_app::ask::{memory, named};
use thru_app::{Context, Result};
use thru_core::{Outcome, PassageKind, estimated_tokens};
use thru_intake::Intake;
use thru_mcp::{Around, Found, Place, Row, Search, Timeline, WantedKind};
use thru_recall::{Anchor, FoundMemory, Hit, Request, Snippet};
use thru_redact::Redactor;
use thru_store::{MemoryFilter, MemoryRow, Store};

use super::own::cleaned;
use crate::commands::{memories, search, timeline};
use crate::environment::Environment;
use thru_app::embedding;
use thru_app::{Call, fresh};

/// Of the rows of an answer, memories take at most two of five where passages are wanted as well: they say it
/// better, and passages show it.
const MEMORIES: (usize, usize) = (2, 5);
/// Passages looked at for each that is wanted, where only some kinds are.
const PASSAGES_PER_KIND: usize = 5;
/// Characters of a snippet before what was looked for.
const BEFORE_MARK: usize = 40;
/// Characters of a passage that stands for itself.
const OPENING: usize = 240;

/// Finds memories and passages.
pub(super) fn search(
    environment: &Environment,
    intake: &Intake,
    store: Store,
    asked: &Search,
    call: Call<'_>,
) -> Result<Found> {
    let meaning = embedding::of_question(environment, &asked.query);
    let mut arguments = search::Arguments::of(&asked.query);
    if let Place::Named(name) = &asked.place {
        arguments.project = Some(name.clone());
    }
    arguments.all = asked.place == Place::Everywhere;
    arguments.session.clone_from(&asked.session);
    arguments.file.clone_from(&asked.file);
    arguments.since.clone_from(&asked.since);
    arguments.until.clone_from(&asked.until);
    arguments.of = asked.agent.into();
    let (mut filter, scope) = search::scope(&arguments, environment, &store)?;
    let (store, prepared) =
        fresh::for_question(environment, intake, store, filter.projects.as_deref(), call)?;
    let redactor = intake.redactor();
    let kinds = Kinds::of(&asked.kinds);
    let most_memories = match (kinds.memories, kinds.passages) {
        (false, _) => 0,
        (true, false) => asked.limit,
        (true, true) => (asked.limit * MEMORIES.0 / MEMORIES.1).max(1),
    };
    let most_passages = match (kinds.passages, kinds.of_passages.is_empty()) {
        (false, _) => 0,
        (true, true) => asked.limit,
        (true, false) => asked.limit * PASSAGES_PER_KIND,
    };
    filter.kinds = (!kinds.of_memories.is_empty()).then(|| kinds.of_memories.clone());
    // One more of each tells whether there are more.
    let one_more = |most: usize| if most == 0 { 0 } else { most + 1 };
    let request = Request {
        query: asked.query.clone(),
        filter,
        when: search::time_meant(environment, &asked.query),
        open: environment.open.clone(),
        limit: one_more(most_passages),
        memories: one_more(most_memories),
        ..Request::default()
    };
    let meaning = Box::new(|| meaning.wait());
    let mut answer = thru_recall::search(&environment.layout, &store, redactor, &request, meaning)?;
    let mut found = Found {
        project: scope.project.map(|name| cleaned(redactor, &name)),
        notes: prepared.sentences().iter().map(|one| cleaned(redactor, one)).collect(),
        ..Found::default()
    };
    let is_confident = answer.is_confident();
    let (near, far): (Vec<FoundMemory>, Vec<FoundMemory>) =
        answer.memories.into_iter().partition(|one| one.hit.is_near());
    found.has_more |= near.len() > most_memories;
    for one in near.iter().take(most_memories) {
        found.rows.push(row_of_memory(&store, redactor, &one.hit.memory)?);
    }
    // Some words stand everywhere: what does not seem to answer is only shown as what comes nearest.
    if found.rows.is_empty() && !is_confident {
        found.are_nearest = asked.nearest && !answer.sessions.is_empty();
        if !asked.nearest {
            answer.sessions.clear();
        }
    }
    let mut hits: Vec<Hit> = answer.sessions.into_iter().flat_map(|session| session.hits).collect();
    hits.sort_by_key(|hit| hit.rank);
    hits.retain(|hit| {
        kinds.of_passages.is_empty() || kinds.of_passages.contains(&hit.passage.kind)
    });
    let room = asked.limit - found.rows.len();
    found.has_more |= hits.len() > room;
    found.rows.extend(hits.iter().take(room).map(|hit| row_of_passage(redactor, hit)));
    if found.rows.is_empty() && asked.nearest {
        for one in far.iter().take(asked.limit) {
            found.rows.push(row_of_memory(&store, redactor, &one.hit.memory)?);
        }
        found.are_nearest = !found.rows.is_empty();
    }
    let left_out = answer.left_out;
    if left_out > 0 {
        let note = format!(
            "{left_out} new passages or memories are not in the index yet and were not searched."
        );
        found.notes.push(cleaned(redactor, &note));
    }
    Ok(found)
}

/// Which kinds are wanted.
struct Kinds {
    memories: bool,
    passages: bool,
    of_memories: Vec<thru_core::MemoryKind>,
    of_passages: Vec<PassageKind>,
}

impl Kinds {
    fn of(wanted: &[WantedKind]) -> Self {
        let (mut of_memories, mut of_passages) = (Vec::new(), Vec::new());
        for kind in wanted {
            match kind {
                WantedKind::Memory(kind) => of_memories.push(*kind),
                WantedKind::Passage(kind) => of_passages.push(*kind),
            }
        }
        let all = wanted.is_empty();
        Self {
            memories: all || !of_memories.is_empty(),
            passages: all || !of_passages.is_empty(),
            of_memories,
            of_passages,
        }
    }
}

/// What happened around something; nothing where a question finds nothing.
pub(super) fn timeline(
    environment: &Environment,
    intake: &Intake,
    store: Store,
    asked: &Timeline,
    call: Call<'_>,
) -> Result<Option<Around>> {
    let (store, prepared) = fresh::for_question(environment, intake, store, None, call)?;
    let redactor = intake.redactor();
    let mut passage = None;
    let anchor = match (&asked.anchor, &asked.query) {
        (Some(id), _) => {
            let anchor = timeline::named(&store, id)?;
            if matches!(anchor, Anchor::Moment { .. }) {
                passage = Some(super::reading::passage_named(&store, redactor, id)?);
            }
            Some(anchor)
        }
        (None, Some(query)) => {
            let project = match &asked.place {
                Place::Named(name) => Some(named::named_project(&store, name)?),
                Place::Here => named::current_project(environment, &store)?,
                Place::Everywhere => None,
            };
            timeline::found(query, project, &asked.kinds, None, environment, &store)?
        }
        (None, None) => None,
    };
    let Some(anchor) = anchor else { return Ok(None) };
    let wanted = MemoryFilter {
        kinds: (!asked.kinds.is_empty()).then(|| asked.kinds.clone()),
        ..MemoryFilter::default()
    };
    let told = thru_recall::timeline(&store, anchor, asked.before, asked.after, wanted)?;
    let row = |memory: &MemoryRow| row_of_memory(&store, redactor, memory);
    let mut around = Around {
        rows: told.before.iter().map(row).collect::<Result<_>>()?,
        notes: prepared.sentences().iter().map(|one| cleaned(redactor, one)).collect(),
        anchor: None,
    };
    if let Some(memory) = &told.anchor {
        around.anchor = Some(around.rows.len());
        around.rows.push(row(memory)?);
    } else if let Some(passage) = passage {
        around.anchor = Some(around.rows.len());
        around.rows.push(Row {
            tokens: estimated_tokens(passage.text.get()),
            title: passage.text.derive(|text| text.chars().take(OPENING).collect()),
            id: passage.id,
            at: passage.at,
            kind: passage.kind,
            is_stale: false,
        });
    }
    around.rows.extend(told.after.iter().map(row).collect::<Result<Vec<_>>>()?);
    Ok(Some(around))
}

/// A memory in a line.
pub(super) fn row_of_memory(store: &Store, redactor: &Redactor, memory: &MemoryRow) -> Result<Row> {
    let session = memory::session_of(store, memory)?;
    Ok(Row {
        id: store.short_id(&memory.id).context("its id cannot be shortened")?,
        at: memory.at,
        kind: WantedKind::Memory(memory.kind),
        title: cleaned(redactor, &memory.title),
        tokens: memory.tokens,
        is_stale: memories::freshness(store, memory, session.as_ref())?.note().is_some(),
    })
}

fn row_of_passage(redactor: &Redactor, hit: &Hit) -> Row {
    let passage = &hit.passage;
    let tool = passage.tool.as_deref().filter(|_| passage.kind == PassageKind::Tool);
    let mark = match passage.outcome {
        Some(Outcome::Failed) => " failed",
        Some(Outcome::Pending) => " (no result)",
        _ => "",
    };
    let named = tool.map_or_else(String::new, |tool| format!("{tool}{mark}: "));
    Row {
        id: hit.short_id.clone(),
        at: passage.at,
        kind: WantedKind::Passage(passage.kind),
        title: cleaned(redactor, &format!("{named}{}", answering(hit.snippet.get()))),
        tokens: estimated_tokens(hit.text.get()),
        is_stale: false,
    }
}

/// The part of a snippet that begins shortly before what was looked for.
fn answering(snippet: &Snippet) -> String {
    let text = snippet.text.as_str();
    let mark = snippet.marks.first().map_or(0, |mark| mark.start);
    let before = text[..mark].chars().count();
    if before <= BEFORE_MARK {
        return text.to_owned();
    }
    let from = text[..mark].char_indices().rev().nth(BEFORE_MARK - 1).map_or(0, |(at, _)| at);
    let from = text[from..mark].find(' ').map_or(from, |space| from + space + 1);
    format!("…{}", &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_stands_near_the_beginning() {
        let text = format!("{} the needle lies here", "hay ".repeat(30).trim_end());
        let at = text.find("needle").unwrap();
        let snippet = Snippet { text, marks: std::iter::once(at..at + 6).collect() };
        assert_eq!(answering(&snippet), "…hay hay hay hay hay hay hay hay the needle lies here");
        let plain = Snippet { text: "needle".to_owned(), marks: Vec::new() };
        assert_eq!(answering(&plain), "needle");
        let wide = format!("{}针", "数".repeat(60));
        let at = wide.find('针').unwrap();
        let shown =
            answering(&Snippet { marks: std::iter::once(at..wide.len()).collect(), text: wide });
        assert_eq!(shown.chars().count(), BEFORE_MARK + 2);
    }
}

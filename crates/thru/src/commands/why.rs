//! `thru why`: why something stands where it does among the answers to a question.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_app::ask::{memory, named};
use thru_recall::{Asked, Part, Request, order};
use thru_store::index::{IndexFilter, TextIndex};
use thru_store::{PassageRow, Store};

use super::search::{made_of, semantics, time_meant};
use super::show::named_passage;
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, count};
use thru_app::embedding;
use thru_app::fresh::answer;

/// Memories that are ranked to find one among them.
const RANKED: usize = 200;

/// An id comes from `thru search`; any unique start of one will do.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru why k3f9a --for 'why does the importer lock the database'\n  \
    thru why k3f9a --for 'retry budget' --all --json")]
pub(crate) struct Arguments {
    /// The id of a passage or a memory
    id: String,
    /// The question
    #[arg(long = "for", value_name = "QUERY")]
    query: String,
    /// Among the answers from this project
    #[arg(long, short, conflicts_with = "all")]
    project: Option<String>,
    /// Among the answers from all projects
    #[arg(long, short)]
    all: bool,
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
    let project = match (&arguments.project, arguments.all) {
        (Some(name), _) => Some(named::named_project(&store, name)?),
        (None, true) => None,
        (None, false) => named::current_project(environment, &store)?,
    };
    let projects = project.map(|project| store.project_rows(project.row)).transpose()?;
    let filter = IndexFilter { projects, ..IndexFilter::default() };
    let mut page = Page::new(environment, plain);
    let answer = match memory::memory_named(&store, &arguments.id)? {
        Some(memory) => of_memory(arguments, environment, &store, filter, memory.row)?,
        None => {
            let passage = named_passage(&store, &arguments.id)?;
            of_passage(arguments, environment, &store, filter, &passage)?
        }
    };
    match arguments.json {
        true => page.json(&answer.json)?,
        false => {
            for (number, line) in answer.lines.iter().enumerate() {
                let tone = if number == 0 { Tone::Heading } else { Tone::Quiet };
                page.line(page.paint(tone, line));
            }
        }
    }
    page.print()?;
    Ok(if answer.is_found { Outcome::Done } else { Outcome::Nothing })
}

struct Answer {
    is_found: bool,
    lines: Vec<String>,
    json: Value,
}

fn of_passage(
    arguments: &Arguments,
    environment: &App,
    store: &Store,
    filter: IndexFilter,
    passage: &PassageRow,
) -> Result<Answer> {
    let query = arguments.query.clone();
    let meaning = embedding::of_question(environment, &query);
    let index = TextIndex::open(&environment.layout, store)?;
    let when = time_meant(environment, &query);
    let asked = Asked { query, filter, when };
    let ordered = order(&environment.layout, &index, store, &asked, Box::new(|| meaning.wait()))?;
    let all = &ordered.candidates.found;
    let ranked = |row| {
        let scores = ordered.ranking.passages.iter();
        scores.enumerate().find(|(_, score)| all[score.candidate].row == row)
    };
    let note = semantics(&ordered.semantics);
    let Some((place, score)) = ranked(passage.row) else {
        let line = format!(
            "It is none of the {} passages that were looked at closely: it neither holds enough of \
             the question's words, nor means nearly the same, nor stands beside one that does.",
            count(all.len() as u64)
        );
        let json = json!({ "version": 1, "kind": "why", "rank": null, "considered": all.len() });
        return Ok(Answer { is_found: false, lines: vec![line, note], json });
    };
    let session = ordered.ranking.sessions.iter().enumerate();
    let session = session.into_iter().find(|(_, score)| score.session == passage.session);
    let similarity = ordered.found.similarity.get(score.candidate).copied().flatten();
    let mut lines = vec![format!(
        "Passage {} of {}, with {:.2}",
        place + 1,
        count(all.len() as u64),
        score.score
    )];
    lines.push(format!("  {}", made_of(&score.parts())));
    if let Some(similarity) = similarity {
        lines.push(format!("  The cosine of its meaning and the question's is {similarity:.2}."));
    }
    let mut json = json!({
        "version": 1,
        "kind": "why",
        "rank": place + 1,
        "considered": all.len(),
        "score": score.score,
        "features": features(&score.parts()),
        "similarity": similarity,
        "confidence": ordered.ranking.confidence,
    });
    if let Some((place, session)) = session {
        let sessions = ordered.ranking.sessions.len() as u64;
        lines.push(format!(
            "Its session is number {} of {}, with {:.2}",
            place + 1,
            count(sessions),
            session.score
        ));
        lines.push(format!("  {}", made_of(&session.parts())));
        json["session"] = json!({
            "rank": place + 1,
            "considered": sessions,
            "score": session.score,
            "features": features(&session.parts()),
        });
    }
    lines.push(note);
    Ok(Answer { is_found: true, lines, json })
}

fn features(parts: &[Part]) -> Value {
    let one = |part: &Part| {
        json!({
            "name": part.name,
            "value": part.value,
            "weight": part.weight,
            "contribution": part.contribution(),
        })
    };
    parts.iter().map(one).collect()
}

fn of_memory(
    arguments: &Arguments,
    environment: &App,
    store: &Store,
    filter: IndexFilter,
    row: i64,
) -> Result<Answer> {
    let query = arguments.query.clone();
    let request = Request { query, filter, memories: RANKED, ..Request::default() };
    let answer = answer(environment, store, &request)?;
    let found = answer.memories.iter().enumerate().find(|(_, one)| one.hit.memory.row == row);
    let Some((place, found)) = found else {
        let line = "It is none of the memories that answer this question.".to_owned();
        let json = json!({ "version": 1, "kind": "why", "rank": null });
        return Ok(Answer { is_found: false, lines: vec![line], json });
    };
    let hit = &found.hit;
    let lines = vec![
        format!("Memory {} of {}, with {:.2}", place + 1, answer.memories.len(), hit.score),
        format!(
            "  It holds {} of the question's words: {:.0} % of them, weighted by how rare they are.",
            hit.words,
            hit.coverage * 100.0
        ),
    ];
    let json = json!({
        "version": 1,
        "kind": "why",
        "rank": place + 1,
        "considered": answer.memories.len(),
        "score": hit.score,
        "coverage": hit.coverage,
        "words": hit.words,
    });
    Ok(Answer { is_found: true, lines, json })
}

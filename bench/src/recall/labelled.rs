//! A labelled set over real transcripts: ours and plain BM25 side by side.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use thru_core::Agent;
use thru_recall::Ordered;
use thru_store::index::IndexFilter;

use super::baseline::Baseline;
use super::engine::{self, Engine, Ranked};
use super::labels::{self, Query, SessionLabel};
use super::screen::{Screen, Seen};
use super::{Arguments, confidence, seen};
use crate::home::Home;
use crate::metrics::{Table, auroc, evidence, hit, place, reciprocal_rank};

/// The columns of the tables.
pub(super) const COLUMNS: [&str; 6] = ["hit@1", "hit@5", "MRR", "ev@10", "ev@20", "any@10"];

/// A query with our answer to it.
pub(super) struct Asked {
    pub(super) query: Query,
    pub(super) ordered: Ordered,
    pub(super) ranked: Ranked,
    pub(super) seen: Seen,
}

/// Measures a set.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let set = &arguments.set;
    let (mut used, left_out): (Vec<SessionLabel>, Vec<SessionLabel>) =
        labels::sessions(set)?.into_iter().partition(|session| is_readable(&session.agent));
    if let Some(agent) = &arguments.agent {
        used.retain(|session| session.agent == *agent);
    }
    let mut names = BTreeMap::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    for session in &used {
        let path = arguments.transcripts.join(&session.file);
        names.insert(path.to_string_lossy().into_owned(), session.session.clone());
        paths.push(path);
    }
    let home = match &arguments.home {
        Some(root) => Home::at(root)?,
        None => Home::temporary()?,
    };
    let started = Instant::now();
    let report = home.import_paths(&paths)?;
    for problem in &report.problems {
        eprintln!("{}: {}", problem.path.display(), problem.message);
    }
    let counts = home.store()?.counts()?;
    println!(
        "{} of {} sessions imported in {:.1} s ({:.1} MB, {} passages, {} copies left out); \
         {} sessions of agents that this build cannot read left out.",
        counts.sessions,
        used.len(),
        started.elapsed().as_secs_f64(),
        report.bytes as f64 / 1e6,
        counts.passages,
        report.written.copies,
        left_out.len(),
    );

    let projects = by_project(&used);
    let corpus: BTreeSet<String> = used.into_iter().map(|session| session.session).collect();
    // Only what can be found is asked: the agents that were read.
    let agent = arguments.agent.as_deref();
    let queries = labels::queries(set, &arguments.also, agent, &corpus)?;
    let model = match arguments.words_only {
        true => None,
        false => Some(engine::embed(home.intake(), arguments.vectors.as_deref())?),
    };
    let engine = Engine::open(home.intake(), &names, model)?;
    let screen = Screen::open(home.intake().layout().root(), arguments.words_only);
    let asked = ask(&engine, &screen, queries)?;
    let baseline = Baseline::of(home.intake(), &engine)?;
    println!(
        "Baseline: {} passages; {} of subagents are in our index and not in the baseline's.\n",
        baseline.len(),
        baseline.left_out,
    );

    let mut answers: Vec<(&Query, Ranked)> = Vec::new();
    for asked in &asked {
        answers.push((&asked.query, baseline.answer(&asked.query.text)?));
    }
    print(&asked, "thru", |asked| (&asked.query, &asked.ranked));
    print(&answers, "plain BM25", |(query, ranked)| (query, ranked));
    seen::print(&engine, &asked);

    confidence::print(&engine, &asked, &projects)
}

/// The names of the sessions of each project.
fn by_project(sessions: &[SessionLabel]) -> BTreeMap<String, HashSet<String>> {
    let mut projects: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for session in sessions {
        projects.entry(session.project.clone()).or_default().insert(session.session.clone());
    }
    projects
}

fn is_readable(agent: &str) -> bool {
    Agent::ALL
        .iter()
        .any(|known| known.as_str() == agent || known.as_str() == format!("{agent}-code"))
}

fn ask(engine: &Engine, screen: &Screen, queries: Vec<Query>) -> Result<Vec<Asked>> {
    let mut asked = Vec::new();
    for query in queries {
        let ordered = engine.order(&query.text, IndexFilter::default())?;
        let ranked = engine.names(&ordered.candidates, &ordered.ranking);
        let seen = screen.see(engine, &query.text)?;
        asked.push(Asked { query, ordered, ranked, seen });
    }
    Ok(asked)
}

/// Returns the metrics of one answer.
pub(super) fn measure(query: &Query, ranked: &Ranked) -> Vec<(&'static str, f64)> {
    let place = place(ranked.sessions.iter().map(String::as_str), &query.sessions);
    let mut values =
        vec![("hit@1", hit(place, 1)), ("hit@5", hit(place, 5)), ("MRR", reciprocal_rank(place))];
    if query.is_answerable_question() {
        let share = |k| evidence(&ranked.passages, &query.records, query.wanted, k);
        values.push(("ev@10", share(10)));
        values.push(("ev@20", share(20)));
        values.push(("any@10", f64::from(u8::from(share(10) > 0.0))));
    }
    values
}

/// Means by group, and how well confidence tells what can be answered.
pub(super) fn summary<'a>(
    answers: impl Iterator<Item = (&'a Query, &'a Ranked)>,
) -> (Table, Option<f64>) {
    let mut table = Table::default();
    let (mut answerable, mut unanswerable) = (Vec::new(), Vec::new());
    for (query, ranked) in answers {
        if query.is_unanswerable() {
            unanswerable.push(ranked.confidence);
            continue;
        }
        if query.is_answerable_question() {
            answerable.push(ranked.confidence);
        }
        let values = measure(query, ranked);
        for group in &query.groups {
            table.add(group, &values);
        }
    }
    table.sort(labels::order_of_group);
    (table, auroc(&answerable, &unanswerable))
}

fn print<'a, T: 'a>(answers: &'a [T], label: &str, of: impl Fn(&'a T) -> (&'a Query, &'a Ranked)) {
    let unanswerable = answers.iter().filter(|answer| of(answer).0.is_unanswerable()).count();
    let (table, auroc) = summary(answers.iter().map(&of));
    table.print(label, &COLUMNS);
    let auroc = auroc.map_or_else(|| "–".to_owned(), |auroc| format!("{auroc:.3}"));
    println!("\nAUROC of the confidence, {unanswerable} unanswerable questions: {auroc}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_measured_by_sessions_and_records() {
        let strings = |items: &[&str]| items.iter().map(|i| (*i).to_owned()).collect::<Vec<_>>();
        let query = Query {
            id: "q".to_owned(),
            project: String::new(),
            text: String::new(),
            groups: strings(&["questions"]),
            sessions: strings(&["s"]).into_iter().collect(),
            records: strings(&["s#1", "s#2"]).into_iter().collect(),
            wanted: 2,
        };
        let ranked = Ranked {
            sessions: strings(&["t", "s"]),
            passages: vec![strings(&["t#1"]), strings(&["s#2", "s#3"])],
            confidence: 2.0,
        };
        let unanswerable = Query { sessions: HashSet::new(), wanted: 0, ..query.clone() };
        let nothing = Ranked { confidence: 1.0, ..Ranked::default() };
        let (table, auroc) = summary([(&query, &ranked), (&unanswerable, &nothing)].into_iter());
        let means = COLUMNS.map(|column| table.mean("questions", column).unwrap());
        assert_eq!(means, [0.0, 1.0, 0.5, 0.5, 0.5, 1.0]);
        assert_eq!(auroc, Some(1.0));
    }

    #[test]
    fn agents_go_by_either_name() {
        assert!(is_readable("claude") && is_readable("claude-code") && is_readable("codex"));
        assert!(is_readable("copilot") && !is_readable("cursor"));
    }
}

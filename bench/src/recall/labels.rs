//! The files of a labelled set.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A line of `sessions.jsonl`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SessionLabel {
    pub(super) session: String,
    #[serde(default)]
    pub(super) project: String,
    pub(super) agent: String,
    pub(super) file: String,
}

/// A line of `questions.jsonl`.
#[derive(Clone, Debug, Deserialize)]
struct QuestionLabel {
    id: String,
    #[serde(default)]
    project: String,
    #[serde(rename = "type", default)]
    kind: String,
    question: String,
    gold_session: Option<String>,
    #[serde(default)]
    gold_uuids: Option<Vec<String>>,
    #[serde(default)]
    has_identifier: bool,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    alt_sessions: Vec<String>,
}

/// A line of `commits.jsonl`.
#[derive(Clone, Debug, Deserialize)]
struct CommitLabel {
    id: String,
    #[serde(default)]
    project: String,
    query: String,
    gold_sessions: Vec<String>,
    verbatim: bool,
    vague: bool,
    #[serde(default)]
    paraphrase: Option<String>,
}

/// Something to ask, and what is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) id: String,
    /// Whose sessions it is about.
    pub(super) project: String,
    pub(super) text: String,
    /// The groups that it is counted in.
    pub(super) groups: Vec<String>,
    /// Sessions that answer it; none where nothing does.
    pub(super) sessions: HashSet<String>,
    /// Records (`SESSION#UUID`) that answer it, in any of those sessions.
    pub(super) records: HashSet<String>,
    /// The number of different records.
    pub(super) wanted: usize,
}

impl Query {
    /// Returns true for a question with an answer.
    pub(super) fn is_answerable_question(&self) -> bool {
        self.wanted > 0
    }

    /// Returns true if the right answer is that nothing was found.
    pub(super) fn is_unanswerable(&self) -> bool {
        self.sessions.is_empty()
    }
}

/// The sessions of a set that are of this agent, or all.
pub(super) fn sessions(set: &Path) -> Result<Vec<SessionLabel>> {
    lines(&set.join("sessions.jsonl"))
}

/// Returns the queries for a corpus with these sessions; questions from `also` are counted by themselves.
pub(super) fn queries(
    set: &Path,
    also: &[PathBuf],
    agent: Option<&str>,
    corpus: &BTreeSet<String>,
) -> Result<Vec<Query>> {
    let questions: Vec<QuestionLabel> = lines(&set.join("questions.jsonl"))?;
    let commits: Vec<CommitLabel> = lines(&set.join("commits.jsonl"))?;
    let mut queries = Vec::new();
    let also: Vec<QuestionLabel> = also
        .iter()
        .map(|file| lines(file))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    let mine = questions.len();
    for (number, question) in questions.into_iter().chain(also).enumerate() {
        let is_of_agent = agent.is_none() || question.agent.as_deref() == agent;
        match &question.gold_session {
            Some(gold) if is_of_agent && corpus.contains(gold) => {}
            None => {}
            Some(_) => continue,
        }
        let mut query = of_question(question);
        if number >= mine {
            // Questions of another set are counted by themselves.
            query.groups.retain(|group| group != "questions" && !group.starts_with("identifier"));
            query.groups.iter_mut().for_each(|group| group.insert_str(0, "also "));
        }
        queries.push(query);
    }
    for commit in commits {
        if !commit.vague && commit.gold_sessions.iter().any(|session| corpus.contains(session)) {
            queries.extend(of_commit(commit));
        }
    }
    Ok(queries)
}

fn of_question(label: QuestionLabel) -> Query {
    let sessions: HashSet<String> =
        label.gold_session.into_iter().chain(label.alt_sessions).collect();
    let uuids = label.gold_uuids.unwrap_or_default();
    let records = sessions
        .iter()
        .flat_map(|session| uuids.iter().map(move |uuid| format!("{session}#{uuid}")))
        .collect();
    let groups = if sessions.is_empty() {
        vec!["unanswerable".to_owned()]
    } else {
        let identifier = if label.has_identifier { "yes" } else { "no" };
        vec![
            "questions".to_owned(),
            format!("type {}", label.kind),
            format!("identifier {identifier}"),
        ]
    };
    Query {
        id: label.id,
        project: label.project,
        text: label.question,
        groups,
        sessions,
        records,
        wanted: uuids.len(),
    }
}

fn of_commit(label: CommitLabel) -> Vec<Query> {
    let group = if label.verbatim { "commits verbatim" } else { "commits not verbatim" };
    let query = |id: String, text: String, group: &str| Query {
        id,
        project: label.project.clone(),
        text,
        groups: vec![group.to_owned()],
        sessions: label.gold_sessions.iter().cloned().collect(),
        records: HashSet::new(),
        wanted: 0,
    };
    let mut queries = vec![query(label.id.clone(), label.query.clone(), group)];
    if let Some(paraphrase) = label.paraphrase.as_ref().filter(|text| !text.is_empty()) {
        queries.push(query(format!("{}:p", label.id), paraphrase.clone(), "commit paraphrases"));
    }
    queries
}

/// Returns the position of a group in a table.
pub(super) fn order_of_group(group: &str) -> usize {
    ["questions", "type ", "identifier ", "commits v", "commits n", "commit p"]
        .iter()
        .position(|start| group.starts_with(start))
        .unwrap_or(usize::MAX)
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", path.display(), number + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_becomes_queries() {
        let set = tempfile::tempdir().unwrap();
        fs::write(
            set.path().join("questions.jsonl"),
            r#"{"id":"q1","type":"fix","question":"Why?","gold_session":"s","gold_uuids":["u","v"],"has_identifier":true,"agent":"claude","alt_sessions":["t"]}
{"id":"q2","type":"fix","question":"Other agent","gold_session":"s","gold_uuids":["u"],"agent":"codex"}
{"id":"q3","type":"unanswerable","question":"Nothing","gold_session":null,"gold_uuids":null}
{"id":"q4","type":"fix","question":"Not in the corpus","gold_session":"x","gold_uuids":["u"],"agent":"claude"}
"#,
        )
        .unwrap();
        fs::write(
            set.path().join("commits.jsonl"),
            r#"{"id":"c1","query":"fix: it","gold_sessions":["t","x"],"verbatim":true,"vague":false,"paraphrase":"mend it"}
{"id":"c2","query":"wip","gold_sessions":["t"],"verbatim":true,"vague":true}
{"id":"c3","query":"feat: it","gold_sessions":["t"],"verbatim":false,"vague":false}
"#,
        )
        .unwrap();
        let corpus = ["s", "t"].map(str::to_owned).into_iter().collect();
        let found = queries(set.path(), &[], Some("claude"), &corpus).unwrap();
        let ids: Vec<&str> = found.iter().map(|query| query.id.as_str()).collect();
        assert_eq!(ids, ["q1", "q3", "c1", "c1:p", "c3"]);
        assert_eq!(found[0].wanted, 2);
        assert!(found[0].records.contains("t#v") && found[0].records.len() == 4);
        assert!(found[1].is_unanswerable() && !found[1].is_answerable_question());
        assert_eq!(found[3].groups, ["commit paraphrases"]);
        assert_eq!(found[4].groups, ["commits not verbatim"]);
    }
}

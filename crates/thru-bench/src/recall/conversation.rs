//! Conversations of other benchmarks, written as Claude Code would have recorded them, so that they
//! take the same path as real ones.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use thru_store::index::IndexFilter;

use super::engine::{Engine, Ranked};
use crate::home::{Home, temporary_directory};

/// One session of a conversation.
pub(super) struct Session {
    /// Its name in the benchmark.
    pub(super) name: String,
    pub(super) started: Option<Timestamp>,
    pub(super) turns: Vec<Turn>,
}

/// One turn of it.
pub(super) struct Turn {
    /// Its name in the benchmark.
    pub(super) name: String,
    pub(super) is_human: bool,
    pub(super) text: String,
}

/// A store of these sessions alone.
pub(super) struct Haystack {
    engine: Engine,
    /// The names of turns by `SESSION#UUID`.
    turns: HashMap<String, String>,
    // The index lies in it.
    _home: Home,
}

/// An answer in the benchmark's names.
pub(super) struct Answer {
    pub(super) sessions: Vec<String>,
    pub(super) turns: Vec<Vec<String>>,
}

impl Haystack {
    /// Writes the sessions down and imports them.
    pub(super) fn of(sessions: &[Session]) -> Result<Self> {
        let transcripts = temporary_directory()?;
        let project = transcripts.path().join("projects/-bench");
        fs::create_dir_all(&project)?;
        let mut names = BTreeMap::new();
        let mut turns = HashMap::new();
        for (number, session) in sessions.iter().enumerate() {
            let id = uuid(number, 0);
            let path = project.join(format!("{id}.jsonl"));
            names.insert(path.to_string_lossy().into_owned(), session.name.clone());
            let mut out = BufWriter::new(fs::File::create(&path)?);
            for (at, turn) in session.turns.iter().enumerate() {
                let record = uuid(number, at + 1);
                writeln!(out, "{}", line(&id, &record, session.started, at, turn))?;
                turns.insert(format!("{}#{record}", session.name), turn.name.clone());
            }
            out.flush()?;
        }
        let home = Home::temporary()?;
        let report = home.import_paths(&[transcripts.path().to_owned()])?;
        anyhow::ensure!(report.problems.is_empty(), "{:?}", report.problems);
        let model = super::engine::embed(home.intake(), None)?;
        let engine = Engine::open(home.intake(), &names, Some(model))?;
        Ok(Self { engine, turns, _home: home })
    }

    /// Asks it.
    pub(super) fn answer(&self, question: &str) -> Result<Answer> {
        let ordered = self.engine.order(question, IndexFilter::default())?;
        let Ranked { sessions, passages, .. } =
            self.engine.names(&ordered.candidates, &ordered.ranking);
        let name = |record: &String| self.turns.get(record).cloned();
        let turns =
            passages.iter().map(|records| records.iter().filter_map(name).collect()).collect();
        Ok(Answer { sessions, turns })
    }
}

/// A date and time, in UTC for want of anything better.
pub(super) fn date(text: &str, format: &str) -> Result<Timestamp> {
    let date = DateTime::strptime(format, text.trim())
        .with_context(|| format!("`{text}` is not a date like `{format}`"))?;
    Ok(date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp())
}

fn line(
    session: &str,
    uuid: &str,
    started: Option<Timestamp>,
    at: usize,
    turn: &Turn,
) -> serde_json::Value {
    let parent = (at > 0).then_some(uuid);
    let seconds = SignedDuration::from_secs(30 * at as i64);
    let timestamp = started.unwrap_or(Timestamp::UNIX_EPOCH) + seconds;
    let (kind, message) = if turn.is_human {
        ("user", json!({"role": "user", "content": turn.text}))
    } else {
        let content = json!([{"type": "text", "text": turn.text}]);
        let id = format!("msg_{uuid}");
        ("assistant", json!({"id": id, "role": "assistant", "content": content}))
    };
    json!({
        "parentUuid": parent,
        "isSidechain": false,
        "userType": "external",
        "cwd": "/bench",
        "sessionId": session,
        "version": "2.1.0",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": format!("{timestamp:.3}"),
    })
}

fn uuid(session: usize, record: usize) -> String {
    format!("{session:08x}-0000-4000-8000-{record:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_both_benchmarks_are_read() {
        let locomo = date("1:56 pm on 8 May, 2023", super::super::locomo::DATE).unwrap();
        assert_eq!(locomo.to_string(), "2023-05-08T13:56:00Z");
        let longmemeval = date("2023/05/30 (Tue) 23:40", super::super::longmemeval::DATE).unwrap();
        assert_eq!(longmemeval.to_string(), "2023-05-30T23:40:00Z");
    }
}

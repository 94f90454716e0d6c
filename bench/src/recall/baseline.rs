//! The baseline: SQLite's full-text search with Porter stemming over the same passages,
//! each cut to the length that embedders and context windows leave.

use std::collections::HashMap;

use anyhow::{Context, Result};
use rusqlite::Connection;
use thru_agents::{Cleaner, Reader};
use thru_core::{Id, PassageKind, SourceKind};
use thru_intake::Intake;
use thru_journal::archive::Archive;
use thru_redact::{Clean, Report};

use super::engine::{Engine, Ranked};
use super::stop_words::STOP_WORDS;

/// Characters of a passage that are indexed, and of those at most this many of a call's input.
const PASSAGE_CHARACTERS: usize = 2_000;
const INPUT_CHARACTERS: usize = 1_200;

/// Plain BM25 over passages.
pub(super) struct Baseline {
    database: Connection,
    documents: Vec<Document>,
    /// Passages of subagents, which are left out.
    pub(super) left_out: usize,
}

struct Document {
    session: String,
    records: Vec<String>,
}

impl Baseline {
    /// Over the passages of a store that are not a subagent's.
    pub(super) fn of(intake: &Intake, engine: &Engine) -> Result<Self> {
        let texts = texts(intake)?;
        let database = Connection::open_in_memory()?;
        database
            .execute_batch("CREATE VIRTUAL TABLE f USING fts5(t, tokenize = 'porter unicode61')")?;
        let mut passages: Vec<_> = engine.passages.values().collect();
        passages.sort_by_key(|passage| (passage.source, passage.ordinal));
        let mut documents = Vec::new();
        let mut left_out = 0;
        let mut insert = database.prepare("INSERT INTO f (rowid, t) VALUES (?1, ?2)")?;
        for passage in passages {
            if passage.agent_id.is_some() {
                left_out += 1;
                continue;
            }
            let Some(session) = engine.sources.get(&passage.source) else { continue };
            let text =
                texts.get(&passage.id).context("a passage that the archive does not have")?;
            insert.execute((documents.len() as i64 + 1, text))?;
            documents
                .push(Document { session: session.clone(), records: engine.records(passage.row) });
        }
        drop(insert);
        Ok(Self { database, documents, left_out })
    }

    /// Returns the number of passages it searches.
    pub(super) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Its answer. A session is as good as its best passage.
    pub(super) fn answer(&self, query: &str) -> Result<Ranked> {
        let terms = terms(query);
        if terms.is_empty() {
            return Ok(Ranked::default());
        }
        let quoted: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
        let mut select = self
            .database
            .prepare_cached("SELECT rowid, -bm25(f) FROM f WHERE f MATCH ?1 ORDER BY 2 DESC, 1")?;
        let found = select
            .query_map([quoted.join(" OR ")], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<Vec<(i64, f64)>>>()?;
        let mut ranked = Ranked::default();
        if let Some((_, best)) = found.first() {
            ranked.confidence = best / (terms.len() as f64).sqrt();
        }
        for (row, score) in found {
            let Some(document) = self.documents.get(row as usize - 1) else { continue };
            if score <= 0.0 {
                continue;
            }
            if !ranked.sessions.contains(&document.session) {
                ranked.sessions.push(document.session.clone());
            }
            ranked.passages.push(document.records.clone());
        }
        Ok(ranked)
    }
}

/// The words of a query, and the parts of those with underscores; no stop words, unless there is
/// nothing else.
fn terms(query: &str) -> Vec<String> {
    let lower = query.to_lowercase();
    let mut all: Vec<String> = Vec::new();
    let mut add = |term: &str| {
        if !term.is_empty() && !all.iter().any(|known| known == term) {
            all.push(term.to_owned());
        }
    };
    for word in lower.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        add(word);
        if word.contains('_') {
            word.split('_').for_each(&mut add);
        }
    }
    let says_something = |term: &&String| {
        term.chars().count() > 1 && !STOP_WORDS.split_whitespace().any(|stop| stop == **term)
    };
    let kept: Vec<String> = all.iter().filter(says_something).cloned().collect();
    if kept.is_empty() { all } else { kept }
}

/// The texts of all passages as the baseline wants them. Read once more from the archive, line by
/// line: so the result of a call comes apart from the call, whose input has a limit of its own.
fn texts(intake: &Intake) -> Result<HashMap<Id, String>> {
    let archive = Archive::new(intake.layout().archive());
    let mut texts = HashMap::new();
    for entry in archive.entries()? {
        let Some(mut reader) = archive.reader(&entry)? else { continue };
        let Some(info) = reader.info().cloned() else { continue };
        if !matches!(info.kind, SourceKind::Main | SourceKind::Subagent) {
            continue;
        }
        let mut cleaner = Cleaner::resume(info.agent, info.kind, None);
        let mut transcript =
            Reader::for_archived(info.agent, info.kind, info.session.clone(), entry.as_str());
        let mut pieces: HashMap<Id, (PassageKind, String, String)> = HashMap::new();
        for lines in reader.blocks_from(0) {
            let lines = lines?;
            for (number, line) in lines.iter() {
                let line = cleaner.clean(intake.redactor(), line, &mut Report::default());
                let line = Clean::join(&[line], b'\n');
                let batch = transcript.read(&line, number + 1).into_inner();
                for passage in batch.passages {
                    pieces.entry(passage.id).or_insert((passage.kind, passage.text, String::new()));
                }
                for amendment in batch.amendments {
                    if let Some((_, _, result)) = pieces.get_mut(&amendment.passage) {
                        result.push_str(&amendment.text);
                    }
                }
            }
        }
        for (id, (kind, text, result)) in pieces {
            let is_call = kind == PassageKind::Tool;
            let text = if is_call { with_result(&text, &result) } else { text };
            texts.entry(id).or_insert_with(|| head(&text, PASSAGE_CHARACTERS).to_owned());
        }
    }
    Ok(texts)
}

/// A call, its input cut, with its result.
fn with_result(call: &str, result: &str) -> String {
    let (name, input) = call.split_once('\n').unwrap_or((call, ""));
    format!("{name} {}\n{result}", head(input, INPUT_CHARACTERS))
}

fn head(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_lose_stop_words_and_single_characters() {
        assert_eq!(
            terms("Why did parse_config fail in v2, x?"),
            ["parse_config", "parse", "config", "fail", "v2"]
        );
        assert_eq!(terms("what is it"), ["what", "is", "it"]);
        assert!(terms("?!").is_empty());
    }

    #[test]
    fn calls_are_cut_before_their_result() {
        let text = with_result(&format!("Bash\n{}", "x".repeat(3000)), "the end");
        assert_eq!(text.len(), "Bash \nthe end".len() + INPUT_CHARACTERS);
        assert_eq!(head("äöü", 2), "äö");
    }
}

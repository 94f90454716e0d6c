//! LongMemEval: questions, each with a haystack of sessions of its own.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::conversation::{Answer, Haystack, Session, Turn, date};
use crate::metrics::{Table, hit, place, reciprocal_rank};

/// How sessions are dated.
pub(super) const DATE: &str = "%Y/%m/%d (%a) %H:%M";

const COLUMNS: [&str; 5] = ["hit@1", "hit@5", "hit@10", "MRR", "R@5"];

#[derive(Deserialize)]
struct Question {
    question_id: String,
    #[serde(default)]
    question_type: String,
    question: String,
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<Said>>,
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Said {
    role: String,
    #[serde(default)]
    content: String,
}

/// Measures the whole set, but for the questions that nothing answers.
pub(super) fn run(file: &Path) -> Result<()> {
    let reader = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut table = Table::default();
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(reader));
    // One question at a time: the file is hundreds of megabytes.
    let left_out = json.deserialize_seq(EachQuestion(&mut table))?;
    println!("LongMemEval ({left_out} questions that nothing answers left out)\n");
    table.sort(|group| usize::from(group != "all"));
    table.print("sessions", &COLUMNS);
    println!();
    Ok(())
}

struct EachQuestion<'t>(&'t mut Table);

impl<'de> Visitor<'de> for EachQuestion<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of questions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut questions: A) -> Result<usize, A::Error> {
        let mut left_out = 0;
        while let Some(question) = questions.next_element::<Question>()? {
            let measured = measure(&question, self.0).map_err(serde::de::Error::custom)?;
            left_out += usize::from(!measured);
        }
        Ok(left_out)
    }
}

/// Asks one question; says whether something answers it.
fn measure(question: &Question, table: &mut Table) -> Result<bool> {
    let gold: HashSet<String> = question.answer_session_ids.iter().cloned().collect();
    if question.question_id.ends_with("_abs") || gold.is_empty() {
        return Ok(false);
    }
    let haystack = Haystack::of(&sessions(question))?;
    let values = values(&haystack.answer(&question.question)?, &gold);
    table.add("all", &values);
    table.add(&question.question_type, &values);
    Ok(true)
}

fn values(answer: &Answer, gold: &HashSet<String>) -> Vec<(&'static str, f64)> {
    let first = place(answer.sessions.iter().map(String::as_str), gold);
    let found = answer.sessions.iter().take(5).filter(|name| gold.contains(*name)).count();
    vec![
        ("hit@1", hit(first, 1)),
        ("hit@5", hit(first, 5)),
        ("hit@10", hit(first, 10)),
        ("MRR", reciprocal_rank(first)),
        ("R@5", found as f64 / gold.len() as f64),
    ]
}

fn sessions(question: &Question) -> Vec<Session> {
    let turn = |(at, said): (usize, &Said)| Turn {
        name: at.to_string(),
        is_human: said.role == "user",
        text: said.content.clone(),
    };
    let session = |(at, said): (usize, &Vec<Said>)| Session {
        name: question.haystack_session_ids.get(at).cloned().unwrap_or_default(),
        started: question.haystack_dates.get(at).and_then(|text| date(text, DATE).ok()),
        turns: said.iter().enumerate().map(turn).collect(),
    };
    question.haystack_sessions.iter().enumerate().map(session).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = r#"[
        {"question_id":"a","question_type":"single-session-user","question":"Where did I buy the kayak?",
         "question_date":"2023/06/01 (Thu) 10:00","answer":"At the pier",
         "haystack_dates":["2023/05/20 (Sat) 02:21","2023/05/30 (Tue) 23:40"],
         "haystack_session_ids":["one","two"],
         "haystack_sessions":[
            [{"role":"user","content":"Plan a trip to Lisbon."},{"role":"assistant","content":"Three days are enough."}],
            [{"role":"user","content":"I bought a kayak at the pier.","has_answer":true},{"role":"assistant","content":"Enjoy!"}]],
         "answer_session_ids":["two"]},
        {"question_id":"b_abs","question_type":"single-session-user","question":"x","haystack_session_ids":[],
         "haystack_sessions":[],"answer_session_ids":["answer"]}]"#;

    #[test]
    fn a_tiny_set_is_answered() {
        let mut table = Table::default();
        let mut json = serde_json::Deserializer::from_str(TINY);
        assert_eq!(json.deserialize_seq(EachQuestion(&mut table)).unwrap(), 1);
        for column in COLUMNS {
            assert_eq!(table.mean("single-session-user", column), Some(1.0), "{column}");
        }
    }
}

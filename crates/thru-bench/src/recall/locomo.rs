//! LoCoMo: ten long conversations of two people, with questions whose evidence is known by turn.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::conversation::{Answer, Haystack, Session, Turn, date};
use crate::metrics::{Table, evidence, hit, place, reciprocal_rank};

/// How sessions are dated.
pub(super) const DATE: &str = "%I:%M %p on %d %B, %Y";

const COLUMNS: [&str; 9] =
    ["R@5", "R@10", "R@20", "hit@10", "MRR", "session hit@1", "hit@5", "hit@10 (s)", "sR@10"];

#[derive(Deserialize)]
struct Conversation {
    conversation: BTreeMap<String, Value>,
    qa: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    category: u32,
}

#[derive(Deserialize)]
struct Dialog {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    blip_caption: Option<String>,
    #[serde(default)]
    query: Option<String>,
}

/// Measures the whole set: categories 1 to 4, each category, and all five.
pub(super) fn run(file: &Path) -> Result<()> {
    let reader = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let conversations: Vec<Conversation> = serde_json::from_reader(BufReader::new(reader))?;
    let mut table = Table::default();
    let mut unusable = 0;
    for conversation in conversations {
        unusable += measure(&conversation, &mut table)?;
    }
    println!("LoCoMo ({unusable} questions without usable evidence left out)\n");
    table.sort(|group| usize::from(group.starts_with("category")));
    table.print("turns", &COLUMNS);
    println!();
    Ok(())
}

/// Asks the questions of one conversation; says how many could not be measured.
fn measure(conversation: &Conversation, table: &mut Table) -> Result<usize> {
    let sessions = sessions(&conversation.conversation)?;
    let session_of = |turn: &str| {
        let session = sessions.iter().find(|s| s.turns.iter().any(|t| t.name == turn));
        session.map(|session| session.name.clone())
    };
    let haystack = Haystack::of(&sessions)?;
    let mut unusable = 0;
    for question in &conversation.qa {
        let turns: HashSet<String> = question
            .evidence
            .iter()
            .flat_map(|evidence| turn_names(evidence))
            .filter(|turn| session_of(turn).is_some())
            .collect();
        if turns.is_empty() {
            unusable += 1;
            continue;
        }
        let golds: HashSet<String> = turns.iter().filter_map(|turn| session_of(turn)).collect();
        let values = values(&haystack.answer(&question.question)?, &turns, &golds);
        if question.category <= 4 {
            table.add("all of 1–4", &values);
        }
        table.add("all of 1–5", &values);
        table.add(&format!("category {}", question.category), &values);
    }
    Ok(unusable)
}

fn values(
    answer: &Answer,
    turns: &HashSet<String>,
    sessions: &HashSet<String>,
) -> Vec<(&'static str, f64)> {
    let share = |k| evidence(&answer.turns, turns, turns.len(), k);
    let first = place(answer.turns.iter().flatten().map(String::as_str), turns);
    let session = place(answer.sessions.iter().map(String::as_str), sessions);
    let found = answer.sessions.iter().take(10).filter(|name| sessions.contains(*name)).count();
    vec![
        ("R@5", share(5)),
        ("R@10", share(10)),
        ("R@20", share(20)),
        ("hit@10", hit(first, 10)),
        ("MRR", reciprocal_rank(first)),
        ("session hit@1", hit(session, 1)),
        ("hit@5", hit(session, 5)),
        ("hit@10 (s)", hit(session, 10)),
        ("sR@10", found as f64 / sessions.len() as f64),
    ]
}

/// The sessions of a conversation. Who speaks first of all counts as the human.
fn sessions(conversation: &BTreeMap<String, Value>) -> Result<Vec<Session>> {
    let mut numbers: Vec<u32> =
        conversation.keys().filter_map(|key| key.strip_prefix("session_")?.parse().ok()).collect();
    numbers.sort_unstable();
    let mut human: Option<String> = None;
    let mut sessions = Vec::new();
    for number in numbers {
        let name = format!("session_{number}");
        let dialogs: Vec<Dialog> =
            serde_json::from_value(conversation.get(&name).cloned().unwrap_or_default())?;
        let said_on = conversation
            .get(&format!("{name}_date_time"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut turns = Vec::new();
        for dialog in dialogs {
            let is_human = *human.get_or_insert_with(|| dialog.speaker.clone()) == dialog.speaker;
            let text = text(&dialog, said_on);
            turns.push(Turn { name: dialog.dia_id, is_human, text });
        }
        sessions.push(Session { name, started: date(said_on, DATE).ok(), turns });
    }
    Ok(sessions)
}

/// What was said, with who said it and when, and what was to be seen on a picture.
fn text(dialog: &Dialog, said_on: &str) -> String {
    let mut text = format!("{} ({said_on}): {}", dialog.speaker, dialog.text);
    for picture in [&dialog.blip_caption, &dialog.query].into_iter().flatten() {
        text.push_str("\n[");
        text.push_str(picture);
        text.push(']');
    }
    text
}

/// The turns that a piece of evidence names: `D8:6; D9:17`, with an odd blank or colon here and there.
fn turn_names(evidence: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in evidence.split('D').skip(1) {
        let mut numbers =
            part.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
        if let (Some(session), Some(turn)) = (numbers.next(), numbers.next()) {
            let plain = |number: &str| number.trim_start_matches('0').to_owned();
            names.push(format!("D{}:{}", plain(session), plain(turn)));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = r#"[{"sample_id":"c","conversation":{
        "speaker_a":"Ann","speaker_b":"Bob",
        "session_1_date_time":"1:56 pm on 8 May, 2023",
        "session_1":[
            {"speaker":"Ann","dia_id":"D1:1","text":"I adopted a greyhound called Comet."},
            {"speaker":"Bob","dia_id":"D1:2","text":"Lovely! I am baking rye bread.","img_url":["x"],"blip_caption":"a loaf","query":"sourdough loaf"}],
        "session_2_date_time":"10:00 am on 1 June, 2023",
        "session_2":[
            {"speaker":"Bob","dia_id":"D2:1","text":"The kiln exploded yesterday."}]},
        "qa":[
            {"question":"What is the greyhound called?","answer":"Comet","evidence":["D1:1"],"category":4},
            {"question":"Who baked a sourdough loaf?","answer":"Bob","evidence":["D1:2; D2:9"],"category":1},
            {"question":"What did the kiln do?","adversarial_answer":"x","evidence":["D2:01"],"category":5},
            {"question":"Nothing known","answer":"","evidence":[],"category":3}]}]"#;

    #[test]
    fn a_tiny_set_is_answered() {
        let conversations: Vec<Conversation> = serde_json::from_str(TINY).unwrap();
        let mut table = Table::default();
        assert_eq!(measure(&conversations[0], &mut table).unwrap(), 1);
        for group in ["all of 1–4", "all of 1–5", "category 5"] {
            for column in COLUMNS {
                assert_eq!(table.mean(group, column), Some(1.0), "{group} {column}");
            }
        }
        assert_eq!(table.mean("category 3", "MRR"), None);
    }

    #[test]
    fn evidence_names_turns() {
        assert_eq!(turn_names("D8:6; D9:17"), ["D8:6", "D9:17"]);
        assert_eq!(turn_names("D:11:26 D1:05"), ["D11:26", "D1:5"]);
        assert!(turn_names("D").is_empty());
    }
}

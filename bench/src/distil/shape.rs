//! The amount that distilling writes, its repetitions, and its cost.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use thru_core::{
    Certainty, Distillate, Observation, PassageKind, Speaker, TITLE_LENGTH, estimated_tokens,
};

use super::history::Session;
use crate::metrics::{median, percent, quantile};

/// Counts over all sessions.
#[derive(Debug, Default)]
pub(super) struct Shape {
    sessions: usize,
    summaries: usize,
    observations: usize,
    duplicates: usize,
    long_titles: usize,
    rules: usize,
    by_people: usize,
    unsure: usize,
    types: BTreeMap<&'static str, usize>,
    /// Observations by turn, of turns in which a tool ran.
    per_turn: Vec<f64>,
    /// Passages that an observation was made from.
    sources: Vec<f64>,
    /// Distilled tokens by raw ones, by session.
    shares: Vec<f64>,
    distilled_tokens: u64,
    raw_tokens: u64,
    bytes: u64,
    text_bytes: u64,
}

impl Shape {
    /// Counts a session.
    pub(super) fn add(&mut self, session: &Session, distillate: &Distillate) -> Result<()> {
        let observations = &distillate.observations;
        self.sessions += 1;
        self.summaries += usize::from(distillate.summary.is_some());
        self.observations += observations.len();
        self.duplicates += duplicates(observations);
        let count = |is: fn(&Observation) -> bool| observations.iter().filter(|o| is(o)).count();
        self.long_titles += count(|observation| observation.title.chars().count() > TITLE_LENGTH);
        self.rules += count(|observation| observation.is_rule);
        self.by_people += count(|observation| observation.speaker == Speaker::Person);
        self.unsure += count(|observation| observation.certainty == Certainty::Low);
        for observation in observations {
            *self.types.entry(observation.kind.as_str()).or_default() += 1;
        }
        self.sources.extend(observations.iter().map(|o| o.sources.len() as f64));
        self.per_turn.extend(per_turn(session, observations));

        let text: u64 = session.passages.iter().map(|passage| passage.text.len() as u64).sum();
        let distilled = tokens(distillate)?;
        if text > 0 {
            self.shares.push(distilled as f64 / (text as f64 / 4.0));
        }
        self.distilled_tokens += distilled;
        self.raw_tokens += text / 4;
        self.text_bytes += text;
        self.bytes += session.bytes;
        Ok(())
    }

    /// Prints a table. All sessions together took this long to distil, if that was measured.
    pub(super) fn print(&self, time: Option<Duration>) {
        let share = |part: f64, of: f64| percent((of > 0.0).then(|| part / of));
        let of_observations =
            |part: usize| format!("{} ({part})", share(part as f64, self.observations as f64));
        let number = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
        };
        let mean = self.per_turn.iter().sum::<f64>() / self.per_turn.len().max(1) as f64;
        let empty = self.per_turn.iter().filter(|count| **count == 0.0).count();
        println!("| shape | value |\n|---|---|");
        println!("| sessions | {}, {} with a summary |", self.sessions, self.summaries);
        println!("| observations | {} |", self.observations);
        println!(
            "| titles that another of the session has, % | {} |",
            of_observations(self.duplicates)
        );
        println!("| titles over {TITLE_LENGTH} characters | {} |", self.long_titles);
        println!("| rules | {} |", self.rules);
        println!("| by people, % | {} |", of_observations(self.by_people));
        println!("| of low certainty, % | {} |", of_observations(self.unsure));
        println!(
            "| passages per observation | median {}, p90 {}, most {} |",
            number(median(&self.sources)),
            number(quantile(&self.sources, 0.9)),
            number(quantile(&self.sources, 1.0)),
        );
        println!("| turns with work | {} |", self.per_turn.len());
        println!(
            "| observations per turn with work | median {}, p90 {}, mean {mean:.1}, most {} |",
            number(median(&self.per_turn)),
            number(quantile(&self.per_turn, 0.9)),
            number(quantile(&self.per_turn, 1.0)),
        );
        println!(
            "| turns with work and no observation, % | {} ({empty}) |",
            share(empty as f64, self.per_turn.len() as f64)
        );
        println!(
            "| distilled tokens by raw ones, % | {} overall ({} of {}), {} median of sessions |",
            share(self.distilled_tokens as f64, self.raw_tokens as f64),
            self.distilled_tokens,
            self.raw_tokens,
            percent(median(&self.shares)),
        );
        if let Some(time) = time {
            let milliseconds = time.as_secs_f64() * 1e3;
            let per_megabyte =
                |bytes: u64| number((bytes > 0).then(|| milliseconds / (bytes as f64 / 1e6)));
            println!(
                "| distilling alone, ms of processor time | {milliseconds:.0}: {} per MB of \
                 transcripts, {} per MB of passages |",
                per_megabyte(self.bytes),
                per_megabyte(self.text_bytes),
            );
        }
        println!("\n| type | observations | % |\n|---|---|---|");
        for (kind, count) in &self.types {
            println!("| {kind} | {count} | {} |", share(*count as f64, self.observations as f64));
        }
        println!();
    }
}

/// Observations whose title another one of the session has too, but for case and punctuation.
fn duplicates(observations: &[Observation]) -> usize {
    let mut titles: HashMap<String, usize> = HashMap::new();
    for observation in observations {
        *titles.entry(normal(&observation.title)).or_default() += 1;
    }
    titles.values().filter(|count| **count > 1).sum()
}

fn normal(title: &str) -> String {
    let title = title.to_lowercase();
    let words: Vec<&str> =
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Observations of each turn in which the agent itself used a tool.
fn per_turn(session: &Session, observations: &[Observation]) -> Vec<f64> {
    let turns: BTreeSet<u32> = session
        .passages
        .iter()
        .filter(|passage| passage.kind == PassageKind::Tool && passage.agent_id.is_none())
        .map(|passage| passage.turn)
        .collect();
    let count = |turn: &u32| observations.iter().filter(|o| o.turn == *turn).count() as f64;
    turns.iter().map(count).collect()
}

/// Tokens of all that was distilled, without ids and sources.
fn tokens(distillate: &Distillate) -> Result<u64> {
    let mut written = serde_json::json!({
        "observations": serde_json::to_value(&distillate.observations)?,
        "summary": serde_json::to_value(&distillate.summary)?,
    });
    strip(&mut written);
    Ok(estimated_tokens(&written.to_string()))
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| name != "id" && name != "sources");
            members.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_the_same_but_for_case_and_punctuation() {
        assert_eq!(normal("Fixed: `the`  Lock!"), normal("fixed the lock"));
        assert_ne!(normal("fixed the lock"), normal("fixed a lock"));
    }

    #[test]
    fn observations_are_counted_by_turn_and_title() {
        let lock = include_str!("../../../crates/thru/demo/lock.jsonl");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("lock.jsonl"), lock).unwrap();
        let session = super::super::history::sessions(folder.path()).remove(0);
        let observation = |turn: u32, title: &str| -> Observation {
            let id = session.passages[0].id;
            serde_json::from_value(
                serde_json::json!({"id": id, "turn": turn, "type": "change", "title": title}),
            )
            .unwrap()
        };
        let long = "long ".repeat(20);
        let observations = [
            observation(1, "Fix the lock"),
            observation(1, "fix the lock."),
            observation(3, &long),
        ];
        assert_eq!(duplicates(&observations), 2);
        assert_eq!(per_turn(&session, &observations), [2.0, 0.0]);

        let distillate = Distillate { observations: observations.to_vec(), summary: None };
        let mut shape = Shape::default();
        shape.add(&session, &distillate).unwrap();
        assert_eq!((shape.observations, shape.duplicates, shape.long_titles), (3, 2, 1));
        assert_eq!(shape.types, BTreeMap::from([("change", 3)]));
        assert!(shape.distilled_tokens > 0 && shape.bytes == lock.len() as u64);
    }

    #[test]
    fn ids_and_sources_cost_nothing() {
        let mut value = serde_json::json!({"id": "x", "title": "t", "facts": [{"sources": ["x"], "text": "y"}]});
        strip(&mut value);
        assert_eq!(value, serde_json::json!({"title": "t", "facts": [{"text": "y"}]}));
    }
}

//! `packs`: whether `thru context` reminds of what helps with a prompt, and is silent otherwise, on
//! the made-up history of `thru demo` and prompts that were labelled by hand.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Deserialize;

use crate::home::temporary_directory;
use crate::metrics::percent;
use crate::process::{Program, Task};

/// The history of `thru demo`: names below `projects/` with what is in them.
const HISTORY: [(&str, &str); 3] = [
    (
        "-home-ada-rocket/5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01.jsonl",
        include_str!("../../thru/demo/lock.jsonl"),
    ),
    (
        "-home-ada-rocket/c27d4e83-1f0b-4c3e-b6a5-90d1e2f3a402.jsonl",
        include_str!("../../thru/demo/retry.jsonl"),
    ),
    (
        "-home-ada-orchard/e9a86b15-7c42-4d18-8f3b-5a6b7c8d9e03.jsonl",
        include_str!("../../thru/demo/orchard.jsonl"),
    ),
];

/// The prompts that were labelled.
const LABELS: &str = include_str!("../labels/packs.jsonl");

/// Characters of a session's id that a label gives.
const SESSION: usize = 8;

/// What to measure.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to measure
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// Other labels over the same history [default: those of `labels/packs.jsonl`]
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Say for each prompt that was answered wrongly what was shown
    #[arg(long)]
    verbose: bool,
}

/// A prompt, and the turns (`<session>:<turn>`) whose memory helps with it.
#[derive(Clone, Debug, Deserialize)]
struct Label {
    directory: PathBuf,
    prompt: String,
    turns: Vec<String>,
}

/// What `thru context` answers.
#[derive(Clone, Debug, Default, Deserialize)]
struct Pack {
    tokens: u64,
    lines: Vec<Line>,
}

/// One memory that is shown.
#[derive(Clone, Debug, Default, Deserialize)]
struct Line {
    id: String,
    session: Option<String>,
    turn: Option<u32>,
    kind: String,
    title: String,
    #[serde(default)]
    reason: Option<String>,
}

/// How the answer to one prompt compares with its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    /// Whether anything helps with the prompt.
    deserves: bool,
    shown: usize,
    right: usize,
    tokens: u64,
}

/// How all answers compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Total {
    prompts: usize,
    deserving: usize,
    answered: usize,
    silent: usize,
    shown: usize,
    right: usize,
    tokens: u64,
    /// Answers that held anything.
    packs: usize,
}

/// Asks for every prompt and prints a table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let labels = match &arguments.labels {
        Some(path) => labels(
            &fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
        )?,
        None => labels(LABELS)?,
    };
    let directory = temporary_directory()?;
    let (history, home) = (directory.path().join("claude"), directory.path().join("throughline"));
    write_history(&history)?;
    let program = Program::new(Some(&arguments.thru), false, &history)?;
    program.run(&home, Task::Import)?;

    let mut total = Total::default();
    for label in &labels {
        let project = label.directory.file_name().and_then(|name| name.to_str());
        let project = project.context("a label's directory has no name")?;
        let task = Task::Context { project, prompt: &label.prompt };
        let answer = program.answer(&home, task)?;
        let pack: Pack = serde_json::from_str(&answer)
            .with_context(|| format!("not what was agreed on: {answer}"))?;
        let score = score(label, &pack);
        total.add(score);
        if arguments.verbose && !score.is_right() {
            explain(label, &pack, score);
        }
    }
    total.print();
    Ok(())
}

fn labels(text: &str) -> Result<Vec<Label>> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("labels, line {}", number + 1))
        })
        .collect()
}

fn write_history(folder: &Path) -> Result<()> {
    for (name, content) in HISTORY {
        let path = folder.join("projects").join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn score(label: &Label, pack: &Pack) -> Score {
    Score {
        deserves: !label.turns.is_empty(),
        shown: pack.lines.len(),
        right: pack.lines.iter().filter(|line| is_right(label, line)).count(),
        tokens: pack.tokens,
    }
}

/// Whether a line is of a turn that helps; the digest of a session helps if any of its turns does.
fn is_right(label: &Label, line: &Line) -> bool {
    let Some(session) = line.session.as_deref().and_then(|session| session.get(..SESSION)) else {
        return false;
    };
    label.turns.iter().filter_map(|turn| turn.split_once(':')).any(|(of, turn)| {
        let same_turn = line.turn.is_some_and(|shown| turn.parse() == Ok(shown));
        of == session && (line.kind == "summary" || same_turn)
    })
}

fn explain(label: &Label, pack: &Pack, score: Score) {
    println!("- {:?} wants {}", label.prompt, wanted(label));
    if pack.lines.is_empty() {
        println!("  silence");
    }
    for line in &pack.lines {
        let session = line.session.as_deref().and_then(|session| session.get(..SESSION));
        let turn = line.turn.map_or_else(|| "–".to_owned(), |turn| turn.to_string());
        println!(
            "  {} {}:{turn} {} {} {:?} ({})",
            if is_right(label, line) { "right" } else { "WRONG" },
            session.unwrap_or("–"),
            line.kind,
            line.id,
            line.title,
            line.reason.as_deref().unwrap_or("no reason"),
        );
    }
    println!("  {} tokens\n", score.tokens);
}

fn wanted(label: &Label) -> String {
    if label.turns.is_empty() { "silence".to_owned() } else { label.turns.join(", ") }
}

impl Score {
    /// Whether there is nothing to complain of.
    const fn is_right(self) -> bool {
        self.right == self.shown && (self.shown > 0) == self.deserves
    }
}

impl Total {
    fn add(&mut self, score: Score) {
        self.prompts += 1;
        self.deserving += usize::from(score.deserves);
        self.answered += usize::from(score.deserves && score.right > 0);
        self.silent += usize::from(!score.deserves && score.shown == 0);
        self.shown += score.shown;
        self.right += score.right;
        self.tokens += score.tokens;
        self.packs += usize::from(score.shown > 0);
    }

    fn print(&self) {
        let quiet = self.prompts - self.deserving;
        println!("| what | value |\n|---|---|");
        println!(
            "| prompts | {} ({} deserve memories, {quiet} silence) |",
            self.prompts, self.deserving
        );
        for (name, part, of) in [
            ("right among the shown lines (precision), %", self.right, self.shown),
            ("silence where it is deserved, %", self.silent, quiet),
            ("a right line where one is deserved (recall), %", self.answered, self.deserving),
        ] {
            println!("| {name} | {} ({part} of {of}) |", percent(share(part, of)));
        }
        let mean = |of: usize| match of {
            0 => "–".to_owned(),
            of => format!("{:.0}", self.tokens as f64 / of as f64),
        };
        println!("| tokens, mean of all prompts | {} |", mean(self.prompts));
        println!("| tokens, mean where anything is shown | {} |", mean(self.packs));
    }
}

fn share(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn label(turns: &[&str]) -> Label {
        Label {
            directory: "/home/ada/rocket".into(),
            prompt: "why?".to_owned(),
            turns: turns.iter().map(|turn| (*turn).to_owned()).collect(),
        }
    }

    fn line(session: Option<&str>, turn: Option<u32>, kind: &str) -> Line {
        Line { session: session.map(str::to_owned), turn, kind: kind.to_owned(), ..Line::default() }
    }

    fn pack(lines: Vec<Line>) -> Pack {
        Pack { tokens: 10, lines }
    }

    #[test]
    fn lines_are_right_by_session_and_turn() {
        const LOCK: Option<&str> = Some("5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01");
        let label = label(&["5b1f0c9e:2"]);
        assert!(is_right(&label, &line(LOCK, Some(2), "observation")));
        assert!(!is_right(&label, &line(LOCK, Some(1), "observation")));
        assert!(is_right(&label, &line(LOCK, None, "summary")));
        assert!(!is_right(&label, &line(LOCK, None, "observation")));
        assert!(!is_right(&label, &line(Some("c27d4e83-1f0b"), Some(2), "summary")));
        assert!(!is_right(&label, &line(None, None, "note")));
        assert!(!is_right(&label, &line(Some("5b1f"), Some(2), "observation")));
    }

    #[test]
    fn answers_are_scored_and_summed() {
        const LOCK: Option<&str> = Some("5b1f0c9e-8a51");
        let (wanting, quiet) = (label(&["5b1f0c9e:1", "5b1f0c9e:2"]), label(&[]));
        let mixed = score(
            &wanting,
            &pack(vec![line(LOCK, Some(1), "observation"), line(LOCK, Some(3), "observation")]),
        );
        assert_eq!(mixed, Score { deserves: true, shown: 2, right: 1, tokens: 10 });
        let missed = score(&wanting, &pack(Vec::new()));
        let loud = score(&quiet, &pack(vec![line(LOCK, Some(1), "observation")]));
        let silent = score(&quiet, &pack(Vec::new()));
        let right = score(&wanting, &pack(vec![line(LOCK, Some(2), "observation")]));
        assert_eq!(
            [mixed, missed, loud, silent, right].map(Score::is_right),
            [false, false, false, true, true]
        );
        let mut total = Total::default();
        for score in [mixed, missed, loud, silent, right] {
            total.add(score);
        }
        let expected = Total {
            prompts: 5,
            deserving: 3,
            answered: 2,
            silent: 1,
            shown: 4,
            right: 2,
            tokens: 50,
            packs: 3,
        };
        assert_eq!(total, expected);
        assert_eq!([share(2, 4), share(0, 0)], [Some(0.5), None]);
    }

    #[test]
    fn an_answer_is_read() {
        let pack: Pack = serde_json::from_str(
            r#"{"version":1,"kind":"context","text":"…","tokens":42,"lines":[
                {"id":"ab12c","session":null,"turn":null,"kind":"note","title":"N","reason":"r"},
                {"id":"ab12d","session":"5b1f0c9e-8a51","turn":2,"kind":"observation",
                 "title":"T","reason":"r"}]}"#,
        )
        .unwrap();
        assert_eq!((pack.tokens, pack.lines.len(), pack.lines[1].turn), (42, 2, Some(2)));
    }

    #[test]
    fn the_labels_are_sound() {
        let labels = labels(LABELS).unwrap();
        let known = ["5b1f0c9e:1", "5b1f0c9e:2", "c27d4e83:1", "e9a86b15:1"];
        let quiet = labels.iter().filter(|label| label.turns.is_empty()).count();
        assert!(labels.len() >= 64 && 2 * quiet >= labels.len());
        assert!(labels.iter().flat_map(|label| &label.turns).all(|t| known.contains(&t.as_str())));
        let prompts: BTreeSet<&str> = labels.iter().map(|label| label.prompt.as_str()).collect();
        assert_eq!(prompts.len(), labels.len());
    }
}

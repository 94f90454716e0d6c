//! `packs`: whether `thru context` reminds of what helps with a prompt, and is silent otherwise, on
//! made-up histories (that of `thru demo` and two more) and prompts that were labelled by hand.

mod histories;

use std::fs;
use std::iter::Sum;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use self::histories::{HISTORIES, History};
use crate::home::temporary_directory;
use crate::metrics::percent;
use crate::process::{Program, Task};

/// Characters of a session's id that a label gives.
const SESSION: usize = 8;

/// The arguments of `packs`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The program to measure
    #[arg(long, value_name = "PATH")]
    thru: PathBuf,
    /// Only the prompts over this history: demo, tally or kranich. All are in the home all the same
    #[arg(long, value_name = "NAME")]
    history: Option<String>,
    /// Other labels over the same histories [default: those in `labels/`]
    #[arg(long, value_name = "FILE", conflicts_with = "history")]
    labels: Option<PathBuf>,
    /// Make no vectors: ask by words alone
    #[arg(long)]
    words_only: bool,
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

/// The answer of `thru context`.
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

/// The answer to one prompt against its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    /// True if any memory helps with the prompt.
    deserves: bool,
    shown: usize,
    right: usize,
    tokens: u64,
}

/// The sums over all answers.
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

/// The labels of one history, with its name.
type LabelSet = (&'static str, Vec<Label>);

/// Asks by words alone, and then with vectors.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sets = label_sets(arguments)?;
    let directory = temporary_directory()?;
    let (folder, home) = (directory.path().join("claude"), directory.path().join("throughline"));
    for history in &HISTORIES {
        history.write(&folder)?;
    }
    let program = Program::new(&arguments.thru, &folder)?;
    program.run(&home, Task::Import)?;

    println!("By words:\n");
    measure(&program, &home, &sets, arguments.verbose)?;
    if !arguments.words_only {
        program.run(&home, Task::Embed)?;
        println!("\nBy words and meaning:\n");
        measure(&program, &home, &sets, arguments.verbose)?;
    }
    Ok(())
}

/// Asks for every prompt and prints a table.
fn measure(program: &Program, home: &Path, sets: &[LabelSet], verbose: bool) -> Result<()> {
    let mut totals = Vec::new();
    for (name, labels) in sets {
        let mut total = Total::default();
        for label in labels {
            let pack = ask(program, home, label)?;
            let score = score(label, &pack);
            total.add(score);
            if verbose && !score.is_right() {
                explain(label, &pack, score);
            }
        }
        totals.push((*name, total));
    }
    if totals.len() > 1 {
        totals.push(("all", totals.iter().map(|(_, total)| *total).sum()));
    }
    print_table(&totals);
    Ok(())
}

/// The labels to ask for, by the history that they are of.
fn label_sets(arguments: &Arguments) -> Result<Vec<LabelSet>> {
    if let Some(path) = &arguments.labels {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        return Ok(vec![("given", labels(&text)?)]);
    }
    let wanted = arguments.history.as_deref();
    let is_wanted = |history: &&History| wanted.is_none_or(|name| name == history.name);
    let sets: Vec<_> = HISTORIES
        .iter()
        .filter(is_wanted)
        .map(|history| {
            let labels = labels(history.labels).with_context(|| history.name)?;
            Ok((history.name, labels))
        })
        .collect::<Result<_>>()?;
    if sets.is_empty() {
        let names = HISTORIES.map(|history| history.name).join(", ");
        bail!("no history is called {}: give one of {names}", wanted.unwrap_or_default());
    }
    Ok(sets)
}

fn ask(program: &Program, home: &Path, label: &Label) -> Result<Pack> {
    let project = label.directory.file_name().and_then(|name| name.to_str());
    let project = project.context("a label's directory has no name")?;
    let answer = program.answer(home, Task::Context { project, prompt: &label.prompt })?;
    serde_json::from_str(&answer).with_context(|| format!("not what was agreed on: {answer}"))
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

fn score(label: &Label, pack: &Pack) -> Score {
    Score {
        deserves: !label.turns.is_empty(),
        shown: pack.lines.len(),
        right: pack.lines.iter().filter(|line| is_right(label, line)).count(),
        tokens: pack.tokens,
    }
}

/// Returns true if a line is of a turn that helps; the digest of a session helps if any of its turns does.
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
    /// Returns true if the answer agrees with the label.
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

    /// Prompts that deserve silence.
    const fn quiet(&self) -> usize {
        self.prompts - self.deserving
    }
}

impl Sum for Total {
    fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
        totals.fold(Self::default(), |a, b| Self {
            prompts: a.prompts + b.prompts,
            deserving: a.deserving + b.deserving,
            answered: a.answered + b.answered,
            silent: a.silent + b.silent,
            shown: a.shown + b.shown,
            right: a.right + b.right,
            tokens: a.tokens + b.tokens,
            packs: a.packs + b.packs,
        })
    }
}

/// Prints a column for each history.
fn print_table(totals: &[(&str, Total)]) {
    let row = |name: &str, cell: &dyn Fn(&Total) -> String| {
        let cells: Vec<String> = totals.iter().map(|(_, total)| cell(total)).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    let names: Vec<&str> = totals.iter().map(|(name, _)| *name).collect();
    println!("| what | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
    row("prompts (deserve memories / silence)", &|total| {
        format!("{} ({} / {})", total.prompts, total.deserving, total.quiet())
    });
    row("right among the shown lines (precision), %", &|total| share(total.right, total.shown));
    row("silence where it is deserved, %", &|total| share(total.silent, total.quiet()));
    row("a right line where one is deserved (recall), %", &|total| {
        share(total.answered, total.deserving)
    });
    row("tokens, mean of all prompts", &|total| mean(total.tokens, total.prompts));
    row("tokens, mean where anything is shown", &|total| mean(total.tokens, total.packs));
}

fn mean(sum: u64, of: usize) -> String {
    match of {
        0 => "–".to_owned(),
        of => format!("{:.0}", sum as f64 / of as f64),
    }
}

/// A share in percent, and what it is of.
fn share(part: usize, of: usize) -> String {
    let share = (of > 0).then(|| part as f64 / of as f64);
    format!("{} ({part} of {of})", percent(share))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use thru_store::{MemoryFilter, SessionFilter};

    use super::*;
    use crate::home::Home;

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
        assert_eq!([share(2, 4), share(0, 0)], ["50.0 (2 of 4)", "– (0 of 0)"]);
        assert_eq!([mean(50, 5), mean(0, 0)], ["10", "–"]);
        let twice = Total {
            prompts: 10,
            deserving: 6,
            answered: 4,
            silent: 2,
            shown: 8,
            right: 4,
            tokens: 100,
            packs: 6,
        };
        assert_eq!([total, total].into_iter().sum::<Total>(), twice);
        assert_eq!(twice.quiet(), 4);
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
    fn half_of_the_prompts_deserve_silence_and_none_is_asked_twice() {
        for history in &HISTORIES {
            let labels = labels(history.labels).unwrap();
            let quiet = labels.iter().filter(|label| label.turns.is_empty()).count();
            assert!(labels.len() >= 64 && 2 * quiet >= labels.len(), "{}", history.name);
            let prompts: BTreeSet<&str> = labels.iter().map(|it| it.prompt.as_str()).collect();
            assert_eq!(prompts.len(), labels.len(), "{}", history.name);
        }
    }

    #[test]
    fn histories_are_read_without_complaint_and_labelled_turns_have_memories() {
        for history in &HISTORIES {
            let (folder, home) = (temporary_directory().unwrap(), Home::temporary().unwrap());
            history.write(folder.path()).unwrap();
            let report = home.import_paths(&[folder.path().join("projects")]).unwrap();
            assert!(report.problems.is_empty() && report.diagnostics.is_empty(), "{report:?}");

            let store = home.store().unwrap();
            let sessions: HashMap<i64, (String, Option<String>)> = store
                .sessions(&SessionFilter::default())
                .unwrap()
                .into_iter()
                .map(|row| (row.row, (row.key.id.to_string(), row.project_name)))
                .collect();
            let remembered: BTreeSet<(String, String)> = store
                .memories(&MemoryFilter::default())
                .unwrap()
                .iter()
                .map(|memory| {
                    let (session, project) = &sessions[&memory.session.unwrap()];
                    let turn = format!("{}:{}", &session[..SESSION], memory.turn);
                    (project.clone().unwrap(), turn)
                })
                .collect();
            for label in labels(history.labels).unwrap() {
                let project = label.directory.file_name().unwrap().to_str().unwrap().to_owned();
                for turn in label.turns {
                    let place = (project.clone(), turn);
                    assert!(remembered.contains(&place), "{place:?}: {}", label.prompt);
                }
            }
        }
    }

    #[test]
    fn a_history_is_asked_for_by_its_name() {
        let sets = |history: Option<&str>| {
            let history = history.map(str::to_owned);
            label_sets(&Arguments {
                thru: PathBuf::new(),
                history,
                labels: None,
                words_only: true,
                verbose: false,
            })
        };
        let names = |history| -> Vec<&str> {
            sets(history).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(None), ["demo", "tally", "kranich"]);
        assert_eq!(names(Some("tally")), ["tally"]);
        assert_eq!(
            sets(Some("tulip")).unwrap_err().to_string(),
            "no history is called tulip: give one of demo, tally, kranich"
        );
    }
}

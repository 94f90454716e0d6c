//! Questions how to run something: the commands that did it.

use std::collections::{HashMap, HashSet};

use thru_core::{Outcome, PassageKind};
use thru_store::index::tokenizer::Terms;
use thru_store::index::{Candidates, QueryTerms};
use thru_store::{PassageRow, Result, Store};

use crate::action::description;
use crate::rank::{PassageScore, Ranking};

/// Tool calls that are looked through for a command, and commands that are shown first.
const CALLS: usize = 200;
const COMMANDS: usize = 2;
/// Bytes of the longest command that says how to run something. Longer ones are scripts for one occasion.
const LONGEST_COMMAND: usize = 200;

/// Programs that look at what is there, keep its history or prepare others: they run nothing of a project.
#[rustfmt::skip]
const LOOKING: [&str; 29] = [
    "cat", "cd", "cp", "curl", "diff", "echo", "export", "find", "gh", "git", "grep", "head", "jq", "kill", "less", "ls", "mkdir",
    "mv", "pwd", "rg", "rm", "sed", "sleep", "sort", "tail", "test", "true", "wc", "which",
];

/// Returns true for a question how to run something.
pub(crate) fn asks_how(query: &str) -> bool {
    const PHRASES: [&str; 12] = [
        "how do i ",
        "how do we ",
        "how to ",
        "how can i ",
        "how can we ",
        "command to ",
        "command for ",
        "which command",
        "what command",
        "wie starte",
        "wie führe",
        "mit welchem befehl",
    ];
    let lower = query.to_lowercase();
    PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// The commands that worked and, with what the agent wrote beside them, hold most of the question's words, at least half of
/// them; of equal ones the latest.
///
/// # Errors
/// Fails if the store cannot be read.
pub(crate) fn commands(
    store: &Store,
    ranking: &Ranking,
    candidates: &Candidates,
    terms: &QueryTerms,
) -> Result<Vec<PassageScore>> {
    let found = |score: &PassageScore| &candidates.found[score.candidate];
    let is_call =
        |score: &&PassageScore| found(score).kind == PassageKind::Tool && !found(score).is_echo;
    let calls: Vec<PassageScore> =
        ranking.passages.iter().filter(is_call).take(CALLS).copied().collect();
    let rows: Vec<i64> = calls.iter().map(|score| found(score).row).collect();
    let by_row: HashMap<i64, PassageScore> = rows.iter().copied().zip(calls).collect();
    let all: f32 = candidates.idf.iter().sum();
    // The terms of the question, by their numbers.
    let numbers: HashMap<&str, usize> =
        terms.in_all_forms().map(|(number, form)| (form, number)).collect();
    let mut tokenizer = Terms::default();
    let mut held = |text: &str| {
        let mut held = HashSet::new();
        tokenizer.tokenize(text, |term, _| held.extend(numbers.get(term).copied()));
        held
    };
    let share =
        |held: &HashSet<usize>| held.iter().filter_map(|at| candidates.idf.get(*at)).sum::<f32>();
    let mut worked: Vec<(f32, i64, PassageScore)> = Vec::new();
    for passage in store.passages_of_rows(&rows)? {
        let Some((command, score)) = fit_command(&passage).zip(by_row.get(&passage.row)) else {
            continue;
        };
        let mut words = held(&asked_for(command));
        if words.is_empty() || !runs(command, |word| !held(word).is_empty()) {
            continue;
        }
        let text = store.text_of(&passage)?;
        words.extend(description(&text).map(&mut held).into_iter().flatten());
        let share = share(&words);
        if share * 2.0 >= all && share > 0.0 {
            worked.push((share, found(score).at, *score));
        }
    }
    worked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    worked.truncate(COMMANDS);
    Ok(worked.into_iter().map(|(_, _, score)| score).collect())
}

/// The command of a call that succeeded, if it is no script.
fn fit_command(passage: &PassageRow) -> Option<&str> {
    let is_done = passage.outcome == Some(Outcome::Succeeded);
    let command = passage.command.as_deref()?;
    (is_done && command.len() <= LONGEST_COMMAND).then_some(command)
}

/// The words of a command line that say what it does: all but the files that it does it to.
fn asked_for(line: &str) -> String {
    let is_file = |word: &&str| word.contains(['/', '.']);
    let words: Vec<&str> = line.split_whitespace().collect();
    // The first argument of an interpreter is a script.
    let begins = |at: usize| at < 2 || words[at - 2..at].iter().any(|word| is_join(word));
    let kept = (0..words.len()).filter(|at| begins(*at) || !is_file(&words[*at]));
    kept.map(|at| words[at]).collect::<Vec<_>>().join(" ")
}

/// Returns true for what stands between two commands.
fn is_join(word: &str) -> bool {
    matches!(word, "&&" | "||" | "|" | ";" | "&")
}

/// Returns true if a command line runs something that the question may ask for: a program of the project, or one that the
/// question `names`, itself or by its subcommand.
fn runs(line: &str, mut names: impl FnMut(&str) -> bool) -> bool {
    line.split(['&', '|', ';', '\n']).any(|command| {
        let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
        let program = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        program.starts_with(|c: char| c.is_alphanumeric())
            && (!LOOKING.contains(&program)
                || names(program)
                || words.next().is_some_and(|word| program != "cd" && names(word)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_do_not_say_what_a_command_does() {
        for (line, wanted) in [
            ("biome check .github/publish.yml scripts/release.ts", "biome check"),
            ("cd /p && bun scripts/release.ts --dry", "cd /p && bun scripts/release.ts --dry"),
            (
                "pnpm --filter e2e test -- e2e/a.spec.ts | tail -5",
                "pnpm --filter e2e test -- | tail -5",
            ),
            ("", ""),
        ] {
            assert_eq!(asked_for(line), wanted);
        }
    }

    #[test]
    fn commands_that_run_something_are_told_from_those_that_look() {
        for (line, question, wanted) in [
            ("cd /p && pnpm test", "e2e tests", true),
            ("CI=1 ./run-tests.sh 2>&1 | tail -5", "e2e tests", true),
            ("git checkout tests/e2e/last-run.json && git stash pop", "run e2e", false),
            ("git push origin main", "push", true),
            ("git ls-files -z | xargs -0 biome check", "lint tracked files", true),
            ("ls tests/e2e | head", "run the e2e tests", false),
            ("cd tests && ls", "run the tests", false),
            ("", "anything", false),
        ] {
            let names = |word: &str| question.split(' ').any(|asked| asked == word);
            assert_eq!(runs(line, names), wanted, "{line}");
        }
    }
}

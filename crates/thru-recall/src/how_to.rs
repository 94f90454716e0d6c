//! Questions how to run something: the commands that did it.

mod words;

use std::collections::{HashMap, HashSet};

use thru_core::{Outcome, PassageKind};
use thru_store::index::tokenizer::Terms;
use thru_store::index::{Candidates, IndexFilter, QueryTerms, TextIndex};
use thru_store::{PassageRow, Result, Store};

use crate::action::description;
use crate::languages::is_common;
use crate::query::{analyse, is_stop_word, query_language};
use crate::rank::{PassageScore, Ranking};
use crate::work::sessions_by_row;
use words::{DEEDS, ERRORS, FAILURES, LOOKING, PHRASES, RUNNERS, SAME, VAGUE};

/// Passages that are looked up for the words of commands, and the tool calls among them that are looked at.
const DEPTH: usize = 1_500;
const CALLS: usize = 500;
/// Commands that are shown first.
const COMMANDS: usize = 3;
/// Passages in whose text a command is looked for.
const PROSE: usize = 40;
/// Bytes of the longest command that says how to run something. Longer ones are scripts for one occasion.
const LONGEST_COMMAND: usize = 300;
/// Bytes after a command within which the agent says what it is for.
const DESCRIPTION: usize = 160;
/// The share of a question that a command holds that ran, and one that was only told.
const RAN: f32 = 0.6;
const TOLD: f32 = 0.8;
/// Tenths of a question beside which a command that was only told is not needed.
const ENOUGH: f32 = 8.0;
/// What a word that the question does not ask for takes from a command, and the most that such words take.
const SURPLUS: (f32, f32) = (0.02, 0.2);
/// The weight of a word that names no one thing: "app".
const VAGUE_WEIGHT: f32 = 0.3;

/// A question how to run something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HowTo {
    parts: Vec<Asked>,
}

/// A part of the question, with the stems of all words that stand for it in commands.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    stems: HashSet<String>,
    weight: f32,
    is_deed: bool,
}

/// A command that answers, and the passage that holds it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) score: PassageScore,
    /// The words to show it by.
    pub(crate) terms: QueryTerms,
    /// True if it holds all that was asked for.
    pub(crate) is_all: bool,
}

impl HowTo {
    /// Reads a question; `None` if it asks for something else.
    pub(crate) fn read(query: &str) -> Option<Self> {
        let lower = query.to_lowercase();
        if !PHRASES.iter().any(|phrase| lower.contains(phrase)) {
            return None;
        }
        let language = query_language(query);
        let mut parts: Vec<Asked> = Vec::new();
        let words = lower.split(|c: char| c.is_whitespace() || ",;!?\"'()`".contains(c));
        for word in words.map(|word| word.trim_matches(['.', ':'])).filter(|word| !word.is_empty())
        {
            let is_empty = is_stop_word(word)
                || language.is_some_and(|language| is_common(word, language))
                || ["command", "commands", "befehl"].contains(&word);
            if is_empty {
                continue;
            }
            let same = group_of(word);
            let is_vague = VAGUE.contains(&word);
            let stems = same.map_or_else(|| stems(word), |group| stems(&SAME[group].join(" ")));
            let weight = if is_vague { VAGUE_WEIGHT } else { 1.0 };
            // The first word is the verb, whatever it is.
            let is_deed = parts.is_empty() || same.is_some_and(|group| group < DEEDS);
            let part = Asked { stems, weight, is_deed };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        // "Run the tests": the tests are what is to be done.
        let run = stems(&SAME[0].join(" "));
        if parts.iter().filter(|part| part.is_deed).count() > 1 {
            parts.retain(|part| part.stems != run);
        }
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// The rows of the tool calls whose words are nearest.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub(crate) fn rows(&self, index: &TextIndex, filter: &IndexFilter) -> Result<Vec<i64>> {
        let mut terms: Vec<String> =
            self.parts.iter().flat_map(|part| part.stems.iter().cloned()).collect();
        terms.sort_unstable();
        terms.dedup();
        let terms = QueryTerms { terms, ..QueryTerms::default() };
        let best = index.ask(&terms, filter)?.best(DEPTH)?;
        let calls = best.into_iter().filter(|one| one.kind == PassageKind::Tool && !one.is_echo);
        Ok(calls.take(CALLS).map(|one| one.row).collect())
    }

    /// The commands that answer: those that worked, of equal ones the latest first, and then one that was told.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub(crate) fn commands(
        &self,
        store: &Store,
        ranking: &Ranking,
        candidates: &Candidates,
    ) -> Result<Vec<Told>> {
        let found = |score: &PassageScore| &candidates.found[score.candidate];
        let passages = ranking.passages.iter().filter(|score| !found(score).is_echo);
        let (calls, prose): (Vec<&PassageScore>, Vec<&PassageScore>) =
            passages.partition(|score| found(score).kind == PassageKind::Tool);
        let by_row: HashMap<i64, PassageScore> = calls
            .into_iter()
            .chain(prose.into_iter().take(PROSE))
            .map(|score| (found(score).row, *score))
            .collect();
        let rows: Vec<i64> = by_row.keys().copied().collect();
        let passages = store.passages_of_rows(&rows)?;
        let projects = projects(store, &passages)?;
        let mut ran: Vec<(f32, i64, String, Told)> = Vec::new();
        let mut told: Vec<(f32, i64, String, Told)> = Vec::new();
        for passage in &passages {
            let Some(score) = by_row.get(&passage.row) else { continue };
            let at = found(score).at;
            let project = projects.get(&passage.session).map_or("", String::as_str);
            let keep = |line: &str, said: &str, place: &str, least: f32, to: &mut Vec<_>| {
                let place = format!("{place} {project}");
                let Some(share) = self.share(line, said, &place) else { return };
                if share >= least {
                    let is_all = share >= 1.0 - SURPLUS.1;
                    let told = Told { score: *score, terms: analyse(&core(line)), is_all };
                    let rounded = (share * 10.0).round();
                    to.push((rounded, at, core(line), told));
                }
            };
            if passage.kind == PassageKind::Tool {
                if let Some(command) = fit_command(passage) {
                    let (text, line) = (store.text_of(passage)?, on_one_line(command));
                    if says_failure(&text) {
                        continue;
                    }
                    // Further on the output begins, which may describe anything.
                    let beginning = text.floor_char_boundary(command.len() + DESCRIPTION);
                    let said = description(&text[..beginning]).unwrap_or_default();
                    keep(&line, said, workdir(&text), RAN, &mut ran);
                }
            } else {
                for line in written(&on_one_line(&store.text_of(passage)?)) {
                    keep(line, "", "", TOLD, &mut told);
                }
            }
        }
        Ok(best(ran, told))
    }

    /// The share of the question that a command line holds with what was `said` of it and its `place`, less what it holds beside;
    /// `None` if it does not do what is asked for.
    fn share(&self, line: &str, said: &str, place: &str) -> Option<f32> {
        let running = running(line, |word| {
            let mut named = self.parts.iter().filter(|part| part.weight > VAGUE_WEIGHT);
            named.any(|part| !part.stems.is_disjoint(&stems(word)))
        });
        let mut held = stems(&asked_for(&running));
        if self.parts.iter().all(|part| part.stems.is_disjoint(&held)) {
            return None;
        }
        held.extend(stems(said));
        let deeds = self.parts.iter().filter(|part| part.is_deed);
        let does = |part: &Asked| !part.stems.is_disjoint(&held);
        let mut deeds = deeds.peekable();
        if deeds.peek().is_some() && !deeds.any(does) {
            return None;
        }
        let mut everything = stems(&format!("{place} {}", folder(line)));
        everything.extend(held);
        let all: f32 = self.parts.iter().map(|part| part.weight).sum();
        let own: f32 = self.parts.iter().map(|part| part.weight * part.held_by(&everything)).sum();
        let words = core(line).split_whitespace().count();
        let surplus = SURPLUS.0 * words.saturating_sub(self.parts.len() + 1) as f32;
        Some(own / all - surplus.min(SURPLUS.1))
    }
}

impl Asked {
    /// The share of it that some stems hold: all where one of several words for it is among them.
    fn held_by(&self, stems: &HashSet<String>) -> f32 {
        f32::from(!self.stems.is_disjoint(stems))
    }
}

/// The group of words that stand for a word, or for what it does again: "rebuilds" is "build".
fn group_of(word: &str) -> Option<usize> {
    let one = word.strip_suffix('s').unwrap_or(word);
    [word, one, one.strip_prefix("re").unwrap_or(one)]
        .iter()
        .find_map(|word| SAME.iter().position(|group| group.contains(word)))
}

/// The best commands that ran, and one that was told if none of them is as good.
fn best(
    mut ran: Vec<(f32, i64, String, Told)>,
    mut told: Vec<(f32, i64, String, Told)>,
) -> Vec<Told> {
    for list in [&mut ran, &mut told] {
        list.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then_with(|| a.2.cmp(&b.2)));
    }
    let reached = ran.first().map_or(0.0, |best| best.0);
    let mut seen: HashSet<String> = HashSet::new();
    let mut shown: HashSet<usize> = HashSet::new();
    let told = told.into_iter().filter(|one| reached < ENOUGH && one.0 > reached).take(1);
    told.chain(ran)
        .filter(|(_, _, core, one)| seen.insert(core.clone()) && shown.insert(one.score.candidate))
        .take(COMMANDS)
        .map(|(_, _, _, one)| one)
        .collect()
}

/// The names of the projects of passages, by session.
fn projects(store: &Store, passages: &[PassageRow]) -> Result<HashMap<i64, String>> {
    let rows: HashSet<i64> = passages.iter().map(|passage| passage.session).collect();
    let sessions = sessions_by_row(store, rows.into_iter().collect())?;
    Ok(sessions.into_iter().filter_map(|(row, one)| Some((row, one.project_name?))).collect())
}

/// The stems of the words of a text, and of the parts of its names.
fn stems(text: &str) -> HashSet<String> {
    let mut stems = HashSet::new();
    Terms::default().tokenize(text, |term, _| {
        stems.insert(term.trim_start_matches('=').to_owned());
    });
    stems
}

/// The command of a call that succeeded, if it is no script.
fn fit_command(passage: &PassageRow) -> Option<&str> {
    let is_done = passage.outcome == Some(Outcome::Succeeded);
    let command = passage.command.as_deref()?;
    (is_done && command.len() <= LONGEST_COMMAND).then_some(command)
}

/// Returns true if the output of a call says that it failed, whatever it ended in: behind a pipe no failure is seen.
fn says_failure(text: &str) -> bool {
    let is_error = |line: &str| {
        let line = line.trim_start();
        line.starts_with(CROSSES)
            || names_exception(line)
            || ERRORS.iter().any(|error| {
                line.get(..error.len()).is_some_and(|start| start.eq_ignore_ascii_case(error))
            })
    };
    FAILURES.iter().any(|failure| text.contains(failure)) || text.lines().any(is_error)
}

/// The marks that programs put before what failed.
const CROSSES: [char; 5] = ['✘', '✗', '✖', '×', '❌'];

/// Returns true for a line that begins with the name of an exception: "TimeoutError: no answer".
fn names_exception(line: &str) -> bool {
    let name = line.split([' ', '(', '[']).next().unwrap_or_default();
    let Some(name) = name.strip_suffix(':') else { return false };
    let is_name = name.starts_with(|c: char| c.is_alphabetic())
        && name.chars().all(|c| c.is_alphanumeric() || "._:".contains(c));
    is_name && ["Error", "Exception"].iter().any(|end| name.ends_with(end))
}

/// A text with each command on one line that a backslash continues on the next.
fn on_one_line(text: &str) -> String {
    text.replace("\\\r\n", " ").replace("\\\n", " ")
}

/// The folder that an agent names beside a command.
fn workdir(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("workdir: ")).map_or("", last_folder)
}

/// The name of the last folder of a path, if it is of a word or two: longer ones are named after other work.
fn last_folder(path: &str) -> &str {
    let name = path.trim().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let words = name.split(|c: char| !c.is_alphanumeric()).count();
    if words <= 2 { name } else { "" }
}

/// The last folder that a command line goes to first.
fn folder(line: &str) -> &str {
    line.trim()
        .strip_prefix("cd ")
        .and_then(|rest| rest.split(['&', ';']).next())
        .map_or("", last_folder)
}

/// The commands in a text: spans of code, and lines of fenced blocks.
fn written(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            let line = line.trim();
            found.push(line.strip_prefix("$ ").unwrap_or(line));
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found.retain(|line| {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        line.len() <= LONGEST_COMMAND
            && words.next().is_some()
            && (RUNNERS.contains(&first) || first.starts_with("./"))
    });
    found
}

/// A command line without the folder that it goes to, and without what is done to its output.
fn core(line: &str) -> String {
    let line = line.trim();
    let line = match line.strip_prefix("cd ") {
        Some(rest) => rest.split_once("&&").map_or(line, |(_, command)| command),
        None => line,
    };
    let end = line.find(" | ").unwrap_or(line.len());
    let words = line[..end].split_whitespace();
    words.filter(|word| !word.starts_with("2>") && *word != "&").collect::<Vec<_>>().join(" ")
}

/// The words of a command line that say what it does: all but the files that it does it to.
fn asked_for(line: &str) -> String {
    let is_file = |word: &&str| is_path(word) && !word.starts_with('@');
    let words: Vec<&str> = line.split_whitespace().collect();
    // The first argument of an interpreter is a script, and what stands after "run" is run.
    let begins = |at: usize| {
        at < 2 || words[at - 1] == "run" || words[at - 2..at].iter().any(|word| is_join(word))
    };
    let kept = (0..words.len()).filter(|at| begins(*at) || !is_file(&words[*at]));
    kept.map(|at| words[at]).collect::<Vec<_>>().join(" ")
}

/// Returns true for what looks like a path.
fn is_path(word: &str) -> bool {
    word.contains(['/', '.'])
}

/// Returns true for what stands between two commands.
fn is_join(word: &str) -> bool {
    matches!(word, "&&" | "||" | "|" | ";" | "&")
}

/// The commands of a line that run something the question may ask for: a program of the project, or one that the question
/// `names`, itself or by its subcommand.
fn running(line: &str, mut names: impl FnMut(&str) -> bool) -> String {
    let line = unquoted(line);
    let commands = line.split(['&', '|', ';', '\n']).map(without_variables).filter(|command| {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or(program);
        let (first, second) = (words.next(), words.next());
        let is_script = matches!(first, Some("-c" | "-e"));
        program.starts_with(|c: char| c.is_alphanumeric())
            && !is_script
            && match program {
                "cd" => false,
                "gh" => first == Some("workflow") && second == Some("run"),
                _ if !LOOKING.contains(&program) => true,
                _ => names(program) || first.is_some_and(|word| !is_path(word) && names(word)),
            }
    });
    commands.collect::<Vec<_>>().join(" ; ")
}

/// A command without the variables that are set for it.
fn without_variables(command: &str) -> String {
    let words = command.split_whitespace().skip_while(|word| word.contains('='));
    words.collect::<Vec<_>>().join(" ")
}

/// A command line without what is quoted in it, and without where its output goes.
fn unquoted(line: &str) -> String {
    let mut text = String::new();
    let mut quote = None;
    for c in line.chars() {
        match quote {
            None if c == '"' || c == '\'' => quote = Some(c),
            None => text.push(c),
            Some(end) if c == end => quote = None,
            Some(_) => {}
        }
    }
    let words = text.split(' ').filter(|word| !word.contains('>'));
    words.collect::<Vec<_>>().join(" ")
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
            ("gh workflow run publish.yml -f tag=next", "gh workflow run publish.yml -f tag=next"),
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
            ("gh workflow run publish.yml", "publish", true),
            ("gh pr view 12", "view", false),
            ("rg 'bun|tsc' src | head", "typecheck", false),
            (
                "curl -s localhost/api | python3 -c 'print(1)' 2>/dev/null",
                "start the dev server",
                false,
            ),
            ("ls tests/e2e | head", "run the e2e tests", false),
            ("cd tests && ls", "run the tests", false),
            ("", "anything", false),
        ] {
            let names = |word: &str| question.split(' ').any(|asked| asked == word);
            assert_eq!(!running(line, names).is_empty(), wanted, "{line}");
        }
    }

    #[test]
    fn a_command_is_told_by_what_it_does_and_where() {
        let read: Vec<String> = [
            ("how do I start the web app", "pnpm --filter web dev", ""),
            ("how do I start the web app", "pnpm --filter web build", ""),
            ("how do I run the tests of rocket", "bun run test 2>&1 | tail -5", "rocket"),
            ("how do I run the tests of rocket", "bun run test", "boat"),
            ("how do I build the frontend", "cd /p/frontend && bun run css:build", ""),
            ("how do we publish a release", "gh workflow run publish.yml -f tag=v1", ""),
            ("how to typecheck", "cargo test", ""),
            ("how do I push the checkpoints", "rocket checkpoint list", ""),
            ("how do I push the checkpoints", "rocket checkpoint push", ""),
            ("wie starte ich den dev server", "pnpm --filter api dev", ""),
        ]
        .iter()
        .map(|(question, line, beside)| {
            let share = HowTo::read(question).unwrap().share(line, "", beside);
            let share = share.map_or_else(|| "–".to_owned(), |share| format!("{share:.2}"));
            format!("{share}  {question}: {line}")
        })
        .collect();
        insta::assert_snapshot!(read.join("\n"), @r"
        0.87  how do I start the web app: pnpm --filter web dev
        –  how do I start the web app: pnpm --filter web build
        1.00  how do I run the tests of rocket: bun run test 2>&1 | tail -5
        0.50  how do I run the tests of rocket: bun run test
        1.00  how do I build the frontend: cd /p/frontend && bun run css:build
        0.92  how do we publish a release: gh workflow run publish.yml -f tag=v1
        –  how to typecheck: cargo test
        –  how do I push the checkpoints: rocket checkpoint list
        1.00  how do I push the checkpoints: rocket checkpoint push
        0.75  wie starte ich den dev server: pnpm --filter api dev
        ");
        assert_eq!(HowTo::read("why did the tests fail"), None);
    }

    #[test]
    fn failures_are_told_by_the_output() {
        for (text, wanted) in [
            ("Bash\ncommand: pnpm start | tail\n ERR_PNPM_NO_SCRIPT  Missing script", true),
            ("Bash\ncommand: cargo run\nError: no such subcommand", true),
            ("Bash\ncommand: sh x\nsh: x: command not found", true),
            ("Bash\ncommand: run e2e | tail\n  ✘  1 a.spec.ts\n", true),
            ("Bash\ncommand: run e2e | tail\n  TimeoutError: no answer", true),
            ("Bash\ncommand: run e2e | tail\n  No error: fine", false),
            ("Bash\ncommand: cargo test errors\nerrors are shown: ok\nno error: fine", false),
            ("", false),
        ] {
            assert_eq!(says_failure(text), wanted, "{text}");
        }
    }

    #[test]
    fn commands_in_prose_are_spans_of_code() {
        let text = "Run `pnpm dev` or `src/main.rs`:\n```bash\ncd app\n$ make run all\nuv run \\\n  --locked app\n```\nThen `npm` works.";
        let text = on_one_line(text);
        let found: Vec<String> = written(&text).into_iter().map(core).collect();
        assert_eq!(found, ["pnpm dev", "make run all", "uv run --locked app"]);
    }
}

//! The course of a session as other views of it need it: what was checked and how that ended, what git did, which files
//! changed. Only what tool calls and their results show; no prose.

use std::rc::Rc;

use thru_core::{Id, Outcome, Timestamp};

use crate::checks::{self, Status};
use crate::commits::{self, Commit};
use crate::event::{Action, Event};
use crate::git::{self, GitStep};
use crate::landing::Landing;
use crate::outcome::{self, Failure};
use crate::shell::{CommandLine, Simple};
use crate::text::one_line;

/// Longest command and filter of a check, in characters.
const COMMAND: usize = 80;
const FILTER: usize = 120;

/// The folder in which a shell stands at first.
const HERE: &str = ".";

/// One passage, with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The passage.
    pub id: Id,
    /// The time at which it was written.
    pub at: Option<Timestamp>,
    /// True if it comes from a subagent.
    pub is_subagent: bool,
    /// The files that it changed, as the agent wrote their paths.
    pub modified: Vec<String>,
    /// True if it ran a command other than a check that may have changed something.
    pub acts: bool,
    /// True if a person decided something in it in a dialogue of the client: answered, approved, declined.
    pub decides: bool,
    /// The checks that it ran, as far as their ends are known.
    pub checks: Vec<CheckRun>,
    /// What git did in it, in order.
    pub git: Vec<GitStep>,
    /// The folder in which git did that: relative to the shell's own where it starts with a dot.
    pub git_folder: String,
    /// The folder in which the shell stood afterwards, if the call changed it: relative to the one before where it starts
    /// with a dot.
    pub moved_to: Option<String>,
}

/// A check that came to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// The command, without what narrows it: `cargo test`.
    pub command: String,
    /// What narrows it or changes what it does: `-p kiln melts`; empty for all of it.
    pub filter: String,
    /// The folder that it ran in: relative to the shell's own where it starts with a dot.
    pub folder: String,
    /// True if it passed.
    pub passed: bool,
    /// What it failed with, as far as its output names that.
    pub failures: Vec<Failure>,
    /// True if the output names everything that failed: nothing cut it.
    pub is_whole: bool,
    /// True if something ran before it in the same call that may have changed what it looks at.
    pub is_prepared: bool,
    /// True if it leaves what other checks look at: a build.
    pub makes: bool,
}

impl Step {
    /// Returns the step that an event is.
    pub(crate) fn of_event(event: Event) -> Self {
        let decides = match &event.action {
            Action::Answered(_) | Action::Approved(_) | Action::Declined(_) => true,
            Action::Asked(request) => request.approved.is_some(),
            _ => false,
        };
        let (acts, shell) = match event.action {
            Action::Ran(run) => {
                let mut shell = run.course;
                let merged = run.landings.iter().filter_map(|landing| match landing {
                    Landing::Merged(number) => *number,
                    _ => None,
                });
                shell.git.extend(merged.map(GitStep::MergedPullRequest));
                (shell.acts, shell)
            }
            _ => (event.is_foreign, ShellCourse::default()),
        };
        let ShellCourse { checks, git, git_folder, moved_to, .. } = shell;
        Self {
            id: event.id,
            at: event.at,
            is_subagent: event.is_subagent,
            modified: event.modified,
            acts,
            decides,
            checks,
            git,
            git_folder,
            moved_to,
        }
    }
}

/// What one call of a shell shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellCourse {
    pub(crate) checks: Vec<CheckRun>,
    pub(crate) git: Vec<GitStep>,
    acts: bool,
    git_folder: String,
    /// The folder that the call names.
    folder: Option<String>,
    moved_to: Option<String>,
}

impl ShellCourse {
    /// Reads a command line and its result. The call names the folder itself where `folder` is given.
    pub(crate) fn parse(
        line: &CommandLine,
        folder: Option<&str>,
        outcome: Option<Outcome>,
        status: &Status,
        result: &str,
        commits: Vec<Commit>,
    ) -> Self {
        let placed = line.placed(Some(folder.unwrap_or(HERE)));
        let checks = match checks_in(&placed, outcome, status, result) {
            checks if checks.is_empty() => {
                hooks_in(&placed, status, result, &commits).into_iter().collect()
            }
            checks => checks,
        };
        let first = placed.iter().find(|(command, _)| git::words(command).is_some());
        let git = match first {
            Some(_) => git::steps(line, result, outcome == Some(Outcome::Succeeded), commits),
            None => Vec::new(),
        };
        let git_folder = first.and_then(|(_, folder)| folder.as_deref()).unwrap_or(HERE).to_owned();
        // What runs in the background has a shell of its own.
        let stays = folder.is_some() || checks::running(result).is_some();
        let last = placed.last().and_then(|(_, folder)| folder.as_deref());
        let moved_to = match was_reset(result) {
            Some(to) => Some(to.to_owned()),
            None => last.filter(|last| !stays && *last != HERE).map(str::to_owned),
        };
        let acts = line.acting().any(acts) || checks.is_empty() && line.acting().any(makes);
        Self { checks, git, acts, git_folder, folder: folder.map(str::to_owned), moved_to }
    }

    /// Takes what a later part of the output shows.
    pub(crate) fn go_on(
        &mut self,
        line: &CommandLine,
        outcome: Option<Outcome>,
        status: &Status,
        result: &str,
    ) {
        let commits = commits::parse(line, result);
        let later = Self::parse(line, self.folder.as_deref(), outcome, status, result, commits);
        (self.checks, self.acts) = (later.checks, later.acts);
        self.git.extend(later.git);
    }
}

/// Returns the folder that the client put its shell back to.
fn was_reset(result: &str) -> Option<&str> {
    let tail = result.trim_end().rsplit('\n').next()?;
    tail.strip_prefix("Shell cwd was reset to ").map(str::trim)
}

/// Returns the checks of a line whose end is sure.
fn checks_in(
    placed: &[(&Simple, Option<Rc<str>>)],
    outcome: Option<Outcome>,
    status: &Status,
    result: &str,
) -> Vec<CheckRun> {
    let is_check = |command: &Simple| command.is_check() && !command.is_piped && !rewrites(command);
    let places: Vec<usize> =
        (0..placed.len()).filter(|at| is_check(placed[*at].0)).take(8).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Vec::new() };
    // What follows runs only after success: the exit code is that of the checks.
    let is_bare = placed[first + 1..].iter().all(|(command, _)| command.is_conditional);
    let is_piped = placed.get(last + 1).is_some_and(|(command, _)| command.is_piped);
    let is_only = places.len() == 1;
    let run = |at: &usize, passed: bool, failures: Vec<Failure>| {
        let (command, folder) = &placed[*at];
        let (command, filter) = command_and_filter(command)?;
        let folder = folder.as_deref()?.to_owned();
        let is_whole = !is_piped && !failures.is_empty();
        let is_prepared = placed[..*at].iter().any(|(command, _)| acts(command) || makes(command));
        let makes = makes(placed[*at].0);
        Some(CheckRun { command, filter, folder, passed, failures, is_whole, is_prepared, makes })
    };
    match status {
        // It passed because there was nothing to fail.
        Status::Green if result.contains("No tests found") => Vec::new(),
        Status::Green if is_bare => {
            places.iter().filter_map(|at| run(at, true, Vec::new())).collect()
        }
        Status::Green if is_only && outcome::says_passed(result) => {
            run(first, true, Vec::new()).into_iter().collect()
        }
        Status::Red(line) if is_only && !was_stopped(result) => {
            // An exit code of zero says something else than the output.
            if is_bare && outcome == Some(Outcome::Succeeded) {
                return Vec::new();
            }
            let failures = outcome::failures(result);
            // Another command of the line may have failed, or the check itself was called wrongly.
            let acts = |(command, _): &(&Simple, Option<Rc<str>>)| {
                !command.is_looking() && !command.is_setting_up() && !command.is_piped
            };
            let others = placed.iter().enumerate().filter(|(at, _)| at != first);
            let is_alone = !others.into_iter().any(|(_, one)| acts(one));
            let is_misuse = line.as_deref().is_none_or(checks::is_misuse);
            if failures.is_empty() && (is_misuse || !is_alone) {
                return Vec::new();
            }
            run(first, false, failures).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The name of the check that the hooks of a commit are.
const COMMIT: &str = "git commit";

/// Returns the check that the hooks of a commit are: it passed if the commit was made.
fn hooks_in(
    placed: &[(&Simple, Option<Rc<str>>)],
    status: &Status,
    result: &str,
    made: &[Commit],
) -> Option<CheckRun> {
    let mut calls = placed.iter().filter(|(command, _)| commits::is_commit(command));
    let (call, folder) = calls.next().filter(|_| calls.next().is_none())?;
    let are_off = commits::has_flag(&call.words, 'n', "--no-verify");
    let failures = match status {
        Status::Red(_) if !was_stopped(result) && made.is_empty() => outcome::failures(result),
        _ => Vec::new(),
    };
    let passed = made.iter().any(|commit| commit.hash.is_some());
    (!are_off && (passed || !failures.is_empty())).then(|| CheckRun {
        command: COMMIT.to_owned(),
        filter: String::new(),
        folder: folder.as_deref().unwrap_or(HERE).to_owned(),
        passed,
        is_whole: !failures.is_empty(),
        failures,
        is_prepared: false,
        makes: false,
    })
}

/// Returns true if a command may change what a check looks at, and is none itself.
fn acts(command: &Simple) -> bool {
    !command.is_looking()
        && !command.is_setting_up()
        && !command.is_piped
        && (!command.is_check() || rewrites(command))
}

/// Returns true for a check that leaves what others look at: `npm run build`.
fn makes(command: &Simple) -> bool {
    const BUILDS: [&str; 3] = ["build", "compile", "bundle"];
    let names = |word: &String| word.split(':').any(|part| BUILDS.contains(&part));
    command.is_check() && command.words.iter().skip(1).take(8).any(names)
}

/// Returns true if a command was ended from outside.
fn was_stopped(result: &str) -> bool {
    const STOPPED: [&str; 4] = ["Exit code 124", "Exit code 130", "Exit code 137", "Exit code 143"];
    let result = result.trim_start();
    STOPPED.iter().any(|start| result.starts_with(start))
        || result.contains("[Request interrupted by user")
        || result.contains("Command timed out")
}

/// Returns true if a command changes files instead of checking them: `prettier --write`, `npm run lint:fix`.
fn rewrites(command: &Simple) -> bool {
    let words = || command.words.iter().map(String::as_str);
    let is_check = words().any(|word| word == "--check" || word == "-c");
    let formats = words().take(3).any(|word| matches!(word, "fmt" | "format"));
    words().any(|word| matches!(word, "--write" | "--fix") || word.ends_with(":fix"))
        || formats && !is_check
}

/// Options that change only what is printed, or how fast.
#[rustfmt::skip]
const OF_OUTPUT: [&str; 24] = [
    "-q", "--quiet", "--silent", "-s", "-v", "-vv", "--verbose", "--color", "--no-color", "--nocapture",
    "--no-fail-fast", "--passWithNoTests", "--runInBand", "-i", "--coverage", "--no-coverage", "--run", "--",
    "--bail", "--no-cache", "--force", "--offline", "--watch=false", "--watchAll=false",
];

/// Options of that kind that are followed by a value.
const OF_OUTPUT_WITH_VALUE: [&str; 8] = [
    "--reporter",
    "--reporters",
    "-j",
    "--jobs",
    "--timeout",
    "--output-format",
    "--max-diagnostics",
    "--message-format",
];

/// Returns a check without what narrows it, and that.
fn command_and_filter(command: &Simple) -> Option<(String, String)> {
    let mut words = command.words.iter().map(String::as_str).take(40).peekable();
    let mut name: Vec<&str> = Vec::new();
    let mut filter: Vec<&str> = Vec::new();
    let mut is_named = false;
    let mut is_value = false;
    while let Some(word) = words.next() {
        let option = word.split('=').next().unwrap_or(word);
        let is_module = word == "-m" && name.first().is_some_and(|name| name.starts_with("python"));
        if std::mem::take(&mut is_value) {
            filter.push(word);
        } else if OF_OUTPUT_WITH_VALUE.contains(&option) {
            if option == word {
                words.next();
            }
        } else if OF_OUTPUT.contains(&word) || is_module && !is_named {
            continue;
        } else if name.is_empty() {
            // `node_modules/.bin/tsc` is `tsc`; a script of the project keeps its path.
            let is_installed = word.contains("/bin/") || word.contains("/.bin/");
            name.push(match is_installed {
                true => thru_core::file_name(word),
                false => word.trim_start_matches("./"),
            });
            is_named = command.is_check_program();
        } else if is_named || word.starts_with(['-', '+']) {
            is_value = !is_named && !word.contains('=') && takes_value(word);
            filter.push(word);
        } else {
            name.push(word);
            is_named = command.is_check_word(word);
        }
    }
    // They only find another program.
    if name.len() > 1 && matches!(name[0], "npx" | "bunx" | "pnpx") {
        name.remove(0);
    }
    let shown = |words: &[&str], most| one_line(&words.join(" "), most);
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@+".contains(c);
    let is_named = is_named && name.iter().all(|word| word.chars().all(is_plain));
    (is_named && name.len() <= 5).then(|| (shown(&name, COMMAND), shown(&filter, FILTER)))
}

/// Returns true for options before the name of a check that are followed by a value.
fn takes_value(option: &str) -> bool {
    matches!(
        option,
        "--filter" | "-F" | "-w" | "-C" | "--prefix" | "--cwd" | "--dir" | "-p" | "--with"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    fn course(command: &str, outcome: Outcome, result: &str) -> ShellCourse {
        let line = shell::parse(command);
        let is_check = line.acting().any(Simple::is_check);
        let status = checks::status(Some(outcome), is_check, line.is_filtered(), result);
        ShellCourse::parse(
            &line,
            None,
            Some(outcome),
            &status,
            result,
            commits::parse(&line, result),
        )
    }

    /// Renders checks as `pass command [filter] in folder: failures`.
    fn checked(command: &str, outcome: Outcome, result: &str) -> Vec<String> {
        let shown = |run: &CheckRun| {
            let failures: Vec<&str> = run.failures.iter().map(|one| one.key.as_str()).collect();
            let outcome = if run.passed { "pass" } else { "fail" };
            let rest = if failures.is_empty() {
                String::new()
            } else {
                format!(": {}", failures.join(", "))
            };
            format!("{outcome} {} [{}] in {}{rest}", run.command, run.filter, run.folder)
        };
        course(command, outcome, result).checks.iter().map(shown).collect()
    }

    #[test]
    fn a_check_is_known_by_its_command_its_filter_and_its_folder() {
        for (command, expected) in [
            ("cargo test -p kiln melts -- --nocapture", "pass cargo test [-p kiln melts] in ."),
            ("cd web && npm run test:unit", "pass npm run test:unit [] in ./web"),
            ("pnpm --filter web build", "pass pnpm build [--filter web] in ."),
            ("bunx tsc --noEmit", "pass tsc [--noEmit] in ."),
            ("./node_modules/.bin/eslint src", "pass eslint [src] in ."),
            ("bash scripts/check.sh --fast", "pass bash scripts/check.sh [--fast] in ."),
            (
                "cd /w/kiln && python -m pytest -q tests/a.py",
                "pass python pytest [tests/a.py] in /w/kiln",
            ),
        ] {
            assert_eq!(checked(command, Outcome::Succeeded, ""), [expected], "{command}");
        }
    }

    #[test]
    fn only_a_sure_end_counts() {
        let green = |command, result| checked(command, Outcome::Succeeded, result).len();
        assert_eq!(green("cargo clippy && cargo test", ""), 2);
        assert_eq!(green("cargo fmt && npm run lint:fix && prettier --write .", ""), 0);
        assert_eq!(green("bun -e 'const a = test()'", ""), 0);
        // A filter, an alternative or a later command hides the exit code.
        assert_eq!(green("cargo test | tail -5", ""), 0);
        assert_eq!(green("cargo test || true", ""), 0);
        assert_eq!(green("cargo test; git status", ""), 0);
        assert_eq!(green("cargo test | tail -5", "test result: ok. 5 passed; 0 failed"), 1);
        assert_eq!(green("npm run typecheck | tail -5", "> typecheck\n> tsc --noEmit\n"), 1);
        assert_eq!(green("npm run typecheck | tail -5", "$ lint\nsomething"), 0);
        let mixed = "Tests  2 failed | 5 passed\nERR_PNPM_RECURSIVE_RUN_FIRST_FAIL\nExit status 1";
        assert_eq!(green("pnpm test | tail -5", mixed), 0);
        assert_eq!(green("npx jest cone", "No tests found, exiting with code 0"), 0);
        let red = |command, result| checked(command, Outcome::Failed, result);
        let failing = "error TS2304: x\nsrc/a.ts(1,1): error TS2304: Cannot find name 'y'.";
        assert_eq!(
            red("npm run typecheck && git push", failing),
            ["fail npm run typecheck [] in .: TS2304: Cannot find name 'y'."]
        );
        assert_eq!(
            red("cargo clippy && cargo test", "error[E0382]: x\n --> src/a.rs:1:1"),
            [""; 0]
        );
        assert_eq!(red("npm run lint && git push", "error: failed to push some refs"), [""; 0]);
        assert_eq!(red("npm run lint", "Exit code 143\nerror: x failed"), [""; 0]);
        assert_eq!(red("npm run lint", "npm ERR! Missing script: \"lint\""), [""; 0]);
        assert_eq!(red("make check", "fatal: no kiln"), ["fail make check [] in ."]);
    }

    #[test]
    fn the_hooks_of_a_commit_are_a_check() {
        let refused = "$ tsc --noEmit\nsrc/a.ts(1,1): error TS2304: Cannot find name 'y'.\nhusky - pre-commit script failed (code 2)";
        let add = "git add a.ts && git commit -m Melt";
        assert_eq!(
            checked(add, Outcome::Failed, refused),
            ["fail git commit [] in .: TS2304: Cannot find name 'y'."]
        );
        assert_eq!(
            checked(add, Outcome::Succeeded, "$ tsc --noEmit\n[main abc1234] Melt"),
            ["pass git commit [] in ."]
        );
        assert_eq!(
            checked("git commit -nm Melt", Outcome::Succeeded, "[main abc1234] Melt"),
            [""; 0]
        );
        assert_eq!(checked(add, Outcome::Failed, "nothing to commit"), [""; 0]);
        assert_eq!(
            checked("git commit --no-verify -m Melt", Outcome::Succeeded, "[main abc1234] Melt"),
            [""; 0]
        );
    }

    #[test]
    fn a_build_and_an_installation_change_what_checks_see() {
        let shown = |command| {
            let course = course(command, Outcome::Succeeded, "");
            let checks = course.checks.iter().map(|one| (one.is_prepared, one.makes)).collect();
            (course.acts, checks)
        };
        for (command, expected) in [
            ("npm test", (false, vec![(false, false)])),
            ("npm install && npm test", (true, vec![(true, false)])),
            ("npm run build && npm test", (false, vec![(false, true), (true, false)])),
            ("npm run lint:fix", (true, vec![])),
            ("npm run build; ls", (true, vec![])),
            ("ls src", (false, vec![])),
        ] {
            assert_eq!(shown(command), expected, "{command}");
        }
    }

    #[test]
    fn a_shell_stays_where_it_went() {
        let moved = |command, result| course(command, Outcome::Succeeded, result).moved_to;
        assert_eq!(moved("cd web && ls", "").as_deref(), Some("./web"));
        assert_eq!(moved("ls", ""), None);
        assert_eq!(moved("cd /x && ls", "a\nShell cwd was reset to /w").as_deref(), Some("/w"));
        assert_eq!(
            moved("cd web && npm run dev", "Command running in background with ID: b1"),
            None
        );
    }
}

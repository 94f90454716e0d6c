//! The commands of recorded command lines, as someone could type them again.

use thru_core::{git_order, shell_commands};

/// One command: its words, without quotes and without what becomes of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    /// The words; never empty.
    pub(super) words: Vec<String>,
    /// True if it only filters what the command before it prints.
    pub(super) is_piped: bool,
}

/// A command line.
pub(super) struct Line {
    /// Its commands, up to its first document.
    pub(super) commands: Vec<Typed>,
    /// True for a line without a document: its commands can be typed again.
    pub(super) is_whole: bool,
}

impl Line {
    pub(super) fn of(line: &str) -> Self {
        let (before, document) = line.split_once("<<").map_or((line, None), |(a, b)| (a, Some(b)));
        let commands = shell_commands(before).into_iter().map(|command| Typed {
            words: without_redirections(command.words),
            is_piped: command.is_piped,
        });
        let commands = commands.filter(|command| !command.words.is_empty()).collect();
        Self { commands, is_whole: document.is_none() }
    }
}

impl Typed {
    /// Returns the program.
    pub(super) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Returns what `git` is told to do, with its arguments.
    pub(super) fn of_git(&self) -> Option<(&str, &[String])> {
        let (program, rest) = self.run().split_first()?;
        git_order(rest).filter(|_| program == "git")
    }

    /// Its words without a variable, or a program that only runs it, before `git`.
    fn run(&self) -> &[String] {
        const TELLING: [&str; 4] = ["echo", "man", "printf", "which"];
        match self.words.as_slice() {
            [first, rest @ ..]
                if rest.first().is_some_and(|word| word == "git")
                    && !TELLING.contains(&first.as_str()) =>
            {
                rest
            }
            words => words,
        }
    }
}

/// Words without `2>&1`, `> log` and `< input`.
fn without_redirections(words: Vec<String>) -> Vec<String> {
    let mut is_target = false;
    let is_kept = |word: &String| {
        let sign = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        let is_redirection = sign.starts_with(['>', '<']);
        let was_target =
            std::mem::replace(&mut is_target, is_redirection && word.ends_with(['>', '<']));
        !was_target && !is_redirection
    };
    words.into_iter().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_as_they_were_typed() {
        let commands = |line: &str| -> Vec<String> {
            Line::of(line).commands.iter().map(|one| one.words.join(" ")).collect()
        };
        assert_eq!(
            commands("cd /p && just lint 2>&1 | tail -3 > log; make > out.txt; A=1 x 2>/dev/null"),
            ["cd /p", "just lint", "tail -3", "make", "A=1 x"]
        );
        assert_eq!(commands("cd /p; python3 - <<'E'\nprint(1)\nE"), ["cd /p", "python3 -"]);
        assert!(Line::of("just lint").is_whole && !Line::of("python3 - <<'E'\nE").is_whole);
    }

    #[test]
    fn an_order_to_git_stands_behind_its_options() {
        for (line, order) in [
            ("git -C /p restore a.rs", Some(("restore", 1))),
            ("git --no-pager log", Some(("log", 0))),
            ("rtk git status", Some(("status", 0))),
            ("HUSKY=0 git commit -m x", Some(("commit", 2))),
            ("echo git status", None),
            ("git", None),
            ("gh pr view", None),
        ] {
            let typed = Line::of(line).commands;
            let found = typed[0].of_git().map(|(order, rest)| (order, rest.len()));
            assert_eq!(found, order, "{line}");
        }
    }
}

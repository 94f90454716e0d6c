//! Success or failure of a command, judged by more than its outcome, and the line that explains a
//! failure.

use std::sync::LazyLock;

use crate::pattern::{Regex, Set};
use thru_core::Outcome;

use crate::pattern;
use crate::text::{is_emoji, one_line};

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It succeeded.
    Green,
    /// It failed; holds the line that explains the failure, if one was printed.
    Red(Option<String>),
    /// Unknown: it was still running, or a person declined it.
    Unknown,
}

/// Output typical of a failed check, for commands where the shell reports success because a filter
/// follows the check.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"error\[E\d|error TS\d|test result: FAILED|npm ERR!|Traceback \(most recent call last\)|panicked at|Tests:\s+[1-9]\d* failed|(?m:^FAILED )|(?m:^\s*[1-9]\d* (?:tests? )?fail(?:ed|ing)?\b)|error: could not compile|ELIFECYCLE|Found [1-9]\d* errors?\b|(?m:^--- FAIL)|(?m:^FAIL\b)|BUILD FAILED|✖ [1-9]\d* problems?|exit status [1-9]|error: script \S+ exited with code [1-9]|(?m:^make: \*\*\*)|=+ .*[1-9]\d* failed.* =+",
    )
});

/// Lines that explain a failure, the most telling pattern first.
static TELLING: LazyLock<Set> = LazyLock::new(|| {
    pattern::set(&[
        r"error\[E\d|error TS\d|panicked at|\bE\d{3,4}\b.*:",
        r"^E  +\S|^\w*(?:Error|Exception)\b.*: |\bAssertionError\b|^assert",
        r"(?i)^(?:fatal|error|err!|\(eval\):\d+): ?\S|: (?:error|fatal): ",
        r"(?i)command not found|no such file|permission denied|cannot find|not found|unrecognized|unknown (?:option|command)",
        r"^FAILED |^--- FAIL|✗|✘|^\(fail\)|^\s*×|^FAIL\b|^test .* FAILED",
        r"(?i)\berror\b|\bfailed\b|\bfailure\b|refused|timed out|denied|rejected",
        r"(?i)\bignored by|\bconflict|\bcannot\b|\bunable to\b|\binvalid\b|not allowed|overwritten",
    ])
});

/// Bytes of output searched for signs of failure.
const HEAD: usize = 4 * 1024;
const TAIL: usize = 8 * 1024;

/// Returns the client's name for a command that has not ended, from the beginning of its result.
pub(crate) fn running(result: &str) -> Option<&str> {
    // Codex, and Claude Code.
    const STARTS: [&str; 2] =
        ["Process running with session ID ", "Command running in background with ID: "];
    let rest = STARTS.iter().find_map(|start| result.strip_prefix(start))?;
    rest.split(|c: char| !c.is_ascii_alphanumeric()).next().filter(|name| !name.is_empty())
}

/// Returns the result of a command from its outcome and, for a check, from its output. If a filter follows it, the
/// outcome is the filter's, and the output begins with what was wrong with the command.
pub(crate) fn status(
    outcome: Option<Outcome>,
    is_check: bool,
    is_filtered: bool,
    result: &str,
) -> Status {
    match outcome {
        Some(Outcome::Succeeded) if running(result).is_some() => Status::Unknown,
        Some(Outcome::Failed) if declined(result).is_some() || never_ran(result) => Status::Unknown,
        Some(Outcome::Failed) => Status::Red(telling_line(result)),
        Some(Outcome::Succeeded) if exit_in_trailer(result).is_some_and(|code| code != "0") => {
            Status::Red(telling_line(result))
        }
        Some(Outcome::Succeeded) if is_filtered && begins_with_misuse(result) => {
            Status::Red(telling_line(result))
        }
        Some(Outcome::Succeeded) if is_check => {
            let looked_at = crate::text::ends(result, HEAD, TAIL);
            match FAILURE.is_match(&looked_at) {
                true => Status::Red(telling_line(result)),
                false => Status::Green,
            }
        }
        Some(Outcome::Succeeded) => Status::Green,
        Some(Outcome::Pending) | None => Status::Unknown,
    }
}

/// Returns the exit code that Copilot writes below an output: its call succeeds whatever the command did.
fn exit_in_trailer(result: &str) -> Option<&str> {
    let last = result.trim_end().rsplit('\n').next()?;
    let (_, code) = last.strip_prefix('<')?.strip_suffix('>')?.rsplit_once(" with exit code ")?;
    Some(code).filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the reason a person gave for declining a call. Only the client's own wording counts as a
/// refusal.
pub(crate) fn declined(result: &str) -> Option<&str> {
    let result = result.trim_start();
    let is_declined = result.starts_with("The user doesn't want to proceed with this tool use")
        || result.starts_with("The user doesn't want to take this action");
    if !is_declined {
        return None;
    }
    let words = result.split_once("the user said:").map_or("", |(_, words)| words);
    Some(words.split("\n\nNote:").next().unwrap_or(words).trim())
}

/// Returns true if the line says that the command itself was wrong, so that nothing was checked.
pub(crate) fn is_misuse(line: &str) -> bool {
    static MISUSE: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)command not found|not found: \w+$|unrecognized (?:sub)?(?:command|option|argument)|unknown (?:sub)?(?:command|option|argument|flag)|unexpected argument|invalid option|script not found|missing script|no such (?:sub)?command|could not find `?cargo\.toml|no tests? (?:files? )?(?:were )?found|no test files|is not recognized as|no projects? matched|err_pnpm_(?:no|recursive_exec_first)|can(?:'t|not) (?:open|access)|no test target|did not match any files|permission denied|timed out|^usage:|^npx: |^bun: command",
        )
    });
    MISUSE.is_match(line)
}

/// Returns true if the first line of an output says that the command itself was wrong.
fn begins_with_misuse(result: &str) -> bool {
    result.lines().map(str::trim).find(|line| !line.is_empty()).is_some_and(is_misuse)
}

/// Returns true if the client never ran the command because another call beside it failed.
fn never_ran(result: &str) -> bool {
    result.starts_with("<tool_use_error>Sibling") || result.starts_with("Sibling tool call errored")
}

/// Returns true if a line of output explains a failure.
pub(crate) fn is_telling(line: &str) -> bool {
    let line = line.trim();
    (4..=2000).contains(&line.len())
        && !line.starts_with("Exit code")
        && !is_tally(line)
        && TELLING.is_match(line)
}

/// Returns the line of an output that best explains a failure.
pub(crate) fn telling_line(result: &str) -> Option<String> {
    let looked_at = crate::text::ends(result, HEAD, TAIL);
    let mut best: Option<(usize, String)> = None;
    let mut last = "";
    // A progress display overwrites its line again and again: only the last state counts.
    let mut lines = looked_at.split(['\n', '\r']).take(2000).peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim().trim_start_matches(is_ornament);
        if trimmed.len() < 4 || trimmed.starts_with("Exit code") || trimmed.len() > 2000 {
            continue;
        }
        last = trimmed;
        let shown = match trimmed.contains('\u{1b}') {
            true => one_line(trimmed, 400),
            false => trimmed.to_owned(),
        };
        let shown = shown.trim_start_matches(is_ornament).to_owned();
        if is_tally(&shown) {
            continue;
        }
        // A panic gives the place first and the reason on the next line.
        let shown = match lines.peek() {
            Some(next) if shown.contains("panicked at") && shown.ends_with(':') => {
                format!("{shown} {}", next.trim())
            }
            _ => shown,
        };
        if let Some(rank) = TELLING.matches(&shown).iter().position(|matches| *matches)
            && best.as_ref().is_none_or(|(known, _)| rank < *known)
        {
            best = Some((rank, shown));
            if rank == 0 {
                break;
            }
        }
    }
    let line = best.map_or_else(|| last.to_owned(), |(_, line)| line);
    Some(one_line(&line, 140)).filter(|line| line.chars().any(char::is_alphanumeric))
}

/// Returns true for spinners, box drawing and pictographs.
fn is_ornament(character: char) -> bool {
    matches!(character, '\u{2800}'..='\u{28ff}' | '\u{2500}'..='\u{257f}' | ' ')
        || is_emoji(character)
}

/// Returns true for a line that counts failures (possibly none), or that only says that there was one.
fn is_tally(line: &str) -> bool {
    line.contains("exited with code")
        || line.contains(" with exit code ")
        || line.contains("script failed (code")
        || line.contains("ELIFECYCLE")
        || line.contains("0 failed")
        || line.contains("0 error")
        || line.contains("0 fail") && !line.contains("10 fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filtered_check_does_not_hide_its_failure() {
        let filtered = |is_check, is_filtered, result| {
            matches!(
                status(Some(Outcome::Succeeded), is_check, is_filtered, result),
                Status::Red(_)
            )
        };
        let red = |result| filtered(true, false, result);
        assert!(red("running 2 tests\ntest result: FAILED. 1 passed; 1 failed"));
        assert!(red("src/a.ts(3,1): error TS2322: wrong"));
        assert!(red(" 3 fail\n 10 pass"));
        assert!(!red("test result: ok. 5 passed; 0 failed"));
        assert!(!red(" 0 fail\n 10 pass"));
        assert!(!filtered(false, false, "panicked at"));
        assert!(red("1 problem\n<shellId: 4 completed with exit code 2>"));
        assert!(!red("1 problem\n<shellId: 4 completed with exit code 0>"));
        let wrong = "\nerror: unrecognized subcommand 'fire'\n\nUsage: kiln [COMMAND]";
        assert!(filtered(false, true, wrong) && !filtered(false, false, wrong));
        assert!(!filtered(false, true, "fired 3 bowls\nerror: unrecognized option of bowl 4"));
    }

    #[test]
    fn the_most_telling_line_is_shown() {
        assert_eq!(
            telling_line("Exit code 101\nCompiling x\nerror[E0382]: use of moved value\nerror: could not compile").as_deref(),
            Some("error[E0382]: use of moved value")
        );
        assert_eq!(telling_line("Exit code 1\nsomething odd").as_deref(), Some("something odd"));
        assert_eq!(telling_line("Exit code 1"), None);
    }

    #[test]
    fn only_the_clients_words_decline() {
        assert_eq!(
            declined(
                "The user doesn't want to proceed with this tool use. … the user said:\nuse the other file"
            ),
            Some("use the other file")
        );
        assert_eq!(declined("echo: The user doesn't want to proceed with this tool use"), None);
    }
}

//! Edits that were taken back: by git, or by the person.

use std::ops::Range;
use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::{Observation, ObservationType, Paths, Undoing};

use crate::commits;
use crate::event::{Event, hash};
use crate::object::names_code;
use crate::pattern;
use crate::reply;
use crate::segment::Turn;
use crate::session::Session;
use crate::shell::CommandLine;
use crate::text;
use crate::title;

/// Returns what a successful shell call did to changes that it did not commit: the last that it did.
pub(crate) fn parse(line: &CommandLine) -> Option<Undoing> {
    let mut commands = line.commands.iter().rev().take(20);
    commands.find_map(|command| Undoing::of(commits::from_git(command)?))
}

/// Returns the files changed in a part of a session whose changes were gone at the end of another part,
/// which begins with it.
pub(crate) fn gone<'e>(events: &'e [Event], range: &Range<usize>, end: usize) -> Vec<&'e str> {
    let is_restoring = |event: &Event| event.run().is_some_and(|run| run.restored.is_some());
    let reach = events.get(range.start..end).unwrap_or_default();
    if !reach.iter().any(is_restoring) {
        return Vec::new();
    }
    let mut changed: Vec<&str> = Vec::new();
    let mut gone: Vec<&str> = Vec::new();
    let mut aside: Vec<&str> = Vec::new();
    for (offset, event) in reach.iter().enumerate() {
        for file in &event.modified {
            gone.retain(|known| known != file);
            if range.start + offset < range.end && !changed.contains(&file.as_str()) {
                changed.push(file);
            }
        }
        let Some(run) = event.run() else { continue };
        // Committed changes are there to stay.
        if !run.commits.is_empty() {
            changed.clear();
        }
        match &run.restored {
            Some(Undoing::Restores(paths)) => {
                let (back, kept) = parted(&changed, paths);
                gone.extend(back);
                changed = kept;
            }
            Some(Undoing::Stashes(paths)) => {
                let (back, kept) = parted(&changed, paths);
                aside.clone_from(&back);
                gone.extend(back);
                changed = kept;
            }
            Some(Undoing::Returns) => {
                gone.retain(|file| !aside.contains(file));
                changed.append(&mut aside);
            }
            None => {}
        }
    }
    gone
}

/// Parts files into those that paths hold and the others.
fn parted<'e>(files: &[&'e str], paths: &Paths) -> (Vec<&'e str>, Vec<&'e str>) {
    files.iter().partition(|file| paths.hold(file))
}

/// Returns the sentence of a prompt that says that the person took the agent's work back.
pub(crate) fn by_person(prompt: &str) -> Option<&str> {
    static TOOK_BACK: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)^(?:\w+[,.!]?\s+){0,2}?(?:i|we)(?:['’]ve|\s+have)?\s+(?:just\s+|now\s+)?(?:reverted|undid|undone|discarded|rolled\s+back|reset|thrown\s+away)\s+(?:all\s+(?:of\s+)?)?(?:your|the|those|these|that|this|it|them|everything|my)\b",
        )
    });
    let first = crate::prose::sentences(prompt.lines().next()?).next()?;
    TOOK_BACK.is_match(first).then_some(first)
}

/// Most failures in a prompt that are kept, and the longest line that shows one, in bytes.
const FAILURES: usize = 8;
const FAILURE: usize = 300;

/// Returns the keys of the lines of a prompt that show a failure, whatever numbers are in them.
pub(crate) fn failures(prompt: &str) -> Vec<u64> {
    let shows = |line: &&str| {
        let is_line = (12..FAILURE).contains(&line.len());
        is_line
            && ["error", "failed", "fatal", "cannot"]
                .iter()
                .any(|word| text::find_ignoring_case(line, word).is_some())
    };
    let lines = prompt.lines().take(2000).map(str::trim).filter(shows);
    let keys = lines.map(|line| hash(&line.replace(|c: char| c.is_ascii_digit(), "")));
    keys.take(FAILURES).collect()
}

/// Returns true if a prompt begins by saying that the same fails again.
pub(crate) fn still_fails(prompt: &str) -> bool {
    static AGAIN: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)\bstill\s+(?:fail(?:s|ing)?|broken|not\s+work(?:ing)?|does(?:n['’]t|\s+not)\s+work|the\s+same|(?:get|got|see|have)(?:ting|ing)?\s+(?:the|this|that|an?)\s+(?:same\s+)?(?:error|problem|issue|failure))|^(?:the\s+)?same\s+(?:error|problem|issue|failure)",
        )
    });
    let first = prompt.lines().next().and_then(|line| crate::prose::sentences(line).next());
    let first = first.filter(|first| !first.ends_with('?'));
    first.is_some_and(|first| AGAIN.is_match(first))
}

/// Returns true if the prompt after a turn shows the failure that the turn was to end.
pub(crate) fn fails_again(session: &Session<'_>, turn: &Turn) -> bool {
    let request = |at: usize| session.events.get(at).and_then(Event::request);
    let Some(next) = request(turn.range.end) else { return false };
    let known = request(turn.range.start).map_or(&[][..], |asked| &asked.failures);
    next.fails_again || next.failures.iter().any(|failure| known.contains(failure))
}

/// Returns the person's words in the next turn that say that the work of this one was taken back.
pub(crate) fn taken_back<'s>(session: &'s Session<'s>, turn: &Turn) -> Option<(usize, &'s str)> {
    let at = turn.range.end;
    let words = session.events.get(at)?.request()?.took_back.as_deref()?;
    Some((at, words))
}

/// The beginning of the title of work that did not stay.
pub(crate) const REVERTED: &str = "Tried, then reverted";

/// Words that the title of work shares with that of the work that takes it back.
const SHARED: usize = 3;

/// Tells work that later work of the session took back as such: "Remove the relay check" before "restore the relay check". Both
/// name the same, in the same file.
pub(crate) fn settle(observations: &mut [Observation]) {
    for at in 0..observations.len() {
        let Some((one, later)) = observations.get(at..).and_then(<[_]>::split_first) else { break };
        let is_work = !matches!(one.kind, ObservationType::Decision | ObservationType::Discovery)
            && !one.title.starts_with(REVERTED);
        let undoes = |other: &Observation| {
            let changes = other.files_modified.iter().any(|file| one.files_modified.contains(file));
            // A decision has no files, but may name one.
            let names = other.kind == ObservationType::Decision
                && one
                    .files_modified
                    .iter()
                    .any(|file| other.title.contains(&text::shown_name(file)));
            other.turn > one.turn
                && (changes || names)
                && takes_back(&other.title, &one.title, names)
        };
        if is_work && later.iter().any(undoes) {
            let title = titled_as(REVERTED, &one.title);
            if let Some(one) = observations.get_mut(at) {
                one.title = title;
            }
        }
    }
}

/// Returns the title of work behind what became of it.
pub(crate) fn titled_as(outcome: &str, title: &str) -> String {
    let room = title::LENGTH.saturating_sub(outcome.len() + 2);
    format!("{outcome}: {}", text::uncapitalised(&reply::titled_in(title, room)))
}

/// Returns true if a part of the later title orders the contrary of the earlier one about the same; if that is named, with
/// fewer words in common.
fn takes_back(later: &str, earlier: &str, is_named: bool) -> bool {
    const GIVES: [&str; 8] =
        ["add", "allow", "create", "enable", "introduce", "set", "use", "require"];
    const TAKES: [&str; 6] = ["delete", "disable", "drop", "remove", "revert", "undo"];
    const RETURNS: [&str; 5] = ["readd", "re-add", "re-enable", "reinstate", "restore"];
    let has = |words: &[&str], title: &str| {
        let first = title.split(' ').next().unwrap_or_default();
        words.iter().any(|word| word.eq_ignore_ascii_case(first))
    };
    let contrary = |part: &str| {
        has(&GIVES, earlier) && has(&TAKES, part)
            || has(&TAKES, earlier) && (has(&RETURNS, part) || has(&GIVES, part))
    };
    let known = reply::significant(object_of(earlier));
    later.split(": ").filter(|part| contrary(part)).any(|part| {
        let told = reply::significant(object_of(part));
        let shared = told.iter().filter(|word| known.contains(word)).count();
        let is_same = object_of(part).split(' ').any(|word| {
            names_code(word) && object_of(earlier).split(' ').any(|known| known == word)
        });
        (is_same || shared >= if is_named { SHARED - 1 } else { SHARED })
            && shared * 2 >= told.len().min(known.len())
    })
}

/// Returns a title without its first word and without the file in brackets.
fn object_of(title: &str) -> &str {
    let rest = title.split_once(' ').map_or("", |(_, rest)| rest);
    rest.split(" (").next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    #[test]
    fn the_last_command_of_a_line_that_takes_edits_back_counts() {
        let undoing = |line: &str| parse(&shell::parse(line));
        for (line, taken_back) in [
            (
                "cd /p && git checkout -- src",
                Some(Undoing::Restores(Paths::These(vec!["src".to_owned()]))),
            ),
            ("rtk git reset --hard HEAD", Some(Undoing::Restores(Paths::All))),
            ("git stash && npm test && git stash pop", Some(Undoing::Returns)),
            ("git stash; rm -rf build; git clean -fd", Some(Undoing::Stashes(Paths::All))),
            ("rm src/a.rs", None),
            ("git status", None),
        ] {
            assert_eq!(undoing(line), taken_back, "{line}");
        }
    }

    #[test]
    fn work_that_later_work_takes_back_is_known() {
        for (later, earlier) in [
            (
                "Mend the kiln: restore open_damper() at the start",
                "Remove second open_damper() call",
            ),
            (
                "Remove the shared relay of the damper",
                "Use a shared relay for the damper (kiln.toml)",
            ),
        ] {
            assert!(takes_back(later, earlier, false), "{later}");
        }
        for (later, earlier) in [
            ("Remove the old tests of the damper", "Add a relay for the damper"),
            ("Add a log to open_damper()", "Use open_damper() at the start"),
            ("Restore the glaze profile", "Remove second open_damper() call"),
        ] {
            assert!(!takes_back(later, earlier, false), "{later}");
        }
    }

    #[test]
    fn people_say_that_they_took_work_back() {
        assert!(by_person("I've reverted your changes, do only the first part").is_some());
        assert!(by_person("ok, i reverted that. Try the cache instead").is_some());
        assert!(by_person("Why was it reverted?").is_none());
        assert!(by_person("Revert your changes").is_none());
        assert!(by_person("I added the reverted flag").is_none());
    }
}

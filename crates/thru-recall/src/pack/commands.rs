//! How the last sessions worked: the commands that they ran again and again, and those that fail until another one ran.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use thru_core::Outcome;
use thru_store::PassageRow;

use super::Draft;
use super::in_play::{FADING, Sessions};
use super::render::{Section, recorded};

/// Runs in one session that are as good as runs in two, …
const RUNS: usize = 3;
/// … where there are fewer sessions than this: what only one of many ran is about that session.
const MANY: usize = 3;
/// Maximum number of commands, and characters of one.
const COMMANDS: usize = 6;
const COMMAND: usize = 70;
/// Calls after a failure within which another command puts it right, and the sessions that saw it.
const SOON: usize = 3;
const SESSIONS_THAT_SAW: usize = 2;
/// Maximum number of such failures.
const TRAPS: usize = 2;

/// The lines about commands.
pub(super) fn commands_in_play(sessions: &Sessions<'_>) -> Vec<Draft> {
    let line = |text: String, reason: &str| Draft {
        memory: None,
        section: Section::CommandsInPlay,
        tier: sessions.tier,
        text,
        reason: reason.to_owned(),
    };
    let mut drafts = Vec::new();
    let commands = again_and_again(sessions);
    if !commands.is_empty() {
        let reason = "commands that the last sessions ran again and again";
        drafts.push(line(commands.join(", "), reason));
    }
    for trap in traps(&sessions.calls).into_iter().take(TRAPS) {
        drafts.push(line(trap, "failed in more than one session until another command ran"));
    }
    drafts
}

/// The runs of a command.
#[derive(Default)]
struct Known {
    /// The weights of the sessions that ran it, added up.
    weight: f64,
    sessions: usize,
    runs: usize,
    failures: usize,
    /// True if its last run did not fail.
    works: bool,
}

impl Known {
    fn value(&self) -> f64 {
        self.weight * self.sessions as f64 * (self.runs as f64).ln_1p()
    }
}

/// Commands by what is run, with their runs.
#[derive(Default)]
struct Runs(BTreeMap<String, Known>);

impl Runs {
    /// Adds a run; the latest comes first.
    fn add(&mut self, command: &str, rank: usize, has_failed: bool, is_first: bool) {
        let one = self.0.entry(command.to_owned()).or_default();
        one.works |= one.runs == 0 && !has_failed;
        one.runs += 1;
        one.failures += usize::from(has_failed);
        if is_first {
            one.sessions += 1;
            one.weight += FADING.powi(i32::try_from(rank).unwrap_or(i32::MAX));
        }
    }

    /// Returns those that work, the most telling first.
    fn best(self, is_told: impl Fn(&Known) -> bool) -> Vec<String> {
        let works = |one: &Known| one.works && one.failures * 2 <= one.runs;
        let known = self.0.into_iter().filter(|(_, one)| works(one) && is_told(one));
        let mut known: Vec<(String, f64)> = known.map(|(name, one)| (name, one.value())).collect();
        known.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        known.into_iter().map(|(name, _)| name).collect()
    }
}

/// Whole commands first, then the beginnings of those that always end in something else, which say little by themselves.
fn again_and_again(sessions: &Sessions<'_>) -> Vec<String> {
    let (mut whole, mut begun) = (Runs::default(), Runs::default());
    for (rank, calls) in sessions.calls.iter().enumerate() {
        let mut seen = HashSet::new();
        for call in calls {
            let Some(line) = &call.command else { continue };
            let has_failed = call.outcome == Some(Outcome::Failed);
            for part in parts(line) {
                if let Some(command) = plain(&part) {
                    whole.add(command, rank, has_failed, seen.insert(command.to_owned()));
                }
                if let Some(start) = beginning(&part) {
                    let is_first = seen.insert(format!("{start} …"));
                    begun.add(&start, rank, has_failed, is_first);
                }
            }
        }
    }
    let is_young = sessions.count() < MANY;
    let mut told = whole.best(|one| one.sessions > 1 || is_young && one.runs >= RUNS);
    told.truncate(COMMANDS);
    for start in begun.best(|one| one.sessions > 1) {
        let is_same = |known: &String| {
            known.starts_with(&start) || start.starts_with(known.trim_end_matches(" …"))
        };
        if !told.is_empty() && told.len() < COMMANDS && !told.iter().any(is_same) {
            told.push(format!("{start} …"));
        }
    }
    told.into_iter().map(|command| format!("`{}`", recorded(&command, COMMAND))).collect()
}

/// Commands that fail, with the command that helps.
fn traps(sessions: &[Vec<PassageRow>]) -> Vec<String> {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut worked: HashSet<String> = HashSet::new();
    for calls in sessions {
        // The newest comes first.
        let calls: Vec<(Option<String>, bool)> = calls
            .iter()
            .rev()
            .map(|call| {
                (call.command.as_deref().and_then(only), call.outcome == Some(Outcome::Failed))
            })
            .collect();
        let mut of_session = BTreeSet::new();
        for (at, (command, has_failed)) in calls.iter().enumerate() {
            let Some(command) = command else { continue };
            if !has_failed {
                worked.insert(command.clone());
                continue;
            }
            // An edit in between may be what helped.
            let after = calls.iter().skip(at + 1).take(SOON);
            let after = after.map_while(|(next, failed)| Some((next.as_ref()?, *failed)));
            let helped = after
                .filter(|(next, failed)| !failed && *next != command)
                .find(|(next, _)| program(next) == program(command));
            of_session.extend(helped.map(|(next, _)| (command.clone(), next.clone())));
        }
        of_session.into_iter().for_each(|pair| *seen.entry(pair).or_default() += 1);
    }
    let mut traps: Vec<((String, String), usize)> =
        seen.into_iter().filter(|(_, sessions)| *sessions >= SESSIONS_THAT_SAW).collect();
    traps.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let shown = |command: &str| recorded(command, COMMAND);
    traps
        .into_iter()
        .map(|((failing, helping), sessions)| match worked.contains(&failing) {
            true => format!(
                "`{}` failed in {sessions} sessions; `{}` came next and passed",
                shown(&failing),
                shown(&helping)
            ),
            false => format!("`{}` fails here; `{}` works", shown(&failing), shown(&helping)),
        })
        .collect()
}

/// The command of a line that runs one command.
fn only(line: &str) -> Option<String> {
    let parts = parts(line);
    let mut commands = parts.iter().filter_map(|part| plain(part));
    let first = commands.next()?;
    commands.next().is_none().then(|| first.to_owned())
}

/// The commands of a line, without quoted texts, and without what becomes of their output.
fn parts(line: &str) -> Vec<String> {
    if line.contains("<<") {
        return Vec::new();
    }
    let line = without_quoted(line);
    let parts =
        line.split(['\n', ';']).flat_map(|part| part.split("&&")).flat_map(|part| part.split("||"));
    parts
        .filter_map(|part| {
            let part = part.split(" | ").next()?.trim();
            Some(part.split(" 2>").next()?.trim().trim_end_matches('&').trim().to_owned())
        })
        .filter(|part| is_worth_knowing(part))
        .collect()
}

fn program(command: &str) -> &str {
    command.split(' ').next().unwrap_or(command)
}

/// True for a command that not every agent knows in every project.
fn is_worth_knowing(part: &str) -> bool {
    #[rustfmt::skip]
    const EVERYDAY: [&str; 67] = [
        "ls", "cat", "head", "tail", "grep", "rg", "egrep", "find", "fd", "echo", "printf", "wc", "which", "pwd",
        "tree", "stat", "du", "df", "diff", "file", "test", "[", "[[", "sleep", "sed", "awk", "sort", "uniq", "jq",
        "less", "type", "ps", "lsof", "env", "true", "false", "for", "while", "do", "done", "if", "then", "else",
        "fi", "cd", "pushd", "popd", "export", "set", "mkdir", "rm", "rmdir", "cp", "mv", "touch", "chmod", "kill",
        "pkill", "xargs", "tee", "read", "cut", "git", "nl", "thru", "source", "command",
    ];
    let program = program(part);
    let is_name = program.chars().all(|c| c.is_ascii_alphanumeric() || "._-/@+".contains(c));
    let is_of_git = part.split(' ').nth(1) == Some("git");
    let only_asks = ["--help", "--version", "auth status"].iter().any(|end| part.ends_with(end));
    !program.is_empty() && is_name && !is_of_git && !only_asks && !EVERYDAY.contains(&program)
}

/// The command, if it can be run as it stands.
fn plain(part: &str) -> Option<&str> {
    let is_plain =
        !part.contains(['$', '`', '>', '<', '(', '{', '"', '\'']) && !part.contains("://");
    let has_more = part.contains(' ') || part.contains('/');
    (is_plain && has_more && part.chars().count() <= COMMAND).then_some(part)
}

/// The program with its subcommands, where something else follows them.
fn beginning(part: &str) -> Option<String> {
    let is_subcommand = |word: &&str| {
        word.len() > 1
            && word.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | ':'))
            && !word.starts_with('-')
    };
    let mut words = part.split_whitespace();
    let program = words.next()?;
    let rest: Vec<&str> = words.collect();
    let subcommands = rest.iter().take(2).take_while(|word| is_subcommand(word)).count();
    (subcommands > 0 && rest.len() > subcommands)
        .then(|| format!("{program} {}", rest[..subcommands].join(" ")))
}

/// A command line with a quotation mark for each quoted text, on however many lines it stands.
fn without_quoted(line: &str) -> String {
    let mut kept = String::new();
    let mut within = None;
    for c in line.chars() {
        match within {
            Some(mark) if c == mark => within = None,
            Some(_) => {}
            None => {
                kept.push(c);
                within = Some(c).filter(|c| ['"', '\''].contains(c));
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_worth_knowing() {
        let commands = |line: &str| -> Vec<String> {
            parts(line).iter().filter_map(|part| plain(part)).map(str::to_owned).collect()
        };
        assert_eq!(
            commands("cd /p && just lint 2>&1 | tail -3; git status; pnpm test --run; echo \"$X\""),
            ["just lint", "pnpm test --run"]
        );
        assert!(commands("python3 - <<'E'\nprint(1)\nE").is_empty());
        assert!(commands("python3 -c \"\nimport json\nreturn None\n\"").is_empty());
    }

    #[test]
    fn a_command_begins_with_its_subcommands() {
        for (command, start) in [
            ("kiln log show k-12 --json", Some("kiln log show")),
            ("kiln fire \"", Some("kiln fire")),
            ("just lint", None),
            ("node build.js x", None),
        ] {
            assert_eq!(beginning(command).as_deref(), start, "{command}");
        }
    }
}

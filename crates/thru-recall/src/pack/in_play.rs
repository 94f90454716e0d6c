//! What the work of a project is done with: files that its last sessions worked on, and commands that they ran
//! again and again.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{FileInPlay, FileState, Outcome, PassageKind};
use thru_store::{MemoryRow, Newest, Result, Store};

use super::compact::grouped;
use super::render::Section;
use super::valued::Valued;
use super::{Draft, PackRequest};
use crate::action::from_directory;
use crate::freshness::Presence;
use crate::tiers::Tier;

/// Maximum number of files: those further down are of one session only, and another one hardly opens them.
const FILES: usize = 8;
/// Directories of files that tools fetch or make.
const MADE: [&str; 4] = ["node_modules", ".venv", "target", "dist"];
/// The weight of a session, relative to the one after it.
const FADING: f64 = 0.8;
/// The weight of a file that was only read, relative to one that was changed.
const READ: f64 = 0.6;
/// The weight of another branch.
const ELSEWHERE: f64 = 0.7;

/// Sessions whose commands are looked at, and passages of each.
const SESSIONS: usize = 5;
const PASSAGES: usize = 200;
/// Runs in one session that are as good as runs in two, …
const RUNS: usize = 3;
/// … where there are fewer sessions than this: what only one of many ran is about that session.
const MANY: usize = 3;
/// Maximum number of commands, and characters of one.
const COMMANDS: usize = 6;
const COMMAND: usize = 70;

/// The last sessions of a project, with their files.
pub(super) struct Sessions<'v> {
    /// Their rows, the latest first.
    rows: Vec<i64>,
    /// The tier of the latest.
    tier: Tier,
    valued: &'v [Valued],
}

impl<'v> Sessions<'v> {
    pub(super) fn of(
        summaries: &[MemoryRow],
        valued: &'v [Valued],
        request: &PackRequest<'_>,
    ) -> Self {
        let mut latest: Vec<(Option<thru_core::Timestamp>, i64)> = Vec::new();
        let memories = summaries.iter().chain(valued.iter().map(|one| &one.memory));
        for memory in memories.filter(|memory| memory.at.is_none_or(|at| at <= request.now)) {
            let Some(session) = memory.session else { continue };
            match latest.iter_mut().find(|(_, row)| *row == session) {
                Some((at, _)) => *at = (*at).max(memory.at),
                None => latest.push((memory.at, session)),
            }
        }
        latest.sort_by(|a, b| b.cmp(a));
        let tier = Tier::at_start(latest.first().and_then(|(at, _)| *at), false, request.now);
        let rows: Vec<i64> = latest.into_iter().map(|(_, row)| row).collect();
        Self { rows, tier, valued }
    }
}

/// The files on one line, grouped by directory.
pub(super) fn files_in_play(sessions: &Sessions<'_>, request: &PackRequest<'_>) -> Option<Draft> {
    let ranks: HashMap<i64, usize> =
        sessions.rows.iter().enumerate().map(|(rank, row)| (*row, rank)).collect();
    // By path: the weight of each session, and the whole path.
    let mut files: BTreeMap<String, (HashMap<usize, f64>, String)> = BTreeMap::new();
    for Valued { memory, files: touched, place, .. } in sessions.valued {
        let Some(rank) = memory.session.and_then(|row| ranks.get(&row)) else { continue };
        let root = place.directory.as_deref();
        let here = place.branch.as_deref() == request.branch.as_deref();
        for FileState { path, modified, .. } in touched {
            let Some(name) = in_project(path, root) else { continue };
            let weight = FADING.powi(i32::try_from(*rank).unwrap_or(i32::MAX))
                * if *modified { 1.0 } else { READ }
                * if here { 1.0 } else { ELSEWHERE };
            let (weights, _) = files.entry(name).or_insert_with(|| (HashMap::new(), path.clone()));
            let known = weights.entry(*rank).or_default();
            *known = known.max(weight);
        }
    }
    let mut files: Vec<(f64, FileInPlay, String)> = files
        .into_iter()
        .map(|(path, (weights, whole))| {
            let file = FileInPlay { path, ..FileInPlay::default() };
            (weights.values().sum(), file, whole)
        })
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    files.truncate(2 * FILES);
    files.retain(|(_, _, whole)| request.disk.look(whole, None) != Presence::Gone);
    files.truncate(FILES);
    let files: Vec<FileInPlay> = files.into_iter().map(|(_, file, _)| file).collect();
    let line = Some(grouped(&files, None).join("; ")).filter(|line| !line.is_empty());
    let reason = "files that the last sessions worked on";
    line.map(|text| draft(Section::FilesInPlay, sessions.tier, text, reason))
}

/// The path of a file in its project; `None` for files elsewhere, and for those that tools made. A worktree holds the same files.
fn in_project(path: &str, root: Option<&str>) -> Option<String> {
    let inside = from_directory(path, root).replace('\\', "/");
    let inside = match inside.split_once("worktrees/") {
        Some((_, rest)) => rest.split_once('/')?.1.to_owned(),
        None => inside,
    };
    let is_inside =
        !inside.starts_with(['/', '~']) && !inside.starts_with("..") && !inside.contains(':');
    let is_written = !inside.split('/').any(|part| MADE.contains(&part));
    (is_inside && is_written)
        .then(|| inside.trim_start_matches("./").to_owned())
        .filter(|path| !path.is_empty())
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

/// The commands, on one line.
pub(super) fn commands_in_play(store: &Store, sessions: &Sessions<'_>) -> Result<Option<Draft>> {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (rank, session) in sessions.rows.iter().take(SESSIONS).enumerate() {
        let kind = Some(PassageKind::Tool);
        let newest = Newest { kind, within: PASSAGES, limit: PASSAGES };
        let mut of_session = HashSet::new();
        for passage in store.newest_passages(*session, newest)? {
            let Some(line) = &passage.command else { continue };
            for command in commands(line) {
                let one = known.entry(command.clone()).or_default();
                let has_failed = passage.outcome == Some(Outcome::Failed);
                // The latest comes first.
                one.works |= one.runs == 0 && !has_failed;
                one.runs += 1;
                one.failures += usize::from(has_failed);
                if of_session.insert(command) {
                    one.sessions += 1;
                    one.weight += FADING.powi(i32::try_from(rank).unwrap_or(i32::MAX));
                }
            }
        }
    }
    let is_young = sessions.rows.len() < MANY;
    let mut known: Vec<(String, f64, usize)> = known
        .into_iter()
        .filter(|(_, one)| one.works && one.failures * 2 <= one.runs)
        .filter(|(_, one)| one.sessions > 1 || is_young && one.runs >= RUNS)
        .map(|(command, one)| (command, one.weight * (one.sessions as f64), one.runs))
        .collect();
    let value = |weight: f64, runs: usize| weight * (runs as f64).ln_1p();
    known.sort_by(|a, b| value(b.1, b.2).total_cmp(&value(a.1, a.2)).then_with(|| a.0.cmp(&b.0)));
    known.truncate(COMMANDS);
    let commands: Vec<String> = known
        .into_iter()
        .map(|(command, ..)| format!("`{}`", super::recorded(&command, COMMAND)))
        .collect();
    let reason = "commands that the last sessions ran again and again";
    let line = Some(commands.join(", ")).filter(|line| !line.is_empty());
    Ok(line.map(|text| draft(Section::CommandsInPlay, sessions.tier, text, reason)))
}

fn draft(section: Section, tier: Tier, text: String, reason: &str) -> Draft {
    Draft { memory: None, section, tier, reason: reason.to_owned(), text }
}

/// The commands of a command line that are worth knowing: not those that every agent knows in every project.
fn commands(line: &str) -> Vec<String> {
    #[rustfmt::skip]
    const EVERYDAY: [&str; 67] = [
        "ls", "cat", "head", "tail", "grep", "rg", "egrep", "find", "fd", "echo", "printf", "wc", "which", "pwd",
        "tree", "stat", "du", "df", "diff", "file", "test", "[", "[[", "sleep", "sed", "awk", "sort", "uniq", "jq",
        "less", "type", "ps", "lsof", "env", "true", "false", "for", "while", "do", "done", "if", "then", "else",
        "fi", "cd", "pushd", "popd", "export", "set", "mkdir", "rm", "rmdir", "cp", "mv", "touch", "chmod", "kill",
        "pkill", "xargs", "tee", "read", "cut", "git", "nl", "thru", "source", "command",
    ];
    if line.contains("<<") {
        return Vec::new();
    }
    let line = without_quoted(line);
    let parts =
        line.split(['\n', ';']).flat_map(|part| part.split("&&")).flat_map(|part| part.split("||"));
    parts
        .filter_map(|part| {
            let part = part.split(" | ").next()?.trim();
            let part = part.split(" 2>").next()?.trim().trim_end_matches('&').trim();
            let program = part.split(' ').next()?;
            let is_name =
                program.chars().all(|c| c.is_ascii_alphanumeric() || "._-/@+".contains(c));
            let is_plain = !part.contains(['$', '`', '>', '<', '(', '{', '"', '\''])
                && !part.contains("://")
                && !["--help", "--version", "auth status"].iter().any(|end| part.ends_with(end));
            let has_more = part.contains(' ') || program.contains('/');
            let is_of_git = part.split(' ').nth(1) == Some("git");
            let fits = part.chars().count() <= COMMAND;
            (is_name && is_plain && has_more && fits && !is_of_git && !EVERYDAY.contains(&program))
                .then(|| part.to_owned())
        })
        .collect()
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
        assert_eq!(
            commands("cd /p && just lint 2>&1 | tail -3; git status; pnpm test --run; echo \"$X\""),
            ["just lint", "pnpm test --run"]
        );
        assert!(commands("python3 - <<'E'\nprint(1)\nE").is_empty());
        assert!(commands("python3 -c \"\nimport json\nreturn None\n\"").is_empty());
    }

    #[test]
    fn a_worktree_holds_the_files_of_its_project() {
        let root = Some("/home/ada/rocket");
        for (path, inside) in [
            ("/home/ada/rocket/src/a.rs", Some("src/a.rs")),
            ("src/a.rs", Some("src/a.rs")),
            ("/home/ada/rocket/.worktrees/x/src/a.rs", Some("src/a.rs")),
            ("/home/ada/rocket.worktrees/x/src/a.rs", Some("src/a.rs")),
            ("/tmp/a.rs", None),
            ("/home/ada/rocket/web/node_modules/x/index.js", None),
        ] {
            assert_eq!(in_project(path, root).as_deref(), inside, "{path}");
        }
    }
}

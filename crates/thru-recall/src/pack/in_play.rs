//! What the work of a project is done with: the calls of its last sessions, and the files that they worked on.

use std::collections::{BTreeMap, HashMap};

use thru_core::{FileInPlay, PassageKind, is_made_by_tools};
use thru_store::{MemoryRow, Newest, PassageRow, Result, Store};

use super::compact::grouped;
use super::render::Section;
use super::typed::Typed;
use super::valued::Valued;
use super::words::is_file;
use super::{Draft, LONGEST_LINE, PackRequest};
use crate::action::from_directory;
use crate::freshness::Presence;
use crate::tiers::Tier;

/// Sessions whose calls are looked at, and calls of each.
const SESSIONS: usize = 6;
const CALLS: usize = 250;
/// Maximum number of files: those further down are of one session only, and another one hardly opens them.
const FILES: usize = 10;
/// Sessions that read a file outside of the project before it is told.
const AGAIN: usize = 2;
/// Directories of files that are gone tomorrow.
const PASSING: [&str; 6] = ["/tmp/", "/private/", "/var/", "/dev/", "/proc/", "/run/"];
/// Programs that show files.
const SHOWING: [&str; 7] = ["cat", "head", "tail", "sed", "nl", "less", "bat"];
/// The weight of a session, relative to the one after it.
pub(super) const FADING: f64 = 0.8;
/// The weight of a file that was only read, relative to one that was changed.
const READ: f64 = 0.6;
/// The weight of another branch.
const ELSEWHERE: f64 = 0.7;

/// The last sessions of a project, with their files and calls.
pub(super) struct Sessions<'v> {
    /// Their rows, the latest first.
    rows: Vec<i64>,
    /// The tier of the latest.
    pub(super) tier: Tier,
    valued: &'v [Valued],
    /// The newest calls of the latest, the newest first.
    pub(super) calls: Vec<Vec<PassageRow>>,
}

impl<'v> Sessions<'v> {
    pub(super) fn of(
        store: &Store,
        summaries: &[MemoryRow],
        valued: &'v [Valued],
        request: &PackRequest<'_>,
    ) -> Result<Self> {
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
        let newest = Newest { kind: Some(PassageKind::Tool), within: CALLS, limit: CALLS };
        let latest = rows.iter().take(SESSIONS);
        let calls = latest.map(|row| store.newest_passages(*row, newest)).collect::<Result<_>>()?;
        Ok(Self { rows, tier, valued, calls })
    }

    /// Returns the number of sessions.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the directory of a session, by its rank.
    pub(super) fn directory(&self, rank: usize) -> Option<&str> {
        let row = self.rows.get(rank)?;
        let own = self.valued.iter().find(|one| one.memory.session == Some(*row))?;
        own.place.directory.as_deref()
    }
}

/// A file that sessions worked on.
struct Worked {
    /// The weight of each session, by its rank: in order, so that they add up to the same each time.
    weights: BTreeMap<usize, f64>,
    /// Its whole path.
    path: String,
    is_inside: bool,
}

/// The files on one line, grouped by directory.
pub(super) fn files_in_play(sessions: &Sessions<'_>, request: &PackRequest<'_>) -> Option<Draft> {
    let ranks: HashMap<i64, usize> =
        sessions.rows.iter().enumerate().map(|(rank, row)| (*row, rank)).collect();
    let mut files: BTreeMap<String, Worked> = BTreeMap::new();
    let mut add = |path: &str, root: Option<&str>, rank: usize, weight: f64| {
        let inside = in_project(path, root);
        let is_inside = inside.is_some();
        let Some(name) = inside.or_else(|| outside(path)) else { return };
        let file = files.entry(name).or_insert_with(|| Worked {
            weights: BTreeMap::new(),
            path: path.to_owned(),
            is_inside,
        });
        let weight = weight * FADING.powi(i32::try_from(rank).unwrap_or(i32::MAX));
        let known = file.weights.entry(rank).or_default();
        *known = known.max(weight);
    };
    for Valued { memory, files: touched, place, .. } in sessions.valued {
        let Some(rank) = memory.session.and_then(|row| ranks.get(&row)) else { continue };
        let here = place.branch.as_deref() == request.branch.as_deref();
        for file in touched {
            let weight = if file.modified { 1.0 } else { READ };
            let weight = if here { weight } else { weight * ELSEWHERE };
            add(&file.path, place.directory.as_deref(), *rank, weight);
        }
    }
    for (rank, calls) in sessions.calls.iter().enumerate() {
        let directory = sessions.directory(rank);
        for path in calls.iter().filter_map(|call| call.command.as_deref()).flat_map(shown_by) {
            let is_whole = path.starts_with(['/', '~']) || path.contains(':');
            let path = match directory.filter(|_| !is_whole) {
                Some(directory) => format!("{}/{path}", directory.trim_end_matches('/')),
                None => path,
            };
            add(&path, directory, rank, READ);
        }
    }
    let mut files: Vec<(f64, FileInPlay, String)> = files
        .into_iter()
        .filter(|(_, file)| file.is_inside || file.weights.len() >= AGAIN)
        .map(|(name, Worked { weights, path, .. })| {
            let file = FileInPlay { path: name, ..FileInPlay::default() };
            (weights.values().sum(), file, path)
        })
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    files.truncate(2 * FILES);
    files.retain(|(_, _, path)| request.disk.look(path, None) != Presence::Gone);
    files.truncate(FILES);
    let mut files: Vec<FileInPlay> = files.into_iter().map(|(_, file, _)| file).collect();
    let mut text = grouped(&files, None).join("; ");
    // Half a path names nothing.
    while text.chars().count() > LONGEST_LINE && files.pop().is_some() {
        text = grouped(&files, None).join("; ");
    }
    let text = Some(text).filter(|line| !line.is_empty())?;
    Some(Draft {
        memory: None,
        section: Section::FilesInPlay,
        tier: sessions.tier,
        text,
        reason: "files that the last sessions worked on".to_owned(),
    })
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
    (is_inside && !is_made_by_tools(&inside))
        .then(|| inside.trim_start_matches("./").to_owned())
        .filter(|path| !path.is_empty())
}

/// The path of a file outside of any project that more than one session may read: a guide, a shared setting.
fn outside(path: &str) -> Option<String> {
    let is_lasting = !PASSING.iter().any(|start| path.starts_with(start))
        && !is_made_by_tools(path)
        && !path.contains("/cache/");
    (path.starts_with(['/', '~']) && is_lasting).then(|| path.to_owned())
}

/// The files that a command line shows.
fn shown_by(line: &str) -> Vec<String> {
    let is_path = |word: &&String| {
        is_file(word) && !word.starts_with('-') && !word.contains(['*', '?', '$', '{', ' '])
    };
    let commands = Typed::of_line(line).into_iter();
    let showing = commands.filter(|one| SHOWING.contains(&one.program()));
    showing
        .flat_map(|one| one.words.iter().skip(1).filter(is_path).cloned().collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_command_shows_are_known() {
        assert_eq!(
            shown_by("cd /p && sed -n '1,9p' docs/kiln.md | head -3; cat \"a b\" ~/notes/glaze.md"),
            ["docs/kiln.md", "~/notes/glaze.md"]
        );
        for line in ["cat > a.md", "cat <<'E' > a.md\nx\nE", "cat src/*.rs", "grep x a.md"] {
            assert_eq!(shown_by(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_file_outside_of_the_project_is_one_that_stays() {
        assert_eq!(
            outside("/home/ada/guides/kiln.md").as_deref(),
            Some("/home/ada/guides/kiln.md")
        );
        for path in ["/tmp/a.md", "/home/ada/.cache/x/a.md", "/home/ada/x/node_modules/a.js"] {
            assert_eq!(outside(path), None, "{path}");
        }
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

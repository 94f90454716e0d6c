//! Worktrees that the last sessions made and left.

use thru_core::Outcome;

use super::in_play::Sessions;
use super::render::Section;
use super::typed::Typed;
use super::{Draft, PackRequest};
use crate::freshness::Presence;

/// Sessions whose worktrees are told: what older ones left is hardly work that goes on.
const LATEST: usize = 2;
/// Maximum number of worktrees that are named.
const NAMED: usize = 3;

/// A worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Worktree {
    path: String,
    branch: Option<String>,
}

/// What a command does to worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Deed {
    Adds(Worktree),
    Removes(String),
}

/// The line about the worktrees that no session removed, as far as they are there.
pub(super) fn worktrees_left(sessions: &Sessions<'_>, request: &PackRequest<'_>) -> Option<Draft> {
    let mut left: Vec<(Worktree, usize)> = Vec::new();
    // The latest session and its newest call come first.
    for (rank, calls) in sessions.calls.iter().enumerate().take(LATEST).rev() {
        for call in calls.iter().rev().filter(|call| call.outcome != Some(Outcome::Failed)) {
            let commands = call.command.iter().flat_map(|line| Typed::of_line(line));
            for deed in commands.filter_map(|command| Deed::of(&command)) {
                let (Deed::Adds(Worktree { path, .. }) | Deed::Removes(path)) = &deed;
                left.retain(|(known, _)| !is_same(&known.path, path));
                if let Deed::Adds(worktree) = deed {
                    left.push((worktree, rank));
                }
            }
        }
    }
    left.retain(|(worktree, rank)| {
        request.disk.look(&worktree.path, sessions.directory(*rank)) != Presence::Gone
    });
    let named = left.iter().rev().take(NAMED).map(|(Worktree { path, branch }, _)| match branch {
        Some(branch) => format!("`{path}` ({branch})"),
        None => format!("`{path}`"),
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| Draft {
        memory: None,
        section: Section::Open,
        tier: sessions.tier,
        text: format!("Worktrees that sessions left: {}", named.join(", ")),
        reason: "worktrees that no session removed".to_owned(),
    })
}

impl Deed {
    fn of(command: &Typed) -> Option<Self> {
        let is_plain = |path: &&String| !path.contains(['$', '*', '`']);
        if command.program() == "rm" {
            return command.words.last().filter(is_plain).cloned().map(Self::Removes);
        }
        let Some(("worktree", [deed, rest @ ..])) = command.of_git() else { return None };
        match deed.as_str() {
            "remove" => rest.iter().rfind(is_plain).cloned().map(Self::Removes),
            "add" => {
                let mut words = rest.iter();
                let (mut path, mut branch) = (None, None);
                while let Some(word) = words.next() {
                    match word.as_str() {
                        "-b" | "-B" => branch = words.next().cloned(),
                        _ if word.starts_with('-') => {}
                        _ if path.is_none() => path = Some(word),
                        _ => {}
                    }
                }
                let path = path.filter(is_plain).cloned();
                path.map(|path| Self::Adds(Worktree { path, branch }))
            }
            _ => None,
        }
    }
}

/// True for two paths that end in the same folder: one is typed from another directory than the other.
fn is_same(a: &str, b: &str) -> bool {
    let folder = |path: &str| path.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    folder(a) == folder(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_added_and_removed() {
        let adds = |path: &str, branch: Option<&str>| {
            let branch = branch.map(str::to_owned);
            Some(Deed::Adds(Worktree { path: path.to_owned(), branch }))
        };
        for (line, deed) in [
            ("git worktree add ../kiln -b fix/kiln origin/main", adds("../kiln", Some("fix/kiln"))),
            ("git worktree add --detach ../kiln", adds("../kiln", None)),
            ("git worktree remove --force ../kiln", Some(Deed::Removes("../kiln".to_owned()))),
            ("rm -rf ../kiln", Some(Deed::Removes("../kiln".to_owned()))),
            ("git worktree list", None),
            ("git worktree add --detach \"$DIR\" HEAD", None),
        ] {
            assert_eq!(Deed::of(&Typed::of_line(line)[0]), deed, "{line}");
        }
        assert!(is_same("../kiln/", "/home/ada/kiln") && !is_same("kiln", "kiln-2"));
    }
}

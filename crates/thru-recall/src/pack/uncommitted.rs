//! Changes that no commit holds when a session ends: those that `git status` listed last and those made since, as far
//! as nothing committed them or took them back.

use std::collections::HashMap;

use thru_core::{
    Digest, ListedFile, Outcome, PassageKind, Paths, Timestamp, Undoing, listed_files,
};
use thru_store::{Newest, PassageRow, Result, Store};

use super::said::files_not_named;
use super::sessions::{Digested, UNCOMMITTED};
use super::typed::Typed;
use super::valued::Valued;
use crate::action::from_directory;

/// Calls at the end of a session that are looked at, and listings among them that are tried.
const CALLS: usize = 250;
const LISTINGS: usize = 3;
/// Files that are named.
const NAMED: usize = 3;

/// The line about the files that were left so.
pub(super) fn not_committed(
    store: &Store,
    (summary, body): &Digested<'_>,
    observations: &[Valued],
) -> Result<Option<String>> {
    let Digest { state, files, next_steps, .. } = &body.digest;
    let is_told = |text: &str| text.to_lowercase().contains("not committed");
    let Some(session) = summary.session else { return Ok(None) };
    if next_steps.iter().any(|step| is_told(&step.text)) {
        return Ok(None);
    }
    let place = store.places_of_sessions(&[session])?.remove(&session).unwrap_or_default();
    let root = place.directory.as_deref();
    let newest = Newest { kind: Some(PassageKind::Tool), within: CALLS, limit: CALLS };
    let mut calls = store.newest_passages(session, newest)?;
    calls.retain(|call| call.outcome != Some(Outcome::Failed) && call.command.is_some());
    let mut tree = Tree { root, changed: Vec::new(), aside: Vec::new() };
    let mut since = None;
    if let Some((at, files)) = last_listing(store, &calls, root)? {
        tree.changed = files;
        since = calls[at].at;
        let commits_after = calls[at].command.as_deref().is_some_and(|line| {
            line.rfind(" commit").is_some_and(|commit| line.rfind(" status") < Some(commit))
        });
        calls.truncate(if commits_after { at + 1 } else { at });
    }
    let mut edits = Vec::new();
    // What landed outside of the session is known for the work as a whole.
    if state.as_ref().is_none_or(|state| state.text.ends_with(UNCOMMITTED)) {
        let own = observations.iter().filter(|one| one.memory.session == summary.session);
        edits = edits_of(files, own);
        edits.retain(|(at, _)| since.is_none() || *at > since);
    }
    let mut edits = edits.into_iter().peekable();
    for call in calls.iter().rev() {
        while let Some((_, file)) = edits.next_if(|(at, _)| call.at.is_none() || *at <= call.at) {
            tree.edit(file);
        }
        tree.run(call.command.as_deref().unwrap_or_default());
    }
    edits.for_each(|(_, file)| tree.edit(file));
    let own = observations.iter().filter(|one| one.memory.session == summary.session);
    let changed = own.flat_map(|one| &one.files).filter(|file| file.modified);
    let mut own: Vec<&str> = files.iter().map(String::as_str).collect();
    own.extend(changed.map(|file| file.path.as_str()));
    Ok(tree.told(&own))
}

/// The edited files, each with the time of its last change, the earliest first.
fn edits_of<'f, 'v>(
    files: &'f [String],
    own: impl Iterator<Item = &'v Valued>,
) -> Vec<(Option<Timestamp>, &'f str)> {
    let mut changed: HashMap<&str, Option<Timestamp>> = HashMap::new();
    for file in own.flat_map(|one| &one.files).filter(|file| file.modified) {
        let latest = changed.entry(&file.path).or_default();
        *latest = (*latest).max(file.at);
    }
    let at = |file: &String| changed.get(file.as_str()).copied().flatten();
    let mut edits: Vec<_> = files.iter().map(|file| (at(file), file.as_str())).collect();
    edits.sort_by_key(|(at, _)| *at);
    edits
}

/// The last listing of the session's tree, with the place of its call. The newest call comes first.
fn last_listing(
    store: &Store,
    calls: &[PassageRow],
    root: Option<&str>,
) -> Result<Option<(usize, Vec<ListedFile>)>> {
    let asks = |line: &str| line.contains("git ") && line.contains(" status");
    let asking =
        calls.iter().enumerate().filter(|(_, call)| call.command.as_deref().is_some_and(asks));
    for (at, call) in asking.take(LISTINGS) {
        let text = store.text_of(call)?;
        let folder = text.lines().find_map(|line| line.strip_prefix("workdir: "));
        let is_here = folder.is_none_or(|folder| !is_elsewhere(folder, root))
            && !works_elsewhere(call.command.as_deref().unwrap_or_default(), root);
        if let Some(files) = listed_files(&text).filter(|_| is_here) {
            return Ok(Some((at, files)));
        }
    }
    Ok(None)
}

/// The working tree of a session.
struct Tree<'r> {
    root: Option<&'r str>,
    changed: Vec<ListedFile>,
    /// Those that were put aside.
    aside: Vec<ListedFile>,
}

impl Tree<'_> {
    fn edit(&mut self, file: &str) {
        let path = from_directory(file, self.root).to_owned();
        let known = Paths::These(vec![path.clone()]);
        self.changed.retain(|one| !known.hold(&one.path));
        self.changed.push(ListedFile { path, is_staged: false, is_new: false });
    }

    fn run(&mut self, line: &str) {
        if works_elsewhere(line, self.root) {
            return;
        }
        let mut commits = false;
        for typed in Typed::before_document(line) {
            match typed.of_git() {
                Some(("add" | "stage", rest)) => {
                    let is_all = |word: &String| matches!(word.as_str(), "-A" | "--all" | "-u");
                    let paths = match rest.iter().any(is_all) {
                        true => Some(Paths::All),
                        false => Paths::of(rest),
                    };
                    let staged =
                        |one: &ListedFile| paths.as_ref().is_some_and(|it| it.hold(&one.path));
                    self.changed.iter_mut().for_each(|one| one.is_staged |= staged(one));
                }
                Some(("commit", rest)) => {
                    commits = true;
                    let is_all = |word: &String| {
                        word == "--all"
                            || word.starts_with('-')
                                && !word.starts_with("--")
                                && word.contains('a')
                    };
                    self.commit(rest.iter().any(is_all));
                }
                _ => self.undo(typed.undoing()),
            }
        }
        // A script may have committed, or one in the background.
        if !commits && line.split([' ', '\n']).any(|word| word == "commit") {
            self.changed.clear();
        }
    }

    /// Without a sign of what was staged, a commit holds all.
    fn commit(&mut self, is_all: bool) {
        match is_all || !self.changed.iter().any(|one| one.is_staged) {
            true => self.changed.clear(),
            false => self.changed.retain(|one| !one.is_staged),
        }
    }

    fn undo(&mut self, undoing: Option<Undoing>) {
        match undoing {
            Some(Undoing::Restores(paths) | Undoing::Removes(paths)) => {
                self.changed.retain(|one| !paths.hold(&one.path));
            }
            Some(Undoing::Cleans(paths)) => {
                self.changed.retain(|one| !one.is_new || !paths.hold(&one.path));
            }
            Some(Undoing::Stashes(paths)) => {
                self.aside = self.changed.extract_if(.., |one| paths.hold(&one.path)).collect();
            }
            Some(Undoing::Returns) => self.changed.append(&mut self.aside),
            None => {}
        }
    }

    /// The line about the files that the session changed itself. Others lie about for long, or are of another work.
    fn told(mut self, own: &[&str]) -> Option<String> {
        self.changed.retain(|one| {
            let path = Paths::These(vec![one.path.clone()]);
            !is_aside(&one.path) && own.iter().any(|file| path.hold(file))
        });
        let files = self.changed.iter().map(|one| one.path.as_str());
        let names = files_not_named(files.take(NAMED), "")?;
        let more = match self.changed.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("Not committed when it ended: {names}{more}"))
    }
}

/// True for a line that changes to another tree than that of the session, or has git work there.
fn works_elsewhere(line: &str, root: Option<&str>) -> bool {
    Typed::before_document(line).iter().any(|typed| {
        let folder = match typed.program() {
            "cd" => typed.words.get(1),
            _ => typed.words.iter().skip_while(|word| *word != "-C").nth(1),
        };
        folder.is_some_and(|folder| is_elsewhere(folder, root))
    })
}

fn is_elsewhere(folder: &str, root: Option<&str>) -> bool {
    let is_outside = |root: &str| match folder.strip_prefix('~') {
        Some(below) => !root.ends_with(below.trim_end_matches('/')),
        None => folder.starts_with('/') && !folder.starts_with(root.trim_end_matches('/')),
    };
    folder.contains("worktree") || folder.starts_with("..") || root.is_some_and(is_outside)
}

/// True for what git is mostly told to ignore, and for other trees: temporary files, what tools keep for themselves, and
/// worktrees.
fn is_aside(path: &str) -> bool {
    path.starts_with(['~', '$'])
        || path.starts_with("/tmp/")
        || path.contains("worktrees/")
        || path.split('/').any(|part| part.starts_with('.') && part.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(listing: &str, lines: &[&str]) -> String {
        let root = Some("/home/ada/rocket");
        let mut tree = Tree { root, changed: Vec::new(), aside: Vec::new() };
        tree.changed = listed_files(listing).unwrap();
        lines.iter().for_each(|line| tree.run(line));
        tree.told(&["kiln.rs", "glaze.rs", "shelf.rs"]).unwrap_or_default()
    }

    #[test]
    fn a_commit_leaves_what_was_not_staged() {
        let listing = " M kiln.rs\n M glaze.rs\n M shelf.rs\n?? scratch.rs";
        for (line, told) in [
            ("git add kiln.rs && git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"", "glaze.rs, shelf.rs"),
            ("git commit -am x", ""),
            ("git add -A; git commit -m x", ""),
            ("git commit -m x", ""),
            ("./commit.sh && gt commit", ""),
            ("git checkout kiln.rs", "glaze.rs, shelf.rs"),
            ("git stash push glaze.rs && git stash pop", "kiln.rs, shelf.rs, glaze.rs"),
            ("git clean -fd", "kiln.rs, glaze.rs, shelf.rs"),
            ("cd ../other && git commit -am x", "kiln.rs, glaze.rs, shelf.rs"),
            ("git -C /home/ada/other commit -am x", "kiln.rs, glaze.rs, shelf.rs"),
            ("cd /home/ada/rocket && git commit -am x", ""),
        ] {
            let told = match told {
                "" => String::new(),
                told => format!("Not committed when it ended: {told}"),
            };
            assert_eq!(left(listing, &[line]), told, "{line}");
        }
        let staged = "M  kiln.rs\n M glaze.rs\n M .idea/x.xml";
        assert_eq!(left(staged, &["git commit -m x"]), "Not committed when it ended: glaze.rs");
    }
}

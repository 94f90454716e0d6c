//! Finds rollouts: in Codex's home, whose layout is known, or anywhere else. Writes nothing.

use std::io;
use std::path::{Path, PathBuf};

use thru_core::{Agent, SessionId, SourceKind, Timestamp};
use walkdir::WalkDir;

use super::meta::{self, Meta};
use super::names::{ARCHIVED, SESSIONS, archive_name, rollout, rollout_name};
use crate::agents::Recent;
use crate::search::{Search, modified};
use crate::{Discovery, Source};

/// Depth of the folders of days below the folder of all: year, month, day; and rollouts in them.
const DAYS: usize = 3;
const DEPTH: usize = DAYS + 1;

/// All rollouts in Codex's home (`~/.codex`), by their names. Whose subagents they are is in them:
/// see [`settle`]. What is not there is no problem.
pub(crate) fn discover(home: &Path, skip: &dyn Fn(&Path) -> bool) -> Discovery {
    let mut search = Search::new(skip);
    for folder in [SESSIONS, ARCHIVED] {
        let folder = home.join(folder);
        let entries = WalkDir::new(&folder).max_depth(DEPTH).follow_links(true).into_iter();
        for entry in entries.filter_entry(|entry| !skip(entry.path())) {
            match entry {
                Ok(entry) => by_name(&mut search, entry.path()),
                Err(error) if error.loop_ancestor().is_some() => {}
                Err(error) => {
                    let is_missing =
                        error.io_error().is_some_and(|e| e.kind() == io::ErrorKind::NotFound);
                    if !is_missing {
                        let at = error.path().unwrap_or(&folder).to_path_buf();
                        search.problem(&at, &error);
                    }
                }
            }
        }
    }
    search.finish()
}

/// The rollouts among these files and folders of Codex's home: what a watcher saw change.
pub(crate) fn discover_changed<'p>(
    home: &Path,
    changed: impl IntoIterator<Item = &'p Path>,
    skip: &dyn Fn(&Path) -> bool,
) -> Discovery {
    let mut search = Search::new(skip);
    let own = [home.join(SESSIONS), home.join(ARCHIVED)];
    for path in changed {
        if own.iter().any(|folder| path.starts_with(folder)) && !skip(path) {
            by_name(&mut search, path);
        }
    }
    search.finish()
}

/// The rollouts that were written to since a time: see [`crate::agents::discover_recent`].
pub(crate) fn discover_recent(
    home: &Path,
    recent: Recent<'_>,
    skip: &dyn Fn(&Path) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Discovery {
    let mut search = Search::new(skip);
    let sessions = home.join(SESSIONS);
    let known = recent.known.iter().filter(|path| path.starts_with(&sessions));
    let mut found: Vec<PathBuf> = known.cloned().collect();
    for day in days_since(recent.since) {
        if !go_on() {
            break;
        }
        found.extend(search.entries(&sessions.join(day)).into_iter().map(|(path, ..)| path));
    }
    found.sort_unstable();
    found.dedup();
    for path in found {
        let is_rollout =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|n| rollout(n).is_some());
        let written = || path.metadata().ok().as_ref().and_then(modified);
        if is_rollout && !skip(&path) && written().is_some_and(|written| written >= recent.since) {
            by_name(&mut search, &path);
        }
    }
    search.finish()
}

/// The folders of the days since a time. They are named by local days: one more to either side.
fn days_since(since: Timestamp) -> impl Iterator<Item = String> {
    const DAY: i64 = 24 * 60 * 60;
    (-1..=4)
        .filter_map(move |day| Timestamp::from_second(since.as_second() + day * DAY).ok())
        .filter_map(|at| Some(at.to_string().get(..10)?.replace('-', "/")))
}

/// The rollout of one thread, by its path. Nothing where that cannot be the rollout of this thread.
pub(crate) fn discover_session(path: &Path, session: &SessionId) -> Discovery {
    let mut search = Search::new(&|_| false);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match rollout(name) {
        Some(found) if found.thread == session.as_str() => by_name(&mut search, path),
        Some(_) => {}
        None => {
            at(&mut search, path);
            search.found.sources.retain(|source| source.session == *session);
        }
    }
    search.finish()
}

/// Adds the rollout at `path`, wherever it lies and whatever it is called, if it is one. Gives whether.
pub(crate) fn at(search: &mut Search<'_>, path: &Path) -> bool {
    // An unreadable file is no rollout; the next search reports it.
    let Ok(Some(meta)) = meta::read(path) else { return false };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = rollout(name).is_some().then(|| name.to_owned());
    let file = own.or_else(|| rollout_name(&meta.thread, meta.begun.as_deref()?));
    let archived = match file.as_deref().and_then(|file| Some((file, rollout(file)?))) {
        Some((file, name)) => archive_name(file, name.day),
        // Of another form than today's: the thread tells it from others all the same.
        None => archive_name(&format!("{}.jsonl", meta.thread), "other"),
    };
    let (kind, session, agent_id) = belonging(&meta);
    search.file(Agent::Codex, path, kind, &session, agent_id.as_deref(), archived);
    true
}

/// Looks into a rollout that was found by its name for the thread that it belongs to.
pub(crate) fn settle(source: &mut Source) {
    if source.kind == SourceKind::Main
        && let Ok(Some(meta)) = meta::read(&source.path)
    {
        let (kind, session, agent_id) = belonging(&meta);
        (source.kind, source.session, source.agent_id) = (kind, SessionId::new(session), agent_id);
    }
}

/// Returns the session of a rollout and its part in it: a subagent's belongs to the thread that started it.
fn belonging(meta: &Meta) -> (SourceKind, String, Option<String>) {
    match meta.is_subagent {
        true => {
            let session = meta.parent.as_ref().unwrap_or(&meta.thread).clone();
            (SourceKind::Subagent, session, Some(meta.thread.clone()))
        }
        false => (SourceKind::Main, meta.thread.clone(), None),
    }
}

fn by_name(search: &mut Search<'_>, path: &Path) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(found) = rollout(name) {
        let archived = archive_name(name, found.day);
        search.file(Agent::Codex, path, SourceKind::Main, found.thread, None, archived);
    }
}

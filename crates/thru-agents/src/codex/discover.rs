//! Finds rollouts: in Codex's home, whose layout is known, or at any given path. Writes nothing.

use std::io;
use std::path::{Path, PathBuf};

use thru_core::{Agent, SessionId, SourceKind, Timestamp};
use walkdir::WalkDir;

use super::meta::{self, Meta};
use super::names::{ARCHIVED, SESSIONS, archive_name, rollout, rollout_name};
use crate::agents::Recent;
use crate::search::{Search, modified};
use crate::{Discovery, Source};

/// Depth of the day folders below `sessions`: year, month, day. Rollouts are one level deeper.
const DAYS: usize = 3;
const DEPTH: usize = DAYS + 1;

/// Finds all rollouts in Codex's home (`~/.codex`) by their names. Only their content says which thread
/// a subagent works for: see [`resolve_session`]. A missing home is not a problem.
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

/// Finds the rollouts among the changed files and folders of Codex's home, as reported by a watcher.
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

/// Finds the rollouts that were written to since a given time; see [`crate::agents::discover_recent`].
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

/// Returns the day folders since a given time. They are named by local dates, so one more on either side
/// is included.
fn days_since(since: Timestamp) -> impl Iterator<Item = String> {
    const DAY: i64 = 24 * 60 * 60;
    (-1..=4)
        .filter_map(move |day| Timestamp::from_second(since.as_second() + day * DAY).ok())
        .filter_map(|at| Some(at.to_string().get(..10)?.replace('-', "/")))
}

/// Finds the rollout of one thread by its path. Empty if the path cannot be the rollout of this thread.
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

/// Adds the file at `path` if it is a rollout, whatever its folder and name. Returns true if it is.
pub(crate) fn at(search: &mut Search<'_>, path: &Path) -> bool {
    // An unreadable file counts as no rollout; the next one to read it reports the error.
    let Ok(Some(meta)) = meta::read(path) else { return false };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = rollout(name).is_some().then(|| name.to_owned());
    let file = own.or_else(|| rollout_name(&meta.thread, meta.begun.as_deref()?));
    let archived = match file.as_deref().and_then(|file| Some((file, rollout(file)?))) {
        Some((file, name)) => archive_name(file, name.day),
        // In another format than today's: the thread id is unique all the same.
        None => archive_name(&format!("{}.jsonl", meta.thread), "other"),
    };
    let (kind, session, agent_id) = belonging(&meta);
    search.file(Agent::Codex, path, kind, &session, agent_id.as_deref(), archived);
    true
}

/// Reads from a rollout that was found by its name which session it belongs to.
pub(crate) fn resolve_session(source: &mut Source) {
    if source.kind == SourceKind::Main
        && let Ok(Some(meta)) = meta::read(&source.path)
    {
        let (kind, session, agent_id) = belonging(&meta);
        (source.kind, source.session, source.agent_id) = (kind, SessionId::new(session), agent_id);
    }
}

/// Returns the kind, session and subagent id of a rollout. A subagent's belongs to the thread that
/// started it.
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

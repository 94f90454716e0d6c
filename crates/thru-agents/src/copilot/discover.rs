//! Finds sessions of Copilot CLI: in its home, whose layout is known, or at any given path. Writes
//! nothing.

use std::ops::ControlFlow;
use std::path::Path;

use thru_core::{Agent, SessionId, SourceKind, Timestamp};

use super::names::{EVENTS, SESSIONS, WORKSPACE, archive_name};
use super::record::Record;
use crate::facts::short;
use crate::names::is_session_id;
use crate::search::{Search, modified};
use crate::{Discovery, opening};

/// Finds all sessions in Copilot CLI's home (`~/.copilot`). A missing home is not a problem.
pub(crate) fn discover(home: &Path, skip: &dyn Fn(&Path) -> bool) -> Discovery {
    let mut search = Search::new(skip);
    for (path, name, _) in search.entries(&home.join(SESSIONS)) {
        session(&mut search, &path, &name);
    }
    search.finish()
}

/// Finds the sessions of the changed files and folders of Copilot CLI's home, as reported by a watcher.
pub(crate) fn discover_changed<'p>(
    home: &Path,
    changed: impl IntoIterator<Item = &'p Path>,
    skip: &dyn Fn(&Path) -> bool,
) -> Discovery {
    let sessions = home.join(SESSIONS);
    let mut search = Search::new(skip);
    let mut seen = std::collections::HashSet::new();
    for path in changed {
        let Ok(below) = path.strip_prefix(&sessions) else { continue };
        let Some(name) = below.iter().next().and_then(|name| name.to_str()) else { continue };
        if seen.insert(name.to_owned()) {
            session(&mut search, &sessions.join(name), name);
        }
    }
    search.finish()
}

/// Finds the sessions that were written to since a given time. Stops between sessions once `go_on`
/// returns false.
pub(crate) fn discover_recent(
    home: &Path,
    since: Timestamp,
    skip: &dyn Fn(&Path) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Discovery {
    let mut search = Search::new(skip);
    for (path, name, _) in search.entries(&home.join(SESSIONS)) {
        if !go_on() {
            break;
        }
        let written = path.join(EVENTS).metadata().ok().as_ref().and_then(modified);
        if written.is_some_and(|written| written >= since) {
            session(&mut search, &path, &name);
        }
    }
    search.finish()
}

/// Finds the files of one session by the path of its transcript. Empty if the path cannot be the
/// transcript of this session.
pub(crate) fn discover_session(path: &Path, session: &SessionId) -> Discovery {
    let mut search = Search::new(&|_| false);
    let folder = path.parent().filter(|_| path.file_name().is_some_and(|name| name == EVENTS));
    match folder.filter(|folder| folder.file_name().is_some_and(|name| name == session.as_str())) {
        Some(folder) => self::session(&mut search, folder, session.as_str()),
        None => {
            at(&mut search, path);
            search.found.sources.retain(|source| source.session == *session);
        }
    }
    search.finish()
}

/// Adds the file at `path` if it is a transcript, whatever its folder and name. Returns true if it is.
pub(crate) fn at(search: &mut Search<'_>, path: &Path) -> bool {
    // An unreadable file counts as no transcript; the next one to read it reports the error.
    let Ok(Some((session, _))) = start(path) else { return false };
    let archived = archive_name(&session, EVENTS);
    search.file(Agent::Copilot, path, SourceKind::Main, &session, None, archived);
    true
}

/// Returns the directory in which the session of the transcript at `path` started.
pub(crate) fn directory_of(path: &Path) -> Option<String> {
    start(path).ok()??.1
}

/// Returns the session id and the directory in the first event of a transcript.
fn start(path: &Path) -> std::io::Result<Option<(String, Option<String>)>> {
    opening::search(path, |line| {
        let (kind, data) = match Record::parse(line) {
            Ok(Record { kind: Some(kind), data: Some(data), .. }) => (kind, data),
            // Every event of a transcript that has a type has data.
            Ok(Record { kind: Some(_), data: None, .. }) => return ControlFlow::Break(None),
            _ => return ControlFlow::Continue(()),
        };
        match short(&data.session_id).filter(|id| kind == "session.start" && is_session_id(id)) {
            Some(id) => {
                let directory = data.context.as_ref().and_then(|context| short(&context.cwd));
                ControlFlow::Break(Some((id.to_owned(), directory.map(str::to_owned))))
            }
            None => ControlFlow::Continue(()),
        }
    })
}

/// Adds the files in a session's folder, or the transcript that early versions wrote in its place.
fn session(search: &mut Search<'_>, path: &Path, name: &str) {
    let skip = search.skip;
    let mut add = |path: &Path, kind, session: &str, file| {
        if !skip(path) && path.is_file() {
            let archived = archive_name(session, file);
            search.file(Agent::Copilot, path, kind, session, None, archived);
        }
    };
    match name.strip_suffix(".jsonl") {
        Some(session) if is_session_id(session) => add(path, SourceKind::Main, session, EVENTS),
        None if is_session_id(name) && path.join(EVENTS).is_file() && !skip(path) => {
            add(&path.join(EVENTS), SourceKind::Main, name, EVENTS);
            add(&path.join(WORKSPACE), SourceKind::Attachment, name, WORKSPACE);
        }
        _ => {}
    }
}

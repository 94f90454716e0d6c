//! Finds Claude Code's files: in its configuration folder, whose layout is known, or below any given
//! path. Reads names and sizes, and opens a file only if its name does not tell its type. Writes
//! nothing.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use thru_core::{Agent, SessionId, SourceKind};
use walkdir::WalkDir;

use super::names::{
    HISTORY, SESSION_FOLDERS, archive_name, folder_and_file, in_session_folder, session_of_file,
    subagent_of_file,
};
use super::sniff::{Sniffed, sniff};
use crate::Discovery;
use crate::agents::Recent;
use crate::names::is_session_id;
use crate::search::{Search, modified};

/// Depth to which a session's own folders are searched. Claude Code uses three levels.
const DEPTH: usize = 6;

/// Finds all session files in Claude Code's configuration folder (`~/.claude`). Leaves out files and
/// folders for which `skip` returns true.
///
/// A missing folder is not a problem: a fresh installation has no sessions.
pub fn discover(config_dir: &Path, skip: &dyn Fn(&Path) -> bool) -> Discovery {
    let mut search = Search::new(skip);
    search.projects(&config_dir.join("projects"));
    let history = config_dir.join(HISTORY);
    if !skip(&history) && history.is_file() {
        search.add(&history, SourceKind::PromptHistory, "", None, archive_name([HISTORY]));
    }
    search.finish()
}

/// Adds the file at `path` if it belongs to a Claude Code session, wherever it was copied to. Any other
/// file is a problem only if the caller named it.
pub(crate) fn file_anywhere(search: &mut Search<'_>, path: &Path, is_named: bool) {
    search.file_anywhere(path, is_named);
}

/// Finds the files of one session by the path of its transcript, as a hook reported it. Empty if the
/// path cannot be the transcript of this session.
pub fn discover_session(transcript: &Path, session: &SessionId) -> Discovery {
    let mut search = Search::new(&|_| false);
    let name = format!("{session}.jsonl");
    let folder = transcript.parent();
    let slug = folder.and_then(Path::file_name).and_then(|slug| slug.to_str());
    if let (Some(folder), Some(slug)) = (folder, slug)
        && transcript.is_absolute()
        && is_session_id(session.as_str())
        && transcript.file_name().is_some_and(|file| file == name.as_str())
    {
        let archived = archive_name([slug, &name]);
        search.add(transcript, SourceKind::Main, session.as_str(), None, archived);
        search.session_folder(&folder.join(session.as_str()), session.as_str(), slug);
    }
    search.finish()
}

/// Finds the files of the sessions that the changed files and folders, as reported by a watcher, belong
/// to. Paths outside of sessions are ignored.
pub fn discover_changed<'p>(
    config_dir: &Path,
    changed: impl IntoIterator<Item = &'p Path>,
    skip: &dyn Fn(&Path) -> bool,
) -> Discovery {
    let projects = config_dir.join("projects");
    let history = config_dir.join(HISTORY);
    let mut search = Search::new(skip);
    let mut seen = HashSet::new();
    for path in changed {
        if path == history && !skip(path) && seen.insert(history.clone()) {
            search.add(path, SourceKind::PromptHistory, "", None, archive_name([HISTORY]));
        }
        let Ok(below) = path.strip_prefix(&projects) else { continue };
        let mut parts = below.iter().map(|part| part.to_str());
        let (slug, entry) = (parts.next().flatten(), parts.next().flatten());
        let Some(slug) = slug else { continue };
        let folder = projects.join(slug);
        if skip(&folder) {
            continue;
        }
        match entry.map(|entry| entry.strip_suffix(".jsonl").unwrap_or(entry)) {
            Some(session) if is_session_id(session) => {
                let transcript = folder.join(format!("{session}.jsonl"));
                if seen.insert(transcript.clone()) && !skip(&transcript) {
                    let found = discover_session(&transcript, &SessionId::new(session));
                    search.found.sources.extend(found.sources);
                    search.found.problems.extend(found.problems);
                }
            }
            Some(_) => {}
            // The folder itself appeared or reappeared.
            None if seen.insert(folder.clone()) => search.project(&folder, slug),
            None => {}
        }
    }
    search.found.sources.retain(|source| !skip(&source.path));
    search.finish()
}

/// Finds the transcripts that were written to since a given time, with the other files of their
/// sessions; see [`crate::agents::discover_recent`].
pub(crate) fn discover_recent(
    config_dir: &Path,
    recent: Recent<'_>,
    skip: &dyn Fn(&Path) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Discovery {
    let mut search = Search::new(skip);
    let is_recent = |metadata: std::io::Result<Metadata>| {
        let written = metadata.ok().as_ref().and_then(modified);
        written.is_some_and(|written| written >= recent.since)
    };
    let projects = config_dir.join("projects");
    let session_of = |path: &Path| {
        path.file_name().and_then(|name| session_of_file(name.to_str()?)).map(SessionId::new)
    };
    let known = recent.known.iter().filter(|path| session_of(path).is_some());
    let mut found: Vec<PathBuf> =
        known.clone().filter(|path| is_recent(path.metadata())).cloned().collect();
    let mut folders: Vec<PathBuf> = match recent.only_beside {
        true => known.filter_map(|path| path.parent().map(Path::to_owned)).collect(),
        false => search.entries(&projects).into_iter().map(|(path, ..)| path).collect(),
    };
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        if !go_on() {
            break;
        }
        if !is_recent(folder.metadata()) || skip(&folder) {
            continue;
        }
        let entries = search.entries(&folder).into_iter();
        let new = entries.filter(|(_, name, entry)| {
            session_of_file(name).is_some() && is_recent(entry.metadata())
        });
        found.extend(new.map(|(path, ..)| path));
    }
    found.sort_unstable();
    found.dedup();
    for path in found {
        if let Some(session) = session_of(&path)
            && !skip(&path)
        {
            let session = discover_session(&path, &session);
            search.found.sources.extend(session.sources);
            search.found.problems.extend(session.problems);
        }
    }
    search.found.sources.retain(|source| !skip(&source.path));
    search.finish()
}

impl Search<'_> {
    fn projects(&mut self, folder: &Path) {
        // People move projects and leave a link behind: follow it, but visit no folder twice.
        let mut linked = HashSet::new();
        for (path, name, entry) in self.entries(folder) {
            let is_folder = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    path.is_dir() && path.canonicalize().is_ok_and(|real| linked.insert(real))
                }
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            };
            if is_folder && !(self.skip)(&path) {
                self.project(&path, &name);
            }
        }
    }

    fn project(&mut self, folder: &Path, slug: &str) {
        for (path, name, entry) in self.entries(folder) {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.session_folder(&path, &name, slug),
                Ok(_) if name.ends_with(".jsonl") && !(self.skip)(&path) => {
                    let archived = archive_name([slug, &name]);
                    match session_of_file(&name) {
                        Some(session) => self.add(&path, SourceKind::Main, session, None, archived),
                        None => self.unclear(&path, archived, false),
                    }
                }
                Ok(_) => {}
                Err(error) => self.problem(&path, &error),
            }
        }
    }

    /// Searches the folder beside a transcript. Folders of a project other than those of sessions are
    /// ignored.
    fn session_folder(&mut self, folder: &Path, session: &str, slug: &str) {
        if !is_session_id(session) || (self.skip)(folder) {
            return;
        }
        for (path, name, entry) in self.entries(folder) {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || !SESSION_FOLDERS.contains(&name.as_str()) {
                continue;
            }
            for entry in WalkDir::new(&path).max_depth(DEPTH) {
                match entry {
                    Ok(entry) if entry.file_type().is_file() => {
                        self.session_file(entry.path(), folder, session, slug);
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let at = error.path().unwrap_or(&path).to_path_buf();
                        self.problem(&at, &error);
                    }
                }
            }
        }
    }

    fn session_file(&mut self, path: &Path, folder: &Path, session: &str, slug: &str) {
        if (self.skip)(path) {
            return;
        }
        let below = path.strip_prefix(folder).unwrap_or(path);
        let Some(parts) = below.iter().map(|part| part.to_str()).collect::<Option<Vec<_>>>() else {
            return self.problem(path, &"the name is not Unicode");
        };
        let agent_id = match parts.as_slice() {
            ["subagents", .., name] => subagent_of_file(name),
            _ => None,
        };
        let kind = if agent_id.is_some() { SourceKind::Subagent } else { SourceKind::Attachment };
        let archived = archive_name([slug, session].into_iter().chain(parts.iter().copied()));
        self.add(path, kind, session, agent_id, archived);
    }

    fn file_anywhere(&mut self, path: &Path, is_named: bool) {
        if let Some(place) = in_session_folder(path) {
            let archived = archive_name(place.parts);
            return self.add(path, place.kind, place.session, place.agent_id, archived);
        }
        match folder_and_file(path) {
            Some([folder, name]) if is_named || name.ends_with(".jsonl") => {
                self.unclear(path, archive_name([folder, name]), is_named);
            }
            Some(_) => {}
            None => self.problem(path, &"the name is not Unicode"),
        }
    }

    /// Adds a file whose name does not tell its type, or cannot be trusted.
    fn unclear(&mut self, path: &Path, archived: String, is_named: bool) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        match sniff(path) {
            Ok(Sniffed::Transcript(session)) => {
                let session = session.unwrap_or_else(|| SessionId::new(harmless_id(stem)));
                match subagent_of_file(name) {
                    Some(id) => {
                        self.add(path, SourceKind::Subagent, session.as_str(), Some(id), archived);
                    }
                    None => self.add(path, SourceKind::Main, session.as_str(), None, archived),
                }
            }
            Ok(Sniffed::History) => {
                self.add(path, SourceKind::PromptHistory, "", None, archived);
            }
            Ok(Sniffed::Other) if is_named => {
                self.problem(path, &"not a transcript of Claude Code, Codex or Copilot");
            }
            Ok(Sniffed::Other) => {}
            Err(error) => self.problem(path, &error),
        }
    }

    fn add(
        &mut self,
        path: &Path,
        kind: SourceKind,
        session: &str,
        agent_id: Option<&str>,
        archive_name: String,
    ) {
        self.file(Agent::ClaudeCode, path, kind, session, agent_id, archive_name);
    }
}

/// Returns a file's stem as a session id, with characters replaced where it is not a valid one.
fn harmless_id(stem: &str) -> String {
    if is_session_id(stem) {
        return stem.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let id: String = stem.chars().take(100).map(plain).collect();
    format!("file-{id}")
}

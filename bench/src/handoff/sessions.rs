//! Real sessions with what was typed and said in them, and the histories that precede them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;
use tempfile::TempDir;
use thru_agents::agents::discover_path;
use thru_core::{Agent, Id, SourceKind, Timestamp};
use thru_recall::{Disk, Presence};
use thru_store::{MemoryFilter, Store};

use crate::home::{Home, copy, temporary_directory};
use crate::uses::{Use, uses};

/// A session of the transcripts.
pub(crate) struct Session {
    /// The path below the folder of the transcripts.
    pub(crate) name: PathBuf,
    /// The name of its project: that of its repository if the path tells it, else that of its directory.
    pub(crate) project: String,
    /// The agent's id.
    pub(crate) id: String,
    /// The directory that it started in.
    directory: String,
    /// The branch that it started on.
    pub(crate) branch: Option<String>,
    /// Its first moment.
    pub(crate) start: Timestamp,
    /// Its lines, each with its time.
    lines: Vec<(Timestamp, String)>,
    /// What was typed and said in it.
    pub(crate) uses: Vec<Use>,
}

/// Sessions by project, each list in the order of their starts.
pub(crate) fn sessions(folder: &Path) -> Result<BTreeMap<String, Vec<Session>>> {
    let mut sources = discover_path(folder).sources;
    sources.retain(|source| source.kind == SourceKind::Main);
    sources.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    let mut known = HashSet::new();
    sources.retain(|source| known.insert(source.session.clone()));
    let mut projects: BTreeMap<String, Vec<Session>> = BTreeMap::new();
    for source in sources {
        let name = source.path.strip_prefix(folder).unwrap_or(&source.path).to_owned();
        let text = String::from_utf8_lossy(&fs::read(&source.path)?).into_owned();
        if let Some(session) = Session::read(name, source.agent, source.session.as_str(), &text) {
            projects.entry(session.project.clone()).or_default().push(session);
        }
    }
    for sessions in projects.values_mut() {
        sessions.sort_by(|a, b| a.start.cmp(&b.start).then_with(|| a.id.cmp(&b.id)));
    }
    Ok(projects)
}

impl Session {
    fn read(name: PathBuf, agent: Agent, id: &str, text: &str) -> Option<Self> {
        let mut session = Self {
            project: String::new(),
            id: id.to_owned(),
            directory: String::new(),
            branch: None,
            start: Timestamp::MAX,
            lines: Vec::new(),
            uses: Vec::new(),
            name,
        };
        let mut directory = None;
        let mut at = None;
        let mut undated = Vec::new();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap_or_default();
            let time = record["timestamp"].as_str().and_then(|time| time.parse().ok());
            at = time.or(at);
            match at {
                Some(at) => session.lines.push((at, line.to_owned())),
                None => undated.push(line.to_owned()),
            }
            let told =
                [&record["cwd"], &record["payload"]["cwd"], &record["data"]["context"]["cwd"]];
            directory =
                directory.or_else(|| told.iter().find_map(|it| it.as_str()).map(str::to_owned));
            let told = [
                &record["gitBranch"],
                &record["payload"]["git"]["branch"],
                &record["data"]["context"]["branch"],
            ];
            let told = told.iter().find_map(|it| it.as_str()).filter(|name| !name.is_empty());
            session.branch = session.branch.or_else(|| told.map(str::to_owned));
            session.uses.extend(uses(agent, &record));
        }
        session.start = session.lines.first()?.0;
        let start = session.start;
        session.lines.splice(..0, undated.into_iter().map(|line| (start, line)));
        session.directory = directory?;
        session.project = project(&session.name).unwrap_or_else(|| session.directory.clone());
        Some(session)
    }
}

/// `owner/name` of the part of a path that is `owner+name__…`.
fn project(path: &Path) -> Option<String> {
    path.components().rev().find_map(|part| {
        let (name, _) = part.as_os_str().to_str()?.split_once("__")?;
        Some(name.replacen('+', "/", 1))
    })
}

/// A machine on which the sessions of one project happen again, one after the other.
pub(crate) struct Machine {
    /// The transcripts and the directories that they name lie below it.
    root: PathBuf,
    pub(crate) home: Home,
    /// True if histories are kept.
    is_kept: bool,
    // Removed with its content when dropped.
    _directory: Option<TempDir>,
    /// The beginnings of directories, as the transcripts name them.
    moved: BTreeSet<String>,
    /// The length of each transcript so far.
    written: HashMap<PathBuf, usize>,
}

impl Machine {
    /// A machine with the repositories of these sessions.
    pub(crate) fn of(sessions: &[Session], kept: Option<&Path>, project: &str) -> Result<Self> {
        let moved = sessions.iter().map(|session| beginning(&session.directory)).collect();
        let directory = temporary_directory()?;
        let (root, directory) = match kept {
            Some(kept) => (kept.join(project.replace('/', "+")), None),
            None => (directory.path().to_owned(), Some(directory)),
        };
        let home = Home::at(&root.join("data"))?;
        let machine = Self {
            root,
            home,
            is_kept: kept.is_some(),
            _directory: directory,
            moved,
            written: HashMap::new(),
        };
        for session in sessions {
            let git = PathBuf::from(machine.moved(&session.directory)).join(".git");
            fs::create_dir_all(&git)?;
            let branch = session.branch.as_deref().unwrap_or("main");
            fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n"))?;
            let url = format!("https://github.com/{}.git", session.project.trim_matches('/'));
            fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {url}\n"))?;
        }
        Ok(machine)
    }

    /// A text with its directories moved below our root.
    pub(crate) fn moved(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for beginning in &self.moved {
            let there = format!("{}{beginning}", self.root.join("disk").display());
            text = text.replace(beginning.as_str(), &there);
        }
        text
    }

    /// A text with its directories where the transcripts have them.
    pub(crate) fn back(&self, text: &str) -> String {
        text.replace(&self.root.join("disk").display().to_string(), "")
    }

    /// Lets time pass until a session starts.
    pub(crate) fn advance(&mut self, sessions: &[Session], next: &Session) -> Result<()> {
        self.advance_to(sessions, next.start, &next.id)
    }

    /// Lets time pass until a moment with this name.
    pub(crate) fn advance_to(
        &mut self,
        sessions: &[Session],
        until: Timestamp,
        name: &str,
    ) -> Result<()> {
        let kept = self.root.join("at").join(name);
        if kept.is_dir() {
            self.home = Home::at(&kept)?;
            return Ok(());
        }
        self.import(sessions, until)?;
        let data = self.root.join("data");
        if self.is_kept && data.is_dir() {
            copy(&data, &kept)?;
        }
        Ok(())
    }

    /// Writes what the sessions had written by then, and imports it.
    fn import(&mut self, sessions: &[Session], until: Timestamp) -> Result<()> {
        let folder = self.root.join("transcripts");
        let mut changed = Vec::new();
        for session in sessions.iter().filter(|session| session.start < until) {
            let lines = session.lines.iter().take_while(|(at, _)| *at < until);
            let lines: Vec<&str> = lines.map(|(_, line)| line.as_str()).collect();
            let path = folder.join(&session.name);
            let known = self.written.insert(path.clone(), lines.len());
            if lines.is_empty() || known == Some(lines.len()) {
                continue;
            }
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, self.moved(&(lines.join("\n") + "\n")))?;
            changed.push(path);
        }
        if !changed.is_empty() {
            self.home.import_paths(&changed)?;
        }
        Ok(())
    }
}

/// `/home/ada` of `/home/ada/rocket/src`: the part that differs from machine to machine.
fn beginning(directory: &str) -> String {
    let parts: Vec<&str> = directory.split('/').take(3).collect();
    parts.join("/")
}

/// The files as the sessions left them: each was last changed when a memory says so.
pub(crate) struct LeftDisk(HashMap<String, Option<Timestamp>>);

impl LeftDisk {
    pub(crate) fn of(store: &Store) -> Result<Self> {
        let rows: Vec<i64> =
            store.memories(&MemoryFilter::default())?.iter().map(|memory| memory.row).collect();
        let mut files: HashMap<String, Option<Timestamp>> = HashMap::new();
        for file in store.files_of_memories(&rows)?.into_values().flatten() {
            let changed = files.entry(file.path).or_default();
            *changed = (*changed).max(file.at.filter(|_| file.modified));
        }
        Ok(Self(files))
    }
}

impl Disk for LeftDisk {
    fn look(&self, path: &str, _root: Option<&str>) -> Presence {
        let modified = self.0.get(path).copied().flatten();
        Presence::There { modified }
    }

    fn content(&self, _path: &str, _root: Option<&str>) -> Option<Id> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_stands_in_the_path() {
        assert_eq!(
            project(Path::new("claude/acme+rocket__0b54.jsonl")).as_deref(),
            Some("acme/rocket")
        );
        assert_eq!(
            project(Path::new("claude/acme+rocket__0b54/02.jsonl")).as_deref(),
            Some("acme/rocket")
        );
        assert_eq!(project(Path::new("claude/0b54.jsonl")), None);
        assert_eq!(beginning("/home/ada/rocket/src"), "/home/ada");
    }
}

//! Dispatch by agent: the only module that maps an [`Agent`] to its folder of this crate. No other crate
//! names those folders for anything that all agents support. Supporting another agent takes another
//! folder and another arm in each `match`.

use std::path::{Path, PathBuf};

use thru_core::{Agent, SessionId, SessionKey, Timestamp};
use walkdir::WalkDir;

use crate::search::Search;
use crate::{Discovery, RestoreError, Source, claude_code, codex, copilot};

pub use crate::claude_code::{HistoryBatch, HistoryReader, directory_of_prompt};

/// The home directories of the agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    folders: [PathBuf; Agent::ALL.len()],
    named: [bool; Agent::ALL.len()],
}

impl Homes {
    /// Makes the homes of a function that says where each agent's is.
    pub fn new(home: impl FnMut(Agent) -> PathBuf) -> Self {
        Self { folders: Agent::ALL.map(home), named: Agent::ALL.map(|_| false) }
    }

    /// Notes for which agents a variable says where the home is.
    #[must_use]
    pub fn with_named(self, is_named: impl FnMut(Agent) -> bool) -> Self {
        Self { named: Agent::ALL.map(is_named), ..self }
    }

    /// Returns the home directory of this agent.
    pub fn home(&self, agent: Agent) -> &Path {
        &self.folders[agent as usize]
    }

    /// True if a variable says where this agent's home is, be it the usual place: Claude Code then keeps other files in it.
    pub fn is_named(&self, agent: Agent) -> bool {
        self.named[agent as usize]
    }

    /// Returns the folder in which this agent creates and extends transcripts.
    pub fn transcripts(&self, agent: Agent) -> PathBuf {
        let folder = match agent {
            Agent::ClaudeCode => "projects",
            Agent::Codex => "sessions",
            Agent::Copilot => "session-state",
        };
        self.home(agent).join(folder)
    }
}

/// Returns the variable in which users say where this agent's home is, and its name in the user's own home otherwise.
pub const fn usual_home(agent: Agent) -> (&'static str, &'static str) {
    match agent {
        Agent::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude"),
        Agent::Codex => ("CODEX_HOME", ".codex"),
        Agent::Copilot => ("COPILOT_HOME", ".copilot"),
    }
}

/// Finds all session files in an agent's home. Leaves out files and folders for which `skip` returns
/// true. A missing home is not a problem.
pub fn discover(agent: Agent, homes: &Homes, skip: &dyn Fn(&Path) -> bool) -> Discovery {
    let home = homes.home(agent);
    match agent {
        Agent::ClaudeCode => claude_code::discover(home, skip),
        Agent::Codex => codex::discover(home, skip),
        Agent::Copilot => copilot::discover(home, skip),
    }
}

/// Finds all session files of any agent at or below `path`, wherever they were copied to and whatever
/// their names. Other files are ignored, except that `path` itself is a problem if it is another kind of
/// file.
pub fn discover_path(path: &Path) -> Discovery {
    let mut search = Search::new(&|_| false);
    // Links are followed; the walk itself detects loops.
    for entry in WalkDir::new(path).follow_links(true) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let is_named = entry.depth() == 0;
                let file = entry.path();
                let may_be_one =
                    is_named || file.extension().is_some_and(|extension| extension == "jsonl");
                let is_known =
                    may_be_one && (codex::at(&mut search, file) || copilot::at(&mut search, file));
                if !is_known {
                    claude_code::file_anywhere(&mut search, file, is_named);
                }
            }
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let at = error.path().unwrap_or(path).to_path_buf();
                search.problem(&at, &error);
            }
        }
    }
    search.finish()
}

/// Finds the files of one session by the path of its transcript. Empty if the path cannot be the
/// transcript of this session.
pub fn discover_session(agent: Agent, transcript: &Path, session: &SessionId) -> Discovery {
    match agent {
        Agent::ClaudeCode => claude_code::discover_session(transcript, session),
        Agent::Codex => codex::discover_session(transcript, session),
        Agent::Copilot => copilot::discover_session(transcript, session),
    }
}

/// Finds the files of the sessions that the changed files and folders, as reported by a watcher, belong
/// to. Paths outside of sessions are ignored.
pub fn discover_changed<'p>(
    homes: &Homes,
    changed: impl IntoIterator<Item = &'p Path> + Clone,
    skip: &dyn Fn(&Path) -> bool,
) -> Discovery {
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        let (home, changed) = (homes.home(agent), changed.clone());
        found.append(match agent {
            Agent::ClaudeCode => claude_code::discover_changed(home, changed, skip),
            Agent::Codex => codex::discover_changed(home, changed, skip),
            Agent::Copilot => copilot::discover_changed(home, changed, skip),
        });
    }
    found
}

/// The limits of a search for recently written transcripts.
#[derive(Clone, Copy, Debug)]
pub struct Recent<'a> {
    /// The earliest time of the last write.
    pub since: Timestamp,
    /// The known transcripts of the most recent sessions, each of which may have grown.
    pub known: &'a [PathBuf],
    /// True to search only the folders of known transcripts, for agents that keep a folder per project.
    pub only_beside: bool,
}

/// Finds the transcripts that were written to since a given time, known and new, with the other files of
/// their sessions. A new file changes the time of its folder, so old folders need not be read file by
/// file; an old session that is resumed and not known is therefore missed. Stops between folders once
/// `go_on` returns false.
pub fn discover_recent(
    homes: &Homes,
    recent: Recent<'_>,
    skip: &dyn Fn(&Path) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Discovery {
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        let home = homes.home(agent);
        found.append(match agent {
            Agent::ClaudeCode => claude_code::discover_recent(home, recent, skip, go_on),
            Agent::Codex => codex::discover_recent(home, recent, skip, go_on),
            Agent::Copilot => copilot::discover_recent(home, recent.since, skip, go_on),
        });
    }
    found
}

/// Reads from the file which session it belongs to, if its name does not say: the parent thread of a
/// Codex subagent. Meant for files that are about to be read, not for all that exist.
pub fn resolve_session(source: &mut Source) {
    if source.agent == Agent::Codex {
        codex::resolve_session(source);
    }
}

/// Returns the directory in which a transcript's session started, as recorded near its beginning. `None`
/// if the file cannot be read or does not say.
pub fn directory_of(agent: Agent, path: &Path) -> Option<String> {
    match agent {
        Agent::ClaudeCode => claude_code::directory_of(path),
        Agent::Codex => codex::directory_of(path),
        Agent::Copilot => copilot::directory_of(path),
    }
}

/// Returns the path at which the agent can resume from an archived file. `source_path` is where the file
/// was found.
///
/// # Errors
/// Fails if the name is not one that discovery produces, or leads out of the agent's home.
pub fn restore_path(
    agent: Agent,
    home: &Path,
    source_path: &Path,
    archive_name: &str,
) -> Result<PathBuf, RestoreError> {
    match agent {
        Agent::ClaudeCode => claude_code::restore_path(home, source_path, archive_name),
        Agent::Codex => codex::restore_path(home, archive_name),
        Agent::Copilot => copilot::restore_path(home, archive_name),
    }
}

/// Returns the path by which the agent finds the transcript of a session of this directory, where that is not the path
/// that [`restore_path`] says: a file that was read from elsewhere may have any name.
pub fn path_by_id(
    session: &SessionKey,
    home: &Path,
    source_path: &Path,
    directory: &str,
) -> Option<PathBuf> {
    match session.agent {
        Agent::ClaudeCode => {
            claude_code::path_by_id(home, source_path, directory, session.id.as_str())
        }
        Agent::Codex | Agent::Copilot => None,
    }
}

/// Returns the words of the command that resumes a session when run in the session's directory.
pub fn resume_command(session: &SessionKey) -> [&str; 3] {
    let id = session.id.as_str();
    match session.agent {
        Agent::ClaudeCode => ["claude", "--resume", id],
        Agent::Codex => ["codex", "resume", id],
        Agent::Copilot => ["copilot", "--resume", id],
    }
}

/// Returns true if every record on this line has an id of its own, so that the same line met twice is the same
/// record.
pub fn line_has_record_id(agent: Agent, line: &[u8]) -> bool {
    let mark: &[u8] = match agent {
        Agent::ClaudeCode => b"\"uuid\"",
        // Its records have no ids; they are identified by their position in the file.
        Agent::Codex => return false,
        Agent::Copilot => b"\"id\"",
    };
    memchr::memmem::find(line, mark).is_some()
}

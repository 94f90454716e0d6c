//! The one place that knows which room belongs to which agent: callers with an [`Agent`] ask here, and no
//! other crate names a room for what all of them can do. Another agent is another folder, and another arm
//! in each `match`.

use std::path::{Path, PathBuf};

use thru_core::{Agent, SessionId, SessionKey, Timestamp};
use walkdir::WalkDir;

use crate::search::Search;
use crate::{Discovery, RestoreError, Source, claude_code, codex, copilot};

pub use crate::claude_code::{HistoryBatch, HistoryReader, directory_of_prompt};

/// The homes of all agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// Claude Code's configuration directory (`~/.claude`).
    pub claude_code: PathBuf,
    /// Codex's home (`~/.codex`).
    pub codex: PathBuf,
    /// Copilot CLI's home (`~/.copilot`).
    pub copilot: PathBuf,
}

impl Homes {
    /// Returns the home of this agent.
    pub fn of(&self, agent: Agent) -> &Path {
        match agent {
            Agent::ClaudeCode => &self.claude_code,
            Agent::Codex => &self.codex,
            Agent::Copilot => &self.copilot,
        }
    }

    /// The folder in which this agent's transcripts come and grow.
    pub fn transcripts(&self, agent: Agent) -> PathBuf {
        let folder = match agent {
            Agent::ClaudeCode => "projects",
            Agent::Codex => "sessions",
            Agent::Copilot => "session-state",
        };
        self.of(agent).join(folder)
    }
}

/// Everything in an agent's home that belongs to sessions. `skip` says of folders and files whether to
/// leave them out. What is not there is no problem.
pub fn discover(agent: Agent, homes: &Homes, skip: &dyn Fn(&Path) -> bool) -> Discovery {
    let home = homes.of(agent);
    match agent {
        Agent::ClaudeCode => claude_code::discover(home, skip),
        Agent::Codex => codex::discover(home, skip),
        Agent::Copilot => copilot::discover(home, skip),
    }
}

/// Everything at or below `path` that is a file of a session of any agent, wherever it was copied to and
/// whatever it is called. Other files are passed over; a file that is named itself and is none is a
/// problem.
pub fn discover_path(path: &Path) -> Discovery {
    let mut search = Search::new(&|_| false);
    // Links are followed; the walk itself notices where one leads back up.
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

/// The files of one session, by its transcript's path. Nothing where that cannot be the transcript of this
/// session.
pub fn discover_session(agent: Agent, transcript: &Path, session: &SessionId) -> Discovery {
    match agent {
        Agent::ClaudeCode => claude_code::discover_session(transcript, session),
        Agent::Codex => codex::discover_session(transcript, session),
        Agent::Copilot => copilot::discover_session(transcript, session),
    }
}

/// The files of the sessions that these files and folders of agents' homes belong to: what a watcher saw
/// change. Paths that belong to no session are passed over.
pub fn discover_changed<'p>(
    homes: &Homes,
    changed: impl IntoIterator<Item = &'p Path> + Clone,
    skip: &dyn Fn(&Path) -> bool,
) -> Discovery {
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        let (home, changed) = (homes.of(agent), changed.clone());
        found.append(match agent {
            Agent::ClaudeCode => claude_code::discover_changed(home, changed, skip),
            Agent::Codex => codex::discover_changed(home, changed, skip),
            Agent::Copilot => copilot::discover_changed(home, changed, skip),
        });
    }
    found
}

/// The range of a search for transcripts that were written to lately.
#[derive(Clone, Copy, Debug)]
pub struct Recent<'a> {
    /// Written to since then.
    pub since: Timestamp,
    /// Transcripts that are known, of the sessions that went on last: each may have gone on since.
    pub known: &'a [PathBuf],
    /// Of agents that keep a folder for each project: only in the folders of those that are known.
    pub only_beside: bool,
}

/// The transcripts in agents' homes that were written to since a time, with what belongs to their sessions:
/// those that are known, and those that are new. A file comes only into a folder that changes with it, so that
/// years of others need not be looked at one by one; an old session that goes on again without being
/// known is not found by this. `go_on` is asked between folders.
pub fn discover_recent(
    homes: &Homes,
    recent: Recent<'_>,
    skip: &dyn Fn(&Path) -> bool,
    go_on: &dyn Fn() -> bool,
) -> Discovery {
    let mut found = Discovery::default();
    for agent in Agent::ALL {
        let home = homes.of(agent);
        found.append(match agent {
            Agent::ClaudeCode => claude_code::discover_recent(home, recent, skip, go_on),
            Agent::Codex => codex::discover_recent(home, recent, skip, go_on),
            Agent::Copilot => copilot::discover_recent(home, recent.since, skip, go_on),
        });
    }
    found
}

/// Looks into a file for the session that it belongs to, where its name does not say all of that: whose
/// thread a Codex subagent worked for. To be asked of files that are to be read, not of all there are.
pub fn settle(source: &mut Source) {
    if source.agent == Agent::Codex {
        codex::settle(source);
    }
}

/// The directory that a transcript's session started in, as one of its first records names it. Nothing
/// where the file cannot be read or does not say.
pub fn directory_of(agent: Agent, path: &Path) -> Option<String> {
    match agent {
        Agent::ClaudeCode => claude_code::directory_of(path),
        Agent::Codex => codex::directory_of(path),
        Agent::Copilot => copilot::directory_of(path),
    }
}

/// Returns the path to which an archived file goes back, so that its agent can resume it. `source_path` is where it was
/// found.
///
/// # Errors
/// Returns an error if the name is not one that discovery gives, or leads out of the agent's home.
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

/// Returns the command that resumes a session, in the directory that it ran in.
pub fn resume_command(session: &SessionKey) -> String {
    let id = &session.id;
    match session.agent {
        Agent::ClaudeCode => format!("claude --resume {id}"),
        Agent::Codex => format!("codex resume {id}"),
        Agent::Copilot => format!("copilot --resume {id}"),
    }
}

/// True if every record of this line names itself, so that the same line met twice is the same record.
pub fn names_its_record(agent: Agent, line: &[u8]) -> bool {
    let mark: &[u8] = match agent {
        Agent::ClaudeCode => b"\"uuid\"",
        // Its records have no ids; their places in the file name them.
        Agent::Codex => return false,
        Agent::Copilot => b"\"id\"",
    };
    memchr::memmem::find(line, mark).is_some()
}

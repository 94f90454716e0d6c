//! The machine as the process sees it: where things lie, what is set, which program this is. The binary reads it once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use thru_agents::hooks::ADAPTERS;
use thru_agents::{Homes, agents};
use thru_config::Config;
use thru_core::{Agent, Layout, SessionId, SessionKey};
use thru_daemon::{Paths, socket_path};

use crate::trouble::Trouble;

/// The name of the daemon for launchd.
pub const SERVICE_LABEL: &str = "dev.throughline.daemon";
/// The name of the daemon for systemd.
pub const SERVICE_UNIT: &str = "throughline.service";
/// `off` in this variable: no daemon is started, whatever the settings say. For machines that are made anew for every
/// run.
const DAEMON_SWITCH: &str = "THROUGHLINE_DAEMON";

/// Variables that say where things lie.
fn locations() -> impl Iterator<Item = &'static str> {
    let of_agents = Agent::ALL.map(|agent| agents::usual_home(agent).0);
    ["THROUGHLINE_HOME", "THROUGHLINE_CONFIG"].into_iter().chain(of_agents)
}

/// The process and the system that it runs on.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// A short name for this machine, as the journal wants it: lower-case letters, digits and dashes.
    pub host: String,
    /// The user, as socket names tell users apart.
    pub user: String,
    /// The directory for sockets of this login, where the system has one.
    pub runtime_dir: Option<PathBuf>,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// This program's own file, where the system says which it is.
    pub program: Option<PathBuf>,
    /// The folder of the user's service manager, where there is one.
    pub service_dir: Option<PathBuf>,
    /// The variables of the process.
    pub variables: Vec<(OsString, OsString)>,
}

/// The variables that agents set for the commands that they run.
fn agent_variables() -> impl Iterator<Item = &'static str> {
    ADAPTERS
        .into_iter()
        .flat_map(|agent| [agent.capture.session_variable(), agent.capture.shell_variable()])
        .flatten()
}

impl Machine {
    /// A variable of the process, where it is set to more than blanks.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.raw(name)?.to_str().map(str::to_owned).filter(|value| !value.trim().is_empty())
    }

    fn raw(&self, name: &str) -> Option<&OsString> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// True if a variable is set, even to nothing.
    pub fn has_variable(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// The folders in which the user's shell looks for programs.
    pub fn search_path(&self) -> Vec<PathBuf> {
        self.raw("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// The session of the agent that runs this process, where an agent does.
    pub fn agent_session(&self) -> Option<SessionKey> {
        ADAPTERS.iter().find_map(|adapter| {
            let id = self.raw(adapter.capture.session_variable()?)?.to_str()?;
            (!id.is_empty()).then(|| SessionKey { agent: adapter.agent, id: SessionId::new(id) })
        })
    }

    /// True if an agent runs this process, in a session that is known or not.
    pub fn is_in_agent_shell(&self) -> bool {
        let is_set = |name| self.raw(name).is_some_and(|value| !value.is_empty());
        agent_variables().any(is_set)
    }

    /// The same machine for a process that no agent runs.
    #[must_use]
    pub fn without_agent(mut self) -> Self {
        self.variables.retain(|(name, _)| !agent_variables().any(|known| name == known));
        self
    }

    /// The variables for a process that is started. It works in a folder of its own, so that locations are absolute.
    pub fn child_variables(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.variables.iter().map(|(name, value)| {
            let is_location = locations().any(|known| name == known) && !value.is_empty();
            let absolute = std::path::absolute(value).ok().filter(|_| is_location);
            (name.clone(), absolute.map_or_else(|| value.clone(), PathBuf::into_os_string))
        })
    }

    /// Starts this program with these words as a process that outlives the caller; the system then waits for it.
    ///
    /// # Errors
    /// Fails if the system does not say which program this is, or cannot start it.
    pub fn start(&self, words: &[&str]) -> std::io::Result<()> {
        let unknown =
            || std::io::Error::other("the system does not report the path of this program");
        let program = self.program.as_deref().ok_or_else(unknown)?;
        let also: Vec<&str> = locations().collect();
        thru_daemon::spawn(program, words, self.child_variables(), &also).map(drop)
    }

    /// The variables that say where things lie, as far as the user set them: for a service that starts without the
    /// user's shell.
    pub fn locations_set(&self) -> Vec<(&'static str, String)> {
        let set = |name| self.raw(name).filter(|value| !value.is_empty());
        locations().filter_map(|name| Some((name, set(name)?.to_str()?.to_owned()))).collect()
    }

    /// The setting or variable that keeps a daemon from being started, if any does.
    pub fn daemon_switched_off(&self, config: &Config) -> Option<&'static str> {
        let value = self.variable(DAEMON_SWITCH).unwrap_or_default().to_lowercase();
        if matches!(value.trim(), "off" | "0" | "false" | "no") {
            return Some(DAEMON_SWITCH);
        }
        match (config.daemon.enabled, config.session_tracking.enabled) {
            (false, _) => Some("daemon.enabled"),
            (_, false) => Some("session_tracking.enabled"),
            (true, true) => None,
        }
    }

    /// The file by which the user's service manager knows the daemon, on a system whose service manager we know.
    pub fn service_file(&self) -> Option<PathBuf> {
        let name = match cfg!(target_os = "macos") {
            true => format!("{SERVICE_LABEL}.plist"),
            false => SERVICE_UNIT.to_owned(),
        };
        self.service_dir.as_ref().map(|folder| folder.join(name))
    }

    /// The files of the daemon of a home. `configured` is the socket that the settings ask for.
    pub fn daemon_paths(&self, layout: &Layout, configured: Option<&Path>) -> Paths {
        let runtime = self.runtime_dir.as_deref();
        let socket = socket_path(layout, configured, runtime, &self.temp_dir, &self.user);
        Paths::new(layout, socket)
    }
}

/// Where things lie on this machine: all that a hook needs to know to keep an event.
#[derive(Clone, Debug)]
pub struct Places {
    /// Our data.
    pub layout: Layout,
    /// The user's configuration file, which need not exist.
    pub config_file: PathBuf,
    /// The files of agents.
    pub homes: Homes,
    /// The user's home directory.
    pub home: Option<PathBuf>,
}

#[cfg(test)]
impl Places {
    /// The places of a user with this home directory.
    pub(crate) fn below(home: &Path) -> Self {
        Self {
            layout: Layout::new(home.join("data")),
            config_file: home.join("config.toml"),
            homes: Homes::new(|agent| home.join(agents::usual_home(agent).1)),
            home: Some(home.to_owned()),
        }
    }
}

/// The trouble with a program that could not be started, in words of people where it is the usual one.
pub fn not_started(program: &str, error: &std::io::Error) -> Trouble {
    Trouble::failed(match error.kind() {
        std::io::ErrorKind::NotFound => format!("`{program}` is not on your PATH"),
        _ => format!("{program} cannot be started: {error}"),
    })
}

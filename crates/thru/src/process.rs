//! The process as the binary sees it: its variables, its directory, its user. Read once; tests bring their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use thru_agents::{Homes, agents};
use thru_app::{Machine, Places, Remedy, Result, Trouble};
use thru_core::{Agent, Layout};

/// The process as it was started.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its variables.
    pub variables: Vec<(OsString, OsString)>,
    /// Its working directory, where it can be read.
    pub directory: Option<PathBuf>,
    /// Its own file, where the system says which that is.
    pub program: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// True if the process ends after its run: the system then closes what is open, all at once.
    pub ends_after: bool,
}

impl Process {
    /// The process that runs this code.
    pub fn current() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            directory: std::env::current_dir().ok(),
            program: std::env::current_exe().ok(),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            temp_dir: std::env::temp_dir(),
            ends_after: true,
        }
    }

    /// A variable that is set to more than nothing.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        let set = self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        set.filter(|value| !value.is_empty())
    }

    fn path(&self, variable: &str) -> Option<PathBuf> {
        self.variable(variable).map(PathBuf::from)
    }

    /// The locations that the variables and the system name.
    ///
    /// # Errors
    /// Fails if there is no home directory and no variable names another one.
    pub(crate) fn places(&self) -> Result<Places> {
        let folders = self.user_folders();
        let no_home = || {
            Trouble::failed("there is no home directory to keep memory in")
                .with(Remedy::Advice("set THROUGHLINE_HOME to a directory of your own".to_owned()))
        };
        let root = match self.path("THROUGHLINE_HOME") {
            Some(root) => root,
            None => folders.as_ref().ok_or_else(no_home)?.data.join("throughline"),
        };
        let config_file = match self.path("THROUGHLINE_CONFIG") {
            Some(file) => file,
            // A data directory of its own (a test, a demo) has a configuration of its own.
            None if self.variable("THROUGHLINE_HOME").is_some() => root.join("config.toml"),
            None => folders.as_ref().ok_or_else(no_home)?.config.join("throughline/config.toml"),
        };
        // The daemon works in another folder.
        let absolute = |path: PathBuf| self.absolute(&path);
        let home_of = |agent: Agent| {
            let (variable, name) = agents::usual_home(agent);
            let usual = || self.home.as_deref().unwrap_or(Path::new("")).join(name);
            absolute(self.path(variable).unwrap_or_else(usual))
        };
        Ok(Places {
            layout: Layout::new(absolute(root)),
            config_file: absolute(config_file),
            homes: Homes::new(home_of)
                .with_named(|agent| self.path(agents::usual_home(agent).0).is_some()),
            home: self.home.clone(),
        })
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.directory.as_ref().map(|directory| directory.join(path));
        let path = joined.unwrap_or_else(|| path.to_owned());
        std::path::absolute(&path).unwrap_or(path)
    }

    /// The process and its system, as the application sees them.
    pub(crate) fn machine(&self) -> Machine {
        Machine {
            host: self.host(),
            user: self.user(),
            runtime_dir: self.path("XDG_RUNTIME_DIR").filter(|directory| directory.is_dir()),
            temp_dir: self.temp_dir.clone(),
            program: self.program.clone(),
            service_dir: self.service_directory(),
            variables: self.variables.clone(),
        }
    }

    fn user(&self) -> String {
        #[cfg(unix)]
        {
            rustix::process::geteuid().as_raw().to_string()
        }
        #[cfg(not(unix))]
        {
            self.variable("USERNAME")
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        }
    }

    /// The folder in which the user's service manager looks for services.
    fn service_directory(&self) -> Option<PathBuf> {
        let folders = self.user_folders()?;
        match cfg!(target_os = "macos") {
            true => Some(folders.home.join("Library/LaunchAgents")),
            false => cfg!(unix).then(|| folders.config.join("systemd/user")),
        }
    }

    /// The user's folders, by the conventions of the system.
    fn user_folders(&self) -> Option<UserFolders> {
        let home = self.home.clone()?;
        let named = |variable: &str, usual: &str| {
            // The specification wants relative paths to be ignored.
            self.path(variable)
                .filter(|folder| folder.is_absolute())
                .unwrap_or_else(|| home.join(usual))
        };
        let (data, config) = if cfg!(target_os = "macos") {
            let support = home.join("Library/Application Support");
            (support.clone(), support)
        } else if cfg!(windows) {
            (named("LOCALAPPDATA", "AppData/Local"), named("APPDATA", "AppData/Roaming"))
        } else {
            (named("XDG_DATA_HOME", ".local/share"), named("XDG_CONFIG_HOME", ".config"))
        };
        Some(UserFolders { home, data, config })
    }

    /// A short name for this machine, as the journal wants it.
    fn host(&self) -> String {
        #[cfg(unix)]
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        #[cfg(not(unix))]
        let name = self
            .variable("COMPUTERNAME")
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let name: String = name
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
            .take(40)
            .collect();
        if name.is_empty() { "local".to_owned() } else { name }
    }
}

/// The user's folders.
struct UserFolders {
    home: PathBuf,
    /// The folder of data that stays on this machine.
    data: PathBuf,
    config: PathBuf,
}

//! The process as the binary sees it: its variables, its directory, its terminal. Read once, here; a test hands in its
//! own.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thru_agents::{Homes, agents};
use thru_app::{App, Context, Machine, Places, Remedy, Result, Trouble};
use thru_config::Color;
use thru_core::{Agent, Layout};

use crate::ui::{Streams, fold};

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
            homes: Homes::new(home_of),
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

/// The application, and the terminal that its answers are shown on.
#[derive(Clone)]
pub(crate) struct Environment {
    /// The application.
    pub(crate) app: App,
    /// The terminal.
    pub(crate) terminal: Terminal,
    /// The standard streams.
    pub(crate) streams: Streams,
    /// True if there is to be no colour and no pager, whatever the settings say.
    pub(crate) plain: bool,
    /// The time to use colour.
    pub(crate) color: Color,
}

impl Deref for Environment {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

/// The terminal that output goes to.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// True if questions can be asked.
    pub interactive: bool,
    /// True if input comes from a terminal.
    pub input: bool,
    /// True if results go to a terminal.
    pub output: bool,
    /// True if progress goes to a terminal.
    pub errors: bool,
    /// True if the user wants no colour anywhere (<https://no-color.org>).
    pub no_color: bool,
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// The user's pager.
    pub pager: String,
    /// True if the user chose how `less` behaves.
    pub less_is_set: bool,
}

impl Environment {
    /// The environment of a process.
    ///
    /// # Errors
    /// Fails if there is no home directory, or the settings cannot be read.
    pub(crate) fn from_process(
        process: &Process,
        terminal: Terminal,
        streams: Streams,
        plain: bool,
    ) -> Result<Self> {
        let directory = process.directory.clone();
        let directory = directory.context("the current directory cannot be read")?;
        let app = App::open(process.places()?, Arc::new(process.machine()), directory)?;
        let color = app.config.output.color;
        Ok(Self { app, terminal, streams, plain, color })
    }

    /// True if output is coloured.
    pub(crate) fn has_color(&self) -> bool {
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => self.terminal.output && !self.terminal.no_color,
        };
        color && !self.plain
    }

    /// Writes a line beside the output, on standard error.
    ///
    /// # Errors
    /// Fails if standard error cannot be written to.
    pub(crate) fn tell(&self, line: &str) -> std::io::Result<()> {
        writeln!(self.streams.errors(), "{}", fold(line, self.terminal.error_columns()))
    }

    /// The same terminal for another home: for the demo.
    pub(crate) fn in_home(&self, layout: Layout, homes: Homes) -> Self {
        Self { app: self.app.in_home(layout, homes), ..self.clone() }
    }
}

impl Terminal {
    /// The terminal of the process that runs this code.
    pub fn current(process: &Process) -> Self {
        let output = std::io::stdout().is_terminal();
        let size = terminal_size::terminal_size();
        let (width, height) =
            size.map_or((100, 40), |(width, height)| (width.0.into(), height.0.into()));
        Self {
            interactive: output && std::io::stdin().is_terminal(),
            input: std::io::stdin().is_terminal(),
            output,
            errors: std::io::stderr().is_terminal(),
            width,
            height,
            ..Self::none(process)
        }
    }

    /// The columns that a line on standard error may take.
    pub(crate) fn error_columns(&self) -> usize {
        if self.errors { self.width } else { usize::MAX }
    }

    /// No terminal: output goes to a file or a pipe.
    pub fn none(process: &Process) -> Self {
        let pager = process.variable("PAGER").map(|pager| pager.to_string_lossy().into_owned());
        Self {
            interactive: false,
            input: false,
            output: false,
            errors: false,
            no_color: process.variable("NO_COLOR").is_some(),
            width: 100,
            height: 40,
            pager: pager
                .filter(|pager| !pager.trim().is_empty())
                .unwrap_or_else(|| "less".to_owned()),
            less_is_set: process.variables.iter().any(|(name, _)| name == "LESS"),
        }
    }
}

/// While it lives, typed characters are not shown.
pub(crate) struct Unseen {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Unseen {
    /// Switches the echo off; does nothing where input is no terminal.
    pub(crate) fn begin() -> Self {
        #[cfg(unix)]
        {
            use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
            let before = tcgetattr(std::io::stdin()).ok();
            if let Some(mut quiet) = before.clone() {
                quiet.local_modes.remove(LocalModes::ECHO);
                let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet);
            }
            Self { before }
        }
        #[cfg(not(unix))]
        Self {}
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(before) = &self.before {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

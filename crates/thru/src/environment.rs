//! The process as the binary sees it: its variables, its terminal, its directory. Read once, here.

use std::env;
use std::io::IsTerminal;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use thru_agents::Homes;
use thru_app::{App, Context, Machine, Places, Remedy, Result, Trouble};
use thru_core::Layout;

/// The application, and the terminal that its answers are shown on.
#[derive(Clone)]
pub(crate) struct Environment {
    /// The application.
    pub(crate) app: App,
    /// The terminal.
    pub(crate) terminal: Terminal,
}

impl Deref for Environment {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

/// The place that output goes to.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    /// True if questions can be asked.
    pub(crate) interactive: bool,
    /// True if results go to a terminal.
    pub(crate) output: bool,
    /// True if progress goes to a terminal.
    pub(crate) errors: bool,
    /// True if the user wants no colour anywhere (<https://no-color.org>).
    pub(crate) no_color: bool,
    /// Columns.
    pub(crate) width: usize,
    /// Lines.
    pub(crate) height: usize,
    /// The user's pager.
    pub(crate) pager: String,
    /// True if the user chose how `less` behaves.
    pub(crate) less_is_set: bool,
}

impl Environment {
    /// Looks at the process.
    ///
    /// # Errors
    /// Where there is no home directory, or the settings cannot be read.
    pub(crate) fn of_process() -> Result<Self> {
        let directory = env::current_dir().context("the current directory cannot be read")?;
        let app = App::open(places()?, Arc::new(machine()), directory)?;
        Ok(Self { app, terminal: Terminal::of_process() })
    }

    /// The same with the settings as they are now: for processes that live long.
    ///
    /// # Errors
    /// As [`App::again`].
    pub(crate) fn again(&self) -> Result<Self> {
        Ok(Self { app: self.app.again()?, terminal: self.terminal.clone() })
    }

    /// The same terminal for another home: for the demo.
    pub(crate) fn in_home(&self, layout: Layout, homes: Homes) -> Self {
        Self { app: self.app.in_home(layout, homes), terminal: self.terminal.clone() }
    }
}

impl Terminal {
    fn of_process() -> Self {
        let output = std::io::stdout().is_terminal();
        let (width, height) = terminal_size::terminal_size()
            .map_or((100, 40), |(width, height)| (width.0.into(), height.0.into()));
        let pager = env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
        Self {
            interactive: output && std::io::stdin().is_terminal(),
            output,
            errors: std::io::stderr().is_terminal(),
            no_color: set("NO_COLOR").is_some(),
            width,
            height,
            pager: pager.unwrap_or_else(|| "less".to_owned()),
            less_is_set: env::var_os("LESS").is_some(),
        }
    }
}

/// The locations that the process's variables and the system name.
///
/// # Errors
/// Where there is no home directory and no variable names another one.
pub(crate) fn places() -> Result<Places> {
    let folders = UserFolders::of_process();
    let home = folders.as_ref().map(|folders| folders.home.clone());
    let no_home = || {
        Trouble::failed("there is no home directory to keep memory in")
            .with(Remedy::Advice("set THROUGHLINE_HOME to a directory of your own".to_owned()))
    };
    let root = match set("THROUGHLINE_HOME") {
        Some(root) => root,
        None => folders.as_ref().ok_or_else(no_home)?.data.join("throughline"),
    };
    let config_file = match set("THROUGHLINE_CONFIG") {
        Some(file) => file,
        // A data directory of its own (a test, a demo) has a configuration of its own.
        None if set("THROUGHLINE_HOME").is_some() => root.join("config.toml"),
        None => folders.as_ref().ok_or_else(no_home)?.config.join("throughline/config.toml"),
    };
    let of_agent = |variable: &str, name: &str| match (set(variable), &home) {
        (Some(directory), _) => directory,
        (None, Some(home)) => home.join(name),
        (None, None) => PathBuf::from(name),
    };
    // The daemon works in another folder.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    Ok(Places {
        layout: Layout::new(absolute(root)),
        config_file: absolute(config_file),
        homes: Homes {
            claude_code: absolute(of_agent("CLAUDE_CONFIG_DIR", ".claude")),
            codex: absolute(of_agent("CODEX_HOME", ".codex")),
            copilot: absolute(of_agent("COPILOT_HOME", ".copilot")),
        },
        home,
    })
}

/// The process and its system.
pub(crate) fn machine() -> Machine {
    Machine {
        host: host(),
        user: user(),
        runtime_dir: set("XDG_RUNTIME_DIR").filter(|directory| directory.is_dir()),
        temp_dir: env::temp_dir(),
        program: env::current_exe().ok(),
        service_dir: service_directory(),
        variables: env::vars_os().collect(),
    }
}

fn set(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn user() -> String {
    #[cfg(unix)]
    {
        rustix::process::geteuid().as_raw().to_string()
    }
    #[cfg(not(unix))]
    {
        env::var("USERNAME").unwrap_or_default()
    }
}

/// The folder in which the user's service manager looks for services.
fn service_directory() -> Option<PathBuf> {
    let folders = UserFolders::of_process()?;
    match cfg!(target_os = "macos") {
        true => Some(folders.home.join("Library/LaunchAgents")),
        false => cfg!(unix).then(|| folders.config.join("systemd/user")),
    }
}

/// The user's folders, by the conventions of the system.
struct UserFolders {
    home: PathBuf,
    /// The folder of data that stays on this machine.
    data: PathBuf,
    config: PathBuf,
}

impl UserFolders {
    fn of_process() -> Option<Self> {
        let home = env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
        let named = |variable: &str, usual: &str| {
            // The specification wants relative paths to be ignored.
            set(variable).filter(|folder| folder.is_absolute()).unwrap_or_else(|| home.join(usual))
        };
        let (data, config) = if cfg!(target_os = "macos") {
            let support = home.join("Library/Application Support");
            (support.clone(), support)
        } else if cfg!(windows) {
            (named("LOCALAPPDATA", "AppData/Local"), named("APPDATA", "AppData/Roaming"))
        } else {
            (named("XDG_DATA_HOME", ".local/share"), named("XDG_CONFIG_HOME", ".config"))
        };
        Some(Self { home, data, config })
    }
}

/// A short name for this machine, as the journal wants it.
fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = env::var("COMPUTERNAME").unwrap_or_default();
    let name: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .take(40)
        .collect();
    if name.is_empty() { "local".to_owned() } else { name }
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

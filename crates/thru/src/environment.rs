//! What the machine and the user say of themselves: read once, here.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use jiff::tz::TimeZone;
use thru_agents::Homes;
use thru_config::{Config, Layer, Note, Origin, load};
use thru_core::{Clock, Layout, SystemClock};
use thru_daemon::{Paths, socket_path};
use thru_intake::identity::PROJECT_FILE;
use thru_intake::{Declared, Intake, Options};
use thru_lifecycle::Limits;
use thru_recall::OpenFiles;
use thru_store::Store;

use crate::embedding::OwnModel;
use crate::failure::advised;
use crate::{delivering, refining};

/// Everything that is not an argument.
#[derive(Clone)]
pub(crate) struct Environment {
    /// Where our data lies.
    pub(crate) layout: Layout,
    /// The user's configuration file, whether it exists or not.
    pub(crate) config_file: PathBuf,
    /// The user's settings, and this directory's on top.
    pub(crate) config: Config,
    /// What in the configuration has no effect.
    pub(crate) notes: Vec<Note>,
    /// Where agents keep their files.
    pub(crate) homes: Homes,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
    /// The directory that the command was started in.
    pub(crate) directory: PathBuf,
    /// This program's own file, where the system says which it is.
    pub(crate) program: Option<PathBuf>,
    /// The time.
    pub(crate) clock: Arc<dyn Clock>,
    /// The user's time zone.
    pub(crate) zone: TimeZone,
    /// Where the output goes.
    pub(crate) terminal: Terminal,
    /// The user's pager.
    pub(crate) pager: String,
    /// Whether the user chose how `less` behaves.
    pub(crate) less_is_set: bool,
    /// The session of the agent that runs this command, where an agent does.
    pub(crate) agent_session: Option<String>,
    /// Where the user's shell looks for programs.
    pub(crate) search_path: Vec<PathBuf>,
    /// What stays open from one question to the next. Whoever lives long closes it now and then.
    pub(crate) open: OpenFiles,
    /// The model that stays mapped from one question to the next.
    pub(crate) model: OwnModel,
}

/// Where the output goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Whether questions can be asked.
    pub(crate) interactive: bool,
    /// Whether results go to a terminal.
    pub(crate) output: bool,
    /// Whether progress goes to a terminal.
    pub(crate) errors: bool,
    /// Whether the user wants no colour anywhere (<https://no-color.org>).
    pub(crate) no_color: bool,
    /// Columns.
    pub(crate) width: usize,
    /// Lines.
    pub(crate) height: usize,
}

/// Where things lie on this machine: all that a hook needs to know to keep an event.
#[derive(Clone)]
pub(crate) struct Places {
    /// Where our data lies.
    pub(crate) layout: Layout,
    /// The user's configuration file, whether it exists or not.
    pub(crate) config_file: PathBuf,
    /// Where agents keep their files.
    pub(crate) homes: Homes,
    /// The user's home directory.
    pub(crate) home: Option<PathBuf>,
}

impl Places {
    /// Looks at the process's environment.
    pub(crate) fn of_process() -> Result<Self> {
        let directories = directories::BaseDirs::new();
        let home = directories.as_ref().map(|directories| directories.home_dir().to_owned());
        let no_home = || {
            advised(
                "there is no home directory to keep memory in",
                "set THROUGHLINE_HOME to a directory of your own",
            )
        };
        let root = match set("THROUGHLINE_HOME") {
            Some(root) => root,
            None => directories.as_ref().ok_or_else(no_home)?.data_local_dir().join("throughline"),
        };
        let config_file = match set("THROUGHLINE_CONFIG") {
            Some(file) => file,
            // A data directory of its own (a test, a demo) has a configuration of its own.
            None if set("THROUGHLINE_HOME").is_some() => root.join("config.toml"),
            None => directories
                .as_ref()
                .ok_or_else(no_home)?
                .config_dir()
                .join("throughline")
                .join("config.toml"),
        };
        let of_agent = |variable: &str, name: &str| match (set(variable), &home) {
            (Some(directory), _) => directory,
            (None, Some(home)) => home.join(name),
            (None, None) => PathBuf::from(name),
        };
        // The daemon works in another folder.
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Ok(Self {
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
}

impl Environment {
    /// Looks at the process's environment.
    pub(crate) fn of_process() -> Result<Self> {
        let directory = env::current_dir().context("the current directory cannot be read")?;
        let places = Places::of_process()?;
        let (config, notes) = settings(&places.config_file, &directory)?;
        Ok(Self::new(places, directory, config, notes))
    }

    /// The same, with the settings as they are now and nothing kept open: for processes that live long.
    pub(crate) fn again(&self) -> Result<Self> {
        let (config, notes) = settings(&self.config_file, &self.directory)?;
        if let Some(note) = notes.iter().find(|note| note.is_about_what_is_kept()) {
            anyhow::bail!("the settings cannot be used: {note}");
        }
        Ok(Self { config, notes, open: OpenFiles::default(), ..self.clone() })
    }

    /// What a command that works in `directory` with these settings needs.
    pub(crate) fn new(
        places: Places,
        directory: PathBuf,
        config: Config,
        notes: Vec<Note>,
    ) -> Self {
        Self {
            layout: places.layout,
            config_file: places.config_file,
            config,
            notes,
            homes: places.homes,
            home: places.home,
            directory,
            program: env::current_exe().ok(),
            clock: Arc::new(SystemClock),
            zone: TimeZone::system(),
            terminal: Terminal::of_process(),
            pager: env::var("PAGER")
                .ok()
                .filter(|pager| !pager.trim().is_empty())
                .unwrap_or_else(|| "less".to_owned()),
            less_is_set: env::var_os("LESS").is_some(),
            agent_session: env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| !id.is_empty()),
            search_path: env::var_os("PATH")
                .map(|path| env::split_paths(&path).collect())
                .unwrap_or_default(),
            open: OpenFiles::default(),
            model: OwnModel::default(),
        }
    }

    /// When a session is idle, or over.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            inactivity_timeout: self.config.inactivity_timeout(),
            idle_timeout: self.config.idle_timeout(),
            max_duration: self.config.max_session_duration(),
        }
    }

    /// The parts of intake, put together by the settings.
    pub(crate) fn intake(&self) -> Result<Intake> {
        Ok(Intake::new(self.layout.clone(), Arc::clone(&self.clock), self.options())?)
    }

    /// The same beside the store of this home, which is open already.
    pub(crate) fn intake_beside(&self, store: &Store) -> Result<Intake> {
        let (layout, clock) = (self.layout.clone(), Arc::clone(&self.clock));
        Ok(Intake::beside(Some(store), layout, clock, self.options())?)
    }

    fn options(&self) -> Options {
        Options {
            verbatim: self.config.archive_verbatim(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            home: self.home.clone(),
            host: host(),
            allow: self.config.redact_allow().to_vec(),
            distil: self.config.distil_enabled(),
            limits: self.limits(),
            index_left: self.config.archives_on_end(),
            refine_since: refining::since(&self.config, self.clock.now()),
            deliver_since: delivering::since(&self.config, self.clock.now()),
            declared: Declared::by(crate::commands::shared::declared_name),
        }
    }

    /// The same environment with a home, an agent and settings of its own: for the demo.
    pub(crate) fn in_home(&self, layout: Layout, homes: Homes) -> Self {
        let text = "output.pager = false";
        let origin = Origin::User("demo".to_owned());
        Self {
            directory: layout.root().to_owned(),
            config_file: layout.root().join("config.toml"),
            layout,
            config: load(&[Layer { origin, text }]).config,
            notes: Vec::new(),
            homes,
            home: self.home.clone(),
            program: self.program.clone(),
            clock: Arc::clone(&self.clock),
            zone: self.zone.clone(),
            terminal: self.terminal,
            pager: self.pager.clone(),
            less_is_set: self.less_is_set,
            agent_session: None,
            search_path: self.search_path.clone(),
            open: OpenFiles::default(),
            model: OwnModel::default(),
        }
    }

    /// A path as people write it: `~` for the home directory.
    pub(crate) fn shown(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }
}

impl Terminal {
    fn of_process() -> Self {
        let output = std::io::stdout().is_terminal();
        let (width, height) = terminal_size::terminal_size()
            .map_or((100, 40), |(width, height)| (width.0.into(), height.0.into()));
        Self {
            interactive: output && std::io::stdin().is_terminal(),
            output,
            errors: std::io::stderr().is_terminal(),
            no_color: set("NO_COLOR").is_some(),
            width,
            height,
        }
    }
}

fn set(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's settings, with those of the project that a directory lies in on top.
pub(crate) fn settings(user_file: &Path, directory: &Path) -> Result<(Config, Vec<Note>)> {
    let user = read(user_file)?;
    let project_file = project_file(directory);
    let project = project_file.as_deref().and_then(read_project_file);
    let mut layers = Vec::new();
    if let Some(text) = &user {
        layers.push(Layer { origin: Origin::User(user_file.display().to_string()), text });
    }
    if let (Some(text), Some(file)) = (&project, &project_file) {
        layers.push(Layer { origin: Origin::Project(file.display().to_string()), text });
    }
    let loaded = load(&layers);
    Ok((loaded.config, loaded.notes))
}

/// The nearest project file, of this directory or one above it.
fn project_file(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|ancestor| ancestor.join(PROJECT_FILE)).find(|file| file.is_file())
}

/// What a project's own file says, for a directory that is not the one we stand in.
pub(crate) fn project_settings(file: &Path) -> Option<Config> {
    let text = read_project_file(file)?;
    let origin = Origin::Project(file.display().to_string());
    Some(load(&[Layer { origin, text: &text }]).config)
}

/// More than any project has to say.
const LARGEST_PROJECT_FILE: u64 = 64 * 1024;

/// Reads a project's file, whatever it is: it must never stop anybody from working in the project.
fn read_project_file(file: &Path) -> Option<String> {
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST_PROJECT_FILE {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned())
}

fn read(file: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", file.display())),
    }
}

/// The files of the daemon of a home. `configured` is where the settings want the socket.
pub(crate) fn daemon_paths(layout: &Layout, configured: Option<&Path>) -> Paths {
    #[cfg(unix)]
    let user = rustix::process::geteuid().as_raw().to_string();
    #[cfg(not(unix))]
    let user = env::var("USERNAME").unwrap_or_default();
    let runtime = set("XDG_RUNTIME_DIR").filter(|directory| directory.is_dir());
    let socket = socket_path(layout, configured, runtime.as_deref(), &env::temp_dir(), &user);
    Paths::new(layout, socket)
}

/// While it lasts, what is typed is not shown.
pub(crate) struct Unseen {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Unseen {
    /// Begins; does nothing where nobody types.
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

/// A variable of the environment, where it is set to anything.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The environment of this process, for one that is started.
/// It works in a folder of its own, so that paths are absolute.
pub(crate) fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().map(|(name, value)| {
        let is_path = PLACES.iter().any(|place| name == *place) && !value.is_empty();
        let absolute = std::path::absolute(&value).ok().filter(|_| is_path);
        (name, absolute.map_or(value, PathBuf::into_os_string))
    })
}

/// Variables that say where things lie.
const PLACES: [&str; 3] = ["THROUGHLINE_HOME", "THROUGHLINE_CONFIG", "CLAUDE_CONFIG_DIR"];

/// What says where things lie, as far as the user set it: for a service that starts without his shell.
pub(crate) fn places_set() -> Vec<(&'static str, String)> {
    PLACES.into_iter().filter_map(|name| Some((name, set(name)?.to_str()?.to_owned()))).collect()
}

/// Where the user's service manager looks for services.
pub(crate) fn service_directory() -> Option<PathBuf> {
    let directories = directories::BaseDirs::new()?;
    match cfg!(target_os = "macos") {
        true => Some(directories.home_dir().join("Library/LaunchAgents")),
        false => cfg!(unix).then(|| directories.config_dir().join("systemd/user")),
    }
}

/// A short name for this machine, as the journal wants it.
pub(crate) fn host() -> String {
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

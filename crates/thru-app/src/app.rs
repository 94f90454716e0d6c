//! One memory with its settings, as one caller uses it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jiff::tz::TimeZone;
use thru_agents::Homes;
use thru_config::{Config, Layer, Loaded, Note, Origin, load};
use thru_core::{Clock, Layout, SystemClock};
use thru_intake::identity::PROJECT_FILE;
use thru_lifecycle::Limits;
use thru_recall::OpenFiles;
use thru_redact::Redactor;

use crate::embedding::own::OwnModel;
use crate::machine::{Machine, Places};
use crate::trouble::{Context, Result, Trouble};

/// Everything that is no argument of a request: where the memory lies, its settings, the clock, the machine.
#[derive(Clone)]
pub struct App {
    /// Our data.
    pub layout: Layout,
    /// The user's configuration file, which need not exist.
    pub config_file: PathBuf,
    /// The user's settings, and this directory's on top.
    pub config: Config,
    /// Parts of the configuration that have no effect.
    pub notes: Vec<Note>,
    /// The files of agents.
    pub homes: Homes,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The directory that the caller works in.
    pub directory: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    zone: Arc<OnceLock<TimeZone>>,
    threads: Arc<OnceLock<usize>>,
    pub(crate) redactor: Arc<Mutex<Option<Redactor>>>,
    /// The process and its system.
    pub machine: Arc<Machine>,
    /// Index and vectors, which stay open from one question to the next. A process that lives long closes them now
    /// and then.
    pub open: OpenFiles,
    /// The model that stays mapped from one question to the next.
    pub model: OwnModel,
}

impl App {
    /// The application for a caller in `directory`, with the settings that hold there.
    ///
    /// # Errors
    /// Fails if the user's configuration file cannot be read.
    pub fn open(places: Places, machine: Arc<Machine>, directory: PathBuf) -> Result<Self> {
        let (config, notes) = settings(&places.config_file, &directory)?;
        Ok(Self::new(places, machine, directory, config, notes))
    }

    /// The application with settings that were read already.
    pub fn new(
        places: Places,
        machine: Arc<Machine>,
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
            clock: Arc::new(SystemClock),
            zone: Arc::default(),
            threads: Arc::default(),
            redactor: Arc::default(),
            machine,
            open: OpenFiles::default(),
            model: OwnModel::default(),
        }
    }

    /// The application of a user with this home directory, who set nothing.
    #[cfg(test)]
    pub(crate) fn below(home: &std::path::Path, machine: Machine) -> Self {
        let (places, config) = (Places::below(home), thru_config::load(&[]).config);
        Self::new(places, Arc::new(machine), home.to_owned(), config, Vec::new())
    }

    /// The same with the settings as they are now and nothing kept open: for processes that live long.
    ///
    /// # Errors
    /// As [`App::reread`].
    pub fn again(&self) -> Result<Self> {
        Ok(Self { open: OpenFiles::default(), ..self.reread()? })
    }

    /// The same with the settings as they are now, and the same files open.
    ///
    /// # Errors
    /// Fails if settings cannot be read, or a setting about what is kept cannot be understood.
    pub fn reread(&self) -> Result<Self> {
        let (config, notes) = settings(&self.config_file, &self.directory)?;
        if let Some(note) = notes.iter().find(|note| note.is_about_what_is_kept()) {
            return Err(Trouble::invalid(format!("the settings cannot be used: {note}")));
        }
        Ok(Self { config, notes, ..self.clone() })
    }

    /// The same for a process that starts no other.
    #[must_use]
    pub fn alone(&self) -> Self {
        let machine = Machine { program: None, ..(*self.machine).clone() };
        Self { machine: Arc::new(machine), ..self.clone() }
    }

    /// The same with another home, other agents and the usual settings: for the demo.
    #[must_use]
    pub fn in_home(&self, layout: Layout, homes: Homes) -> Self {
        let text = "output.pager = false";
        let origin = Origin::User("demo".to_owned());
        Self {
            directory: layout.root().to_owned(),
            config_file: layout.root().join("config.toml"),
            layout,
            config: load(&[Layer { origin, text }]).config,
            notes: Vec::new(),
            homes,
            machine: Arc::new((*self.machine).clone().without_agent()),
            open: OpenFiles::default(),
            model: OwnModel::default(),
            ..self.clone()
        }
    }

    /// The limits after which a session is idle, or over.
    pub fn limits(&self) -> Limits {
        Limits {
            inactivity_timeout: self.config.session_tracking.inactivity_timeout.duration(),
            idle_timeout: self.config.session.idle_timeout_minutes.duration(),
            max_duration: self.config.session.max_session_duration_hours.duration(),
        }
    }

    /// The redactor of the latest call, for text that a surface puts together; before the first call, the built-in
    /// rules: where the user's cannot be read, nothing that was recorded was either.
    pub fn redactor(&self) -> Redactor {
        let latest = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        latest.clone().unwrap_or_else(Redactor::builtin)
    }

    /// The user's time zone; found out when it is first asked for, which hooks mostly never do.
    pub fn zone(&self) -> &TimeZone {
        self.zone.get_or_init(|| {
            let named = self.machine.variable("TZ").and_then(|name| TimeZone::get(&name).ok());
            named.unwrap_or_else(TimeZone::system)
        })
    }

    /// The number of threads that work at once. Finding it out reads several files of the system.
    pub fn threads(&self) -> usize {
        *self.threads.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The name of this machine in the journal.
    pub fn host(&self) -> &str {
        &self.machine.host
    }

    /// A path as people write it: `~` for the home directory.
    pub fn shown(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if !rest.as_os_str().is_empty() => format!("~/{}", rest.display()),
            _ => path.display().to_string(),
        }
    }
}

/// The user's settings, with those of the project that a directory lies in on top.
///
/// # Errors
/// Fails if the user's file cannot be read. A project's file never stops anything.
pub fn settings(user_file: &Path, directory: &Path) -> Result<(Config, Vec<Note>)> {
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

/// The settings in a project's own file, for a directory that is not the caller's.
pub fn project_settings(file: &Path) -> Option<Loaded> {
    let text = read_project_file(file)?;
    let origin = Origin::Project(file.display().to_string());
    Some(load(&[Layer { origin, text: &text }]))
}

/// More than any project has to say.
const LARGEST_PROJECT_FILE: u64 = 64 * 1024;

/// Reads a project's file, whatever it is: it must never keep a person from working in the project.
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

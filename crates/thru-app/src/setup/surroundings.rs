//! The surroundings of an installation, and whether our hooks are in them.

use std::path::PathBuf;

use thru_agents::hooks::{ADAPTERS, Adapter};
use thru_agents::setup::{Platform, Site, installed};

use crate::app::App;

/// The system that we run on, as far as agents differ on it.
pub const PLATFORM: Platform = if cfg!(windows) {
    Platform::Windows
} else if cfg!(target_os = "macos") {
    Platform::MacOs
} else {
    Platform::Linux
};

/// The surroundings of an installation: where programs lie, and the project around the caller.
pub struct Surroundings {
    search_path: Vec<PathBuf>,
    project: PathBuf,
}

impl Surroundings {
    /// Looks at the machine and the current directory.
    pub fn new(app: &App) -> Self {
        Self { search_path: app.machine.search_path(), project: project_root(app) }
    }

    /// Returns the surroundings of an installation into an agent.
    pub fn site<'a>(&'a self, app: &'a App, adapter: &Adapter) -> Site<'a> {
        Site {
            folder: app.homes.home(adapter.agent),
            is_named: app.homes.is_named(adapter.agent),
            home: app.home.as_deref(),
            directory: &app.directory,
            project: &self.project,
            platform: PLATFORM,
            search_path: &self.search_path,
        }
    }
}

/// True if any file of any agent has our hooks: the user's, and those of the project around the caller.
pub fn has_hooks(app: &App) -> bool {
    let around = Surroundings::new(app);
    ADAPTERS.iter().any(|adapter| is_connected(&around.site(app, adapter), adapter))
}

/// True if any file has our hooks of an agent.
pub(super) fn is_connected(site: &Site<'_>, adapter: &Adapter) -> bool {
    adapter.setup.hook_files(site).iter().any(|file| {
        std::fs::read_to_string(&file.path)
            .is_ok_and(|text| installed(&text, adapter.agent).is_ok_and(|found| !found.is_empty()))
    })
}

/// Returns the top of the working tree around the current directory, else that directory.
pub fn project_root(app: &App) -> PathBuf {
    app.directory
        .ancestors()
        .find(|directory| directory.join(".git").exists())
        .unwrap_or(&app.directory)
        .to_owned()
}

//! A home of one test: nothing of the machine's own is seen or touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use thru_agents::{Homes, agents};
use thru_app::ask::ProjectScope;
use thru_app::ask::search::{Found, Search, search};
use thru_app::keep::settings;
use thru_app::{App, Call, Machine, Patience, Places};
use thru_core::{Agent, Layout};
use thru_intake::How;

use crate::records::{ONE, conversation, file};

/// Gone when dropped.
pub(crate) struct Home {
    folder: TempDir,
}

/// A call that is heard by none and waits for others.
pub(crate) fn call() -> Call<'static> {
    Call::unattended(Patience::Endless)
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "claude"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// A home with one session, imported.
    pub(crate) fn imported() -> Self {
        let home = Self::new();
        home.write(&file(ONE), conversation(ONE).text());
        home.import();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("home")
    }

    /// The directory of a project that is on this disk.
    pub(crate) fn project(&self) -> PathBuf {
        let project = self.path("work/rocket");
        fs::create_dir_all(&project).unwrap();
        project
    }

    /// The application with the settings as they are now.
    pub(crate) fn app(&self) -> App {
        self.app_in(&self.path("work"))
    }

    /// The same for a caller in a directory.
    pub(crate) fn app_in(&self, directory: &Path) -> App {
        let homes = Homes {
            claude_code: self.path("claude"),
            codex: self.path("codex"),
            copilot: self.path("copilot"),
        };
        let places = Places {
            layout: Layout::new(self.data()),
            config_file: self.data().join("config.toml"),
            homes,
            home: Some(self.path("user")),
        };
        let machine = Machine {
            host: "test".to_owned(),
            temp_dir: self.path("tmp"),
            variables: vec![("THROUGHLINE_DAEMON".into(), "off".into())],
            ..Machine::default()
        };
        App::open(places, Arc::new(machine), directory.to_owned()).unwrap()
    }

    /// Writes a file of the agent.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path("claude").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Imports the files of the agent.
    pub(crate) fn import(&self) {
        let app = self.app();
        let intake = app.intake().unwrap();
        let lock = call().lock(&intake).unwrap();
        let found = agents::discover(Agent::ClaudeCode, &app.homes, &|_| false);
        let plan = intake.plan(found, None).unwrap();
        let never = AtomicBool::new(false);
        let how = How::whole(&|_| false);
        intake.import(&lock, plan, &how, &never, &mut |_, _, _| {}, &mut |_| {}).unwrap();
    }

    /// Changes settings.
    pub(crate) fn set(&self, values: &[(&str, &str)]) {
        settings::set(&self.app(), values).unwrap();
    }

    /// Searches all projects.
    pub(crate) fn search(&self, query: &str) -> Found {
        let project = ProjectScope::Everywhere;
        let request = Search { query: query.to_owned(), project, ..Search::default() };
        search(&self.app(), &request, call()).unwrap()
    }
}

//! A home with a session in it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use thru_agents::{Homes, agents};
use thru_app::{App, Call, Machine, Patience, Places};
use thru_core::{Agent, Layout};
use thru_intake::ImportOptions;
use thru_testkit::records::{Author, file};

/// The session that every home holds.
pub(super) const SESSION: &str = "4f1c9a52-0000-4000-8000-000000000001";

/// A home, gone when dropped.
pub(super) struct Home {
    folder: TempDir,
}

pub(super) fn call() -> Call<'static> {
    Call::unattended(Patience::Endless)
}

impl Home {
    /// A home without a history.
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "claude", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(super) fn new() -> Self {
        let home = Self::empty();
        let transcript = home.folder.path().join("claude").join(file(SESSION));
        fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let mut records = Author::of(SESSION);
        records
            .asks("Why does the importer lock the database? \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}")
            .runs("c1", "cargo test importer")
            .gets("c1", "error: database is locked\n\u{1b}[31m数据库\u{9b}2J")
            .says("The importer holds one lock per process. I changed it to a lock per file.");
        fs::write(transcript, records.text()).unwrap();
        let app = home.app();
        let intake = app.intake().unwrap();
        let lock = call().lock(&intake).unwrap();
        let found = agents::discover(Agent::ClaudeCode, &app.homes, &|_| false);
        let plan = intake.plan(found, None).unwrap();
        let never = AtomicBool::new(false);
        let options = ImportOptions::whole(&|_| false);
        intake.import(&lock, plan, &options, &never, &mut |_, _, _| {}, &mut |_| {}).unwrap();
        drop(lock);
        home
    }

    pub(super) fn app(&self) -> App {
        let path = |name: &str| self.folder.path().join(name);
        let homes = Homes::new(|agent| match agent {
            Agent::ClaudeCode => path("claude"),
            agent => path(agent.as_str()),
        });
        let places = Places {
            layout: Layout::new(path("home")),
            config_file: path("home/config.toml"),
            homes,
            home: Some(path("user")),
        };
        let machine = Machine {
            host: "test".to_owned(),
            temp_dir: path("tmp"),
            variables: vec![
                ("THROUGHLINE_DAEMON".into(), "off".into()),
                ("TZ".into(), "UTC".into()),
            ],
            ..Machine::default()
        };
        App::open(places, Arc::new(machine), path("work")).unwrap()
    }
}

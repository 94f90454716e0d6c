//! A home of one test: nothing of the machine's own is seen or touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use serde_json::{Value, json};
use tempfile::TempDir;
use thru_agents::{Homes, agents};
use thru_app::ask::ProjectScope;
use thru_app::ask::search::{Found, Search, search};
use thru_app::fresh::Freshness;
use thru_app::hook::HookCall;
use thru_app::keep::remember::{self, Remember};
use thru_app::keep::settings;
use thru_app::{App, Call, Machine, Patience, Places, Trouble};
use thru_core::{
    Agent, Clock, FixedClock, Layout, ObservationType, SessionId, SessionKey, SystemClock,
    Timestamp,
};
use thru_intake::ImportOptions;
use thru_store::{Episode, Store};

use crate::records::{ONE, TWO, conversation, file, orchard, prompt_of};

/// Gone when dropped.
pub(crate) struct Home {
    folder: TempDir,
    /// The time of the last event of a hook.
    last: Mutex<Timestamp>,
}

/// A call that is heard by none and waits for others.
pub(crate) fn call() -> Call<'static> {
    Call::unattended(Patience::Endless)
}

/// An error with its remedy, for a snapshot.
pub(crate) fn shown(trouble: &Trouble) -> String {
    format!("{:?}: {}\n{:?}", trouble.kind(), trouble.message(), trouble.remedy())
}

/// A request to remember a text here, by a person and as no rule.
pub(crate) fn to_remember(text: &str) -> Remember {
    Remember {
        text: text.to_owned(),
        title: None,
        kind: ObservationType::Decision,
        is_rule: false,
        files: Vec::new(),
        scope: ProjectScope::Here,
        by_agent: false,
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "claude"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, last: Mutex::default() }
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
        App::open(self.places(), self.machine(&[]), directory.to_owned()).unwrap()
    }

    fn places(&self) -> Places {
        let homes = Homes::new(|agent| match agent {
            Agent::ClaudeCode => self.path("claude"),
            agent => self.path(agent.as_str()),
        });
        Places {
            layout: self.layout(),
            config_file: self.data().join("config.toml"),
            homes,
            home: Some(self.path("user")),
        }
    }

    fn machine(&self, variables: &[(&str, &str)]) -> Arc<Machine> {
        let off = ("THROUGHLINE_DAEMON", "off");
        let variables = variables.iter().chain([&off]);
        Arc::new(Machine {
            host: "test".to_owned(),
            temp_dir: self.path("tmp"),
            variables: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            ..Machine::default()
        })
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
        let options = ImportOptions::whole(&|_| false);
        intake.import(&lock, plan, &options, &never, &mut |_, _, _| {}, &mut |_| {}).unwrap();
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

    /// The application for a caller in the project, with these variables set.
    pub(crate) fn here_with(&self, variables: &[(&str, &str)]) -> App {
        App::open(self.places(), self.machine(variables), self.project()).unwrap()
    }

    /// The application for a caller in the project.
    pub(crate) fn here(&self) -> App {
        self.here_with(&[])
    }

    /// A home with two sessions in two projects and a prompt of a third, not imported.
    pub(crate) fn with_history() -> Self {
        let home = Self::new();
        home.write(&file(ONE), conversation(ONE).text());
        home.write(&file(TWO), orchard().text());
        let prompt = "Which pears ripen in September?";
        let third = "33333333-cccc-4ccc-8ccc-000000000003";
        home.write("history.jsonl", prompt_of(third, 1_772_442_000_000, prompt));
        home
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.data())
    }

    /// Writes the configuration.
    pub(crate) fn configure(&self, text: &str) {
        fs::create_dir_all(self.data()).unwrap();
        fs::write(self.data().join("config.toml"), text).unwrap();
    }

    /// Lets a hook record an event of a session in the project.
    pub(crate) fn hook(&self, session: &str, event: &str, more: Value) {
        self.hook_in(&self.project(), session, event, more);
    }

    /// Lets a hook record an event of a session in a directory, and returns its answer.
    pub(crate) fn hook_in(
        &self,
        directory: &Path,
        session: &str,
        event: &str,
        more: Value,
    ) -> String {
        // Agents run their hooks one after the other, which takes longer than a call.
        let clock: Arc<dyn Clock> = {
            let mut last = self.last.lock().unwrap();
            *last = SystemClock.now().max(*last + SignedDuration::from_millis(1));
            Arc::new(FixedClock(*last))
        };
        self.hook_at(&clock, directory, session, event, more)
    }

    /// The same by another clock.
    pub(crate) fn hook_at(
        &self,
        clock: &Arc<dyn Clock>,
        directory: &Path,
        session: &str,
        event: &str,
        more: Value,
    ) -> String {
        let mut payload = json!({
            "session_id": session,
            "transcript_path": self.path("claude").join(file(session)),
            "cwd": directory,
            "hook_event_name": event,
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        // It has time enough on a slow machine, too.
        let started = Instant::now() + Duration::from_secs(60);
        let call = HookCall::new("claude-code".to_owned(), event.to_owned(), started);
        let input = payload.to_string();
        call.handle(&mut input.as_bytes(), self.places(), self.machine(&[]), clock).0
    }

    pub(crate) fn prompt(&self, session: &str, number: u32, text: &str) {
        let more = json!({ "prompt_id": format!("p{number}"), "prompt": text });
        self.hook(session, "UserPromptSubmit", more);
    }

    pub(crate) fn stop(&self, session: &str, text: &str) {
        let more = json!({ "stop_hook_active": false, "last_assistant_message": text });
        self.hook(session, "Stop", more);
    }

    /// Remembers a text, and returns the short id of the memory.
    pub(crate) fn remember(&self, text: &str) -> String {
        let request = to_remember(text);
        remember::remember(&self.here(), &request, call()).unwrap().short_id
    }

    pub(crate) fn store(&self) -> Store {
        thru_app::fresh::open(&self.here(), Freshness::Recorded, call()).unwrap()
    }

    /// The episodes of a session, the latest first.
    pub(crate) fn episodes(&self, session: &str) -> Vec<Episode> {
        let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(session) };
        let store = self.store();
        store.episodes(store.session_by_key(&key).unwrap().unwrap()).unwrap()
    }
}

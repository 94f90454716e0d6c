//! A machine of one test: an agent's folder, a data directory, and the calls of `thru import`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use tempfile::TempDir;
use thru_agents::{Discovery, agents};
use thru_core::{Agent, Clock, Layout, SessionId, SessionKey, Timestamp};
use thru_intake::{
    Depth, ImportReport, Intake, OnLoss, Options, Plan, RebuildReport, Result, Verification,
};
use thru_store::Store;

use crate::dump;

/// A clock that goes on by a second whenever it is asked.
struct Ticking;

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        static SECONDS: AtomicI64 = AtomicI64::new(1_795_000_000);
        Timestamp::from_second(SECONDS.fetch_add(1, Ordering::Relaxed)).unwrap()
    }
}

/// A clock that stands still.
struct Stopped(Timestamp);

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// Gone when dropped.
pub struct Machine {
    folder: TempDir,
    /// The options of intake.
    pub options: Options,
}

/// Options of intake for a test.
pub fn options() -> Options {
    Options::new("test", 2)
}

impl Default for Machine {
    fn default() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), options: options() }
    }
}

impl Machine {
    /// Creates a machine whose agent left nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A machine whose agent left these files.
    pub fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        let machine = Self::new();
        for (name, content) in files {
            machine.write(name, content);
        }
        machine
    }

    /// Returns the folder of everything.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The agent's folder.
    pub fn claude(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    /// Returns the layout of the data directory.
    pub fn layout(&self) -> Layout {
        Layout::new(self.folder.path().join("home"))
    }

    /// Writes a file of the agent.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.claude().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Removes a file of the agent.
    pub fn remove(&self, name: &str) {
        fs::remove_file(self.claude().join(name)).unwrap();
    }

    /// Opens intake.
    pub fn intake(&self) -> Intake {
        Intake::new(self.layout(), Arc::new(Ticking), self.options.clone()).unwrap()
    }

    /// Intake at a time of the test's choice.
    pub fn intake_at(&self, now: Timestamp) -> Intake {
        Intake::new(self.layout(), Arc::new(Stopped(now)), self.options.clone()).unwrap()
    }

    /// Finds the agent's files.
    pub fn discover(&self) -> Discovery {
        thru_agents::claude_code::discover(&self.claude(), &|_| false)
    }

    /// Plans an import of the agent's files.
    pub fn plan(&self) -> Plan {
        self.intake().plan(self.discover(), None).unwrap()
    }

    /// As `thru import`.
    pub fn import(&self) -> ImportReport {
        self.try_import(self.discover()).unwrap()
    }

    /// As `thru import`, of something else than the agent's folder.
    ///
    /// # Errors
    /// Fails as intake does.
    pub fn try_import(&self, found: Discovery) -> Result<ImportReport> {
        let plan = self.intake().plan(found, None)?;
        self.carry_out(plan, &AtomicBool::new(false))
    }

    /// As `thru import PATH…`.
    pub fn import_paths(&self, paths: &[&Path]) -> ImportReport {
        let mut all = Discovery::default();
        for path in paths {
            let found = agents::discover_path(path);
            all.sources.extend(found.sources);
            all.problems.extend(found.problems);
        }
        self.try_import(all).unwrap()
    }

    /// Brings in what a plan lists.
    ///
    /// # Errors
    /// Fails as intake does.
    pub fn carry_out(&self, plan: Plan, cancelled: &AtomicBool) -> Result<ImportReport> {
        import_plan(&self.intake(), plan, cancelled)
    }

    /// As [`Machine::carry_out`]; stops when a project is first asked for its name.
    ///
    /// # Errors
    /// Fails as intake does.
    pub fn carry_out_until_asked(&self, plan: Plan) -> Result<ImportReport> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&cancelled);
        let mut options = self.options.clone();
        options.declared = thru_intake::Declared::by(move |_| {
            asked.store(true, Ordering::Relaxed);
            None
        });
        let intake = Intake::new(self.layout(), Arc::new(Ticking), options).unwrap();
        import_plan(&intake, plan, &cancelled)
    }

    /// Plans and imports, with these directories left out.
    pub fn import_without(&self, excluded: &(dyn Fn(&Path) -> bool + Sync)) -> ImportReport {
        let plan = self.intake().plan(self.discover(), Some(excluded)).unwrap();
        let intake = self.intake();
        let lock = intake.lock(&mut |_| false).unwrap();
        let never = AtomicBool::new(false);
        intake
            .import(
                &lock,
                plan,
                &thru_intake::ImportOptions::whole(excluded),
                &never,
                &mut |_, _, _| {},
                &mut |_| {},
            )
            .unwrap()
    }

    /// Rebuilds store and index.
    pub fn rebuild(&self) -> RebuildReport {
        self.try_rebuild(OnLoss::Refuse).unwrap()
    }

    /// As `thru rebuild`, with or without `--accept-loss`.
    ///
    /// # Errors
    /// Fails as intake does.
    pub fn try_rebuild(&self, on_loss: OnLoss) -> Result<RebuildReport> {
        let intake = self.intake();
        let lock = intake.lock(&mut |_| false).unwrap();
        intake.rebuild(&lock, on_loss, &AtomicBool::new(false), &mut |_| {})
    }

    /// Forgets a session.
    pub fn forget(&self, session: &str) {
        let intake = self.intake();
        let lock = intake.lock(&mut |_| false).unwrap();
        intake.forget(&lock, &[&key(session)]).unwrap();
    }

    /// Everything that is kept.
    pub fn dump(&self) -> Vec<String> {
        let store = Store::open_to_read(&self.layout()).unwrap();
        let mut lines = dump::store(&self.layout());
        lines.extend(dump::archive(&self.layout()));
        lines.extend(self.intake().dump(&store).unwrap());
        lines.sort();
        lines
    }

    /// As `thru verify`.
    pub fn verify(&self) -> Verification {
        self.intake().verify(Depth::Whole, &mut |_, _| {}).unwrap()
    }

    /// Fails unless `thru verify` would be content.
    #[track_caller]
    pub fn assert_sound(&self) {
        let found = self.verify();
        assert_eq!(found.findings, [], "verify found something");
    }

    /// Fails unless both machines keep the same.
    #[track_caller]
    pub fn assert_same_as(&self, other: &Self) {
        assert_same(&self.dump(), &other.dump());
    }
}

/// Fails with the lines that only one of both has.
#[track_caller]
pub fn assert_same(left: &[String], right: &[String]) {
    let only = |a: &[String], b: &[String]| -> Vec<String> {
        a.iter().filter(|line| !b.contains(line)).cloned().collect()
    };
    let (left_only, right_only) = (only(left, right), only(right, left));
    assert!(
        left == right,
        "only left:\n{}\nonly right:\n{}",
        left_only.join("\n"),
        right_only.join("\n")
    );
}

/// Returns the key of a session of Claude Code.
pub fn key(session: &str) -> SessionKey {
    SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(session) }
}

fn import_plan(intake: &Intake, plan: Plan, cancelled: &AtomicBool) -> Result<ImportReport> {
    let lock = intake.lock(&mut |_| false)?;
    let options = thru_intake::ImportOptions::whole(&|_| false);
    intake.import(&lock, plan, &options, cancelled, &mut |_, _, _| {}, &mut |_| {})
}

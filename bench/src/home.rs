//! A data directory to measure in, filled by the same calls as `thru import`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use serde_json::json;
use tempfile::TempDir;
use thru_agents::{Discovery, agents};
use thru_core::{Layout, SystemClock};
use thru_intake::{ImportOptions, ImportReport, Intake, Options, Plan};
use thru_store::Store;

use crate::process::Program;

/// A data directory.
pub(crate) struct Home {
    intake: Intake,
    // Removed with its content when dropped.
    _directory: Option<TempDir>,
}

impl Home {
    /// A new one, gone when dropped.
    pub(crate) fn temporary() -> Result<Self> {
        let directory = temporary_directory()?;
        let intake = intake(directory.path())?;
        Ok(Self { intake, _directory: Some(directory) })
    }

    /// The one at this path.
    pub(crate) fn at(root: &Path) -> Result<Self> {
        Ok(Self { intake: intake(root)?, _directory: None })
    }

    pub(crate) const fn intake(&self) -> &Intake {
        &self.intake
    }

    /// The store, to read.
    pub(crate) fn store(&self) -> Result<Store> {
        Ok(Store::open_to_read(self.intake.layout())?)
    }

    /// Brings in what lies at or below these paths, as `thru import PATH…` does.
    pub(crate) fn import_paths(&self, paths: &[PathBuf]) -> Result<ImportReport> {
        let mut all = Discovery::default();
        for path in paths {
            let found = agents::discover_path(path);
            all.sources.extend(found.sources);
            all.problems.extend(found.problems);
        }
        self.import(all)
    }

    /// Brings in what was found.
    pub(crate) fn import(&self, found: Discovery) -> Result<ImportReport> {
        let lock = self.intake.lock(&mut |_| false)?;
        let plan: Plan = self.intake.plan(found, None)?;
        let cancelled = AtomicBool::new(false);
        let report = self.intake.import(
            &lock,
            plan,
            &ImportOptions::whole(&|_| false),
            &cancelled,
            &mut |_, _, _| {},
            &mut |_| {},
        )?;
        Ok(report)
    }
}

/// A directory that is gone when dropped.
pub(crate) fn temporary_directory() -> Result<TempDir> {
    tempfile::Builder::new().prefix("thru-bench-").tempdir().context("no temporary directory")
}

/// The machine, as the program names it in the journal: that is its own business, and shows in the names
/// of segments. Has a hook write one.
pub(crate) fn host(program: &Program, home: &Path) -> Result<String> {
    let input = json!({ "session_id": "bench-first", "cwd": "/" }).to_string();
    program.hook(home, "CwdChanged", input.as_bytes())?;
    let newest = fs::read_dir(Layout::new(home).journal())?
        .flatten()
        .max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok())
        .context("the hook wrote no journal")?;
    let name = newest.file_name().to_string_lossy().into_owned();
    let (host, _) = name.rsplit_once('-').context("a segment without a number")?;
    Ok(host.to_owned())
}

/// Copies a directory with all below it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Threads to work with.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn intake(root: &Path) -> Result<Intake> {
    let options = Options::new("bench", threads());
    Ok(Intake::new(Layout::new(root), Arc::new(SystemClock), options)?)
}

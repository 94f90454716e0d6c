//! An agent's program on this machine, and the path under which it should call ours.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use thru_agents::hooks::Adapter;
use thru_agents::setup::ClientVersion;

use super::surroundings::PLATFORM;
use crate::app::App;
use crate::trouble::{Remedy, Result, Trouble};

/// The program of an agent on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its path.
    pub program: Option<PathBuf>,
    /// The version that it prints.
    pub version: Option<ClientVersion>,
    /// True if it has a home here: it was used or set up.
    pub has_home: bool,
}

/// Time for the client to print its version: it is a large program, and disks can be cold.
const PATIENCE: Duration = Duration::from_secs(3);

impl Client {
    /// Looks for the program of an agent.
    pub fn find(app: &App, adapter: &Adapter) -> Self {
        let setup = adapter.setup;
        let usual = app
            .home
            .iter()
            .flat_map(|home| setup.usual_places().iter().map(|place| home.join(place)));
        let names = setup.programs(PLATFORM);
        let search_path = app.machine.search_path();
        let program = search_path
            .iter()
            .cloned()
            .chain(usual)
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .find(|path| path.is_file());
        Self {
            version: program.as_deref().and_then(version_of),
            program,
            has_home: app.homes.home(adapter.agent).is_dir(),
        }
    }

    /// True if the agent is on this machine.
    pub fn is_here(&self) -> bool {
        self.program.is_some() || self.has_home
    }
}

/// Returns the version that the program prints, if it does so in time.
fn version_of(program: &Path) -> Option<ClientVersion> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => {
                // It may have ended at this very moment.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let mut said = Vec::new();
    child.stdout.take()?.take(200).read_to_end(&mut said).ok()?;
    ClientVersion::parse(&String::from_utf8_lossy(&said))
}

/// True if hooks that run a program of this name are recognised as ours.
fn is_own_name(name: &OsStr) -> bool {
    name == "thru" || name.eq_ignore_ascii_case("thru.exe")
}

fn advised(message: impl Into<String>, advice: &str) -> Trouble {
    Trouble::failed(message).with(Remedy::Advice(advice.to_owned()))
}

/// Returns the path under which hooks call this program: one that outlives an upgrade, if there is one.
/// Package managers put the program into a folder with its version in the name and a link to it on the
/// `PATH`.
///
/// # Errors
/// Returns an error if no path of the program is one that hooks can call and be recognised by.
pub fn own_program(app: &App) -> Result<String> {
    let unknown = || {
        advised(
            "the path of this program cannot be found, so hooks cannot call it",
            "start it by its whole path",
        )
    };
    let program = app.machine.program.as_deref().ok_or_else(unknown)?;
    // On Windows a resolved path has a form that shells do not take.
    let resolved = match cfg!(windows) {
        true => program.to_owned(),
        false => program.canonicalize().map_err(|_| unknown())?,
    };
    let name = if cfg!(windows) { "thru.exe" } else { "thru" };
    let stable = app
        .machine
        .search_path()
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| path.canonicalize().ok() == program.canonicalize().ok());
    // Links to it may have other names than their target.
    let path = [stable, Some(resolved.clone()), Some(program.to_owned())]
        .into_iter()
        .flatten()
        .find(|path| path.is_absolute() && path.file_name().is_some_and(is_own_name))
        .ok_or_else(|| {
            let called = resolved.file_name().unwrap_or_default().to_string_lossy();
            advised(
                format!(
                    "hooks are recognised by the name `thru`, but this program is called {called}"
                ),
                "rename it, or put a link called `thru` on your PATH",
            )
        })?;
    path.to_str().map(str::to_owned).ok_or_else(|| {
        advised(
            format!("{} is not valid Unicode, which settings require", path.display()),
            "put the program, or a link to it called `thru`, into a folder on your PATH",
        )
    })
}

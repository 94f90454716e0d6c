//! Looks for Claude Code, and for the path under which it should call us.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use thru_app::App;

use thru_agents::claude_code::install::ClientVersion;
use thru_app::Result;

use crate::failure::advised;

/// Claude Code on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// Its program.
    pub(crate) program: Option<PathBuf>,
    /// The version that it says it has.
    pub(crate) version: Option<ClientVersion>,
    /// Whether it was used already.
    pub(crate) has_run: bool,
}

/// How long the client may take to say its version: it is a large program, and disks can be cold.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where Claude Code installs itself, below the home directory, for those whose shell does not look
/// there.
const USUAL_PLACES: [&str; 4] =
    [".local/bin", ".claude/local", ".claude/local/node_modules/.bin", ".npm-global/bin"];

impl Client {
    /// Looks for it.
    pub(crate) fn find(environment: &App) -> Self {
        let usual = environment
            .home
            .iter()
            .flat_map(|home| USUAL_PLACES.iter().map(|place| home.join(place)));
        let names: &[&str] =
            if cfg!(windows) { &["claude.exe", "claude.cmd"] } else { &["claude"] };
        let program = environment
            .machine
            .search_path()
            .into_iter()
            .chain(usual)
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .find(|path| path.is_file());
        Self {
            version: program.as_deref().and_then(version_of),
            program,
            has_run: environment.homes.claude_code.join("projects").is_dir(),
        }
    }
}

/// What `claude --version` says, if it says something in time.
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

/// Whether our hooks are recognised by this name of their program.
fn is_own_name(name: &OsStr) -> bool {
    name == "thru" || name.eq_ignore_ascii_case("thru.exe")
}

/// The path under which hooks call this program: one that outlives an upgrade, where there is one.
/// Package managers put the program into a folder with its version in the name and a link to it on
/// the `PATH`.
pub(crate) fn own_program(environment: &App) -> Result<String> {
    let unknown = || {
        advised(
            "the path of this program cannot be found, so hooks cannot call it",
            "start it by its whole path",
        )
    };
    let program = environment.machine.program.as_deref().ok_or_else(unknown)?;
    // On Windows a resolved path has a form that shells do not take.
    let resolved = match cfg!(windows) {
        true => program.to_owned(),
        false => program.canonicalize().map_err(|_| unknown())?,
    };
    let name = if cfg!(windows) { "thru.exe" } else { "thru" };
    let stable = environment
        .machine
        .search_path()
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| path.canonicalize().ok() == program.canonicalize().ok());
    // Links to it may be called otherwise than what they lead to.
    let path = [stable, Some(resolved.clone()), Some(program.to_owned())]
        .into_iter()
        .flatten()
        .find(|path| path.is_absolute() && path.file_name().is_some_and(is_own_name))
        .ok_or_else(|| {
            let called = resolved.file_name().unwrap_or_default().to_string_lossy();
            advised(
                format!(
                    "hooks are known again by the name `thru`, and this program is called {called}"
                ),
                "rename it, or put a link called `thru` on your PATH",
            )
        })?;
    path.to_str().map(str::to_owned).ok_or_else(|| {
        advised(
            format!("{} is not Unicode, and settings are", path.display()),
            "put the program, or a link to it called `thru`, into a folder on your PATH",
        )
    })
}

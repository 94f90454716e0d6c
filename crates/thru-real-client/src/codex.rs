//! A home directory for the Codex client alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::api::MessagesApi;
use crate::run::{Run, finish};

/// A home directory with Codex configured for a scripted API, without any session yet. Deleted when dropped.
pub struct SealedCodex {
    folder: TempDir,
    client: PathBuf,
}

impl SealedCodex {
    /// Makes a home for the client at this path, which asks this API.
    ///
    /// # Errors
    /// Fails if the client does not exist, or the home cannot be written.
    pub fn new(client: &Path, api: &MessagesApi) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("codex-").tempdir()?;
        let home = Self { client: client.canonicalize()?, folder };
        for name in ["work", "tmp", "bin", ".codex"] {
            fs::create_dir(home.path().join(name))?;
        }
        // The location at which people and installers find it by name.
        #[cfg(unix)]
        std::os::unix::fs::symlink(&home.client, home.path().join("bin/codex"))?;
        let config = format!(
            "model = \"gpt-test\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
            api.url()
        );
        fs::write(home.codex().join("config.toml"), config)?;
        Ok(home)
    }

    /// Returns the home directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the directory that the client works in.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Returns the client's own folder, with configuration, hooks and rollouts.
    pub fn codex(&self) -> PathBuf {
        self.path().join(".codex")
    }

    /// Returns a program in this home, with nothing of the caller's environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let home = self.path().to_string_lossy();
        command.env_clear().current_dir(self.work()).envs([
            ("HOME", home.clone().into_owned()),
            ("TMPDIR", format!("{home}/tmp")),
            ("PATH", format!("{home}/bin:/usr/local/bin:/usr/bin:/bin")),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("SCRIPTED_KEY", "none".to_owned()),
            // A test that wants a daemon starts one itself.
            ("THROUGHLINE_DAEMON", "off".to_owned()),
        ]);
        command
    }

    /// Returns the client in this home.
    pub fn client(&self) -> Command {
        self.command(&self.client)
    }

    /// Runs the client with one prompt to its end (`codex exec`), which prints its events.
    ///
    /// # Errors
    /// Fails if the client cannot be started or hangs.
    pub fn ask(&self, prompt: &str, options: &[&str]) -> io::Result<Run> {
        let mut command = self.client();
        command.args(["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access"]);
        finish(command.args(options).arg(prompt))
    }
}

//! A home directory for the client alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::api::MessagesApi;
use crate::run::{Run, finish};

/// The API key that the client sends. It has to look like a real one.
const KEY: &str = "sk-ant-api03-not-a-key";

/// Number of trailing characters by which the client remembers a key.
const KEY_END: usize = 20;

/// The tools that a script may call without the client asking for permission.
const TOOLS: &str = "Bash,Read,Write,Edit,Agent";

/// A home directory with a configured client that has run no session yet. Deleted when dropped.
pub struct SealedHome {
    folder: TempDir,
    client: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl SealedHome {
    /// Creates a home for the client at this path.
    ///
    /// # Errors
    /// Fails if the client does not exist, or the home cannot be written.
    pub fn new(client: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("client-").tempdir()?;
        let home = Self { client: client.canonicalize()?, folder, variables: Vec::new() };
        for name in ["work", "tmp", "bin", ".claude"] {
            fs::create_dir(home.path().join(name))?;
        }
        // The location at which people and installers find it by name.
        #[cfg(unix)]
        std::os::unix::fs::symlink(&home.client, home.path().join("bin/claude"))?;
        // Without these answers, an interactive client asks about colours, the key and trust in the
        // folder.
        let answered = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [&KEY[KEY.len() - KEY_END..]], "rejected": [] },
            "projects": { home.work().to_string_lossy(): { "hasTrustDialogAccepted": true } },
        });
        fs::write(home.path().join(".claude.json"), answered.to_string())?;
        Ok(home)
    }

    /// Adds a variable to the environment of programs in this home.
    #[must_use]
    pub fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Returns the home directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the directory that the client works in.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Returns the client's own folder, with settings and transcripts.
    pub fn claude(&self) -> PathBuf {
        self.path().join(".claude")
    }

    /// Returns a command for a program in this home, with nothing of the caller's environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(self.work());
        command
    }

    /// Returns a command for the client in this home.
    pub fn client(&self, api: &MessagesApi) -> Command {
        let mut command = self.command(&self.client);
        command.envs(client_environment(api)).args(["--allowedTools", TOOLS]);
        command.args(["--permission-mode", "acceptEdits"]);
        command
    }

    /// Runs the client with one prompt to its end (`-p`), with verbose JSON output.
    ///
    /// # Errors
    /// Fails if the client cannot be started or hangs.
    pub fn ask(&self, api: &MessagesApi, prompt: &str, options: &[&str]) -> io::Result<Run> {
        let mut command = self.client(api);
        command.args(["--output-format", "stream-json", "--verbose"]).args(options);
        finish(command.args(["-p", prompt]))
    }

    /// Returns the environment of programs in this home.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("HOME", self.path().to_string_lossy().into_owned()),
            ("TMPDIR", self.path().join("tmp").to_string_lossy().into_owned()),
            ("PATH", format!("{}/bin:/usr/local/bin:/usr/bin:/bin", self.path().display())),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
        ];
        variables.extend(self.variables.iter().cloned());
        variables
    }
}

/// Returns the variables that direct the client to the scripted API and away from everything else.
fn client_environment(api: &MessagesApi) -> Vec<(&'static str, String)> {
    let on = |name| (name, "1".to_owned());
    vec![
        ("ANTHROPIC_BASE_URL", api.url()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
        on("DISABLE_AUTOUPDATER"),
        on("DISABLE_ERROR_REPORTING"),
        on("DISABLE_TELEMETRY"),
        // An error in the script stays an error.
        ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
    ]
}

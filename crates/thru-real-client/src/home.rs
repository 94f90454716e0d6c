//! A home of the client's own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::api::MessagesApi;
use crate::run::{Run, finish};

/// The key that the client sends; it has to look like one.
const KEY: &str = "sk-ant-api03-not-a-key";

/// Number of characters at the end of a key by which the client remembers it.
const KEY_END: usize = 20;

/// The tools that a script may call without the client asking a human.
const TOOLS: &str = "Bash,Read,Write,Edit,Agent";

/// A home directory in which the client was set up and has seen nothing yet. Gone when dropped.
pub struct SealedHome {
    folder: TempDir,
    client: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl SealedHome {
    /// Makes a home for the client at this path.
    ///
    /// # Errors
    /// Returns an error if the client or its home cannot be reached.
    pub fn new(client: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("client-").tempdir()?;
        let home = Self { client: client.canonicalize()?, folder, variables: Vec::new() };
        for name in ["work", "tmp", "bin", ".claude"] {
            fs::create_dir(home.path().join(name))?;
        }
        // Where people and installers find it by its name.
        #[cfg(unix)]
        std::os::unix::fs::symlink(&home.client, home.path().join("bin/claude"))?;
        // Else an interactive client asks about colours, the key, and whether it may trust the folder.
        let answered = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [&KEY[KEY.len() - KEY_END..]], "rejected": [] },
            "projects": { home.work().to_string_lossy(): { "hasTrustDialogAccepted": true } },
        });
        fs::write(home.path().join(".claude.json"), answered.to_string())?;
        Ok(home)
    }

    /// Adds a variable to what programs in this home have as environment.
    #[must_use]
    pub fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// The home directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The directory that the client works in.
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// The client's own folder, with settings and transcripts.
    pub fn claude(&self) -> PathBuf {
        self.path().join(".claude")
    }

    /// A program in this home, with nothing of ours in its environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(self.work());
        command
    }

    /// The client in this home.
    pub fn client(&self, api: &MessagesApi) -> Command {
        let mut command = self.command(&self.client);
        command.envs(client_environment(api)).args(["--allowedTools", TOOLS]);
        command.args(["--permission-mode", "acceptEdits"]);
        command
    }

    /// Runs the client with one prompt to its end (`-p`), which prints its events.
    ///
    /// # Errors
    /// Returns an error if the client cannot be started or hangs.
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

/// Leads the client to the scripted API and away from everything else.
fn client_environment(api: &MessagesApi) -> Vec<(&'static str, String)> {
    let on = |name| (name, "1".to_owned());
    vec![
        ("ANTHROPIC_BASE_URL", api.url()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
        on("DISABLE_AUTOUPDATER"),
        on("DISABLE_ERROR_REPORTING"),
        on("DISABLE_TELEMETRY"),
        // What the script refuses stays refused.
        ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
    ]
}

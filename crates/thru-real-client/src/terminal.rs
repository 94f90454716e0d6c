//! The client as a person uses it: in a terminal, which tmux provides.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::api::MessagesApi;
use crate::codex::SealedCodex;
use crate::home::SealedHome;

/// The time to wait for something to appear. Far more than needed, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The interval at which the screen is checked.
const LOOK: Duration = Duration::from_millis(50);

/// The pause before Enter. The client treats fast input as a paste, in which Enter is a line break.
const PAUSE: Duration = Duration::from_millis(300);

/// A terminal that runs the client, in a tmux server of its own. The server ends when this is dropped.
pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// True if tmux is installed.
    pub fn is_possible() -> bool {
        let mut command = Command::new("tmux");
        command.arg("-V").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Starts Claude Code and waits for its prompt.
    ///
    /// # Errors
    /// Fails if tmux cannot run the client, or the prompt does not appear.
    pub fn start(home: &SealedHome, api: &MessagesApi, options: &[&str]) -> io::Result<Self> {
        let mut client = home.client(api);
        client.args(options);
        let terminal = Self::run(&client, &home.work(), home.path().join("tmux"))?;
        terminal.wait_for("❯")?;
        Ok(terminal)
    }

    /// Starts Codex and returns at once, as it begins with questions.
    ///
    /// # Errors
    /// Fails if tmux cannot run the client.
    pub fn start_codex(home: &SealedCodex, options: &[&str]) -> io::Result<Self> {
        let mut client = home.client();
        client.args(options);
        Self::run(&client, &home.work(), home.path().join("tmux"))
    }

    fn run(client: &Command, work: &Path, socket: PathBuf) -> io::Result<Self> {
        let terminal = Self { socket };
        // tmux passes on its own environment, so the client's is given as arguments of `env`.
        let mut command =
            terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "60"]);
        command.arg("-c").arg(work).args(["env", "-i"]);
        for (name, value) in client.get_envs() {
            let value = value.unwrap_or_default().to_string_lossy();
            command.arg(format!("{}={value}", name.to_string_lossy()));
        }
        command.arg(client.get_program()).args(client.get_args());
        run(&mut command)?;
        Ok(terminal)
    }

    /// Types a line and sends it.
    ///
    /// # Errors
    /// Fails if the client is gone, or the line does not appear.
    pub fn enter(&self, line: &str) -> io::Result<()> {
        run(self.tmux(&["send-keys", "-l", "--"]).arg(line))?;
        self.wait_for(line)?;
        thread::sleep(PAUSE);
        self.press("Enter")
    }

    /// Presses a key, by tmux's name for it.
    ///
    /// # Errors
    /// Fails if the client is gone.
    pub fn press(&self, key: &str) -> io::Result<()> {
        run(self.tmux(&["send-keys"]).arg(key)).map(|_| ())
    }

    /// Returns the text on the screen.
    ///
    /// # Errors
    /// Fails if the client is gone.
    pub fn screen(&self) -> io::Result<String> {
        run(&mut self.tmux(&["capture-pane", "-p"]))
    }

    /// Waits until a text is on the screen, and returns the screen.
    ///
    /// # Errors
    /// Fails if the client is gone, or the text does not appear.
    pub fn wait_for(&self, text: &str) -> io::Result<String> {
        let started = Instant::now();
        loop {
            let screen = self.screen()?;
            if screen.contains(text) {
                return Ok(screen);
            }
            if started.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("no {text:?} on the screen:\n{screen}")));
            }
            thread::sleep(LOOK);
        }
    }

    /// Waits until the client has ended.
    ///
    /// # Errors
    /// Fails if the client is still running after the time limit.
    pub fn wait_for_end(&self) -> io::Result<()> {
        let started = Instant::now();
        while let Ok(screen) = self.screen() {
            if started.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("the client does not end:\n{screen}")));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(arguments).env_remove("TMUX");
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        _ = run(&mut self.tmux(&["kill-server"]));
    }
}

fn run(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("tmux: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

//! A home of one test, sealed: nothing of the machine's own is seen or touched.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;

use crate::records::{ONE, TWO, conversation, file, orchard, prompt_of};

/// Gone when dropped.
pub(crate) struct Home {
    folder: TempDir,
}

/// What a run printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        // As the program does: only the owner may read what it creates.
        #[cfg(unix)]
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let folder = tempfile::tempdir().unwrap();
        for name in ["user", "work", "tmp", "claude"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// A home whose agent left two sessions in two projects, and a prompt of a third.
    pub(crate) fn with_history() -> Self {
        let home = Self::new();
        home.write(&file(ONE), conversation(ONE).text());
        home.write(&file(TWO), orchard().text());
        home.write(
            "history.jsonl",
            prompt_of(
                "33333333-cccc-4ccc-8ccc-000000000003",
                1_772_442_000_000,
                "Which pears ripen in September?",
            ),
        );
        home
    }

    /// The same, imported.
    pub(crate) fn imported() -> Self {
        let home = Self::with_history();
        home.thru(&["import"]).expect(0);
        home
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn claude(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    /// Writes a file of the agent.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.claude().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The program, in this home, with nothing of ours in its environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thru"));
        command
            .env_clear()
            .env("HOME", self.folder().join("user"))
            .env("THROUGHLINE_HOME", self.data())
            .env("CLAUDE_CONFIG_DIR", self.claude())
            .env("TMPDIR", self.folder().join("tmp"))
            .env("TZ", "UTC")
            .env("THROUGHLINE_DAEMON", "off")
            .current_dir(self.folder().join("work"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command in this process, with nothing of the machine's own.
    pub(crate) fn thru(&self, arguments: &[&str]) -> Ran {
        self.run_in(&self.folder().join("work"), None, &[], arguments)
    }

    /// The same on a terminal of so many columns.
    pub(crate) fn thru_at(&self, columns: usize, arguments: &[&str]) -> Ran {
        self.run_in(&self.project(), Some(columns), &[], arguments)
    }

    /// The same where colour is not wanted.
    pub(crate) fn thru_without_colour(&self, columns: usize, arguments: &[&str]) -> Ran {
        self.run_in(&self.project(), Some(columns), &[("NO_COLOR", "1")], arguments)
    }

    fn run_in(
        &self,
        directory: &Path,
        columns: Option<usize>,
        more: &[(&str, &str)],
        arguments: &[&str],
    ) -> Ran {
        let variables = [
            ("HOME", self.folder().join("user")),
            ("THROUGHLINE_HOME", self.data()),
            ("CLAUDE_CONFIG_DIR", self.claude()),
            ("TMPDIR", self.folder().join("tmp")),
            ("TZ", PathBuf::from("UTC")),
            ("THROUGHLINE_DAEMON", PathBuf::from("off")),
        ];
        let process = thru::Process {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .chain(more.iter().map(|(name, value)| (name.into(), value.into())))
                .collect(),
            directory: Some(directory.to_owned()),
            program: Some(PathBuf::from(env!("CARGO_BIN_EXE_thru"))),
            home: Some(self.folder().join("user")),
            temp_dir: self.folder().join("tmp"),
            ends_after: false,
        };
        let (output, errors) = (Buffer::default(), Buffer::default());
        let streams = thru::Streams::new(std::io::empty(), output.clone(), errors.clone());
        let none = thru::Terminal::none(&process);
        let terminal = match columns {
            // A page that is longer than the terminal would go to a pager.
            Some(width) => {
                thru::Terminal { output: true, errors: true, width, height: usize::MAX, ..none }
            }
            None => none,
        };
        let words = arguments.iter().map(std::ffi::OsString::from);
        let code = thru::run(words, &process, terminal, streams);
        Ran { code: code.into(), stdout: output.text(), stderr: errors.text() }
    }

    /// What a command prints, for a snapshot.
    pub(crate) fn shown(&self, arguments: &[&str]) -> String {
        self.thru(arguments).shown()
    }

    /// The answer of a command as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.thru(arguments);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.shown()))
    }

    /// The full id of the first passage that a search finds.
    pub(crate) fn id_of(&self, query: &str) -> String {
        let found = self.json(&["search", "--all", "--json", query]);
        found["sessions"][0]["passages"][0]["full_id"].as_str().unwrap().to_owned()
    }

    /// The directory of a project that is on this disk.
    pub(crate) fn project(&self) -> PathBuf {
        let project = self.folder().join("work/rocket");
        fs::create_dir_all(&project).unwrap();
        project
    }

    /// The program, run in that project.
    pub(crate) fn inside(&self, arguments: &[&str]) -> Ran {
        self.run_in(&self.project(), None, &[], arguments)
    }

    /// As [`Self::thru`], in any directory.
    pub(crate) fn run_inside(&self, directory: &Path, arguments: &[&str]) -> Ran {
        self.run_in(directory, None, &[], arguments)
    }

    /// Tells something and says its id, which follows from the time.
    pub(crate) fn tell(&self, arguments: &[&str]) -> String {
        let told = self.inside(&[&["remember", "--json"], arguments].concat()).expect(0);
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        told["full_id"].as_str().unwrap().to_owned()
    }

    /// The full id of the memory of this type that answers a query best.
    pub(crate) fn memory_of(&self, kind: &str, query: &str) -> String {
        let found = self.json(&["search", "--all", "--json", "--type", kind, query]);
        found["memories"][0]["full_id"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned()
    }

    /// As [`Home::settings`]; besides, it hides what follows from the time or from the length of paths:
    /// these ids, those of decisions, today's date, costs.
    pub(crate) fn settings_of_today(
        &self,
        ids: &[(&str, &str)],
    ) -> insta::internals::SettingsBindDropGuard {
        let mut settings = self.filters();
        for (name, id) in ids {
            settings.add_filter(&format!(r"\b{}[0-9a-z]*", &id[..5]), format!("[{name}]"));
        }
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();
        // A test may run over midnight.
        for days in [0, 1] {
            let day = std::time::UNIX_EPOCH + now + std::time::Duration::from_hours(24 * days);
            let day = thru_core::Timestamp::try_from(day).unwrap().strftime("%Y-%m-%d");
            settings.add_filter(&day.to_string(), "[today]");
        }
        settings.add_filter(r"\[today\]T[0-9:.]+Z", "[now]");
        settings.add_filter(r"\[today\] \d\d:\d\d", "[today]");
        settings.add_filter(r"(\[[\w-]+\]  )\d\d:\d\d", "${1}[time]");
        settings.add_filter(r"\b[0-9a-z]{6}(  \[today\])", "[op]$1");
        settings.add_filter(r"(thru undo|undid) [0-9a-z]{6}\b", "$1 [op]");
        settings.add_filter(r"~[0-9.]+k?t( of [0-9.]+k?)?", "[cost]");
        // What was told a moment ago is older where the machine is slow.
        settings.add_filter(r"(?m)  now$", "  [age] ");
        settings.bind_to_scope()
    }

    /// Replaces what differs from run to run.
    pub(crate) fn settings(&self) -> insta::internals::SettingsBindDropGuard {
        self.filters().bind_to_scope()
    }

    /// The filters of [`Home::settings`], to add more to.
    pub(crate) fn filters(&self) -> insta::Settings {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(&regex_of(self.folder()), "[folder]");
        settings.add_filter(r"\b\d+ (min|h|days?|weeks?|months?|years?)\b *", "[age] ");
        settings.add_filter(r"in \d+\.\d s", "in [time]");
        settings.add_filter(r"in \d+ ms", "in [time]");
        settings.add_filter(
            r#""(seconds|archive|distil|index|parse|read|redact|store)": [0-9.e-]+"#,
            r#""$1": "[time]""#,
        );
        settings.add_filter(r"\b\d+(\.\d+)? (TB|GB|kB|MB|B)\b", "[size]");
        settings
    }
}

fn regex_of(path: &Path) -> String {
    path.to_str().unwrap().replace('.', "\\.")
}

impl Ran {
    /// Fails unless the program ended so.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.shown());
        self
    }

    pub(crate) fn shown(&self) -> String {
        let mut shown = self.stdout.clone();
        if !self.stderr.is_empty() {
            shown.push_str("-- stderr --\n");
            shown.push_str(&self.stderr);
        }
        if self.code != 0 {
            shown.push_str(&format!("-- exit {} --\n", self.code));
        }
        shown
    }
}

/// What a run wrote to a stream.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

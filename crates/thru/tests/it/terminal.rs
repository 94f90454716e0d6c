//! `thru ui` in a real terminal: one that tmux makes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::records::{Author, ONE, file};

/// A tmux server of one test, ended when dropped.
struct Tmux<'h> {
    home: &'h Home,
}

impl<'h> Tmux<'h> {
    /// Starts the program in a terminal of 80×24; `None` where there is no tmux.
    fn start(home: &'h Home, line: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: there is no tmux");
            return None;
        }
        let program = home.command().get_program().to_str()?.to_owned();
        // `cat` keeps the terminal open, so that the end can be seen; the file can be seen without one.
        let script = format!(
            "trap : HUP; {}; echo \"left with $?\" | tee left; cat",
            line.replacen("thru ", &format!("{program} "), 1)
        );
        let tmux = Self { home };
        let mut command = tmux.command();
        command.args(["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24"]);
        assert!(command.arg(script).status().unwrap().success());
        Some(tmux)
    }

    fn command(&self) -> Command {
        let sealed = self.home.command();
        let mut command = Command::new("tmux");
        command.env_clear();
        for (name, value) in sealed.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        command
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(sealed.get_current_dir().unwrap())
            .arg("-u")
            .arg("-S")
            .arg(self.home.folder().join("tmux"));
        command
    }

    fn send(&self, keys: &[&str]) {
        assert!(self.command().arg("send-keys").args(keys).status().unwrap().success());
    }

    fn resize(&self, columns: &str, lines: &str) {
        let arguments = ["resize-window", "-x", columns, "-y", lines];
        assert!(self.command().args(arguments).status().unwrap().success());
    }

    fn screen(&self) -> String {
        let output = self.command().args(["capture-pane", "-p"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    fn shows(&self, text: &str) {
        let begun = Instant::now();
        while !self.screen().contains(text) {
            assert!(begun.elapsed() < Duration::from_secs(60), "no `{text}`:\n{}", self.screen());
            sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status();
    }
}

#[test]
fn the_terminal_ui_searches_reads_and_leaves_the_terminal_as_it_was() {
    let home = Home::imported();
    let Some(tmux) = Tmux::start(&home, "thru ui --all") else { return };
    tmux.shows("Esc leave");
    tmux.send(&["importer lock"]);
    tmux.shows("> importer lock");
    tmux.shows("agent");
    tmux.send(&["Tab"]);
    tmux.shows("memories · every project");
    tmux.send(&["Tab"]);
    tmux.shows("sessions · every project");
    tmux.send(&["Enter"]);
    tmux.shows("1. You");
    tmux.shows(&ONE[..8]);
    tmux.resize("20", "5");
    tmux.shows("Esc back");
    tmux.resize("80", "24");
    tmux.shows("f forget");
    tmux.send(&["Escape"]);
    tmux.shows("Enter read");
    tmux.send(&["C-c"]);
    tmux.shows("left with 0");
    assert!(!tmux.screen().contains("Enter read"), "{}", tmux.screen());
}

#[test]
fn a_memory_is_edited_in_the_users_editor_and_a_session_resumed() {
    let home = Home::new();
    let project = home.project();
    let mut author = Author::of(ONE).in_directory(project.to_str().unwrap());
    author.asks("Fix the lock.").says("It is fixed.");
    home.write(&file(ONE), author.text());
    home.thru(&["import"]).expect(0);
    home.inside(&["remember", "Use pnpm, not npm"]).expect(0);
    // Stands for the agent: a real one would ask its provider.
    let agent = home.folder().join("tmp/claude");
    fs::write(&agent, "#!/bin/sh\necho \"$PWD: $*\"\n").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o700)).unwrap();
    let line = "PATH=$TMPDIR:$PATH EDITOR='sed -i 1s/not/never/' thru search --all -i pnpm";
    let Some(tmux) = Tmux::start(&home, line) else { return };
    tmux.shows("decision");
    tmux.send(&["Enter", "e"]);
    tmux.shows("Changed.");
    tmux.shows("Use pnpm, never npm");
    tmux.send(&["Escape"]);
    tmux.shows("Enter read");
    tmux.send(&["C-u"]);
    tmux.send(&["fix the lock"]);
    tmux.send(&["Tab", "Tab"]);
    tmux.shows("sessions · every project");
    tmux.send(&["Enter"]);
    tmux.shows("1. You");
    tmux.send(&["r"]);
    tmux.shows("left with 0");
    let said = tmux.screen().replace('\n', "");
    assert!(said.contains(&format!("rocket: --resume {ONE}")), "{said}");
}

#[test]
fn a_no_changes_nothing_and_exits_with_1() {
    let home = Home::imported();
    let vault = home.folder().join("vault");
    home.thru(&["vault", "init", vault.to_str().unwrap()]).expect(0);
    let Some(tmux) = Tmux::start(&home, "thru vault detach") else { return };
    tmux.shows("never write them again?");
    tmux.send(&["n", "Enter"]);
    tmux.shows("Nothing was changed.");
    tmux.shows("left with 1");
}

#[test]
fn the_terminal_ui_ends_with_its_terminal() {
    let home = Home::imported();
    let Some(tmux) = Tmux::start(&home, "thru ui --all") else { return };
    tmux.shows("Esc leave");
    drop(tmux);
    let told = home.command().get_current_dir().unwrap().join("left");
    let begun = Instant::now();
    while !told.is_file() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it goes on without a terminal");
        sleep(Duration::from_millis(30));
    }
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let ran = Home::imported().thru(&["search", "--interactive", "lock"]).expect(2);
    assert!(ran.stderr.contains("needs a terminal"), "{}", ran.stderr);
}

//! `thru ui` in a real terminal: one that tmux makes.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::records::ONE;

/// A tmux server of one test, ended when dropped.
struct Tmux<'h> {
    home: &'h Home,
}

impl<'h> Tmux<'h> {
    /// Starts the program in a terminal of this size; `None` where there is no tmux.
    fn start(home: &'h Home, size: [&str; 2], arguments: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: there is no tmux");
            return None;
        }
        let program = home.command().get_program().to_str()?.to_owned();
        // What is left of the program's work, so that its end can be seen.
        let script = format!("{program} {arguments}; echo \"left with $?\"; cat");
        let tmux = Self { home };
        let mut command = tmux.command();
        command.args(["-f", "/dev/null", "new-session", "-d", "-x", size[0], "-y", size[1]]);
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
    let Some(tmux) = Tmux::start(&home, ["80", "24"], "ui --all") else { return };
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
    tmux.command().args(["resize-window", "-x", "20", "-y", "5"]).status().unwrap();
    tmux.shows("Esc back");
    tmux.command().args(["resize-window", "-x", "80", "-y", "24"]).status().unwrap();
    tmux.shows("f forget");
    tmux.send(&["Escape"]);
    tmux.shows("Enter read");
    tmux.send(&["C-c"]);
    tmux.shows("left with 0");
    assert!(!tmux.screen().contains("Enter read"), "{}", tmux.screen());
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let ran = Home::imported().thru(&["search", "--interactive", "lock"]).expect(2);
    assert!(ran.stderr.contains("needs a terminal"), "{}", ran.stderr);
}

//! `thru self`: this copy of the program, the way it was installed, and the way to update it.

use std::path::Path;

use thru_app::Result;

use crate::environment::Environment;
use crate::ui::{Outcome, Tone};

/// Shows the version of this copy and where it came from. Nothing is downloaded and nothing is asked for on
/// the network.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru self              version, place and origin of this copy\n  \
    thru self update       how to update it\n  \
    thru self changelog    what changed from version to version")]
pub(crate) struct OwnCopyArguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say how this copy was installed, and how to update it; does neither
    Update,
    /// Print the changelog
    Changelog,
}

/// The changes from version to version.
const CHANGELOG: &str = include_str!("../../../../CHANGELOG.md");

/// The file beside the settings in which an install script notes itself and the program that it installed.
const NOTE: &str = "installed-by";

pub(crate) fn run(arguments: &OwnCopyArguments, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    let program = environment.machine.program.as_deref().map(|program| {
        // Links of package managers lead to where the program lies.
        program.canonicalize().unwrap_or_else(|_| program.to_owned())
    });
    let note = environment.config_file.with_file_name(NOTE);
    let note = std::fs::read_to_string(note).unwrap_or_default();
    let origin = program.as_deref().map_or(Origin::Unknown, |program| Origin::find(program, &note));
    match arguments.command {
        Some(Command::Changelog) => CHANGELOG.lines().for_each(|line| page.line(line)),
        Some(Command::Update) => {
            page.line(format!("This copy was {}.", origin.described()));
            page.line(format!("To update it: {}", page.paint(Tone::Id, origin.update())));
        }
        None => {
            let system = format!("{} on {}", std::env::consts::ARCH, std::env::consts::OS);
            let place =
                program.map_or_else(|| "unknown".to_owned(), |path| environment.shown(&path));
            for (name, text) in [
                ("version", env!("CARGO_PKG_VERSION")),
                ("system", &system),
                ("program", &place),
                ("origin", origin.described()),
                ("update", origin.update()),
            ] {
                page.line(format!("{}{text}", page.paint(Tone::Quiet, &format!("{name:9}"))));
            }
        }
    }
    page.print()
}

/// The way in which a program was installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Script,
    PowerShell,
    Cargo,
    Build,
    Homebrew,
    Npm,
    Winget,
    System,
    Unknown,
}

impl Origin {
    /// Returns the origin of a program, given the note of an install script.
    fn find(program: &Path, note: &str) -> Self {
        let path = program.to_string_lossy().replace('\\', "/");
        let has = |part: &str| path.contains(part);
        let noted = note.trim().split_once(' ').filter(|(_, noted)| Path::new(noted) == program);
        match noted {
            Some(("install.sh", _)) => return Self::Script,
            Some(("install.ps1", _)) => return Self::PowerShell,
            _ => {}
        }
        if has("/node_modules/") {
            Self::Npm
        } else if has("/Cellar/") || has("/homebrew/") || has("/.linuxbrew/") {
            Self::Homebrew
        } else if has("/WinGet/") {
            Self::Winget
        } else if has("/.cargo/bin/") {
            Self::Cargo
        } else if has("/target/") {
            Self::Build
        } else if path.starts_with("/usr/bin/") {
            Self::System
        } else {
            Self::Unknown
        }
    }

    const fn described(self) -> &'static str {
        match self {
            Self::Script => "installed by install.sh",
            Self::PowerShell => "installed by install.ps1",
            Self::Cargo => "installed by cargo",
            Self::Build => "built in a source tree",
            Self::Homebrew => "installed by Homebrew",
            Self::Npm => "installed by npm",
            Self::Winget => "installed by winget",
            Self::System => "installed by the system's package manager",
            Self::Unknown => "installed by hand",
        }
    }

    const fn update(self) -> &'static str {
        match self {
            Self::Script => "run install.sh of the new release again",
            Self::PowerShell => "run install.ps1 of the new release again",
            Self::Cargo => "git pull && cargo install --path crates/thru --locked",
            Self::Build => "git pull && cargo build --release -p thru",
            Self::Homebrew => "brew upgrade thru",
            Self::Npm => "npm install -g @throughline/thru@latest",
            Self::Winget => "winget upgrade Throughline.Throughline",
            Self::System => "use the system's package manager",
            Self::Unknown => "replace it with the program of the new release",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_its_place_or_by_the_note_of_its_script() {
        let find = |path: &str, note: &str| Origin::find(Path::new(path), note);
        let script = "install.sh /home/ada/.local/bin/thru\n";
        assert_eq!(find("/home/ada/.local/bin/thru", script), Origin::Script);
        assert_eq!(find("/home/ada/bin/thru", script), Origin::Unknown, "that is another copy");
        for (path, origin) in [
            ("/home/ada/.cargo/bin/thru", Origin::Cargo),
            ("/opt/homebrew/Cellar/thru/0.1.0/bin/thru", Origin::Homebrew),
            ("/usr/lib/node_modules/@throughline/linux-x64/bin/thru", Origin::Npm),
            (r"C:\Users\ada\AppData\Local\Microsoft\WinGet\Packages\thru.exe", Origin::Winget),
            ("/home/ada/throughline/target/release/thru", Origin::Build),
            ("/usr/bin/thru", Origin::System),
        ] {
            assert_eq!(find(path, ""), origin, "{path}");
        }
    }
}

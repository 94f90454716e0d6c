//! `thru daemon install`: has the user's service manager look after the daemon. It only writes a file;
//! to enable it is the user's own decision.

use std::path::PathBuf;

use thru_app::ingest::reading;
use thru_app::machine::{SERVICE_LABEL, SERVICE_UNIT};
use thru_app::{Context, Result, Trouble};
use thru_daemon::{MEMORY, launchd_agent, systemd_unit};

use crate::environment::Environment;
use crate::ui::Outcome;

pub(super) fn install(print: bool, environment: &Environment) -> Result<Outcome> {
    let Some(program) = &environment.machine.program else {
        return Err(Trouble::failed("the system does not report the path of this program")
            .advise("run it by its path"));
    };
    let mut variables = environment.machine.locations_set();
    variables.extend(MEMORY.map(|(name, value)| (name, value.to_owned())));
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let text = match cfg!(target_os = "macos") {
        true => launchd_agent(SERVICE_LABEL, program, &variables),
        false => systemd_unit(program, &variables),
    };
    let mut page = environment.page();
    if print {
        page.verbatim(text.trim_end());
        return page.print();
    }
    // It was asked for.
    reading::resume_all(&environment.layout)?;
    let file = file(environment)?;
    let folder = file.parent().unwrap_or(&file);
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    std::fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
    page.line(format!("Written: {}", environment.shown(&file)));
    page.line("It is not enabled. To have it started now and whenever you log in:");
    page.gap();
    page.line(match cfg!(target_os = "macos") {
        true => {
            format!("  thru daemon stop; launchctl bootstrap gui/$(id -u) '{}'", file.display())
        }
        false => {
            format!(
                "  systemctl --user daemon-reload && systemctl --user enable --now {SERVICE_UNIT}"
            )
        }
    });
    page.print()
}

pub(super) fn uninstall(environment: &Environment) -> Result<Outcome> {
    let file = file(environment)?;
    let mut page = environment.page();
    let outcome = match std::fs::remove_file(&file) {
        Ok(()) => {
            page.line(format!("Removed: {}", environment.shown(&file)));
            page.line("Where it was enabled, this takes it out of the service manager:");
            page.gap();
            page.line(match cfg!(target_os = "macos") {
                true => format!("  launchctl bootout gui/$(id -u)/{SERVICE_LABEL}"),
                false => format!("  systemctl --user disable --now {SERVICE_UNIT}"),
            });
            Outcome::Done
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            page.line("Nothing was installed.");
            Outcome::Nothing
        }
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be removed", file.display()));
        }
    };
    page.end(outcome)
}

fn file(environment: &Environment) -> Result<PathBuf> {
    environment.machine.service_file().ok_or_else(|| {
        Trouble::failed("this system has no service manager that Throughline supports")
            .advise("hooks start the daemon where it is needed; nothing has to be installed")
    })
}

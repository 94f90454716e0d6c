//! Repairs that are safe without asking: nothing that is kept changes.

use crate::{Call, Patience};
use std::path::Path;
use std::time::Duration;

use crate::{Context, Result};

use thru_agents::setup::{HookOwner, Scope};

use super::files;
use super::finding::{Finding, Mend};
use super::seen::hooks_found;
use crate::App;
use crate::setup::{Setup, Targets, prepare};
use crate::words::plural;

/// Time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes every repair that findings name, and returns a line for each.
///
/// # Errors
/// Returns an error if a file cannot be changed.
pub fn mend(findings: &[Finding], app: &App) -> Result<Vec<String>> {
    let mut done = Vec::new();
    for finding in findings {
        match finding.mend {
            None => {}
            Some(Mend::Modes) => done.push(take_modes_away(app)?),
            Some(Mend::Leftovers) => done.push(remove_leftovers(app)?),
            Some(Mend::Hooks) => done.extend(write_hooks_again(app)?),
        }
    }
    Ok(done)
}

fn take_modes_away(app: &App) -> Result<String> {
    let open = files::open_to_others(app.layout.root());
    for path in &open {
        make_private(path).with_context(|| format!("{} stays as it is", path.display()))?;
    }
    let folders = open.iter().filter(|path| path.is_dir()).count();
    let counts = [(folders, "folder"), (open.len() - folders, "file")];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts.map(|(number, noun)| plural(number as u64, noun)).collect();
    Ok(format!("removed the permissions of other users from {}", counts.join(" and ")))
}

#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

fn remove_leftovers(app: &App) -> Result<String> {
    // A rebuild or upgrade holds the lock: with it, nothing is at work on them.
    let intake = app.intake()?;
    let _lock = Call::unattended(Patience::Within(PATIENCE)).lock(&intake)?;
    let found = files::left_behind(app.layout.root(), app.clock.now().into());
    for path in &found {
        thru_journal::files::remove(path)?;
    }
    Ok(format!("removed {} that stopped processes left", plural(found.len() as u64, "file")))
}

/// Writes our hooks again wherever there are any.
fn write_hooks_again(app: &App) -> Result<Vec<String>> {
    let found = hooks_found(app);
    let mut done = Vec::new();
    for (scope, places) in [
        (Scope::User, &[HookOwner::User, HookOwner::Plugin][..]),
        (Scope::Project, &[HookOwner::ProjectLocal]),
    ] {
        if !found.iter().any(|hook| places.contains(&hook.owner)) {
            continue;
        }
        let request = Setup {
            scope,
            form: None,
            wanted: None,
            allow_tools: false,
            targets: Targets::Connected,
        };
        for mut prepared in prepare(app, request)? {
            prepared.changes.make(app)?;
            for (change, _) in prepared.changes.made() {
                done.push(format!("wrote {} again", app.shown(&change.path)));
            }
        }
    }
    Ok(done)
}

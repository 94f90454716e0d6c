//! What `thru doctor --fix` does. Only what is safe without asking: nothing that is kept changes.

use std::path::Path;
use std::time::Duration;
use thru_app::{Call, Patience};

use thru_app::{Context, Result};

use thru_agents::claude_code::install::Place;

use super::{Finding, Mend, files, hooks};
use crate::commands::install;
use crate::installing::Scope;
use crate::ui::plural;
use thru_app::App;

/// The time that mending waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Mends what can be mended, and says what was done, a line each.
pub(crate) fn mend(findings: &[Finding], environment: &App) -> Result<Vec<String>> {
    let mut done = Vec::new();
    for finding in findings {
        match finding.mend {
            None => {}
            Some(Mend::Modes) => done.push(take_modes_away(environment)?),
            Some(Mend::Leftovers) => done.push(remove_leftovers(environment)?),
            Some(Mend::Hooks) => done.extend(write_hooks_again(environment)?),
        }
    }
    Ok(done)
}

fn take_modes_away(environment: &App) -> Result<String> {
    let open = files::open_to_others(environment.layout.root());
    for path in &open {
        make_private(path).with_context(|| format!("{} stays as it is", path.display()))?;
    }
    Ok(format!("took the permissions of others from {}", plural(open.len() as u64, "file")))
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

fn remove_leftovers(environment: &App) -> Result<String> {
    // Whoever rebuilds or upgrades holds the lock: with it, nobody is at work on them.
    let intake = environment.intake()?;
    let _lock = Call::unattended(Patience::Within(PATIENCE)).lock(&intake)?;
    let found = files::left_behind(environment.layout.root(), environment.clock.now().into());
    for path in &found {
        thru_journal::files::remove(path)?;
    }
    Ok(format!("removed {} that stopped processes left", plural(found.len() as u64, "file")))
}

/// The installer's merge, run again wherever there are hooks of ours: it replaces those and leaves the
/// hooks of others alone.
fn write_hooks_again(environment: &App) -> Result<Vec<String>> {
    let found = hooks::found(environment);
    let mut done = Vec::new();
    for (scope, places) in
        [(Scope::User, &[Place::User, Place::Plugin][..]), (Scope::Project, &[Place::ProjectLocal])]
    {
        if !found.iter().any(|hook| places.contains(&hook.place)) {
            continue;
        }
        let prepared = install::prepare(environment, scope, None, None)?;
        for (change, _) in prepared.plan.apply()? {
            done.push(format!("wrote the hooks in {} again", environment.shown(&change.path)));
        }
    }
    Ok(done)
}

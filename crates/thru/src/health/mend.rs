//! What `thru doctor --fix` does. Only what is safe without asking: nothing that is kept changes.

use std::path::Path;

use anyhow::{Context, Result};

use super::{Finding, Mend, files};
use crate::commands::shared;
use crate::environment::Environment;
use crate::ui::plural;

/// Mends what can be mended, and says what was done, a line each.
pub(crate) fn mend(findings: &[Finding], environment: &Environment) -> Result<Vec<String>> {
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

fn take_modes_away(environment: &Environment) -> Result<String> {
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

fn remove_leftovers(environment: &Environment) -> Result<String> {
    // Whoever rebuilds or upgrades holds the lock: with it, nobody is at work on them.
    let intake = environment.intake()?;
    let _lock = shared::lock(&intake)?;
    let found = files::left_behind(environment.layout.root(), environment.clock.now().into());
    for path in &found {
        thru_journal::files::remove(path)?;
    }
    Ok(format!("removed {} that stopped processes left", plural(found.len() as u64, "file")))
}

/// The installer's merge, run again: it replaces hooks of ours and leaves those of others alone.
/// Nothing where that is left to `thru install`.
fn write_hooks_again(_environment: &Environment) -> Result<Option<String>> {
    Ok(None)
}

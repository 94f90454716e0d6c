//! The data directory as a folder: who may read it, what was left behind, how full the disk is.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use thru_core::Layout;

use super::finding::{Finding, Mend};
use super::seen::Seen;
use crate::words::{plural, size};

/// Whatever is younger may still be written.
const STILL_WRITTEN: Duration = Duration::from_hours(1);

/// Shows a folder, and every file and folder below it, with what is known of it. Links are neither
/// shown nor followed.
pub(super) fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, &Metadata)) {
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_symlink() {
            continue;
        }
        visit(&path, &metadata);
        if metadata.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            pending.extend(entries.map(|entry| entry.path()));
        }
    }
}

/// Files and folders of ours that others may read or write.
pub(super) fn open_to_others(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    #[cfg(unix)]
    walk(root, &mut |path, metadata| {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o077 != 0 {
            found.push(path.to_owned());
        }
    });
    #[cfg(not(unix))]
    let _ = root;
    found.sort();
    found
}

/// A home or settings of another user, or that others may write: nothing but this examination uses them.
pub(super) fn owner(seen: &Seen<'_>) -> Option<Finding> {
    let trouble = seen.app.refuse_foreign().err()?;
    let line = format!("{trouble:#}: hooks and commands refuse it");
    Some(Finding::problem("owner", line, crate::owner::TAKE_OVER))
}

/// Files that other users may read.
pub(super) fn permissions(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "permissions";
    let root = seen.app.layout.root();
    let open = open_to_others(root);
    let remedy = "`thru doctor --fix` removes the permissions of other users";
    match open.first() {
        None => Finding::ok(CHECK, "only you can read the files"),
        Some(first) if first == root => Finding::problem(
            CHECK,
            format!("other users of this machine can read {}", seen.shown(root)),
            remedy,
        )
        .mended_by(Mend::Modes),
        Some(first) => Finding::note(
            CHECK,
            format!(
                "{} would be readable by others if the data directory were, such as {}",
                plural(open.len() as u64, "file"),
                seen.shown(first)
            ),
            remedy,
        )
        .mended_by(Mend::Modes),
    }
}

/// Returns the half-written files of killed processes: replacements that never took their place, an unfinished
/// rebuild, half a copy from before an upgrade.
pub(super) fn left_behind(root: &Path, now: SystemTime) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(root, &mut |path, metadata| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_leftover = name.contains(".tmp-")
            || name.starts_with("memory.rebuild.db")
            || (name.starts_with("memory.before-v") && name.ends_with(".partial"));
        let age = metadata.modified().ok().and_then(|time| now.duration_since(time).ok());
        if metadata.is_file() && is_leftover && age.is_some_and(|age| age > STILL_WRITTEN) {
            found.push(path.to_owned());
        }
    });
    found.sort();
    found
}

/// Half-written files.
pub(super) fn leftovers(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "leftovers";
    let now = seen.app.clock.now().into();
    let found = left_behind(seen.app.layout.root(), now);
    match found.first() {
        None => Finding::ok(CHECK, "none"),
        Some(first) => Finding::note(
            CHECK,
            format!(
                "{} of processes that were stopped, such as {}",
                plural(found.len() as u64, "file"),
                seen.shown(first)
            ),
            "never read; `thru doctor --fix` removes them",
        )
        .mended_by(Mend::Leftovers),
    }
}

/// Bytes below which a disk counts as full: a store is not written to the last of them.
const SCARCELY_ANY: u64 = 100_000_000;

/// Returns the bytes that are left on the disk of our data, if there are hardly any.
pub fn last_space(layout: &Layout) -> Option<u64> {
    free_space(layout.root()).filter(|free| *free < SCARCELY_ANY)
}

/// Space taken and free on the disk.
pub(super) fn disk(seen: &Seen<'_>) -> Finding {
    /// Bytes that an import of some sessions, or the upgrade of a small store, may take.
    const SCARCE: u64 = 1_000_000_000;
    const CHECK: &str = "disk";
    let sizes = super::sizes(&seen.app.layout);
    let mut line = format!(
        "{} in {} (archive {}, store {}, index {}, journal {})",
        size(sizes.all),
        seen.shown(seen.app.layout.root()),
        size(sizes.archive),
        size(sizes.store),
        size(sizes.index),
        size(sizes.journal),
    );
    let Some(free) = free_space(seen.app.layout.root()) else {
        return Finding::ok(CHECK, line);
    };
    line.push_str(&format!(", {} free", size(free)));
    let remedy = "free some space: on a full disk nothing more is recorded";
    match free {
        ..SCARCELY_ANY => Finding::problem(CHECK, line, remedy),
        SCARCELY_ANY..SCARCE => Finding::note(CHECK, line, remedy),
        _ => Finding::ok(CHECK, line),
    }
}

/// Bytes that are free where a folder is, or is to be.
fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let there = folder.ancestors().find(|folder| folder.is_dir())?;
        let space = rustix::fs::statvfs(there).ok()?;
        space.f_bavail.checked_mul(space.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

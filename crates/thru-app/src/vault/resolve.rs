//! Merging the copies that programs make of two versions of a note.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::{Id, content_hash};
use thru_journal::files::create_dir_private;
use thru_vault::{Content, Record, merged, note_id};

use super::{SyncVault, Vault, VaultSynced, sync};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::trouble::{Result, Trouble};

/// Copies that were merged.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-resolved")]
pub struct VaultResolved {
    version: u32,
    /// The copies that were merged into their notes, by path.
    pub merged: Vec<String>,
    /// Copies that were left, and why.
    pub left: Vec<(String, String)>,
    /// The folder that keeps them.
    pub kept_in: PathBuf,
    /// What was taken in from them, and written then.
    pub synced: VaultSynced,
}

/// Merges every conflict copy into its note: what was changed in one of the two counts; where both changed one line, the
/// note stands, and the other text goes into a callout at its end. The copy moves out of the vault.
///
/// # Errors
/// As [`sync()`], and if a copy cannot be read or moved.
pub fn resolve(app: &App, call: Call<'_>) -> Result<VaultResolved> {
    // First what is in the notes themselves.
    let before = sync(app, &SyncVault::default(), call)?;
    if before.loss.is_some() {
        return Err(Trouble::refused("much of the vault is gone at once")
            .run("vault accept", "takes it in"));
    }
    let vault = Vault::open(app)?;
    let kept_in = vault.state.join("copies");
    let mut resolved = VaultResolved {
        version: answer::VERSION,
        merged: Vec::new(),
        left: Vec::new(),
        kept_in: kept_in.clone(),
        synced: before,
    };
    if resolved.synced.copies.is_empty() {
        return Ok(resolved);
    }
    let lock = vault.lock()?;
    let record = Record::open(&vault.state, vault.folder.root())?;
    let mut notes = BTreeSet::new();
    for path in resolved.synced.copies.clone() {
        match merge(&vault, &record, &path, resolved.synced.forks.get(&path)) {
            Ok(note) => {
                put_aside(&vault, &path, &kept_in)?;
                notes.insert(note);
                resolved.merged.push(path);
            }
            Err(error) => resolved.left.push((path, error.to_string())),
        }
    }
    drop(lock);
    resolved.synced = sync(app, &SyncVault { merged: notes, ..SyncVault::default() }, call)?;
    Ok(resolved)
}

/// Merges a copy into its note, whose id is returned. What that changes is taken in as every change of a person's is.
fn merge(vault: &Vault, record: &Record, path: &str, of: Option<&(Id, String)>) -> Result<Id> {
    let unreadable = || Trouble::failed("it cannot be read");
    let copy = vault.folder.read(path)?.ok_or_else(unreadable)?.text;
    let (id, note) = of.ok_or_else(|| match note_id(&copy) {
        Some(_) => Trouble::not_found("its note is not there"),
        None => Trouble::not_found("it is a copy of no note that Throughline wrote"),
    })?;
    let Content { text: disk, .. } = vault.folder.read(note)?.ok_or_else(unreadable)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let earlier = record.earlier.get(id).cloned().unwrap_or_default();
    let base = record.base(id);
    let text = merged(&disk, &copy, name, (base.as_deref(), &earlier));
    if text != disk {
        let replaced = vault.folder.replace(note, &disk, &text, &mut |_| None)?;
        replaced.ok_or_else(|| Trouble::busy("its note is being written"))?;
    }
    Ok(*id)
}

/// Moves a copy out of the vault, into the data directory.
fn put_aside(vault: &Vault, path: &str, folder: &Path) -> Result<()> {
    let Some(Content { text, .. }) = vault.folder.read(path)? else { return Ok(()) };
    create_dir_private(folder)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let kept = folder.join(format!("{}-{name}", content_hash(text.as_bytes())));
    thru_journal::files::replace(&kept, text.as_bytes())?;
    Ok(vault.folder.remove(path, &text)?)
}

//! Actions on single notes, and on the whole vault, beside bringing it together with memory.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::SessionKey;
use thru_intake::Operation;
use thru_vault::{Folder, Memory, Record, without_ids};

use super::{SyncVault, Vault, VaultSynced, memory, sync};
use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::keep::settings;
use crate::trouble::{Result, Trouble};

/// Checks that there is a vault.
///
/// # Errors
/// Fails if there is none.
pub fn required(app: &App) -> Result<()> {
    Vault::open(app).map(drop)
}

/// Compacts the note of a session and archives it, whatever its size and age.
///
/// # Errors
/// Fails if there is no such session, nothing is known of it, or as [`sync()`].
pub fn compact(app: &App, session: &str, call: Call<'_>) -> Result<VaultSynced> {
    let session = session_with_note(app, session, call)?;
    sync(app, &SyncVault { compact: Some(session), ..SyncVault::default() }, call)
}

/// Takes the note of a session out of the archive. It stays out until it is compacted by hand.
///
/// # Errors
/// Fails if there is no such session, its note is not archived, or as [`sync()`].
pub fn unarchive(app: &App, session: &str, call: Call<'_>) -> Result<VaultSynced> {
    let session = session_with_note(app, session, call)?;
    let intake = app.intake()?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let archived = memory::decisions(&store, intake.redactor())?.archived;
    drop(store);
    let mut decided = Vec::new();
    if archived.contains_key(&session) {
        decided.push(Operation::NoteUnarchived { session: session.clone() });
    } else if !lies_in_archive(&Vault::open(app)?, &session)? {
        return Err(Trouble::refused("the note of that session is not archived"));
    }
    sync(app, &SyncVault { decided, unarchive: Some(session), ..SyncVault::default() }, call)
}

/// True if the note of a session is still where archived ones are: a process may have been killed before it moved it.
fn lies_in_archive(vault: &Vault, session: &SessionKey) -> Result<bool> {
    let record = Record::open(&vault.state, vault.folder.root())?;
    let note = record.notes.get(&Memory::note_of(session));
    Ok(note.is_some_and(|note| note.path.contains("/archive/sessions/")))
}

fn session_with_note(app: &App, session: &str, call: Call<'_>) -> Result<SessionKey> {
    Vault::open(app)?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let session = named::named_session(app, &store, session)?;
    let filter = thru_store::MemoryFilter {
        session: Some(session.row),
        limit: Some(1),
        ..thru_store::MemoryFilter::default()
    };
    if store.memories(&filter)?.is_empty() {
        return Err(Trouble::not_found("No session note created this session."));
    }
    Ok(session.key)
}

/// Writes notes again that a person deleted: that of a session, or all.
///
/// # Errors
/// Fails if there is no vault, no such session, no note of it was deleted, or as [`sync()`].
pub fn restore(app: &App, session: Option<&str>, call: Call<'_>) -> Result<VaultSynced> {
    required(app)?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let note = match session {
        Some(session) => Some(Memory::note_of(&named::named_session(app, &store, session)?.key)),
        None => None,
    };
    let hidden = store.operations()?.into_iter().filter(|row| row.undone.is_none());
    let decided: Vec<Operation> = hidden
        .filter(|row| match Operation::read(&row.kind, &row.body) {
            Some(Operation::NoteHidden { note: hidden }) => note.is_none_or(|note| note == hidden),
            _ => false,
        })
        .map(|row| Operation::OperationUndone { operation: row.key })
        .collect();
    drop(store);
    if decided.is_empty() {
        return Err(Trouble::not_found(match note {
            Some(_) => "the note of that session was not deleted",
            None => "there is no deleted note to write again",
        }));
    }
    sync(app, &SyncVault { decided, ..SyncVault::default() }, call)
}

/// Notes that were written elsewhere, or left behind.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-files")]
pub struct VaultFiles {
    version: u32,
    /// Their folder.
    pub folder: PathBuf,
    /// Their number.
    pub notes: usize,
}

/// Writes every note, as memory calls for it, into a new folder.
///
/// # Errors
/// Fails if the folder holds something, cannot be written, or the store cannot be read.
pub fn export(app: &App, folder: &Path, call: Call<'_>) -> Result<VaultFiles> {
    let folder = std::path::absolute(app.directory.join(folder))?;
    if let Some(vault) = &app.config.vault.path
        && folder.starts_with(vault)
    {
        return Err(Trouble::refused(format!("{} lies in the vault", folder.display()))
            .advise("name a folder outside: the next sync would take its notes for copies"));
    }
    if std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Trouble::refused(format!("{} is not empty", folder.display())));
    }
    thru_journal::files::create_dir_private(&folder)?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake_beside(&store)?;
    let memory = memory::load(app, &store, intake.redactor())?;
    let target = Folder::new(&folder);
    let mut notes = 0;
    for plan in memory.notes().plans() {
        let text = plan.new_note(&Default::default());
        let text = text.map_err(|refusal| Trouble::failed(refusal.to_string()))?;
        target.create(&plan.path(), &text)?;
        notes += 1;
    }
    Ok(VaultFiles { version: answer::VERSION, folder, notes })
}

/// Leaves the vault to the person: notes lose our ids and stay as they are, and no more are written.
///
/// # Errors
/// Fails if there is no vault, a note cannot be written, or the settings cannot.
pub fn detach(app: &App) -> Result<VaultFiles> {
    let vault = Vault::open(app)?;
    let lock = vault.lock()?;
    let record = Record::open(&vault.state, vault.folder.root())?;
    let mut notes = 0;
    for written in record.notes.values() {
        let Some(content) = vault.folder.read(&written.path)? else { continue };
        let bare = without_ids(&content.text);
        if bare != content.text {
            let again = &mut |text: &str| Some(without_ids(text));
            vault.folder.replace(&written.path, &content.text, &bare, again)?;
        }
        notes += 1;
    }
    settings::set(app, &[("vault.path", "")])?;
    drop(lock);
    // Only what we know of it: the notes themselves stay.
    std::fs::remove_dir_all(&vault.state)?;
    let folder = vault.folder.root().to_owned();
    Ok(VaultFiles { version: answer::VERSION, folder, notes })
}

//! The vault: memory as notes that people may edit.

mod actions;
mod attention;
mod following;
mod memory;
mod promote;
mod reach;
mod resolve;
mod sessions;
mod settling;
mod sync;
mod synced;
mod taking;
mod writing;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use thru_core::{Timestamp, percent_encoded};
use thru_redact::Clean;
use thru_vault::{Folder, LineId, Memory, Record, Size, Thresholds, VaultError};

pub use actions::{VaultFiles, compact, detach, export, required, restore, unarchive};
pub use attention::attention;
pub(crate) use attention::summary;
pub use following::{Following, Look};
pub use promote::{Promotion, Promotions, is_preferences, promote, promotions};
pub use resolve::{VaultResolved, resolve};
pub use settling::VaultSettled;
pub(crate) use settling::{drop_texts, holding, settle};
pub use sync::{SyncVault, sync};
pub use synced::{CompactedNote, FailedNote, LossFound, Taken, VaultSynced};

use crate::answer;
use crate::app::App;
use crate::ask::{cleaned, named};
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::keep::settings;
use crate::trouble::{Result, Trouble};

/// The folder of our notes within a vault of other notes.
const FOLDER: &str = "Throughline";

/// The time to wait for another process that writes the vault: longer than bringing in what changed takes.
const PATIENCE: Duration = Duration::from_secs(2);
/// The polling interval while waiting for it.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The vault of the settings.
struct Vault {
    folder: Folder,
    /// The folder of what is known of it on this machine.
    state: PathBuf,
}

impl Vault {
    fn open(app: &App) -> Result<Self> {
        let path = app.config.vault.path.as_deref().ok_or_else(|| {
            Trouble::not_found("there is no vault").run("vault init", "makes one")
        })?;
        Ok(Self::at(app, Path::new(path)))
    }

    fn at(app: &App, path: &Path) -> Self {
        Self { folder: Folder::new(path), state: app.layout.run().join("vault") }
    }

    /// Takes the lock of the vault: one process at a time writes it. Waits a moment for another that does.
    fn lock(&self) -> Result<File> {
        thru_journal::files::create_dir_private(&self.state)?;
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = thru_journal::files::private(&mut options).open(self.state.join("lock"))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOOK_AGAIN);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Trouble::busy("another `thru` is writing to the vault")
                        .advise("try again in a moment"));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
    }
}

impl From<VaultError> for Trouble {
    fn from(error: VaultError) -> Self {
        use crate::trouble::TroubleKind::{Busy, Failed, NotFound};
        let kind = match &error {
            VaultError::Missing(_) => NotFound,
            VaultError::Busy(_) => Busy,
            _ => Failed,
        };
        Self::from_error(kind, None, error)
    }
}

/// The vault that `init` would make, or made.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-init")]
pub struct VaultInit {
    version: u32,
    /// The folder of the notes.
    pub vault: PathBuf,
    /// The vault of other notes that it lies in.
    pub within: Option<PathBuf>,
    /// True if nothing was changed.
    pub dry_run: bool,
    /// What was written, or would be.
    pub synced: VaultSynced,
}

/// Makes a vault: a folder of its own, or one within a vault of other notes.
///
/// # Errors
/// Fails if there is another vault already, the folder cannot be used, or as [`sync()`].
pub fn init(app: &App, path: Option<&Path>, dry_run: bool, call: Call<'_>) -> Result<VaultInit> {
    let path = match (path, &app.home) {
        (Some(path), _) => app.directory.join(path),
        (None, Some(home)) => home.join(FOLDER),
        (None, None) => return Err(Trouble::invalid("name the folder of the vault")),
    };
    let path = std::path::absolute(&path)?;
    let (folder, within) = place(&path)?;
    if let Some(known) = &app.config.vault.path
        && Path::new(known) != folder
    {
        return Err(Trouble::refused(format!("the vault is {known}"))
            .run("vault detach", "leaves its notes as they are, and forgets the folder"));
    }
    let shown = folder.to_string_lossy().into_owned();
    let mut own = app.clone();
    own.config.vault.path = Some(shown.clone());
    // A daemon that is told of the vault may make the store at any moment.
    let had_store = app.layout.database().exists();
    let request = SyncVault { dry_run, ..SyncVault::default() };
    let written = if dry_run {
        // Where there is no folder, notes are counted in an empty one that goes again.
        let empty = app.layout.run().join("vault-dry");
        let is_there = folder.is_dir();
        if !is_there {
            thru_journal::files::create_dir_private(&empty)?;
            own.config.vault.path = Some(empty.to_string_lossy().into_owned());
        }
        let synced = sync(&own, &request, call);
        if !is_there {
            std::fs::remove_dir(&empty)?;
        }
        synced
    } else {
        if app.config.vault.path.is_some() && !folder.is_dir() {
            // Asked for again, notes that are gone with their folder are no loss to be confirmed.
            let vault = Vault::at(&own, &folder);
            let _lock = vault.lock()?;
            Record::open(&vault.state, vault.folder.root())?.forget()?;
        }
        thru_journal::files::create_dir_private(&folder)?;
        settings::set(app, &[("vault.path", &shown)])?;
        sync(&own, &request, call)
    };
    let mut synced = match written {
        // Nothing was recorded or imported yet: sessions to come are written.
        Err(_) if !had_store => VaultSynced::new(&folder),
        written => written?,
    };
    synced.vault.clone_from(&folder);
    Ok(VaultInit { version: answer::VERSION, vault: folder, within, dry_run, synced })
}

/// Returns the folder for our notes at a path, and the vault of other notes that it lies in. A vault is never put into a
/// vault as another vault: there our notes get a plain folder.
fn place(path: &Path) -> Result<(PathBuf, Option<PathBuf>)> {
    if path.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(Trouble::invalid(format!("{} is no folder", path.display())));
    }
    let within = path.ancestors().find(|folder| is_vault(folder)).map(Path::to_owned);
    let is_root = within.as_deref() == Some(path);
    let holds_others = match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !["projects", "global", "Throughline.base"].contains(&&*name) && !name.starts_with('.')
        }),
        Err(_) => false,
    };
    let is_ours = path.file_name().is_some_and(|name| name == FOLDER);
    let folder = match is_root || holds_others && !is_ours {
        true => path.join(FOLDER),
        false => path.to_owned(),
    };
    Ok((folder, within))
}

/// True if a folder is a vault of Obsidian: a hidden folder in it holds the settings of the program.
fn is_vault(folder: &Path) -> bool {
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().filter(hidden).any(|entry| entry.path().join("app.json").is_file())
    }) || folder.join(".obsidian").is_dir()
}

/// The state of the vault.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-status")]
pub struct VaultStatus {
    version: u32,
    /// The folder of the vault; `None` if there is none.
    pub vault: Option<PathBuf>,
    /// True if the folder is there.
    pub is_there: bool,
    /// Notes of ours.
    pub notes: usize,
    /// The last time that vault and memory were brought together.
    pub synced: Option<Timestamp>,
    /// Active notes of sessions, with their size and when they are looked at next.
    pub active: Vec<ActiveNote>,
    /// Notes that cannot be written, by path, and why.
    pub left: std::collections::BTreeMap<String, String>,
    /// Conflict copies.
    pub copies: std::collections::BTreeSet<String>,
    /// The loss that is not taken in.
    pub loss: Option<LossFound>,
    /// Sessions whose note could not be compacted or archived.
    pub failed: Vec<FailedNote>,
    /// Notes that are proposed as notes of all projects.
    pub proposed: Vec<Promotion>,
}

/// The active note of a session.
#[derive(Clone, Debug, Serialize)]
pub struct ActiveNote {
    /// Its session.
    pub session: String,
    /// Its path.
    pub note: String,
    /// Its lines.
    pub lines: u64,
    /// Its age in days.
    pub days: u64,
    /// The reason for which it is not archived.
    pub state: ActiveState,
    /// The sentence about it and the limits, as the end of a session says it.
    pub sentence: String,
    /// The time at which it is old enough to be compacted, if its session is over by then.
    pub next: Option<Timestamp>,
}

/// The reason for which the note of a session is not archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActiveState {
    /// A person took it out of the archive.
    TakenOut,
    /// Its session goes on.
    Running,
    /// It is below the limits.
    Small,
    /// Nothing: the next sync archives it.
    Due,
}

/// Reads the state of the vault.
///
/// # Errors
/// Fails if what is known of it, or the store, cannot be read.
pub fn status(app: &App, call: Call<'_>) -> Result<VaultStatus> {
    let mut status = VaultStatus {
        version: answer::VERSION,
        vault: None,
        is_there: false,
        notes: 0,
        synced: None,
        active: Vec::new(),
        left: std::collections::BTreeMap::new(),
        copies: std::collections::BTreeSet::new(),
        loss: None,
        failed: Vec::new(),
        proposed: Vec::new(),
    };
    let Some(path) = app.config.vault.path.as_deref() else { return Ok(status) };
    let vault = Vault::at(app, Path::new(path));
    let record = Record::open(&vault.state, vault.folder.root())?;
    status.is_there = vault.folder.root().is_dir();
    status.vault = Some(vault.folder.root().to_owned());
    status.notes = record.notes.len();
    status.synced = record.synced;
    status.left.clone_from(&record.left);
    status.copies.clone_from(&record.copies);
    status.loss = record.loss.map(Into::into);
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake_beside(&store)?;
    let memory = memory::load(app, &store, intake.redactor())?;
    status.proposed = promote::proposed(app, &store, &memory)?;
    let limits =
        Thresholds { lines: app.config.vault.compact_lines, days: app.config.vault.compact_days };
    let age =
        jiff::SignedDuration::from_hours(i64::try_from(limits.days).unwrap_or(i64::MAX / 24) * 24);
    for session in &memory.sessions {
        let id = Memory::note_of(&session.key);
        let Some(written) = record.notes.get(&id) else { continue };
        let short = session.key.id.to_string();
        if let Some(failure) = record.failures.get(&id) {
            status.failed.push(FailedNote {
                session: short.clone(),
                note: written.path.clone(),
                is_archive: failure.is_archive,
                error: failure.error.clone(),
            });
        }
        if memory.decided.archived.contains_key(&session.key) {
            continue;
        }
        let text = vault.folder.read(&written.path).ok().flatten().map(|note| note.text);
        let size = Size::of(&text.unwrap_or_default(), session.started, app.clock.now());
        let state = if memory.decided.taken_out.contains(&session.key) {
            ActiveState::TakenOut
        } else if session.closed.is_none() {
            ActiveState::Running
        } else if size.reached(&limits).is_some() {
            ActiveState::Due
        } else {
            ActiveState::Small
        };
        status.active.push(ActiveNote {
            state,
            session: short,
            note: written.path.clone(),
            lines: size.lines,
            days: size.days,
            sentence: size.sentence(&limits),
            next: session.started.checked_add(age).ok(),
        });
    }
    Ok(status)
}

/// The place of a note.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-note")]
pub struct NotePlace {
    version: u32,
    /// The file.
    pub path: PathBuf,
    /// The address that opens it in Obsidian.
    pub uri: String,
}

/// Finds the note of a session, or the one in which a memory stands.
///
/// # Errors
/// Fails if nothing has this id, or it stands in no note.
pub fn note(app: &App, id: &str, call: Call<'_>) -> Result<NotePlace> {
    let vault = Vault::open(app)?;
    let (path, line) = find(app, &vault, id, call)?;
    let path = vault.folder.path(&path);
    let mut uri = format!("obsidian://open?path={}", percent_encoded(&path.to_string_lossy(), b""));
    if let Some(line) = line {
        uri.push_str(&percent_encoded(&format!("#{line}"), b""));
    }
    Ok(NotePlace { version: answer::VERSION, path, uri })
}

/// Reads the note of a session, or the one in which a memory stands, as it lies in the vault.
///
/// # Errors
/// As [`note`], and if the note cannot be read.
pub fn note_text(app: &App, id: &str, call: Call<'_>) -> Result<Clean<String>> {
    let vault = Vault::open(app)?;
    let (path, _) = find(app, &vault, id, call)?;
    let content = vault.folder.read(&path)?;
    let content = content.ok_or_else(|| Trouble::not_found(format!("{path} cannot be read")))?;
    Ok(cleaned(app.intake()?.redactor(), &content.text))
}

/// Returns the path of a note below the vault, and the line of a memory in it.
fn find(app: &App, vault: &Vault, id: &str, call: Call<'_>) -> Result<(String, Option<LineId>)> {
    let record = Record::open(&vault.state, vault.folder.root())?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let memory = match id.parse::<thru_core::IdPrefix>().is_ok() {
        true => crate::ask::memory::memory_named(&store, id)?,
        false => None,
    };
    let (session, line) = match memory {
        Some(memory) => {
            let session = crate::ask::memory::session_of(&store, &memory)?;
            (session.map(|session| session.key), Some(LineId::new(&memory.id)))
        }
        None => (Some(named::named_session(app, &store, id)?.key), None),
    };
    let written = session.and_then(|session| record.notes.get(&Memory::note_of(&session)));
    let written = written.ok_or_else(|| {
        Trouble::not_found(format!("there is no note of `{id}` in the vault"))
            .run("vault sync", "writes what is missing")
    })?;
    Ok((written.path.clone(), line))
}

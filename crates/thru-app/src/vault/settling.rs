//! Notes that follow what was taken out of memory at once, and what is left in them because a person wrote it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;
use thru_redact::{Redactor, Report};
use thru_vault::Record;

use super::{SyncVault, Vault, sync};
use crate::app::App;
use crate::call::Call;
use crate::trouble::{Result, TroubleKind};

/// The notes of the vault after something was taken out of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VaultSettled {
    /// Notes that were removed.
    pub removed: usize,
    /// Notes that were changed.
    pub changed: usize,
    /// Notes that another program wrote a moment ago, by their paths: they follow with the next sync.
    pub waiting: BTreeSet<String>,
    /// Notes that are left although memory no longer holds what they were about, and why.
    pub left: BTreeMap<String, String>,
    /// Lines that hold what was taken out, by note: a person, or another machine, wrote them.
    pub yours: BTreeMap<String, usize>,
    /// The reason why the notes could not be looked at, if so.
    pub trouble: Option<String>,
}

impl VaultSettled {
    /// True if no note is known to hold what was taken out, but for lines that are not ours.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.trouble.is_none()
    }
}

/// Brings the notes in line with memory, out of which something was taken. Returns `None` if there is no vault.
pub(crate) fn settle(app: &App, call: Call<'_>) -> Option<VaultSettled> {
    app.config.vault.path.as_ref()?;
    let synced = match sync(app, &SyncVault::default(), call) {
        Ok(synced) => synced,
        Err(error) => {
            let trouble = Some(format!("{error:#}"));
            return Some(VaultSettled { trouble, ..VaultSettled::default() });
        }
    };
    Some(VaultSettled {
        removed: synced.removed,
        changed: synced.created + synced.changed,
        waiting: synced.waits,
        left: synced.left,
        yours: BTreeMap::new(),
        trouble: synced.loss.map(|_| "much of it disappeared at once".to_owned()),
    })
}

/// Keeps nothing of what notes say but hashes, before redaction cleans the data directory: a text that it changes could not
/// be told from a person's any more.
///
/// # Errors
/// Fails if another process keeps writing to the vault, or the disk cannot be written.
pub(crate) fn drop_texts(app: &App) -> Result<()> {
    let Some(vault) = opened(app)? else { return Ok(()) };
    let _lock = vault.lock()?;
    Ok(Record::open(&vault.state, vault.folder.root())?.drop_texts()?)
}

/// Counts the lines in notes that these rules change, by note.
///
/// # Errors
/// Fails if the vault cannot be read.
pub(crate) fn holding(app: &App, redactor: &Redactor) -> Result<BTreeMap<String, usize>> {
    let mut holding = BTreeMap::new();
    let Some(vault) = opened(app)?.filter(|vault| vault.folder.root().is_dir()) else {
        return Ok(holding);
    };
    for note in vault.folder.scan()?.notes {
        let Some(content) = vault.folder.read(&note.path)? else { continue };
        let clean = redactor.clean_text(&content.text, &mut Report::default());
        let mut kept: HashMap<&str, usize> = HashMap::new();
        clean.get().lines().for_each(|line| *kept.entry(line).or_default() += 1);
        let changed = content.text.lines().filter(|line| match kept.get_mut(line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        let lines = changed.count();
        if lines > 0 {
            holding.insert(note.path, lines);
        }
    }
    Ok(holding)
}

/// Returns the vault, if there is one.
fn opened(app: &App) -> Result<Option<Vault>> {
    match Vault::open(app) {
        Err(error) if error.kind() == TroubleKind::NotFound => Ok(None),
        vault => vault.map(Some),
    }
}

//! The vault in a process that stays: it reads the record once, and where only sessions are new, it looks at their notes alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use thru_core::Timestamp;
use thru_vault::{Folder, Record};

use super::Vault;
use super::reach::BEHIND;
use super::sync::{Run, SyncVault};
use super::synced::VaultSynced;
use crate::app::App;
use crate::call::Call;
use crate::trouble::Result;

/// Every file is looked at again after this, even if none is known to have changed: watching may miss something.
const LOOKED: SignedDuration = SignedDuration::from_mins(10);

/// The part of the vault to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Every file.
    Everywhere,
    /// The notes of sessions that memory learned something of; every file, if others have to follow.
    Sessions,
}

/// The vault as a process that stays knows it.
#[derive(Debug, Default)]
pub struct Following {
    record: Option<Record>,
    /// The last time at which every file was looked at.
    looked: Option<Timestamp>,
}

impl Following {
    /// True if any of these files of the vault is not as it was written or seen last.
    pub fn differs(&self, root: &Path, files: &BTreeSet<PathBuf>) -> bool {
        let Some(record) = &self.record else { return true };
        let below = |path: &PathBuf| {
            let parts = path.strip_prefix(root).ok()?.components();
            let names: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
            Some(names.join("/"))
        };
        record.differs(&files.iter().filter_map(below).collect(), &Folder::new(root))
    }

    /// Brings vault and memory together.
    ///
    /// # Errors
    /// As [`sync()`](super::sync()).
    pub fn sync(&mut self, app: &App, look: Look, call: Call<'_>) -> Result<VaultSynced> {
        let vault = Vault::open(app)?;
        let _lock = vault.lock()?;
        let (state, root) = (&vault.state, vault.folder.root());
        // One that an error leaves half changed is read again.
        let mut record = match self.record.take() {
            Some(record) => record.reopened(state, root)?,
            None => Record::open(state, root)?,
        };
        record.drop_texts()?;
        let request = SyncVault { in_background: true, ..SyncVault::default() };
        let mut run = Run::new(app, &vault, record, &request);
        let since = self.looked.map(|at| run.now.duration_since(at));
        let is_recent = since.is_some_and(|since| !since.is_negative() && since < LOOKED);
        if look == Look::Everywhere || !is_recent || !run.follow_sessions(call)? {
            run = Run::new(app, &vault, run.record, &request);
            run.follow(call)?;
            self.looked = Some(run.now);
        }
        if let Some(behind) = run.record.behind {
            run.look_again_at(behind.checked_add(BEHIND).unwrap_or(run.now));
        }
        self.record = Some(run.record);
        Ok(run.synced)
    }
}

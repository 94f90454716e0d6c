//! Reading and changing files that belong to somebody else.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thru_agents::claude_code::install::{Server, installed, server};
use thru_app::{Context, Result};

use crate::failure::advised;

/// What the copy from before our first change is called: the file's name and this.
const BACKUP: &str = ".before-throughline";

/// A file that is to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which file.
    pub(crate) path: PathBuf,
    /// What it holds; nothing if it is not there.
    pub(crate) before: Option<String>,
    /// What it is to hold; nothing if it is to go.
    pub(crate) after: Option<String>,
    /// Whether a copy of what it held is kept. What we made ourselves needs none.
    pub(crate) is_shared: bool,
}

/// What became of a copy from before our first change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Backup {
    /// It was made here.
    Made(PathBuf),
    /// It lies here and differs from what the file holds now: somebody changed more than we did.
    Kept(PathBuf),
}

/// What a file holds; nothing if it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            advised(
                format!("{} is not UTF-8, as settings are", path.display()),
                "correct the file; nothing was changed",
            )
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

impl Change {
    /// Makes the change: whole or not at all, through links, with the file's own mode.
    pub(crate) fn apply(&self) -> Result<Option<Backup>> {
        if read(&self.path)? != self.before {
            return Err(advised(
                format!("{} was changed by somebody at this very moment", self.path.display()),
                "run this again",
            ));
        }
        let made = self.back_up()?;
        match &self.after {
            Some(text) => write(&self.path, text)?,
            // Where somebody linked the file from elsewhere, a link to nothing would be left.
            None if self.path.is_symlink() => write(&self.path, "{}\n")?,
            None => {
                thru_journal::files::remove(&self.path)?;
            }
        }
        if let Some(made) = made {
            return Ok(Some(Backup::Made(made)));
        }
        self.settle_backup()
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(BACKUP);
        PathBuf::from(name)
    }

    /// Before the first change the file holds nothing of ours: that is what the copy shows. One from
    /// an earlier installation shows less.
    fn back_up(&self) -> Result<Option<PathBuf>> {
        let (Some(before), true) = (&self.before, self.is_shared) else { return Ok(None) };
        if holds_ours(before) {
            return Ok(None);
        }
        let backup = self.backup();
        thru_journal::files::replace(&backup, before.as_bytes())?;
        Ok(Some(backup))
    }

    /// After the last change the copy has done its work if it says the same as the file.
    fn settle_backup(&self) -> Result<Option<Backup>> {
        let after = self.after.as_deref().unwrap_or_default();
        let is_last = !holds_ours(after);
        let backup = self.backup();
        if !self.is_shared || !is_last || !backup.is_file() {
            return Ok(None);
        }
        if read(&backup)? == self.after {
            thru_journal::files::remove(&backup)?;
            return Ok(None);
        }
        Ok(Some(Backup::Kept(backup)))
    }
}

/// Whether anything of ours stands in a text.
fn holds_ours(text: &str) -> bool {
    installed(text).is_ok_and(|hooks| !hooks.is_empty())
        || matches!(server(text), Ok(Some(Server::Ours(_))))
}

fn write(path: &Path, text: &str) -> Result<()> {
    // A file may be a link into a folder of dotfiles: then that file changes, and the link stays.
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(_) if path.is_symlink() => {
            return Err(advised(
                format!("{} is a link to a file that is not there", path.display()),
                "make the file, or remove the link, then run this again",
            ));
        }
        Err(_) => path.to_owned(),
    };
    if let Some(folder) = target.parent() {
        thru_journal::files::create_dir_private(folder)?;
    }
    let permissions = fs::metadata(&target).map(|metadata| metadata.permissions()).ok();
    thru_journal::files::replace(&target, text.as_bytes())?;
    // The new file is for the owner alone until it has the mode of the old one.
    if let Some(permissions) = permissions {
        fs::set_permissions(&target, permissions)
            .with_context(|| format!("{} keeps the mode 0600", target.display()))?;
    }
    Ok(())
}

//! Changes of files that belong to others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use thru_agents::setup::{Change, read};

use crate::app::App;
use crate::trouble::{Context, Remedy, Result, Trouble};

/// Suffix of the copy from before our first change.
const BACKUP: &str = ".before-throughline";

/// The copy from before our first change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backup {
    /// It was made here.
    Made(PathBuf),
    /// It lies here and differs from the file: there were other changes than ours.
    Kept(PathBuf),
}

impl Backup {
    /// The path of the copy.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Made(path) | Self::Kept(path) => path,
        }
    }
}

/// The folders that were made for our files in places of others, which go again with the last of them.
pub(super) struct MadeFolders {
    file: PathBuf,
    /// As text: one whose name is none is not known again, and stays.
    folders: BTreeSet<String>,
}

impl MadeFolders {
    /// Reads what earlier installations noted.
    pub(super) fn read(app: &App) -> Self {
        let file = app.layout.root().join("made-folders.json");
        let folders = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self { file, folders: folders.unwrap_or_default() }
    }

    /// Notes the folders that are to be made for these changes, before they are.
    pub(super) fn note(&mut self, changes: &[Change]) -> Result<()> {
        let written = changes.iter().filter(|change| change.after.is_some());
        let missing = written.flat_map(|change| {
            let above = change.path.ancestors().skip(1);
            above.take_while(|folder| fs::symlink_metadata(folder).is_err())
        });
        let known = self.folders.len();
        self.folders.extend(missing.map(text));
        if self.folders.len() == known { Ok(()) } else { self.write() }
    }

    /// Removes those of these folders that were made and are empty. If nothing of ours is left, one that holds something
    /// else is forgotten.
    pub(super) fn remove(mut self, folders: &[PathBuf], is_over: bool) -> Result<()> {
        let made = folders.iter().filter(|folder| self.folders.contains(&text(folder)));
        let gone: Vec<&PathBuf> =
            made.filter(|folder| fs::remove_dir(folder).is_ok() || is_over).collect();
        if gone.is_empty() {
            return Ok(());
        }
        self.folders.retain(|folder| !gone.iter().any(|gone| Path::new(folder).starts_with(gone)));
        self.write()
    }

    fn write(&self) -> Result<()> {
        let Some(root) = self.file.parent() else { return Ok(()) };
        if self.folders.is_empty() {
            thru_journal::files::remove(&self.file)?;
            // Where nothing was ever recorded, nothing is left.
            let _ = fs::remove_dir(root);
            return Ok(());
        }
        thru_journal::files::create_dir_private(root)?;
        Ok(thru_journal::files::replace(&self.file, &serde_json::to_vec(&self.folders)?)?)
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn advised(message: impl Into<String>, advice: &str) -> Trouble {
    Trouble::refused(message).with(Remedy::Advice(advice.to_owned()))
}

/// Makes a change: whole or not at all, through links, with the file's own mode.
pub(super) fn apply(change: &Change) -> Result<Option<Backup>> {
    if read(&change.path)? != change.before {
        return Err(advised(
            format!("{} was changed at this very moment", change.path.display()),
            "run this again",
        ));
    }
    let made = back_up(change)?;
    match &change.after {
        Some(text) => write(&change.path, text)?,
        // If the file is a link, a link to nothing would be left.
        None if change.path.is_symlink() => write(&change.path, "{}\n")?,
        None => {
            thru_journal::files::remove(&change.path)?;
        }
    }
    if let Some(made) = made {
        return Ok(Some(Backup::Made(made)));
    }
    settle_backup(change)
}

fn backup_of(change: &Change) -> PathBuf {
    let mut name = change.path.as_os_str().to_owned();
    name.push(BACKUP);
    PathBuf::from(name)
}

/// Copies the file before its first change, when it holds nothing of ours.
fn back_up(change: &Change) -> Result<Option<PathBuf>> {
    let (Some(before), true) = (&change.before, change.is_shared) else { return Ok(None) };
    if !change.had.is_empty() {
        return Ok(None);
    }
    let backup = backup_of(change);
    thru_journal::files::replace(&backup, before.as_bytes())?;
    Ok(Some(backup))
}

/// Removes the copy after the last change, unless it differs from the file.
fn settle_backup(change: &Change) -> Result<Option<Backup>> {
    let is_last = change.has.is_empty();
    let backup = backup_of(change);
    if !change.is_shared || !is_last || !backup.is_file() {
        return Ok(None);
    }
    if read(&backup)? == change.after {
        thru_journal::files::remove(&backup)?;
        return Ok(None);
    }
    Ok(Some(Backup::Kept(backup)))
}

fn write(path: &Path, text: &str) -> Result<()> {
    // A file may be a link into a folder of dotfiles: then that file changes, and the link stays.
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(_) if path.is_symlink() => {
            return Err(advised(
                format!("{} is a link to a file that does not exist", path.display()),
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

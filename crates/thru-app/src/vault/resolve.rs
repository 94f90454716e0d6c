//! Merging the copies that programs make of two versions of a note.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::{Id, content_hash};
use thru_journal::files::create_dir_private;
use thru_vault::{Change, Content, Note, Record, changes, note_id};

use super::synced::Taken;
use super::{SyncVault, Vault, VaultSynced, memory, sync, taking};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Freshness};
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
    /// What was taken in from them.
    pub taken: Taken,
    /// What was written then.
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
        taken: Taken::default(),
        synced: before,
    };
    if resolved.synced.copies.is_empty() {
        return Ok(resolved);
    }
    let lock = vault.lock()?;
    let mut record = Record::open(&vault.state, vault.folder.root())?;
    for path in resolved.synced.copies.clone() {
        match merge(app, &vault, &mut record, &path, call) {
            Ok(taken) => {
                put_aside(&vault, &path, &kept_in)?;
                resolved.taken.add(taken);
                resolved.merged.push(path);
            }
            Err(error) => resolved.left.push((path, error.to_string())),
        }
    }
    record.save()?;
    drop(lock);
    resolved.synced = sync(app, &SyncVault::default(), call)?;
    Ok(resolved)
}

fn merge(
    app: &App,
    vault: &Vault,
    record: &mut Record,
    path: &str,
    call: Call<'_>,
) -> Result<Taken> {
    let unreadable = || Trouble::failed("it cannot be read");
    let copy = vault.folder.read(path)?.ok_or_else(unreadable)?.text;
    let id = note_id(&copy).ok_or_else(|| Trouble::not_found("it is a copy of no note of ours"))?;
    let written = record.notes.get(&id).cloned();
    let written = written.ok_or_else(|| Trouble::not_found("its note is not there"))?;
    let Content { text: disk, .. } = vault.folder.read(&written.path)?.ok_or_else(unreadable)?;
    // What both had before they parted is not known: what is in neither our last version nor the note is new.
    let base = record.base(&id).unwrap_or_else(|| disk.clone());
    let taken = take_in(app, record, id, &base, &disk, &copy, call)?;
    let rest = only_in(&copy, &[&base, &disk]);
    if !rest.is_empty() {
        let name = path.rsplit('/').next().unwrap_or(path);
        let newline = if disk.contains("\r\n") { "\r\n" } else { "\n" };
        let lead = if disk.ends_with('\n') { newline.to_owned() } else { newline.repeat(2) };
        let mut text =
            format!("{disk}{lead}> [!question] Only in `{}`{newline}", name.replace('`', ""));
        for line in rest {
            text.push_str(&format!("> {line}{newline}"));
        }
        let stamp = vault.folder.replace(&written.path, &disk, &text, &mut |_| None)?;
        let (text, stamp) = stamp.ok_or_else(|| Trouble::busy("its note is being written"))?;
        record.note(id, &written.path, stamp, &text, true)?;
    }
    Ok(taken)
}

/// Takes in what a person changed in the copy, and not in the note.
fn take_in(
    app: &App,
    record: &mut Record,
    id: Id,
    base: &str,
    disk: &str,
    copy: &str,
    call: Call<'_>,
) -> Result<Taken> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake_beside(&store)?;
    let memory = memory::load(app, &store, intake.redactor())?;
    let plan = memory.plans().into_iter().find(|plan| plan.id == id);
    let mut taking = taking::Taking::new(app, &store, &memory);
    let here = Note::parse(disk);
    let known: HashSet<String> = here.lines.iter().map(|line| line.words(disk)).collect();
    let in_note: HashSet<_> = here.own_lines().map(|(line, _)| line.clone()).collect();
    let is_new = |change: &Change| match change {
        // A line that is gone from the copy may be newer than the copy.
        Change::Removed { .. } => false,
        Change::Edited { line, .. } | Change::Ticked { line, .. } => in_note.contains(line),
        Change::Told(told) => !known.contains(copy[told.range.clone()].trim()),
    };
    let changes = changes(base, copy).into_iter().filter(is_new).collect();
    taking.changes(id, plan.as_ref(), changes, &Default::default())?;
    taking.record(&intake, &mut record.unmarked, call)
}

/// Returns the person's lines of a copy that none of the others has. Lines of ours and list items that were taken in are not
/// among them.
fn only_in<'c>(copy: &'c str, others: &[&str]) -> Vec<&'c str> {
    let known: HashSet<&str> = others.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    let note = Note::parse(copy);
    let told: Vec<_> = changes(others.first().copied().unwrap_or_default(), copy)
        .into_iter()
        .filter_map(|change| match change {
            Change::Told(told) => Some(told.range),
            _ => None,
        })
        .collect();
    let mut rest = Vec::new();
    let mut at = 0;
    for line in copy.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let bare = line.trim();
        let is_ours = note.own_lines().any(|(_, own)| own.own.contains(&range.start));
        let is_told = told.iter().any(|told| range.contains(&told.start));
        if range.start >= note.body
            && !bare.is_empty()
            && !is_ours
            && !is_told
            && !known.contains(bare)
        {
            rest.push(line.trim_end());
        }
    }
    rest
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

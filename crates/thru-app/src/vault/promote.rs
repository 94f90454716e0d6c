//! Notes of one project that others recall, and making them notes of all.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use thru_core::Id;
use thru_intake::Operation;
use thru_recall::recalls;
use thru_store::{SessionFilter, Store};
use thru_vault::{Memory, Subject, folded};

use super::{SyncVault, Vault, VaultSynced, memory, sync};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Result, Trouble};

/// Notes that are proposed as notes of all projects.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "vault-promotions")]
pub struct Promotions {
    version: u32,
    /// The notes, the most recalled first.
    pub proposed: Vec<Promotion>,
}

/// A note of one project that others recall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Promotion {
    /// Its name.
    pub note: String,
    /// Its project.
    pub project: String,
    /// Sessions of other projects that were given or asked for something in it.
    pub recalls: usize,
    /// True if it holds wishes and rules of people: the first recall is enough to ask about it.
    pub is_preferences: bool,
}

/// Lists the notes that sessions of other projects recall often enough.
///
/// # Errors
/// Fails if there is no vault, or the store cannot be read.
pub fn promotions(app: &App, call: Call<'_>) -> Result<Promotions> {
    Vault::open(app)?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake_beside(&store)?;
    let memory = memory::load(app, &store, intake.redactor())?;
    let proposed = proposed(app, &store, &memory)?;
    Ok(Promotions { version: answer::VERSION, proposed })
}

/// Returns the notes that are proposed as notes of all projects, the most recalled first.
pub(super) fn proposed(app: &App, store: &Store, memory: &Memory) -> Result<Vec<Promotion>> {
    let subjects: Vec<Subject> =
        memory.subjects().into_iter().filter(|subject| !subject.is_promoted).collect();
    let places: BTreeMap<Id, usize> = subjects
        .iter()
        .enumerate()
        .flat_map(|(place, subject)| subject.memories.iter().map(move |memory| (*memory, place)))
        .collect();
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut recalled = recalls(store, &places.keys().copied().collect())?;
    for session in store.sessions(&SessionFilter::default())? {
        let memories = recalled.remove(&session.row).unwrap_or_default();
        let of: BTreeSet<usize> =
            memories.iter().filter_map(|memory| places.get(memory).copied()).collect();
        let is_other = |place: &usize| {
            session.project_name.as_deref() != Some(subjects[*place].project.as_str())
        };
        for place in of.into_iter().filter(is_other) {
            *counts.entry(place).or_default() += 1;
        }
    }
    let enough = |subject: &Subject| match subject.is_preferences {
        true => 1,
        false => app.config.vault.promote_recalls as usize,
    };
    let mut proposed: Vec<Promotion> = counts
        .into_iter()
        .map(|(place, recalls)| (&subjects[place], recalls))
        .filter(|(subject, recalls)| *recalls >= enough(subject))
        .map(|(subject, recalls)| Promotion {
            note: subject.name.clone(),
            project: subject.project.clone(),
            recalls,
            is_preferences: subject.is_preferences,
        })
        .collect();
    proposed.sort_by_key(|one| (std::cmp::Reverse(one.recalls), one.note.clone()));
    Ok(proposed)
}

/// Returns true if a note holds wishes and rules of people.
///
/// # Errors
/// As [`promote`].
pub fn is_preferences(app: &App, note: &str, call: Call<'_>) -> Result<bool> {
    Ok(subject(app, note, call)?.is_preferences)
}

/// Makes a note of one project a note of all. A note that leads to it stays in its place.
///
/// # Errors
/// Fails if there is no vault or no such note, it is one of all projects already, or as [`sync()`].
pub fn promote(app: &App, note: &str, call: Call<'_>) -> Result<VaultSynced> {
    let subject = subject(app, note, call)?;
    if subject.is_promoted {
        return Err(Trouble::refused(format!(
            "{} is a note of all projects already",
            subject.name
        )));
    }
    let decided = vec![Operation::NotePromoted { note: subject.note }];
    sync(app, &SyncVault { decided, promote: Some(subject.note), ..SyncVault::default() }, call)
}

fn subject(app: &App, note: &str, call: Call<'_>) -> Result<Subject> {
    Vault::open(app)?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake_beside(&store)?;
    let mut subjects = memory::load(app, &store, intake.redactor())?.subjects();
    let found = subjects.iter().position(|one| folded(&one.name) == folded(note));
    let found = found.ok_or_else(|| {
        Trouble::not_found(format!("no note of one project is called `{note}`"))
            .run("vault promote", "lists those that other projects recall")
    })?;
    Ok(subjects.swap_remove(found))
}

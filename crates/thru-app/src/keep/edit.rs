//! Correcting a memory.

use thru_core::{Id, MemoryEdit, MemoryKind, ObservationType};
use thru_intake::Operation;
use thru_redact::Report;
use thru_store::{MemoryBody, Store};

use super::remember::{clean_text, clean_title};
use super::{is_unswept, teller};
use crate::app::App;
use crate::ask::memory;
use crate::call::Call;
use crate::compaction;
use crate::fresh::{self, Freshness};
use crate::trouble::{MemoryAction, Remedy, Result, Trouble, TroubleKind};

/// The request to correct a memory. Parts that are `None` stay as they are.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The memory's id, or the start of it.
    pub id: String,
    /// The new title.
    pub title: Option<String>,
    /// The new text.
    pub text: Option<String>,
    /// The new type.
    pub kind: Option<ObservationType>,
    /// True to make it a rule, false to make it none.
    pub is_rule: Option<bool>,
    /// True to stand behind what an agent recorded.
    pub agreed: Option<bool>,
    /// The version that the caller saw, as the memory's history names it. One that changed since is left alone.
    pub base: Option<String>,
}

/// The memory that was corrected.
#[derive(Clone, Copy, Debug)]
pub struct Edited {
    /// Its id, which stays.
    pub id: Id,
    /// True if vectors of the old text may be left.
    pub is_unswept: bool,
    /// True if words of the session went with the old ones.
    pub hides_words: bool,
}

impl Edited {
    /// A sentence about it. What the agent reported says the same as the title or the text that was overwritten: shown
    /// below the new one, it would contradict it.
    pub const fn said(&self) -> &'static str {
        match self.hides_words {
            true => {
                "Changed. What the agent reported in the old words is hidden with them, here and in the summary."
            }
            false => "Changed.",
        }
    }
}

/// Corrects a memory. The correction stands over what was distilled, also after a rebuild, and can be undone.
///
/// # Errors
/// Fails if an agent does it of its own accord, if there is no such memory, if it is a summary, if a text could not be remembered either (see
/// [`super::remember`]), if it changed since the caller saw it, and if the journal or the store cannot be written.
pub fn edit(app: &App, request: &Edit, call: Call<'_>) -> Result<Edited> {
    let words = [request.title.as_deref(), request.text.as_deref()];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    let stands_behind = request.is_rule.is_some() || request.agreed.is_some();
    if stands_behind {
        teller::require_person(app, &[], "accept a memory", call)?;
    } else if !words.is_empty() {
        teller::require_person(app, &words, "correct a memory", call)?;
    }
    let mut report = Report::default();
    let title =
        request.title.as_deref().map(|title| clean_title(title, &mut report)).transpose()?;
    let text = request.text.as_deref().map(|text| clean_text(text, &mut report)).transpose()?;
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let memory = memory::required_memory(&store, &request.id, MemoryAction::Edit)?;
    if memory.kind == MemoryKind::Summary {
        return Err(Trouble::refused("a summary follows from its session and cannot be edited")
            .with(Remedy::ForgetOrRemember));
    }
    let session = memory::session_of(&store, &memory)?.map(|session| session.key);
    let reported = |store: &Store| -> Result<bool> {
        let row = store.memory(&memory.id)?;
        let body = row.map(|row| store.body_of(&row)).transpose()?;
        Ok(matches!(body, Some(MemoryBody::Observation(one)) if one.report.is_some()))
    };
    let had_report = reported(&store)?;
    drop(store);
    let &Edit { kind, is_rule, agreed, .. } = request;
    let edit = MemoryEdit { title, narrative: text, kind, is_rule, agreed };
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    if let Some(base) = &request.base {
        check_base(app, &memory.id, base, call)?;
    }
    let edited = Operation::MemoryEdited { memory: memory.id, session: session.clone(), edit };
    let is_unswept = is_unswept(intake.record_and_apply(&lock, &[edited]))?;
    drop(lock);
    compaction::write_again(app, Some(session.as_slice()))?;
    let hides_words = had_report && !reported(&fresh::open(app, Freshness::AsItIs, call)?)?;
    Ok(Edited { id: memory.id, is_unswept, hides_words })
}

/// Refuses to change a memory that is no longer what the caller saw.
fn check_base(app: &App, id: &Id, base: &str, call: Call<'_>) -> Result<()> {
    let store = fresh::open(app, Freshness::AsItIs, call)?;
    let current = store.memory(id)?.map(|memory| memory::version(&store, &memory)).transpose()?;
    match current {
        Some(current) if current == base => Ok(()),
        _ => Err(Trouble::new(TroubleKind::Conflict, "the memory changed since you saw it")
            .advise("look at it as it is now, then change it")),
    }
}

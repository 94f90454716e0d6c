//! Decisions of one work on one line.

use thru_store::{Result, Store};

use super::orders::is_order;
use super::render::Section;
use super::{Draft, LONGEST_LINE};

/// Puts decisions that one session took on a day on one line, each with its id, as far as the line holds them.
pub(super) fn of_one_work(
    store: &Store,
    drafts: Vec<Draft>,
    day_of: impl Fn(&Draft) -> String,
) -> Result<Vec<Draft>> {
    let mut told: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let end = format!(" ({})", day_of(&draft));
        let same = told.iter_mut().find(|known| {
            is_joined(known)
                && is_joined(&draft)
                && session(known) == session(&draft)
                && known.text.ends_with(&end)
        });
        let id = draft.memory.as_ref().map(|memory| store.short_id(&memory.id)).transpose()?;
        let joined = same.zip(id).and_then(|(known, id)| {
            let lead = known.text.split_inclusive(": ").next().unwrap_or_default();
            let rest = draft.text.strip_prefix(lead).unwrap_or(&draft.text);
            let before = known.text.strip_suffix(&end).unwrap_or(&known.text);
            let text = format!("{before}; `{id}` {rest}");
            (text.chars().count() <= LONGEST_LINE).then_some((known, text))
        });
        match joined {
            Some((known, text)) => known.text = text,
            None => told.push(draft),
        }
    }
    Ok(told)
}

fn session(draft: &Draft) -> Option<i64> {
    draft.memory.as_ref().and_then(|memory| memory.session)
}

/// True for a decision that a line with others may hold: a note is judged by itself, and an order would hold back the others.
fn is_joined(draft: &Draft) -> bool {
    matches!(draft.section, Section::Decisions { .. })
        && draft
            .memory
            .as_ref()
            .is_some_and(|memory| !memory.flags.is_note && memory.session.is_some())
        && !is_order(&draft.text)
}

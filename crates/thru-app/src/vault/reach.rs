//! The part of the vault that has to follow what is new in memory.

use jiff::SignedDuration;
use serde::Serialize;
use thru_core::{Id, content_hash};
use thru_store::{SessionFilter, Store};
use thru_vault::Followed;

use super::memory;
use super::sync::{Run, SyncVault};
use crate::ask::changes::{Moment, Stamp};
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::Result;

/// After this every note is compared with memory again, even if nothing is new: notes grow old, and what leads to others may
/// have to name new ones.
const COMPARED: SignedDuration = SignedDuration::from_hours(1);

/// The notes that have to be compared with memory.
pub(super) enum Reach {
    /// None: nothing is new.
    Nothing,
    /// Those of these sessions, by their rows.
    Sessions(Vec<i64>),
    /// Every note.
    Everything,
}

impl Run<'_> {
    /// In the background, others bring in what hooks recorded.
    pub(super) const fn freshness(&self) -> Freshness {
        if self.request.in_background { Freshness::AsItIs } else { Freshness::Recorded }
    }

    /// Returns the state of what notes follow from: the store, with what hooks recorded, the settings and the program.
    pub(super) fn state(&self, call: Call<'_>) -> Result<Followed> {
        let moment = Moment::of(&fresh::open(self.app, self.freshness(), call)?)?;
        let vault = &self.app.config.vault;
        let limits = (vault.compact_lines, vault.compact_days, vault.keep_original);
        Ok(Followed {
            rules: hash(&(env!("CARGO_PKG_VERSION"), limits)),
            files: hash(&Stamp::look(self.app)),
            moment: moment.to_string(),
        })
    }

    /// Returns the notes that have to be compared with memory as it is in this state.
    pub(super) fn reach(&self, state: &Followed, call: Call<'_>) -> Result<Reach> {
        let Some(followed) = self.record.follows.as_ref().filter(|_| self.is_settled()) else {
            return Ok(Reach::Everything);
        };
        if !self.request.in_background || followed.rules != state.rules {
            let is_same = followed == state;
            return Ok(if is_same { Reach::Nothing } else { Reach::Everything });
        }
        let store = fresh::open(self.app, self.freshness(), call)?;
        if self.has_closed(&store)? {
            return Ok(Reach::Everything);
        }
        let then: Moment = followed.moment.parse()?;
        Ok(match then.distilled_since(&store)? {
            Some(sessions) if sessions.is_empty() => Reach::Nothing,
            Some(sessions) => Reach::Sessions(sessions),
            None => Reach::Everything,
        })
    }

    /// True if every note was found to follow memory, and no person changed what is ours since.
    fn is_settled(&self) -> bool {
        let SyncVault { accept, compact, promote, unarchive, in_background: _, merged, dry_run } =
            self.request;
        let is_plain = compact.is_none()
            && promote.is_none()
            && unarchive.is_none()
            && merged.is_empty()
            && !accept
            && !dry_run;
        let since = self.record.synced.map(|at| self.now.duration_since(at));
        let is_recent =
            since.is_some_and(|since| since >= SignedDuration::ZERO && since < COMPARED);
        let is_written = self.record.failures.is_empty() && self.record.left.is_empty();
        let is_same = self.synced.taken.is_empty() && !self.has_news;
        is_plain && is_recent && is_written && is_same
    }

    /// True if a session is over since every note was compared with memory.
    fn has_closed(&self, store: &Store) -> Result<bool> {
        let limits = self.app.limits();
        let silence = limits.inactivity_timeout.max(limits.idle_timeout * 2);
        let silence = SignedDuration::try_from(silence).unwrap_or(COMPARED);
        let since = self.record.synced.and_then(|at| at.checked_sub(silence).ok());
        let recent = store.sessions(&SessionFilter { since, ..SessionFilter::default() })?;
        let closed = recent.iter().filter_map(|row| memory::closed(self.app, row));
        Ok(closed.max() > self.record.synced)
    }
}

fn hash(state: &impl Serialize) -> Id {
    content_hash(serde_json::to_string(state).unwrap_or_default().as_bytes())
}

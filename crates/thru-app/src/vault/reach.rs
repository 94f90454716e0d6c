//! The part of the vault that has to follow what is new in memory.

use jiff::SignedDuration;
use serde::Serialize;
use thru_core::{Id, Timestamp, content_hash};
use thru_store::{SessionFilter, SessionRow, Store};
use thru_vault::Followed;

use super::memory;
use super::sync::{Run, SyncVault};
use crate::ask::changes::{Moment, Stamp};
use crate::fresh::Freshness;
use crate::trouble::Result;

/// After this every note is compared with memory again, even if nothing is new: notes grow old, and what leads to others may
/// have to name new ones.
const COMPARED: SignedDuration = SignedDuration::from_hours(1);
/// The same since the note of a session that was over was written alone: one comparison serves several ends.
pub(super) const BEHIND: SignedDuration = SignedDuration::from_mins(10);
/// The end of a session is brought in this much later than it came, at most.
const LATE: SignedDuration = SignedDuration::from_mins(2);

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
    pub(super) fn state(&self, store: &Store) -> Result<Followed> {
        let moment = Moment::of(store)?;
        let vault = &self.app.config.vault;
        let limits = (vault.compact_lines, vault.compact_days, vault.keep_original);
        Ok(Followed {
            rules: hash(&(env!("CARGO_PKG_VERSION"), limits)),
            files: hash(&Stamp::look(self.app)),
            moment: moment.to_string(),
        })
    }

    /// Returns the notes that have to be compared with memory as it is in this state.
    pub(super) fn reach(&self, state: &Followed, store: &Store) -> Result<Reach> {
        let Some(followed) = self.record.follows.as_ref().filter(|_| self.is_settled()) else {
            return Ok(Reach::Everything);
        };
        if !self.request.in_background || followed.rules != state.rules {
            let is_same = followed == state && self.record.behind.is_none();
            return Ok(if is_same { Reach::Nothing } else { Reach::Everything });
        }
        // Another version may have written it.
        let then = followed.moment.parse::<Moment>().ok();
        let distilled = then.map(|then| then.distilled_since(store)).transpose()?.flatten();
        let Some(mut sessions) = distilled else { return Ok(Reach::Everything) };
        sessions.extend(self.closed_since(store)?);
        sessions.sort_unstable();
        sessions.dedup();
        Ok(if sessions.is_empty() { Reach::Nothing } else { Reach::Sessions(sessions) })
    }

    /// True if every note was found to follow memory, and no person changed what is ours since.
    fn is_settled(&self) -> bool {
        let SyncVault {
            accept,
            decided,
            compact,
            promote,
            unarchive,
            in_background: _,
            merged,
            dry_run,
        } = self.request;
        let is_plain = decided.is_empty()
            && compact.is_none()
            && promote.is_none()
            && unarchive.is_none()
            && merged.is_empty()
            && !accept
            && !dry_run;
        let is_within = |at: Timestamp, longest| {
            let since = self.now.duration_since(at);
            !since.is_negative() && since < longest
        };
        let is_recent = self.record.synced.is_some_and(|at| is_within(at, COMPARED))
            && self.record.behind.is_none_or(|at| is_within(at, BEHIND));
        let is_written = self.record.failures.is_empty() && self.record.left.is_empty();
        let is_same = self.synced.taken.is_empty() && !self.has_news;
        is_plain && is_recent && is_written && is_same
    }

    /// Returns the rows of the sessions that are over since their notes were written.
    fn closed_since(&self, store: &Store) -> Result<Vec<i64>> {
        let limits = self.app.limits();
        let silence = limits.inactivity_timeout.max(limits.idle_timeout * 2);
        let silence = SignedDuration::try_from(silence).unwrap_or(COMPARED);
        let written = self.record.closed.or(self.record.synced);
        let written = written.and_then(|at| at.checked_sub(LATE).ok());
        let since = written.and_then(|at| at.checked_sub(silence).ok());
        let recent = store.sessions(&SessionFilter { since, ..SessionFilter::default() })?;
        let is_closed = |row: &SessionRow| memory::closed(self.app, row) > written;
        Ok(recent.iter().filter(|row| is_closed(row)).map(|row| row.row).collect())
    }
}

fn hash(state: &impl Serialize) -> Id {
    content_hash(serde_json::to_string(state).unwrap_or_default().as_bytes())
}

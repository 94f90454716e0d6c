//! The calls of the last sessions of a project.

use thru_core::{Outcome, PassageKind, Timestamp};
use thru_store::{MemoryRow, Newest, PassageRow, Result, Store};

use super::PackRequest;
use super::typed::Line;
use super::valued::Valued;
use crate::tiers::Tier;

/// Sessions whose calls are looked at, and calls of each.
const SESSIONS: usize = 10;
const CALLS: usize = 150;

/// A call of a shell.
pub(super) struct Call {
    pub(super) passage: PassageRow,
    pub(super) line: Line,
}

/// The last sessions of a project with what they ran.
pub(super) struct Sessions {
    /// The number of all sessions that are known.
    pub(super) count: usize,
    /// The tier of the latest.
    pub(super) tier: Tier,
    /// The shell calls among the newest calls of the latest, the newest first; `None` for another tool.
    pub(super) calls: Vec<Vec<Option<Call>>>,
}

impl Call {
    fn of(passage: PassageRow) -> Option<Self> {
        let line = Line::of(passage.command.as_deref()?);
        Some(Self { passage, line })
    }

    pub(super) fn has_failed(&self) -> bool {
        self.passage.outcome == Some(Outcome::Failed)
    }
}

impl Sessions {
    pub(super) fn of(
        store: &Store,
        summaries: &[MemoryRow],
        valued: &[Valued],
        request: &PackRequest<'_>,
    ) -> Result<Self> {
        let mut latest: Vec<(Option<Timestamp>, i64)> = Vec::new();
        let memories = summaries.iter().chain(valued.iter().map(|one| &one.memory));
        for memory in memories.filter(|memory| memory.at.is_none_or(|at| at <= request.now)) {
            let Some(session) = memory.session else { continue };
            match latest.iter_mut().find(|(_, row)| *row == session) {
                Some((at, _)) => *at = (*at).max(memory.at),
                None => latest.push((memory.at, session)),
            }
        }
        latest.sort_by(|a, b| b.cmp(a));
        let tier = Tier::at_start(latest.first().and_then(|(at, _)| *at), false, request.now);
        let newest = Newest { kind: Some(PassageKind::Tool), within: CALLS, limit: CALLS };
        let last = latest.iter().take(SESSIONS);
        let calls = last
            .map(|(_, row)| {
                let passages = store.newest_passages(*row, newest)?;
                Ok(passages.into_iter().map(Call::of).collect())
            })
            .collect::<Result<_>>()?;
        Ok(Self { count: latest.len(), tier, calls })
    }
}

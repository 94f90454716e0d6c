//! The calls of the last sessions of a project.

use thru_core::{PassageKind, Timestamp};
use thru_store::{MemoryRow, Newest, PassageRow, Result, Store};

use super::PackRequest;
use super::valued::Valued;
use crate::tiers::Tier;

/// Sessions whose calls are looked at, and calls of each.
const SESSIONS: usize = 10;
const CALLS: usize = 250;

/// The last sessions of a project with their calls.
pub(super) struct Sessions {
    /// The number of all sessions that are known.
    pub(super) count: usize,
    /// The tier of the latest.
    pub(super) tier: Tier,
    /// The newest calls of the latest, the newest first.
    pub(super) calls: Vec<Vec<PassageRow>>,
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
        let calls =
            last.map(|(_, row)| store.newest_passages(*row, newest)).collect::<Result<_>>()?;
        Ok(Self { count: latest.len(), tier, calls })
    }
}

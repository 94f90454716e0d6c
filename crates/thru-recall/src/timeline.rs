//! Timelines: the memories before and after a moment, in its project.

use thru_core::Timestamp;
use thru_store::{MemoryFilter, MemoryRow, Result, Store};

/// The moment that a timeline is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Anchor {
    /// A memory, which is part of the timeline itself.
    Memory(MemoryRow),
    /// Any moment, that of a passage for example.
    Moment {
        /// The time.
        at: Timestamp,
        /// The project to search.
        project: Option<i64>,
        /// The session to search, if there is no project.
        session: Option<i64>,
    },
}

/// Memories around an anchor, the earliest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Earlier memories.
    pub before: Vec<MemoryRow>,
    /// The memory that was asked about.
    pub anchor: Option<MemoryRow>,
    /// Later memories.
    pub after: Vec<MemoryRow>,
}

/// Reads up to `before` and `after` memories around an anchor. `wanted` selects among them; project and
/// session come from the anchor.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn timeline(
    store: &Store,
    anchor: Anchor,
    before: usize,
    after: usize,
    wanted: MemoryFilter,
) -> Result<Timeline> {
    let (at, project, session, anchor) = match anchor {
        Anchor::Moment { at, project, session } => (at, project, session, None),
        Anchor::Memory(memory) => {
            let at = memory.at.unwrap_or(Timestamp::UNIX_EPOCH);
            (at, memory.project, memory.session, Some(memory))
        }
    };
    let projects = project.map(|row| store.project_and_merged(row)).transpose()?;
    let filter = MemoryFilter {
        global: projects.is_none() && anchor.as_ref().is_some_and(MemoryRow::is_global),
        session: if projects.is_none() { session } else { None },
        projects,
        ..wanted
    };
    let earlier =
        store.memories(&MemoryFilter { until: Some(at), limit: Some(before), ..filter.clone() })?;
    let next = Timestamp::from_millisecond(at.as_millisecond() + 1).unwrap_or(at);
    let same = store.memories(&MemoryFilter {
        since: Some(at),
        until: Some(next),
        oldest_first: true,
        ..filter.clone()
    })?;
    let later = store.memories(&MemoryFilter {
        since: Some(next),
        oldest_first: true,
        limit: Some(after),
        ..filter
    })?;
    let own = anchor.as_ref().and_then(|own| same.iter().position(|memory| memory.id == own.id));
    let mut timeline = Timeline { anchor, ..Timeline::default() };
    timeline.before.extend(earlier.into_iter().rev());
    for (place, memory) in same.into_iter().enumerate() {
        match own {
            Some(own) if place == own => {}
            Some(own) if place > own => timeline.after.push(memory),
            _ => timeline.before.push(memory),
        }
    }
    timeline.after.extend(later);
    let surplus = timeline.before.len().saturating_sub(before);
    timeline.before.drain(..surplus);
    timeline.after.truncate(after);
    Ok(timeline)
}

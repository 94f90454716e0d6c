//! Activity of sessions by day and by project: how long they took and what was done in them, computed from
//! the times of their passages.
//!
//! The time between two moments of a session that lie close together counts as work; a longer gap is idle
//! time. Both count for the day on which they began.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use thru_core::{Agent, PassageKind, Timestamp};
use thru_store::{MomentFilter, Result, Store};

/// The scope of an activity report.
#[derive(Clone, Debug)]
pub struct ActivityRequest {
    /// Limits the report to these projects.
    pub projects: Option<Vec<i64>>,
    /// Limits the report to these agents.
    pub agents: Option<Vec<Agent>>,
    /// Limits the report to passages from this time on.
    pub since: Option<Timestamp>,
    /// A gap longer than this is idle time.
    pub idle_timeout: Duration,
    /// The zone in which a day begins at midnight.
    pub zone: TimeZone,
}

/// The work of some sessions in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sessions with any activity.
    pub sessions: u64,
    /// Total time at work.
    pub active: Duration,
    /// Idle time between the first and the last moment of each session.
    pub idle: Duration,
    /// Prompts of people.
    pub prompts: u64,
    /// Tool calls.
    pub tools: u64,
}

/// The activity of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// By day, the latest first.
    pub days: Vec<(Date, Work)>,
    /// By the row and the name of the project, the most active first. `None` for sessions that belong to none.
    pub projects: Vec<(Option<(i64, String)>, Work)>,
    /// The total of all days.
    pub total: Work,
    /// The longest session, from its first to its last moment.
    pub longest: Duration,
    /// The median length of a session.
    pub median: Duration,
}

/// Reads the activity of sessions, in one pass over their passages without their texts.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn activity(store: &Store, request: &ActivityRequest) -> Result<Activity> {
    let filter = MomentFilter {
        projects: request.projects.clone(),
        agents: request.agents.clone(),
        since: request.since,
    };
    let mut sessions: HashMap<i64, Vec<(i64, PassageKind)>> = HashMap::new();
    store.moments(&filter, &mut |moment| {
        let of_session = sessions.entry(moment.session).or_default();
        of_session.push((moment.at.as_millisecond(), moment.kind));
    })?;
    let names = store.projects_of_sessions()?;
    let mut days = Days { zone: &request.zone, known: None };
    let mut by_day: BTreeMap<Date, Work> = BTreeMap::new();
    let mut by_project: BTreeMap<Option<(i64, String)>, Work> = BTreeMap::new();
    let mut activity = Activity::default();
    let mut durations: Vec<Duration> = Vec::new();
    for (session, mut moments) in sessions {
        // Subagents speak at the same time.
        moments.sort_unstable_by_key(|(at, _)| *at);
        let mut whole = Work { sessions: 1, ..Work::default() };
        let mut on: BTreeSet<Date> = BTreeSet::new();
        for (place, (at, kind)) in moments.iter().enumerate() {
            let date = days.of(*at);
            let next = moments.get(place + 1).map_or(*at, |(next, _)| *next);
            let work = Work::of(*kind, gap(*at, next), request.idle_timeout);
            let day = by_day.entry(date).or_default();
            day.add(work);
            day.sessions += u64::from(on.insert(date));
            whole.add(work);
        }
        durations.push(whole.active + whole.idle);
        by_project.entry(names.get(&session).cloned()).or_default().add(whole);
        activity.total.add(whole);
    }
    durations.sort_unstable();
    activity.longest = durations.last().copied().unwrap_or_default();
    // Of an even number, the middle of the two in the middle.
    let middle = |at: usize| durations.get(at).copied().unwrap_or_default();
    let half = durations.len() / 2;
    activity.median = (middle(half) + middle(durations.len().saturating_sub(1) / 2)) / 2;
    activity.days = by_day.into_iter().rev().collect();
    activity.projects = by_project.into_iter().collect();
    activity.projects.sort_by_cached_key(|(project, work)| {
        (Reverse(work.active), project.as_ref().map(|(row, name)| (name.clone(), *row)))
    });
    Ok(activity)
}

impl Work {
    /// One moment, with the gap after it. Idle time ends where the session does: after twice the limit.
    fn of(kind: PassageKind, gap: Duration, idle_timeout: Duration) -> Self {
        let is_idle = gap > idle_timeout;
        Self {
            sessions: 0,
            active: if is_idle { Duration::ZERO } else { gap },
            idle: if is_idle { gap.min(idle_timeout * 2) } else { Duration::ZERO },
            prompts: u64::from(kind == PassageKind::Human),
            tools: u64::from(kind == PassageKind::Tool),
        }
    }

    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.active += other.active;
        self.idle += other.idle;
        self.prompts += other.prompts;
        self.tools += other.tools;
    }
}

fn gap(from: i64, to: i64) -> Duration {
    Duration::from_millis(to.abs_diff(from))
}

/// Maps moments to days. Moments of a session lie on few days, so the last day is cached.
struct Days<'z> {
    zone: &'z TimeZone,
    known: Option<(std::ops::Range<i64>, Date)>,
}

impl Days<'_> {
    fn of(&mut self, at: i64) -> Date {
        if let Some((range, date)) = &self.known
            && range.contains(&at)
        {
            return *date;
        }
        let moment = Timestamp::from_millisecond(at).unwrap_or_default();
        let zoned = moment.to_zoned(self.zone.clone());
        let date = zoned.date();
        let begin = zoned.start_of_day().map_or(at, |begin| begin.timestamp().as_millisecond());
        let end = zoned.tomorrow().and_then(|next| next.start_of_day());
        let end = end.map_or(at + 1, |end| end.timestamp().as_millisecond());
        self.known = Some((begin..end, date));
        date
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_begin_at_midnight_of_the_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(5));
        let mut days = Days { zone: &zone, known: None };
        let mut of = |at: &str| days.of(at.parse::<Timestamp>().unwrap().as_millisecond());
        assert_eq!(of("2026-03-01T18:59:59Z"), jiff::civil::date(2026, 3, 1));
        assert_eq!(of("2026-03-01T19:00:00Z"), jiff::civil::date(2026, 3, 2));
        assert_eq!(of("2026-03-01T00:00:00Z"), jiff::civil::date(2026, 3, 1));
    }

    proptest! {
        #[test]
        fn active_and_idle_time_are_the_whole(times in prop::collection::vec(0_i64..100_000_000, 1..40)) {
            let mut times = times;
            times.sort_unstable();
            let mut work = Work::default();
            let mut whole = Duration::ZERO;
            for pair in times.windows(2) {
                let gap = gap(pair[0], pair[1]);
                work.add(Work::of(PassageKind::Tool, gap, Duration::from_mins(30)));
                // Nothing is idle for a day: it has ended.
                whole += gap.min(Duration::from_mins(60));
            }
            prop_assert_eq!(work.active + work.idle, whole);
            prop_assert_eq!(work.tools as usize, times.len() - 1);
        }
    }
}

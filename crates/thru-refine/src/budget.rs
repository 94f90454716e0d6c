//! Spending on models and its limits. Hard limits: a question is asked only if the most that it may cost
//! still fits, and a question with an unknown outcome counts in full.
//!
//! Days and months are UTC, so that they do not move when the user travels.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use thru_config::{Limit, Limits};
use thru_core::{Micros, Spent, Timestamp};
use thru_store::{Result, SpendingFilter, Store};

/// Spending in the current day and month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Today.
    pub day: Spent,
    /// This month.
    pub month: Spent,
    /// Today, for one project.
    pub project_day: Spent,
    /// This month, for one project.
    pub project_month: Spent,
}

/// A limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The limit, in words: `today's tokens`.
    pub what: &'static str,
    /// The time the limit resets.
    pub until: Timestamp,
    /// True if only one project is limited.
    pub is_of_project: bool,
}

impl Meter {
    /// Reads the spending from the store. `project` is the key of the project in question.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn read(store: &Store, now: Timestamp, project: Option<&str>) -> Result<Self> {
        let (day, month) = (start_of_day(now), start_of_month(now));
        let spent = |since, project| store.spent(SpendingFilter { since: Some(since), project });
        let mut meter =
            Self { day: spent(day, None)?, month: spent(month, None)?, ..Self::default() };
        if project.is_some() {
            meter.project_day = spent(day, project)?;
            meter.project_month = spent(month, project)?;
        }
        Ok(meter)
    }

    /// Adds spending that is about to happen, for the same project or for another one.
    pub fn add(&mut self, spent: Spent, same_project: bool) {
        let all = [&mut self.day, &mut self.month];
        let own = [&mut self.project_day, &mut self.project_month];
        for sum in all.into_iter().chain(own.into_iter().filter(|_| same_project)) {
            *sum = sum.plus(spent);
        }
    }

    /// Returns the first limit that `asked` would exceed; of several, the one that lasts longest.
    pub fn exhausted(&self, limits: &Limits, asked: Spent, now: Timestamp) -> Option<Exhausted> {
        let tomorrow = end_of_day(now);
        let next_month = end_of_month(now);
        let rows = [
            (self.month, limits.monthly, next_month, ["this month's tokens", "this month's money"]),
            (
                self.project_month,
                limits.project_monthly,
                next_month,
                ["this project's tokens for the month", "this project's money for the month"],
            ),
            (self.day, limits.daily, tomorrow, ["today's tokens", "today's money"]),
            (
                self.project_day,
                limits.project_daily,
                tomorrow,
                ["this project's tokens for today", "this project's money for today"],
            ),
        ];
        rows.into_iter().enumerate().find_map(|(row, (spent, limit, until, [tokens, money]))| {
            let is_of_project = row % 2 == 1;
            let after = spent.plus(asked);
            let Limit { tokens: most, cents } = limit;
            if after.tokens() > most {
                return Some(Exhausted { what: tokens, until, is_of_project });
            }
            // A free model may still be asked when the money is spent; a model of unknown price may not.
            let limit = Micros::from_cents(cents);
            let is_over = match asked.cost {
                Some(cost) => cost > Micros(0) && after.cost.is_some_and(|cost| cost > limit),
                None => spent.cost.unwrap_or_default() >= limit,
            };
            is_over.then_some(Exhausted { what: money, until, is_of_project })
        })
    }
}

/// Returns the start of the UTC day of `now`.
pub fn start_of_day(now: Timestamp) -> Timestamp {
    start_of(date(now))
}

/// Returns the start of the UTC month of `now`.
pub fn start_of_month(now: Timestamp) -> Timestamp {
    start_of(date(now).first_of_month())
}

fn end_of_day(now: Timestamp) -> Timestamp {
    date(now).tomorrow().map_or(Timestamp::MAX, start_of)
}

fn end_of_month(now: Timestamp) -> Timestamp {
    date(now).last_of_month().tomorrow().map_or(Timestamp::MAX, start_of)
}

fn date(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

fn start_of(date: Date) -> Timestamp {
    date.to_zoned(TimeZone::UTC).map_or(Timestamp::MIN, |zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(tokens: u64, cents: u64) -> Limits {
        let limit = Limit { tokens, cents };
        Limits { daily: limit, monthly: limit, project_daily: limit, project_monthly: limit }
    }

    fn spent(tokens: u64, cost: Option<u64>) -> Spent {
        Spent { input: tokens, output: 0, cost: cost.map(Micros) }
    }

    #[test]
    fn the_limit_that_holds_longest_is_named() {
        let now: Timestamp = "2026-02-27T23:00:00Z".parse().unwrap();
        let mut meter = Meter::default();
        meter.add(spent(90, Some(5)), true);
        let wide = Limit { tokens: 1_000, cents: 1_000 };
        let day = Limits { daily: Limit { tokens: 99, ..wide }, ..limits(1_000, 1_000) };
        assert_eq!(meter.exhausted(&day, spent(9, None), now), None);
        let over = meter.exhausted(&day, spent(10, None), now).unwrap();
        assert_eq!(
            (over.what, over.until.to_string()),
            ("today's tokens", "2026-02-28T00:00:00Z".into())
        );
        let both = Limits { monthly: Limit { tokens: 10, ..wide }, ..day };
        let over = meter.exhausted(&both, spent(10, None), now).unwrap();
        assert_eq!(over.until.to_string(), "2026-03-01T00:00:00Z");
    }

    #[test]
    fn what_costs_nothing_is_asked_without_money() {
        let now = Timestamp::UNIX_EPOCH;
        let mut meter = Meter::default();
        meter.add(spent(1, Some(20_000)), false);
        assert!(meter.exhausted(&limits(1_000, 2), spent(1, Some(1)), now).is_some());
        assert_eq!(meter.exhausted(&limits(1_000, 2), spent(1, Some(0)), now), None);
        assert_eq!(meter.exhausted(&limits(1_000, 3), spent(1, None), now), None);
        assert!(meter.exhausted(&limits(1_000, 2), spent(1, None), now).is_some());
        assert!(meter.exhausted(&limits(0, 2), spent(1, None), now).is_some());
    }

    proptest! {
        #[test]
        fn no_order_of_questions_breaks_a_limit(
            asked in proptest::collection::vec((0..500_u64, 0..50_000_u64), 1..60),
            tokens in 0..5_000_u64,
            cents in 0..20_u64,
        ) {
            let now = Timestamp::UNIX_EPOCH;
            let mut meter = Meter::default();
            for (size, cost) in asked {
                let asked = spent(size, Some(cost));
                if meter.exhausted(&limits(tokens, cents), asked, now).is_none() {
                    meter.add(asked, true);
                }
            }
            prop_assert!(meter.day.tokens() <= tokens);
            prop_assert!(meter.day.cost.unwrap_or_default() <= Micros::from_cents(cents));
        }
    }
}

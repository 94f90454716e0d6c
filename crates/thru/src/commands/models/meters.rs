//! What is asked, what that cost, and what waits: for `thru status`.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_config::Limit;
use thru_core::{Micros, Spent};
use thru_refine::{Exhausted, Meter};
use thru_store::{JobRow, Store};

use crate::ui::{Tone, count, plural};
use thru_app::models;

/// Who is asked about memories, and what that cost.
pub(crate) struct Meters {
    provider: String,
    model: Option<String>,
    meter: Meter,
    limits: thru_config::Limits,
    /// Questions that wait, and those that nobody asks again.
    waiting: u64,
    dead: u64,
    exhausted: Option<Exhausted>,
}

/// How many jobs are no questions to models.
pub(crate) fn others(jobs: &[JobRow]) -> u64 {
    jobs.iter().filter(|job| !job.is_question()).count() as u64
}

/// How many of those were given up.
pub(crate) fn dead_others(jobs: &[JobRow]) -> u64 {
    jobs.iter().filter(|job| !job.is_question() && job.is_dead).count() as u64
}

/// Reads the meters; nothing where no model is set and none was asked this month.
pub(crate) fn meters(
    environment: &App,
    store: Option<&Store>,
    jobs: &[JobRow],
) -> Result<Option<Meters>> {
    let models = &environment.config.models;
    let now = environment.clock.now();
    let meter = match store {
        Some(store) => Meter::read(store, now, None)?,
        None => Meter::default(),
    };
    if models.provider().is_none() && meter.month == Spent::default() {
        return Ok(None);
    }
    let limits = environment.config.budget.limits();
    let dead = jobs.iter().filter(|job| job.is_question() && job.is_dead).count() as u64;
    let waiting = jobs.iter().filter(|job| job.is_question()).count() as u64 - dead;
    // The smallest question there is. On this machine it costs nothing.
    let known = models.provider().and_then(models::known);
    let is_local = known.is_some_and(|known| known.is_local(environment, models.url.as_deref()));
    let least = Spent { input: 1_000, output: 0, cost: is_local.then_some(Micros(0)) };
    Ok(Some(Meters {
        provider: models.provider().unwrap_or("none").to_owned(),
        model: models.model.clone(),
        exhausted: meter.exhausted(&limits, least, now),
        meter,
        limits,
        waiting,
        dead,
    }))
}

impl Meters {
    /// As rows of a page.
    pub(crate) fn rows(&self) -> Vec<(&'static str, Option<Tone>, String)> {
        let mut rows = Vec::new();
        let model = self.model.as_ref().map_or_else(String::new, |model| format!(" {model}"));
        let asked = match self.provider.as_str() {
            "none" => "none is asked".to_owned(),
            provider => format!("{provider}{model}"),
        };
        let waits = match self.waiting {
            0 => String::new(),
            number => format!(", {} waiting", plural(number, "question")),
        };
        let dead = match self.dead {
            0 => String::new(),
            number => format!(", {number} given up (`thru jobs`)"),
        };
        rows.push(("models", None, format!("{asked}{waits}{dead}")));
        rows.push((
            "",
            None,
            format!(
                "today {}; this month {}",
                used(self.meter.day, self.limits.daily),
                used(self.meter.month, self.limits.monthly)
            ),
        ));
        if let Some(exhausted) = self.exhausted {
            let until = exhausted.until.strftime("%Y-%m-%d %H:%M UTC");
            let text = format!(
                "{} are spent: memories are made without a model until {until}",
                exhausted.what
            );
            rows.push(("", Some(Tone::Bad), text));
        }
        rows
    }

    /// For programs.
    pub(crate) fn as_json(&self) -> Value {
        let spent = |spent: Spent, limit: Limit| {
            json!({
                "tokens": spent.tokens(),
                "cost_micros": spent.cost.map(|cost| cost.0),
                "limit_tokens": limit.tokens,
                "limit_cents": limit.cents,
            })
        };
        json!({
            "provider": self.provider,
            "model": self.model,
            "waiting": self.waiting,
            "given_up": self.dead,
            "today": spent(self.meter.day, self.limits.daily),
            "month": spent(self.meter.month, self.limits.monthly),
            "exhausted": self.exhausted.map(|exhausted| exhausted.what),
        })
    }
}

/// `12,300 of 500,000 tokens, $0.04 of $1.00`
fn used(spent: Spent, limit: Limit) -> String {
    let money = spent
        .cost
        .map_or_else(String::new, |cost| format!(", {cost} of ${:.2}", limit.cents as f64 / 100.0));
    format!("{} of {} tokens{money}", count(spent.tokens()), count(limit.tokens))
}

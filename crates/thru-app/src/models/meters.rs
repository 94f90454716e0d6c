//! The questions that wait, and the tokens and money that models cost so far.

use schemars::JsonSchema;
use serde::Serialize;
use thru_config::Limit;
use thru_core::{Micros, Spent, Timestamp};
use thru_refine::Meter;
use thru_store::{JobRow, Store};

use super::known;
use crate::app::App;
use crate::trouble::Result;

/// The provider that is asked, the questions that wait for it, and the cost so far.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Meters {
    /// The provider; `none` where none is set and one was asked this month.
    pub provider: String,
    /// The model, where one is named.
    pub model: Option<String>,
    /// Questions that wait.
    pub waiting: u64,
    /// Questions that failed too often to be asked again.
    pub given_up: u64,
    /// The cost of today.
    pub today: Spending,
    /// The cost of this month.
    pub month: Spending,
    /// The limit that is reached, in words.
    pub exhausted: Option<&'static str>,
    /// The time when that limit starts anew.
    #[serde(skip)]
    pub exhausted_until: Option<Timestamp>,
}

/// The cost of a period, and its limits.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Spending {
    /// Tokens, both ways.
    pub tokens: u64,
    /// Money, where prices are known.
    #[serde(rename = "cost_micros")]
    pub cost: Option<Micros>,
    /// The limit of tokens.
    pub limit_tokens: u64,
    /// The limit of money, in US cents.
    pub limit_cents: u64,
}

impl Spending {
    fn new(spent: Spent, limit: Limit) -> Self {
        let Limit { tokens: limit_tokens, cents: limit_cents } = limit;
        Self { tokens: spent.tokens(), cost: spent.cost, limit_tokens, limit_cents }
    }
}

impl Meters {
    /// Reads the meters; nothing where no model is set and none was asked this month.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn read(app: &App, store: Option<&Store>, jobs: &[JobRow]) -> Result<Option<Self>> {
        let models = &app.config.models;
        let now = app.clock.now();
        let meter = match store {
            Some(store) => Meter::read(store, now, None)?,
            None => Meter::default(),
        };
        if models.provider().is_none() && meter.month == Spent::default() {
            return Ok(None);
        }
        let limits = app.config.budget.limits();
        let questions = jobs.iter().filter(|job| job.is_question());
        let (given_up, waiting): (Vec<_>, Vec<_>) = questions.partition(|job| job.is_dead);
        // The smallest question there is. On this machine it costs nothing.
        let known = models.provider().and_then(known);
        let is_local = known.is_some_and(|known| known.is_local(app, models.url.as_deref()));
        let least = Spent { input: 1_000, output: 0, cost: is_local.then_some(Micros(0)) };
        let exhausted = meter.exhausted(&limits, least, now);
        Ok(Some(Self {
            provider: models.provider().unwrap_or("none").to_owned(),
            model: models.model.clone(),
            waiting: waiting.len() as u64,
            given_up: given_up.len() as u64,
            today: Spending::new(meter.day, limits.daily),
            month: Spending::new(meter.month, limits.monthly),
            exhausted: exhausted.map(|exhausted| exhausted.what),
            exhausted_until: exhausted.map(|exhausted| exhausted.until),
        }))
    }
}

//! One small question to each provider that is set, to see if it answers.

use serde::Serialize;
use serde_json::json;
use thru_core::{Micros, Purpose, Question};
use thru_intake::Operation;
use thru_models::Request;
use thru_refine::{Chain, ChainLink, Meter};
use thru_store::Store;

use super::{Models, no_model};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::trouble::{Result, Trouble};
use crate::words::printable;

/// The outcome of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    version: u32,
    kind: &'static str,
    /// The provider that is set, then its fallback.
    pub providers: Vec<ProviderTrial>,
}

impl Trial {
    /// True if the provider that is asked first answered.
    pub fn is_well(&self) -> bool {
        self.providers.first().is_some_and(|first| first.answered)
    }
}

/// The outcome for one provider.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderTrial {
    /// Its name in the settings.
    pub name: String,
    /// True if it answered.
    pub answered: bool,
    /// The model that answered, by its own name.
    pub model: Option<String>,
    /// True if the answer has the form that was asked for.
    pub structured: Option<bool>,
    /// The seconds that the answer took.
    pub seconds: Option<f64>,
    /// The reason why there is no answer.
    pub error: Option<String>,
    /// The tokens that the question cost.
    pub tokens: u64,
    /// The money that it cost, where the price is known.
    #[serde(rename = "cost_micros")]
    pub cost: Option<Micros>,
}

/// Asks each provider that is set. The question counts like every other.
///
/// # Errors
/// Fails if no model is set, the budget is spent, or journal or store cannot be used. A provider that does not answer is
/// no error.
pub fn try_models(app: &App, call: Call<'_>) -> Result<Trial> {
    let models = Models::from_config(app)?.ok_or_else(no_model)?;
    let chain = models.chain();
    let providers = chain.links.iter().map(|link| ask(app, chain, link, call));
    let providers = providers.collect::<Result<_>>()?;
    Ok(Trial { version: answer::VERSION, kind: "models-test", providers })
}

fn ask(app: &App, chain: &Chain, link: &ChainLink, call: Call<'_>) -> Result<ProviderTrial> {
    let request = Request {
        system: "You are asked whether you answer. Say so in the form that you are given."
            .to_owned(),
        prompt: "Answer with ready: true.".to_owned(),
        schema: Some(json!({
            "type": "object",
            "properties": { "ready": { "type": "boolean" } },
            "required": ["ready"],
            "additionalProperties": false,
        })),
        schema_name: "readiness".to_owned(),
        max_output_tokens: 200,
        temperature: None,
    };
    let intake = app.intake()?;
    let (most, now) = (chain.most(link, &request), app.clock.now());
    if let Some(store) = Store::open_if_there(&app.layout)? {
        let limits = app.config.budget.limits();
        let exhausted = Meter::read(&store, now, None)?.exhausted(&limits, most, now);
        if let Some(exhausted) = exhausted {
            return Err(Trouble::refused(format!("{} are spent", exhausted.what)).run(
                "config set budget.daily_tokens NUMBER",
                "allows more, and so do the other limits",
            ));
        }
    }
    let question = intake.record_question(Question {
        purpose: Purpose::Test,
        session: None,
        project: None,
        provider: link.name.clone(),
        model: link.provider.model().to_owned(),
        spent: most,
    })?;
    let reply = link.provider.ask(&request, call.cancelled());
    let (spent, error) = match &reply {
        Ok(reply) => (chain.paid(link, reply), None),
        Err(error) => (chain.lost(link, error.spent()), Some(error.to_string())),
    };
    intake.record(&[Operation::QuestionSettled { question, spent, error: error.clone() }])?;
    if app.layout.database().exists() {
        intake.apply_answers(&call.lock(&intake)?, &[])?;
    }
    let reply = reply.ok();
    Ok(ProviderTrial {
        name: link.name.clone(),
        answered: reply.is_some(),
        model: reply.as_ref().map(|reply| printable(&reply.model)),
        structured: reply.as_ref().map(|reply| reply.structured.is_some()),
        seconds: reply.as_ref().map(|reply| reply.latency.as_secs_f64()),
        error: error.as_deref().map(printable),
        tokens: spent.tokens(),
        cost: spent.cost,
    })
}

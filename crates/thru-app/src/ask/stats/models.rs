//! The questions that models were asked, and their cost.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use thru_core::Spent;
use thru_recall::parse_date;
use thru_store::{Fate, SpendingFilter, SpendingRow};

use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::Result;

/// A request for the use of models.
#[derive(Clone, Debug)]
pub struct AskModelUsage {
    /// The first day, as people write one.
    pub since: String,
    /// Only this project, by name or key.
    pub project: Option<String>,
}

/// The use of models.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelUsage {
    /// The version of this form.
    pub version: u32,
    /// `model-usage`.
    pub kind: &'static str,
    /// The number of memories that others, made by a model, take the place of.
    pub superseded_memories: u64,
    /// One row per provider, model, purpose and outcome.
    pub rows: Vec<ModelUsageRow>,
}

/// Questions of one kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelUsageRow {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The purpose.
    pub purpose: String,
    /// `unknown`, `answer`, `no use` or `no answer`.
    pub outcome: &'static str,
    /// The number of questions.
    pub questions: u64,
    /// Their cost.
    #[serde(flatten, serialize_with = "figures")]
    #[schemars(with = "Figures")]
    pub spent: Spent,
}

/// Tokens and a cost for programs.
#[derive(Serialize, JsonSchema)]
struct Figures {
    input_tokens: u64,
    output_tokens: u64,
    cost_micros: Option<u64>,
}

fn figures<S: Serializer>(spent: &Spent, serializer: S) -> Result<S::Ok, S::Error> {
    let cost_micros = spent.cost.map(|cost| cost.0);
    Figures { input_tokens: spent.input, output_tokens: spent.output, cost_micros }
        .serialize(serializer)
}

impl From<SpendingRow> for ModelUsageRow {
    fn from(row: SpendingRow) -> Self {
        Self {
            provider: row.provider,
            model: row.model,
            purpose: row.purpose,
            outcome: match row.fate {
                Fate::Unknown => "unknown",
                Fate::Answered => "answer",
                Fate::Wasted => "no use",
                Fate::Free => "no answer",
            },
            questions: row.questions,
            spent: row.spent,
        }
    }
}

/// Adds up the questions that models were asked.
///
/// # Errors
/// Fails if the day or the project cannot be understood, or the store cannot be read.
pub fn model_usage(app: &App, request: &AskModelUsage, call: Call<'_>) -> Result<ModelUsage> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let project = request.project.as_deref();
    let project = project.map(|name| named::named_project(&store, name)).transpose()?;
    let since = parse_date(&request.since, app.clock.now(), app.zone())?;
    let project = project.as_ref().map(|project| project.key.as_str());
    let rows = store.spending(SpendingFilter { since: Some(since), project })?;
    Ok(ModelUsage {
        version: answer::VERSION,
        kind: "model-usage",
        superseded_memories: store.superseded_count()?,
        rows: rows.into_iter().map(ModelUsageRow::from).collect(),
    })
}

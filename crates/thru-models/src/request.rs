//! Questions to a model, and its answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thru_core::Micros;

/// One question to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt: the model's role and rules.
    pub system: String,
    /// The user prompt.
    pub prompt: String,
    /// The JSON schema of the answer, an object; `None` for a plain text answer.
    pub schema: Option<Value>,
    /// The name of the schema: letters, digits, `_` and `-`.
    pub schema_name: String,
    /// Most tokens of the answer.
    pub max_output_tokens: u32,
    /// The sampling temperature; not every model accepts it.
    pub temperature: Option<f32>,
}

impl Request {
    /// Returns the most that asking costs if no usage is reported: the input, by its length, and the
    /// longest answer.
    pub(crate) fn estimate(&self) -> Usage {
        Usage {
            input: self.input_estimate(),
            output: u64::from(self.max_output_tokens),
            cached_input: 0,
            estimated: true,
        }
    }

    pub(crate) fn input_estimate(&self) -> u64 {
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        tokens(self.system.len() + self.prompt.len() + schema)
    }
}

/// Returns the approximate number of tokens in so many bytes: four bytes each in prose, fewer in code.
pub(crate) const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The model's text, without its thoughts.
    pub text: String,
    /// The JSON object in the answer, if a schema was given and one was found.
    pub structured: Option<Value>,
    /// The model that answered, by its own name.
    pub model: String,
    /// The tokens that were used.
    pub usage: Usage,
    /// The time from the question to the complete answer.
    pub latency: Duration,
    /// The reason the answer ended.
    pub stopped: Stop,
    /// The cost, if the provider reports it.
    pub cost: Option<Micros>,
}

/// Tokens used by a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens.
    pub input: u64,
    /// All output tokens, thoughts included.
    pub output: u64,
    /// Input tokens that came from the provider's cache, which are cheaper.
    pub cached_input: u64,
    /// True if this is our estimate because the provider reported nothing.
    pub estimated: bool,
}

/// The reason an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is complete.
    Complete,
    /// It reached its maximum length. With a schema, a reply ends so only if the object is complete all
    /// the same.
    Length,
    /// The model, or its moderation, declined. A reply never has this: it becomes
    /// [`crate::AskError::Refused`].
    Refused,
    /// Any other reason, in the provider's words.
    Other(String),
}

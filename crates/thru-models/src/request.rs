//! What a model is asked, and what it answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prices::Micros;

/// One question to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the model is, and what rules it works by.
    pub system: String,
    /// What it is to work on.
    pub prompt: String,
    /// The JSON schema of the answer, an object; none where the answer is text.
    pub schema: Option<Value>,
    /// What the schema is called: letters, digits, `_` and `-`.
    pub schema_name: String,
    /// How many tokens the answer may have.
    pub max_output_tokens: u32,
    /// How freely it may choose its words; not every model takes it.
    pub temperature: Option<f32>,
}

impl Request {
    /// What asking costs at most, where nobody told: what goes in, by its length, and the longest answer.
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

/// How many tokens so many bytes of text are, about: four bytes each in prose, fewer in code.
pub(crate) const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What the model said, without what it thought before.
    pub text: String,
    /// The JSON object that it answered, where a schema was given and one was found.
    pub structured: Option<Value>,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// The tokens that it took.
    pub usage: Usage,
    /// From the question to the whole answer.
    pub latency: Duration,
    /// Why it ended.
    pub stopped: Stop,
    /// What it cost, where the provider says so.
    pub cost: Option<Micros>,
}

/// Tokens that a question took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All that went in.
    pub input: u64,
    /// All that came out, what the model thought included.
    pub output: u64,
    /// The part of the input that the provider had kept from before, which is cheaper.
    pub cached_input: u64,
    /// Whether this is our estimate, because the provider did not say.
    pub estimated: bool,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was all said.
    Complete,
    /// It reached its longest length. With a schema this is only in a reply if the object is whole all the
    /// same.
    Length,
    /// The model, or who watches over it, declined. A reply never says so: it is [`crate::AskError::Refused`].
    Refused,
    /// Something else, in the provider's words.
    Other(String),
}

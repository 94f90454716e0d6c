//! Asking a language model that the user chose.
//!
//! [`connect`] makes a [`Provider`] of [`Settings`]; [`Provider::ask`] sends one [`Request`] and returns
//! a [`Reply`] or an [`AskError`], which says if asking again makes sense and how much was spent in
//! vain. [`Throttled`] keeps to a provider's limits, [`Prices`] computes the cost of an answer, [`Keys`]
//! stores keys.
//!
//! Everything blocks, ends within its time, and soon after its `stop` flag is set.
//!
//! This crate must not know the purpose of a question, read the environment or the wall clock, retry
//! anything that cost something, or put a key or a prompt into a message.

mod anthropic;
mod chat;
mod claude_cli;
mod dialect;
mod error;
mod keys;
mod ollama;
mod openai;
mod prices;
mod provider;
mod refusal;
mod request;
mod throttle;

pub use error::AskError;
pub use keys::{KeyError, KeySource, KeyStorage, Keys};
pub use prices::{Price, Prices, cost};
pub use provider::{ConnectError, Kind, Provider, Settings, connect};
pub use request::{Reply, Request, Stop, Usage};
pub use throttle::{Clock, Rates, Throttle, Throttled, Wait};
pub use thru_outside::{Key, Retry};

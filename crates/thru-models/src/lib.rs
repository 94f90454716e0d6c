//! Asking a language model that the user chose.
//!
//! [`connect`] makes a [`Provider`] of [`Settings`]; [`Provider::ask`] sends one [`Request`] and gives a
//! [`Reply`] or an [`AskError`], which says whether asking again makes sense and what was spent in vain.
//! [`Throttled`] keeps to limits of a provider, [`Prices`] know what an answer cost, [`Keys`] where a key is
//! kept. What an answer was meant to hold, [`structured`] finds in it.
//!
//! Everything blocks, ends within its time, and soon after its `stop` flag is set.
//!
//! It must not know what is asked or what for, read the environment or the clock on the wall, try anything
//! again that cost something, or say a key or a prompt in any message.

mod answer_text;
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
#[cfg(feature = "test-server")]
pub mod testing;
mod throttle;

pub use answer_text::{find_object, structured};
pub use error::AskError;
pub use keys::{KeyError, KeyPlace, KeySource, Keys};
pub use prices::{Micros, Price, Prices, cost};
pub use provider::{ConnectError, Kind, Provider, Settings, connect};
pub use request::{Reply, Request, Stop, Usage};
pub use throttle::{Clock, Rates, Throttle, Throttled, Wait};
pub use thru_outside::{Key, Retry};

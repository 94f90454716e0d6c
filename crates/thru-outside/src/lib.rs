//! Bounded access to the outside: one HTTP request ([`Http`]), one process ([`process`]).
//!
//! The other end may hang, babble or vanish. So everything here has a limit of time and a limit of size,
//! ends soon after a flag is set, and leaves nothing behind. Callers are threads.
//!
//! This crate must not know the meaning of what is exchanged, read files, or try anything twice. Types
//! shared by its users live here too: a [`Key`] that is not printed, a validated [`ServiceUrl`], [`Retry`].

mod http;
mod key;
pub mod process;
mod retry;
mod service_url;
mod words;

pub use http::{Http, HttpError, HttpRequest, HttpResponse, Limits, Method};
pub use key::Key;
pub use retry::Retry;
pub use service_url::{ServiceUrl, ServiceUrlError};
pub use words::{LONGEST_EXCERPT, excerpt, excerpt_unless_echo};

use std::time::Duration;

/// Interval at which `stop` is checked. Ctrl-C takes no longer than this.
const LOOK: Duration = Duration::from_millis(100);

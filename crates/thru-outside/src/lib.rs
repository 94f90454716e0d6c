//! Talking to what is not ours, on a short leash: one HTTP request ([`Http`]), one process
//! ([`process`]).
//!
//! Whatever is at the other end may hang, babble or vanish. So everything here has a limit of time and a
//! limit of size, ends soon after a flag is set, and leaves nothing behind. Callers are threads; that the
//! network is asynchronous below stays in here.
//!
//! It must not know what is asked or answered, read files, or try anything twice. What those who talk through
//! it have in common lies here too: a [`Key`] that is not printed, a [`Place`] that was looked at, [`Retry`].

mod http;
mod key;
mod place;
pub mod process;
mod retry;
#[cfg(any(test, feature = "test-server"))]
pub mod testing;
mod words;

pub use http::{Answer, Call, Http, HttpError, Limits, Verb};
pub use key::Key;
pub use place::{Place, PlaceError};
pub use retry::Retry;
pub use words::{LONGEST_EXCERPT, excerpt, excerpt_unless_echo};

use std::time::Duration;

/// How often is looked whether something is to stop. People who press Ctrl-C wait no longer than this.
const LOOK: Duration = Duration::from_millis(100);

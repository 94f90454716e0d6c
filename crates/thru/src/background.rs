//! The daemon, seen from hooks and commands: tell it that there is news, have it started, look whether
//! it watches. Nobody needs it: what it does, whoever runs next does as well.

use thru_config::Config;
use thru_core::Layout;

/// Tells the daemon, if there is one, that there is news. Waits for nobody.
pub(crate) fn poke(_layout: &Layout, _config: &Config) {}

/// Has a daemon started, if none runs. Waits for nobody.
pub(crate) fn start(_layout: &Layout, _config: &Config) {}

/// Whether somebody watches the transcripts.
pub(crate) fn is_watching(_layout: &Layout) -> bool {
    false
}

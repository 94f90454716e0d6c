//! What can be set, with the defaults that were chosen.

use std::time::Duration;

/// How a daemon behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long after a poke its news are brought in, so that several count as one.
    pub debounce: Duration,
    /// The same after a change of a watched file: a session at work writes all the time.
    pub change_delay: Duration,
    /// How long after a poke at most until what was written is synced.
    pub sync_delay: Duration,
    /// How often it looks whether its folders, its files and its program are still what they were.
    pub check_interval: Duration,
    /// The same while a folder that is to be watched is not there.
    pub missing_interval: Duration,
    /// How often everything is looked at although watching works.
    pub rescan_interval: Duration,
    /// How often everything is looked at where watching does not work.
    pub poll_interval: Duration,
    /// How far the clock may run from what we expect before everything is looked at.
    pub clock_tolerance: Duration,
    /// After how long without anything to do it ends; never, where there is none.
    pub idle_exit: Option<Duration>,
    /// How long reading one request or writing one answer may take.
    pub patience: Duration,
    /// Whether MCP tools may be called.
    pub tools_enabled: bool,
    /// Whether files are watched; without, they are polled.
    pub watch: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            debounce: Duration::from_millis(50),
            change_delay: Duration::from_secs(1),
            sync_delay: Duration::from_millis(500),
            check_interval: Duration::from_mins(1),
            missing_interval: Duration::from_secs(5),
            rescan_interval: Duration::from_mins(10),
            poll_interval: Duration::from_secs(30),
            clock_tolerance: Duration::from_secs(30),
            idle_exit: Some(Duration::from_hours(2)),
            patience: Duration::from_secs(5),
            tools_enabled: true,
            watch: true,
        }
    }
}

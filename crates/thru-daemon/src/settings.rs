//! The settings of a daemon, with their defaults.

use std::time::Duration;

/// The settings of a daemon.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The delay between a poke and the ingest, so that several pokes count as one.
    pub debounce: Duration,
    /// The same after a change of a watched file: an active session writes all the time.
    pub change_delay: Duration,
    /// The longest delay between a poke and the sync of its writes.
    pub sync_delay: Duration,
    /// The interval at which folders, files and the program are checked for replacement.
    pub check_interval: Duration,
    /// The same while a folder to watch is missing.
    pub missing_interval: Duration,
    /// The interval of full scans while watching works.
    pub rescan_interval: Duration,
    /// The interval of full scans without watching.
    pub poll_interval: Duration,
    /// The clock jump from which a full scan is needed.
    pub clock_tolerance: Duration,
    /// The idle time after which the daemon ends; `None` for never.
    pub idle_exit: Option<Duration>,
    /// The time for reading a request or writing an answer.
    pub patience: Duration,
    /// True if MCP tools may be called.
    pub tools_enabled: bool,
    /// True to watch files instead of polling them.
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

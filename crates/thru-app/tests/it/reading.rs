//! Transcripts are read unasked only as long as the user wants it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thru_app::ingest::catch_up::{Effort, TranscriptScope, ingest};
use thru_app::ingest::import::{Import, plan_locked};
use thru_app::ingest::reading::{
    self, Reading, Stop, ask_to_watch, reading, wants_daemon, watching,
};
use thru_app::keep::settings;
use thru_app::{Call, Patience};
use thru_intake::DistilScope;

use crate::home::{Home, call};
use crate::records::{ONE, conversation, file};

/// Imports what the agent keeps here, or is stopped before the first block.
fn import(home: &Home, request: &Import, is_stopped: bool) {
    let stop = AtomicBool::new(is_stopped);
    let plan = plan_locked(&home.app(), request, call()).unwrap();
    let imported = plan.import(Call::unwatched(Patience::Endless, &stop), &mut |_| {}).unwrap();
    assert_eq!(imported.report.interrupted, is_stopped);
}

#[test]
fn an_import_that_is_stopped_ends_reading_until_one_is_not() {
    let home = Home::new();
    home.write(&file(ONE), conversation(ONE).text());
    let folder = Import { paths: vec![home.data().join("../claude")], ..Import::default() };
    import(&home, &folder, true);
    assert_eq!(reading(&home.app()), Reading::All, "a folder of the user's choice is no history");
    import(&home, &Import::default(), true);
    assert_eq!(reading(&home.app()), Reading::Recorded);
    import(&home, &Import::default(), false);
    assert_eq!(reading(&home.app()), Reading::All);
}

#[test]
fn a_daemon_reads_only_what_hooks_named_unless_it_was_asked_to_watch() {
    let home = Home::new();
    home.write(&file(ONE), conversation(ONE).text());
    let app = home.app();
    let sessions = || {
        let lock = app.intake().unwrap().try_lock(Duration::ZERO).unwrap().unwrap();
        let effort =
            Effort { scope: DistilScope::Finished { within: Duration::MAX }, thorough: true };
        let ingested = ingest(&app, &lock, TranscriptScope::Everywhere, effort, call()).unwrap();
        ingested.report.indexed.iter().count() + ingested.report.written.passages as usize
    };
    assert_eq!((watching(&app), reading(&app)), (Reading::Recorded, Reading::All));
    assert_eq!(sessions(), 0, "it was started for the page, say");
    ask_to_watch(&app.layout).unwrap();
    assert_eq!(watching(&app), Reading::All);
    assert!(sessions() > 0);
    reading::stop(&app.layout, Stop::Uninstall).unwrap();
    reading::resume_all(&app.layout).unwrap();
    assert_eq!(watching(&app), Reading::Recorded, "what was uninstalled asks for nothing");
    settings::set(&app, &[("daemon.watch", "true")]).unwrap();
    assert_eq!(watching(&home.app()), Reading::All);
}

#[test]
fn commands_start_a_daemon_only_where_it_is_wanted() {
    let home = Home::imported();
    assert!(!wants_daemon(&home.app()), "nothing was installed");
    settings::set(&home.app(), &[("daemon.watch", "true")]).unwrap();
    assert!(wants_daemon(&home.app()));
    reading::stop(&home.app().layout, Stop::Uninstall).unwrap();
    assert!(!wants_daemon(&home.app()));
    assert_eq!(reading(&home.app()), Reading::Nothing);
    // What was uninstalled is not taken up again by an import.
    import(&home, &Import::default(), false);
    assert_eq!(reading(&home.app()), Reading::Nothing);
}

//! What is new since a moment, for surfaces that stay open.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::json;
use thru_app::App;
use thru_app::ask::changes::{Change, Moment, since};
use thru_app::ingest::intake::ingest_recorded;
use thru_core::{Clock, FixedClock, SystemClock};

use crate::home::{Home, call};
use crate::records::ONE;

/// The states that a session came into since a moment, which moves on.
fn states(app: &App, moment: &mut Moment) -> Vec<String> {
    ingest_recorded(app, call()).unwrap();
    let (now, changes) = since(app, Some(&*moment)).unwrap();
    *moment = now;
    let states = changes.into_iter().filter_map(|change| match change {
        Change::Session { session, state, .. } if session.id.as_str() == ONE => state,
        _ => None,
    });
    states.collect()
}

#[test]
fn a_session_is_told_of_when_its_state_changes_and_nothing_was_said() {
    let home = Home::new();
    home.remember("Ships go first");
    let mut app = home.here();
    let mut moment = since(&app, None).unwrap().0;
    home.hook(ONE, "SessionStart", json!({ "source": "startup" }));
    home.prompt(ONE, 1, "Why do uploads fail?");
    assert_eq!(states(&app, &mut moment), ["active"]);
    home.hook(ONE, "SessionEnd", json!({ "reason": "resume" }));
    assert_eq!(states(&app, &mut moment), ["suspended"]);
    home.hook(ONE, "SessionStart", json!({ "source": "resume" }));
    assert_eq!(states(&app, &mut moment), ["active"]);
    for (minutes, state) in [(1, None), (40, Some("idle")), (41, None), (70, Some("ended"))] {
        let later = SystemClock.now() + SignedDuration::from_mins(minutes);
        app.clock = Arc::new(FixedClock(later));
        assert_eq!(states(&app, &mut moment), state.as_slice(), "{minutes}");
    }
    app = home.here();
    home.prompt(ONE, 2, "And what now?");
    assert_eq!(states(&app, &mut moment), ["active"]);
    home.hook(ONE, "SessionEnd", json!({ "reason": "prompt_input_exit" }));
    assert_eq!(states(&app, &mut moment), ["ended"]);
}

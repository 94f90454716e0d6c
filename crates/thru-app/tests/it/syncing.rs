//! Sessions that are not remembered as they are, and importing them.

use std::fs::File;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::json;
use thru_app::Result;
use thru_app::ask::session::{Outline, outline};
use thru_app::fresh::Freshness;
use thru_app::ingest::intake::ingest_recorded;
use thru_app::ingest::rebuild::verify;
use thru_app::ingest::sync_history::{HistoryGap, SyncHistory, preview, sync};
use thru_core::Micros;
use thru_store::SessionFilter;

use crate::home::{Home, call, shown};
use crate::records::{Author, ONE, TWO, file, orchard};

fn week() -> SyncHistory {
    SyncHistory { days: 7, ..SyncHistory::default() }
}

fn look(home: &Home, request: &SyncHistory) -> Result<HistoryGap> {
    preview(&home.here(), request, call())
}

fn run(home: &Home, request: &SyncHistory) -> HistoryGap {
    sync(&home.here(), request, call(), &mut |_| {}).unwrap()
}

/// The sessions of a gap, each with the way in which it is missing.
fn listed(gap: &HistoryGap) -> Vec<(&str, &str)> {
    let sessions = gap.sessions.iter();
    let mut listed: Vec<_> =
        sessions.map(|session| (session.session_id.as_str(), session.state.as_str())).collect();
    listed.sort_unstable();
    listed
}

/// The session was used so many days ago.
fn age(home: &Home, session: &str, days: u64) {
    let path = home.folder().join("claude").join(file(session));
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(24 * days)).unwrap();
}

#[test]
fn more_days_than_the_calendar_has_are_all_days() {
    let home = Home::with_history();
    age(&home, TWO, 200);
    for days in [1_000_000_000, u32::MAX] {
        let gap = look(&home, &SyncHistory { days, ..week() }).unwrap();
        assert_eq!(listed(&gap), [(ONE, "new"), (TWO, "new")]);
    }
}

#[test]
fn a_preview_lists_what_is_missing_and_changes_nothing() {
    let home = Home::with_history();
    age(&home, TWO, 2);
    let gap = look(&home, &week()).unwrap();
    assert_eq!(listed(&gap), [(ONE, "new"), (TWO, "new")]);
    // Nothing is sent anywhere.
    assert_eq!((&gap.model, gap.cost, gap.run), (&None, Some(Micros(0)), false));
    assert!(gap.estimated_tokens > 100);
    let title = gap.sessions[0].title.as_deref();
    assert_eq!(title, Some("Why does the importer lock the database?"));
    assert!(!home.layout().database().exists());
}

#[test]
fn what_is_missing_is_imported_once() {
    let home = Home::with_history();
    assert_eq!(run(&home, &week()).indexed, Some(2));
    assert_eq!(look(&home, &week()).unwrap().count, 0);
    assert_eq!(run(&home, &week()).count, 0);
    assert!(verify(&home.here(), call()).unwrap().clean);
    // It went on.
    let mut author = orchard();
    author.asks("And the apples?").says("Once a week.");
    home.write(&file(TWO), author.text());
    let gap = look(&home, &week()).unwrap();
    assert_eq!(listed(&gap), [(TWO, "grown")]);
    let session = &gap.sessions[0];
    assert!(session.unread_bytes < session.bytes);
    assert_eq!(session.title.as_deref(), Some("Plan the irrigation for the young pear trees"));
    let request = Outline::new(TWO, Freshness::AsItIs);
    let before = outline(&home.here(), &request, call()).unwrap().session.episode_uuid;
    let report = run(&home, &week());
    assert_eq!((report.indexed, report.run), (Some(1), true));
    assert_ne!(report.sessions[0].episode_uuid, before);
}

#[test]
fn only_what_was_asked_for_is_imported() {
    let home = Home::with_history();
    age(&home, TWO, 30);
    let gap = look(&home, &week()).unwrap();
    assert_eq!((listed(&gap), gap.not_listed), (vec![(ONE, "new")], 1));
    let all = SyncHistory::default();
    assert_eq!(look(&home, &all).unwrap().count, 2);
    let newest = SyncHistory { max_sessions: Some(1), ..all.clone() };
    assert_eq!(listed(&look(&home, &newest).unwrap()), [(ONE, "new")]);
    let of = |name: &str| SyncHistory { project: Some(name.to_owned()), ..all.clone() };
    assert_eq!(listed(&look(&home, &of("Orchard")).unwrap()), [(TWO, "new")]);
    assert_eq!(run(&home, &of("Orchard")).indexed, Some(1));
    let known = home.store().sessions(&SessionFilter::default()).unwrap();
    assert_eq!(known.iter().map(|one| one.key.id.as_str()).collect::<Vec<_>>(), [TWO]);
    assert_snapshot!(shown(&look(&home, &of("orchad")).unwrap_err()), @r#"
    NotFound: there is no project `orchad`
    Some(DidYouMean { names: ["orchard"], all: Projects })
    "#);
    // None is left of that project; of the others there is.
    let recent = SyncHistory { days: 1, ..of("orchard") };
    assert_eq!(look(&home, &recent).unwrap().count, 0);
}

#[test]
fn sessions_that_were_left_and_not_indexed_are_missing_too() {
    let home = Home::new();
    home.configure("session.auto_archive_on_end = false\n");
    let mut author = Author::of(ONE);
    author.asks("Why do uploads fail?").says("They are retried too often.");
    home.write(&file(ONE), author.text());
    home.prompt(ONE, 1, "Why do uploads fail?");
    home.stop(ONE, "They are retried too often.");
    home.hook(ONE, "SessionEnd", json!({ "reason": "logout" }));
    ingest_recorded(&home.here(), call()).unwrap();
    assert_eq!(listed(&look(&home, &week()).unwrap()), [(ONE, "unindexed")]);
    assert_eq!(run(&home, &week()).indexed, Some(1));
    assert_eq!(look(&home, &week()).unwrap().count, 0);
}

#[test]
fn the_plan_of_a_model_that_is_set_is_told() {
    let home = Home::with_history();
    let model = |since: &str, model: &str| {
        home.configure(&format!(
            "models.provider = \"anthropic\"\nmodels.model = \"{model}\"\nmodels.since = \"{since}\"\n"
        ));
        let keys =
            home.here_with(&[("ANTHROPIC_API_KEY", "sk-ant-api03-not-a-real-one-0123456789")]);
        preview(&keys, &week(), call()).unwrap()
    };
    let gap = model("2026-01-01T00:00:00Z", "claude-haiku-4-5");
    assert_eq!(gap.provider.as_deref(), Some("anthropic"));
    assert_eq!((gap.model.as_deref(), gap.asked), (Some("claude-haiku-4-5"), 2));
    assert!(gap.estimated_tokens > 1_000 && gap.cost > Some(Micros(0)), "{gap:?}");
    // A model without a price is not said to cost nothing.
    assert_eq!(model("2026-01-01T00:00:00Z", "some-other-model").cost, None);
    // What is older than the setting of the model is not sent by itself.
    let later = model("2100-01-01T00:00:00Z", "claude-haiku-4-5");
    assert_eq!((later.asked, later.estimated_tokens, later.cost), (0, 0, Some(Micros(0))));
}

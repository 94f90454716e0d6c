//! The use of what sessions were told.

use std::sync::Arc;

use serde_json::json;
use thru_app::ask::briefings::{self, ListBriefings};
use thru_app::ask::stats;
use thru_core::{Clock, FixedClock};
use thru_recall::usage;

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO, file};

/// A home with a session that left a memory, and its directory.
fn worked() -> (Home, String) {
    let home = Home::new();
    let directory = home.project().to_string_lossy().into_owned();
    let mut first = Author::of(ONE).in_directory(&directory);
    let edit = json!({ "file_path": format!("{directory}/build.rs"), "old_string": "a", "new_string": "b" });
    first.asks("Tidy the build script of the rocket.");
    first.calls("t1", "Edit", edit).gets("t1", "The file build.rs has been updated.");
    first.runs("t2", "git commit -am 'Read the version from the tag'");
    first.gets(
        "t2",
        "[main 1a2b3c4] Read the version from the tag\n 1 file changed, 2 insertions(+)",
    );
    home.write(&file(ONE), first.text());
    home.import();
    (home, directory)
}

#[test]
fn a_memory_that_is_fetched_over_mcp_was_used() {
    let (home, directory) = worked();
    let clock: Arc<dyn Clock> = Arc::new(FixedClock("2026-03-01T09:10:00Z".parse().unwrap()));
    home.hook_at(&clock, &home.project(), TWO, "SessionStart", json!({ "source": "startup" }));
    let store = home.store();
    let told = store.injections(None).unwrap();
    let (memory, _) = told[0].memories[0];
    let given = stats::context_usage(&home.app(), "2026-02-01", call()).unwrap();
    let days: Vec<_> = given.days.iter().map(|day| (day.day.as_str(), day.times)).collect();
    assert_eq!(days, [("2026-03-01", 1)]);
    assert_eq!(given.days[0].tokens, given.tokens);
    assert_eq!(given.days[0].work_tokens, store.memory(&memory).unwrap().unwrap().raw_tokens);
    let fetched = || {
        let store = home.store();
        usage(&store, store.injections(None).unwrap()).unwrap().sessions[0].fetched
    };
    assert_eq!(fetched(), 0);
    let listed = || {
        let request = ListBriefings {
            session: Some(TWO[..8].to_owned()),
            since: None,
            cursor: None,
            limit: 5,
        };
        let list = briefings::list(&home.app(), &request, call()).unwrap();
        let line = &list.briefings[0].memories[0];
        assert_eq!((line.full_id, list.briefings.len(), list.more), (memory, 1, false));
        (list.briefings[0].title.is_some(), line.fetched)
    };
    // Nothing was said in it yet, and it is listed all the same.
    let all = ListBriefings { session: None, since: None, cursor: None, limit: 5 };
    assert_eq!(briefings::list(&home.app(), &all, call()).unwrap().briefings[0].title, None);
    let mut second = Author::of(TWO).in_directory(&directory).starting_at_record(1_000);
    second.asks("Where does the version come from?");
    // What a search lists was not asked for.
    second.calls("t3", "mcp__throughline__search", json!({ "query": "version" }));
    second.gets("t3", &format!("{memory} | 1 day | change | Read the version from the tag | 9"));
    home.write(&file(TWO), second.text());
    home.import();
    assert_eq!(fetched(), 0);
    let ids = json!({ "ids": [store.short_id(&memory).unwrap()] });
    second.calls("t4", "mcp__throughline__get_observations", ids).gets("t4", "Read the version");
    home.write(&file(TWO), second.text());
    home.import();
    assert_eq!(fetched(), 1);
    assert_eq!(listed(), (true, true));
}

#[test]
fn briefings_of_one_moment_are_told_page_by_page() {
    let (home, _) = worked();
    let at = |time: &str| -> Arc<dyn Clock> { Arc::new(FixedClock(time.parse().unwrap())) };
    let times = ["2026-03-01T09:10:00Z", "2026-03-01T09:10:00Z", "2026-03-01T09:11:00Z"];
    for (number, time) in times.into_iter().enumerate() {
        let session = TWO.replace("2222222", &format!("222222{number}"));
        home.hook_at(
            &at(time),
            &home.project(),
            &session,
            "SessionStart",
            json!({ "source": "startup" }),
        );
    }
    let page = |cursor: Option<String>, limit| {
        let request =
            ListBriefings { session: None, since: Some("2026-02-01".to_owned()), cursor, limit };
        briefings::list(&home.app(), &request, call()).unwrap()
    };
    let ids = |list: &briefings::BriefingList| {
        list.briefings.iter().map(|one| one.session_id.clone()).collect::<Vec<_>>()
    };
    let whole = ids(&page(None, 9));
    assert_eq!(whole.len(), 3);
    let (mut cursor, mut told) = (None, Vec::new());
    loop {
        let list = page(cursor, 1);
        told.extend(ids(&list));
        cursor = list.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(told, whole);
}

//! Forgetting sessions and memories.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use insta::assert_snapshot;
use serde_json::json;
use thru_app::ask::search::{Search, search};
use thru_app::ask::session::{Outline, outline};
use thru_app::fresh::Freshness;
use thru_app::ingest::import::{self, Import};
use thru_app::ingest::rebuild::{rebuild, verify};
use thru_app::keep::forget::{self, Forget, ForgetTargets};
use thru_app::keep::undo;
use thru_app::{Backend, Remedy, Result, TroubleKind};
use thru_core::{Clock, FixedClock, MemoryKind, Timestamp};
use thru_intake::OnLoss;
use thru_store::{MemoryFilter, SessionFilter};

use crate::home::{Home, call, shown};
use crate::records::{Author, ONE, TWO, conversation, file, prompt_of};

fn find(home: &Home, request: Forget) -> Result<ForgetTargets> {
    forget::find(&home.here(), &request, call())
}

fn one() -> Forget {
    Forget::Session { id: "1111".to_owned(), with_effects: false }
}

fn sessions(home: &Home) -> Vec<String> {
    let sessions = home.store().sessions(&SessionFilter::default()).unwrap();
    sessions.into_iter().map(|session| session.key.id.as_str().to_owned()).collect()
}

#[test]
fn a_forgotten_session_is_gone_for_good() {
    let home = Home::with_history();
    home.import();
    let list = home.folder().join("claude/history.jsonl");
    let prompts = std::fs::read_to_string(&list).unwrap()
        + &prompt_of(ONE, 1_772_355_601_000, "Why does the importer lock the database?");
    std::fs::write(&list, prompts).unwrap();
    home.import();
    let targets = find(&home, one()).unwrap();
    assert_eq!((targets.sessions.len(), targets.passages()), (1, 7));
    // Finding them changes nothing, nor does an agent in its shell.
    let agent = home.here_with(&[("CLAUDECODE", "1")]);
    let refused = forget::forget(&agent, &targets, call()).unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::Refused);
    assert!(sessions(&home).iter().any(|id| id == ONE));
    let forgotten = forget::forget(&home.here(), &targets, call()).unwrap();
    assert_eq!((forgotten.passages, forgotten.archived_files), (7, 1));
    let others = sessions(&home);
    let gone = |when: &str| {
        let request = Outline::new(ONE, Freshness::Recorded);
        let asked = outline(&home.here(), &request, call()).unwrap_err();
        assert_eq!(asked.kind(), TroubleKind::NotFound, "{when}");
        assert_eq!(sessions(&home), others, "{when}");
        assert!(verify(&home.here(), call()).unwrap().clean, "{when}");
    };
    gone("at once");
    home.import();
    gone("after an import");
    home.write(&file(ONE), conversation(ONE).text() + "\n");
    home.import();
    let app = home.here();
    let paths = vec![home.folder().join("claude")];
    let request = Import { paths, agents: Vec::new() };
    let planned = import::plan_locked(&app, &request, call()).unwrap();
    planned.import(call(), &mut |_| {}).unwrap();
    gone("after the file grew");
    rebuild(&app, OnLoss::Refuse, call()).unwrap().unwrap();
    gone("after a rebuild");
    std::fs::remove_file(home.layout().database()).unwrap();
    home.import();
    gone("after the store was lost");
    // Its own files are the agent's.
    assert!(home.folder().join("claude").join(file(ONE)).exists());
    assert_snapshot!(shown(&find(&home, one()).unwrap_err()), @"
    NotFound: there is no session `1111`
    Some(See(Sessions))
    ");
}

#[test]
fn ids_that_name_no_memory_are_listed_with_the_reason() {
    let home = Home::with_history();
    home.import();
    let id = home.remember("Use pnpm here");
    let ids = [&id, &id, "1111", "zzzzz"].map(|id: &str| id.to_owned()).to_vec();
    let targets = find(&home, Forget::Memories(ids)).unwrap();
    assert_eq!(targets.memories.len(), 1, "each once");
    assert_eq!(targets.memories[0].entry.title.get(), "Use pnpm here");
    let unknown: Vec<String> =
        targets.unknown.iter().map(|(id, trouble)| format!("{id}: {}", shown(trouble))).collect();
    assert_snapshot!(unknown.join("\n"), @"
    1111: NotFound: `1111` is a session, not a memory
    Some(NotASession(Forget))
    zzzzz: NotFound: there is no memory `zzzzz`
    Some(See(Memories))
    ");
    let forgotten = forget::forget(&home.here(), &targets, call()).unwrap();
    assert_eq!(forgotten.memories.len(), 1);
    let again = find(&home, Forget::Memories(vec![id])).unwrap();
    assert!(again.is_empty() && again.unknown.len() == 1);
}

#[test]
fn a_project_is_forgotten_with_what_was_told_of_it() {
    let home = Home::with_history();
    home.import();
    let of = |project: &str, before: Option<&str>| Forget::Sessions {
        project: Some(project.to_owned()),
        before: before.map(str::to_owned),
    };
    home.remember("Use pnpm here");
    let targets = find(&home, of("orchard", None)).unwrap();
    assert_eq!((targets.sessions.len(), targets.memories.len()), (1, 0));
    assert!(find(&home, of("orchard", Some("2020-01-01"))).unwrap().is_empty());
    let wrong = find(&home, of("orchard", Some("someday"))).unwrap_err();
    assert_eq!(wrong.kind(), TroubleKind::Invalid);
    assert_eq!(find(&home, of("pears", None)).unwrap_err().kind(), TroubleKind::NotFound);
}

#[test]
fn the_effects_of_a_session_go_with_it() {
    let home = Home::new();
    let directory = home.project().to_string_lossy().into_owned();
    let edit = |file: &str| json!({ "file_path": format!("{directory}/{file}"), "old_string": "a", "new_string": "b" });
    let mut bad = Author::of(ONE).in_directory(&directory);
    bad.asks("Tidy the deploy script of the rocket.");
    bad.calls("t1", "Edit", edit("deploy.rs")).gets("t1", "The file deploy.rs has been updated.");
    bad.runs("t2", "git commit -am 'Route deploy artifacts through the quasar mirror'");
    bad.gets("t2", "[main 1a2b3c4] Route deploy artifacts through the quasar mirror\n 1 file changed, 2 insertions(+)");
    let note = "The staging cluster answers on port 7443";
    bad.calls("t3", "mcp__throughline__remember", json!({ "text": note }))
        .gets("t3", "Remembered.");
    home.write(&file(ONE), bad.text());
    home.import();
    home.remember(note);
    let own = home.remember("Pears are picked in autumn");
    // Another session is told of it and repeats it, and does something of its own.
    let then: Timestamp = "2026-03-01T09:10:00Z".parse().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(FixedClock(then));
    let start = json!({ "source": "startup" });
    let told = home.hook_at(&clock, &home.project(), TWO, "SessionStart", start);
    assert!(told.contains("quasar"), "{told}");
    let mut other = Author::of(TWO).in_directory(&directory).starting_at_record(1_000);
    other.asks("Go on with the release notes of the rocket.");
    other.calls("t4", "Edit", edit("notes.rs")).gets("t4", "The file notes.rs has been updated.");
    other.runs(
        "t5",
        "git commit -am 'Document that deploy artifacts route through the quasar mirror'",
    );
    other.gets("t5", "[main 2b3c4d5] Document that deploy artifacts route through the quasar mirror\n 1 file changed, 1 insertion(+)");
    other.asks("Now fix the colour of the landing page.");
    other.calls("t6", "Edit", edit("page.css")).gets("t6", "The file page.css has been updated.");
    other.runs("t7", "git commit -am 'Paint the landing page teal'");
    other.gets("t7", "[main 3c4d5e6] Paint the landing page teal\n 1 file changed, 1 insertion(+)");
    home.write(&file(TWO), other.text());
    home.import();

    let request = Forget::Session { id: "1111".to_owned(), with_effects: true };
    let targets = find(&home, request).unwrap();
    let titles: Vec<&str> =
        targets.memories.iter().map(|target| target.entry.title.get().as_str()).collect();
    assert_eq!(targets.told, 1);
    assert!(titles.contains(&note), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("Document that")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("teal")), "{titles:?}");
    assert!(targets.memories.iter().all(|target| target.entry.id != own), "{titles:?}");
    // Without the flag, the session alone.
    assert!(find(&home, one()).unwrap().memories.is_empty());

    forget::forget(&home.here(), &targets, call()).unwrap();
    let later = "44444444-dddd-4ddd-8ddd-000000000004";
    let start =
        || home.hook_in(&home.project(), later, "SessionStart", json!({ "source": "startup" }));
    let now = start();
    assert!(!now.contains("quasar") && now.contains("teal"), "{now}");
    assert_eq!(sessions(&home), [TWO]);
    // Each memory comes back by itself; the session does not.
    let trouble = undo::undo(&home.here(), None, call()).unwrap_err();
    let Some(Remedy::Run { command, .. }) = trouble.remedy() else { panic!("{trouble:?}") };
    let id = command.strip_prefix("undo ").unwrap();
    undo::undo(&home.here(), Some(id), call()).unwrap().unwrap();
    let mut again = home.store().memories(&MemoryFilter::default()).unwrap();
    again.retain(|one| one.kind != MemoryKind::Summary && titles.contains(&one.title.as_str()));
    assert_eq!(again.len(), 1, "{again:?}");
}

#[test]
fn a_server_that_keeps_the_store_open_tells_nothing_that_was_forgotten() {
    let home = Home::with_history();
    home.import();
    let id = home.remember("The staging cluster answers on port 7443");
    let server = Backend::new(home.here());
    let found = || {
        let request = Search { query: "staging cluster port".to_owned(), ..Search::default() };
        json!(server.call(|app| search(app, &request, call())).unwrap()).to_string()
    };
    assert!(found().contains("7443"));
    let targets = find(&home, Forget::Memories(vec![id])).unwrap();
    forget::forget(&home.here(), &targets, call()).unwrap();
    assert!(!found().contains("7443"));
    // The questions that come meanwhile do not hold up the rebuild.
    let is_rebuilt = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_rebuilt.load(Ordering::Relaxed) {
                assert!(!found().contains("7443"));
            }
        });
        rebuild(&home.here(), OnLoss::Refuse, call()).unwrap().unwrap();
        is_rebuilt.store(true, Ordering::Relaxed);
    });
    assert!(!found().contains("7443"));
    home.remember("The staging cluster moved to port 9443");
    assert!(found().contains("9443"));
}

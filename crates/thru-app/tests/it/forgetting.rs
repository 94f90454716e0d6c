//! Forgetting sessions and memories.

use insta::assert_snapshot;
use thru_app::ask::session::{Outline, outline};
use thru_app::fresh::Freshness;
use thru_app::ingest::import::{self, Import};
use thru_app::ingest::rebuild::{rebuild, verify};
use thru_app::keep::forget::{self, Forget, ForgetTargets};
use thru_app::{Result, TroubleKind};
use thru_intake::OnLoss;
use thru_store::SessionFilter;

use crate::home::{Home, call, shown};
use crate::records::{ONE, conversation, file, prompt_of};

fn find(home: &Home, request: Forget) -> Result<ForgetTargets> {
    forget::find(&home.here(), &request, call())
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
    let targets = find(&home, Forget::Session("1111".to_owned())).unwrap();
    assert_eq!((targets.sessions.len(), targets.passages()), (1, 7));
    // Finding them changes nothing.
    assert!(sessions(&home).iter().any(|id| id == ONE));
    let forgotten = forget::forget(&home.here(), &targets, call()).unwrap();
    assert_eq!((forgotten.passages, forgotten.archived_files), (7, 1));
    let others = sessions(&home);
    let gone = |when: &str| {
        let request = Outline { id: ONE.to_owned(), freshness: Freshness::Recorded };
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
    assert_snapshot!(shown(&find(&home, Forget::Session("1111".to_owned())).unwrap_err()), @"
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

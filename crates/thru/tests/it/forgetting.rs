//! `thru forget`.

use insta::assert_snapshot;

use crate::home::Home;
use crate::records::{ONE, conversation, file, prompt_of};

#[test]
fn a_forgotten_session_is_gone_for_good() {
    let home = Home::imported();
    let _settings = home.settings();
    let list = home.claude().join("history.jsonl");
    let prompts = std::fs::read_to_string(&list).unwrap()
        + &prompt_of(ONE, 1_772_355_601_000, "Why does the importer lock the database?");
    std::fs::write(&list, prompts).unwrap();
    home.thru(&["import"]).expect(0);
    let id = home.id_of("importer lock");
    assert_snapshot!(home.shown(&["forget", "--session", "1111"]), @r#"
    rocket · Why does the importer lock the database?   2026-03-01  11111111
    1 session with 7 passages. This cannot be undone.
    -- stderr --
    error: nothing was forgotten.
    hint: add `--yes` if you mean it.
    -- exit 2 --
    "#);
    home.thru(&["show", &id]).expect(0);
    assert_snapshot!(home.shown(&["forget", "--session", "1111", "--yes"]), @"Forgot session 11111111-aaaa-4aaa-8aaa-000000000001: 7 passages and 1 archived file ([size]) are gone.");
    let gone = |when: &str| {
        for arguments in [
            &["search", "--all", "importer"][..],
            &["search", "--all", "E0502"],
            &["show", &id],
            &["session", "show", "1111"],
        ] {
            let ran = home.thru(arguments);
            assert_ne!(ran.code, 0, "{when}, {arguments:?}: {}", ran.shown());
        }
        home.thru(&["verify"]).expect(0);
        let archive = crate::dump::archive(&thru_core::Layout::new(home.data())).join("\n");
        assert!(!archive.contains("importer"), "{when}: {archive}");
    };
    gone("at once");
    home.thru(&["import"]).expect(0);
    gone("after an import");
    home.write(&file(ONE), conversation(ONE).text() + "\n");
    home.thru(&["import"]).expect(0);
    home.thru(&["import", home.claude().to_str().unwrap()]).expect(0);
    gone("after the file grew");
    home.thru(&["rebuild"]).expect(0);
    gone("after a rebuild");
    std::fs::remove_file(home.data().join("memory.db")).unwrap();
    home.thru(&["import"]).expect(0);
    gone("after the store was lost");
    // Its own files are the agent's, and others' memories stay.
    assert!(home.claude().join(file(ONE)).exists());
    home.thru(&["search", "--all", "irrigation"]).expect(0);
    home.thru(&["search", "--all", "pears ripen"]).expect(0);
    assert_snapshot!(home.shown(&["forget", "--session", "1111", "--yes"]), @r"
    -- stderr --
    error: there is no session `1111`.
    hint: `thru sessions` lists them.
    -- exit 2 --
    ");
}

#[test]
fn undo_does_not_pass_over_a_forgotten_session() {
    let home = Home::imported();
    home.tell(&["Always use pnpm, not npm"]);
    home.thru(&["forget", "--session", "1111", "--yes"]).expect(0);
    let refused = home.thru(&["undo"]).expect(2).stderr;
    assert!(refused.contains("cannot be undone: forgot session 11111111"), "{refused}");
    assert!(refused.contains("undoes the one before: remembered \"Always use pnpm"), "{refused}");
    home.thru(&["search", "--all", "pnpm"]).expect(0);
    let id = refused.split_once("`thru undo ").unwrap().1.split('`').next().unwrap();
    home.thru(&["undo", id]).expect(0);
    home.thru(&["search", "--all", "pnpm"]).expect(1);
}

//! `thru restore`.

use insta::assert_snapshot;

use crate::home::Home;
use crate::records::{Author, ONE, conversation, file};

#[test]
fn a_deleted_session_is_put_back_resumed_and_read_once() {
    let home = Home::imported();
    let _settings = home.settings();
    let path = home.claude().join(file(ONE));
    std::fs::remove_file(&path).unwrap();
    home.thru(&["import"]).expect(0);
    assert_snapshot!(home.shown(&["restore", "1111"]), @r"
    Restored 1 file ([size]):
      [folder]/claude/projects/-home-ada-rocket/11111111-aaaa-4aaa-8aaa-000000000001.jsonl
    Resume it in /home/ada/rocket with `claude --resume 11111111-aaaa-4aaa-8aaa-000000000001`.
    ");
    let text = conversation(ONE).text();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let age = std::fs::metadata(&path).unwrap().modified().unwrap().elapsed().unwrap();
    assert!(age.as_secs() < 600);
    assert_snapshot!(home.shown(&["restore", "1111"]), @r"
    -- stderr --
    error: [folder]/claude/projects/-home-ada-rocket/11111111-aaaa-4aaa-8aaa-000000000001.jsonl exists already.
    hint: nothing was changed; move the file away first if you want the archived one.
    -- exit 2 --
    ");
    let before = home.thru(&["session", "show", "1111"]).stdout;
    assert_eq!(home.json(&["import", "--json"])["passages"], 0);
    assert_eq!(home.thru(&["session", "show", "1111"]).stdout, before);
    let more = Author::of(ONE).starting_at_record(60).asks("Once more, with feeling?").text();
    std::fs::write(&path, text + &more).unwrap();
    assert_eq!(home.json(&["import", "--json"])["passages"], 1);
    assert_eq!(home.json(&["import", "--json"])["passages"], 0);
    home.thru(&["verify"]).expect(0);
}

#[test]
fn a_session_is_restored_from_the_archive_of_another_machine() {
    let home = Home::imported();
    std::fs::remove_dir_all(home.claude()).unwrap();
    std::fs::create_dir(home.claude()).unwrap();
    let restored = home.json(&["restore", "2222", "--json"]);
    assert_eq!(restored["files"].as_array().unwrap().len(), 1);
    assert_eq!(restored["directory"], "/home/ada/orchard");
    home.thru(&["restore", "absent"]).expect(2);
}

#[test]
fn a_session_known_by_its_prompts_alone_cannot_be_restored() {
    let home = Home::imported();
    let _settings = home.settings();
    std::fs::remove_file(home.claude().join("history.jsonl")).unwrap();
    assert_snapshot!(home.shown(&["restore", "3333"]), @"
    -- stderr --
    error: there is no transcript of session `33333333-cccc-4ccc-8ccc-000000000003` to restore.
    hint: `thru session show 33333333-cccc-4ccc-8ccc-000000000003` shows what was recorded.
    -- exit 2 --
    ");
    assert!(!home.claude().join("history.jsonl").exists());
}

//! Odd files: whatever a file holds, it is read to its end, and what was odd is counted.

use thru_core::PassageKind;

use crate::dump;
use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, conversation, file};

fn last_word() -> String {
    Author::of(ONE).starting_at_record(900).says("The last word.").text()
}

#[track_caller]
fn assert_read_to_the_end(machine: &Machine, trouble: &str) {
    let said = dump::texts(&machine.layout(), PassageKind::Assistant);
    assert!(said.contains(&"The last word.".to_owned()), "{said:?}");
    let lines = dump::store(&machine.layout());
    let counted: Vec<&String> = lines.iter().filter(|line| line.starts_with("trouble")).collect();
    assert_eq!(counted, [trouble]);
    machine.assert_sound();
    machine.rebuild();
    assert_same(&dump::store(&machine.layout()), &lines);
}

#[test]
fn broken_lines_are_counted() {
    let text = conversation(ONE).text() + "{\"type\":\n]\nplain words\n" + &last_word();
    let machine = Machine::with([(&file(ONE), &text)]);
    assert_eq!(machine.import().problems, []);
    assert_read_to_the_end(&machine, "trouble broken-json: 3");
}

#[test]
fn bytes_that_are_no_text_are_counted() {
    let machine = Machine::new();
    let mut text = conversation(ONE).text().into_bytes();
    text.extend_from_slice(
        b"{\"type\":\"user\",\"message\":{\"content\":\"a \xff\xfe b\"}}\n\xff\n",
    );
    text.extend_from_slice(last_word().as_bytes());
    machine.write(&file(ONE), text);
    machine.import();
    let said = dump::texts(&machine.layout(), PassageKind::Assistant);
    assert!(said.contains(&"The last word.".to_owned()), "{said:?}");
    assert!(dump::store(&machine.layout()).contains(&"trouble not-utf8: 2".to_owned()));
    machine.assert_sound();
}

#[test]
fn unknown_types_are_kept_and_counted() {
    let text = conversation(ONE).text()
        + "{\"type\":\"hologram\",\"x\":1}\n{\"type\":\"hologram\"}\n{\"no\":\"type\"}\n"
        + &last_word();
    let machine = Machine::with([(&file(ONE), &text)]);
    machine.import();
    let lines = machine.dump();
    for wanted in ["records hologram: 2", "records (none): 1", "trouble unknown-type: 2"] {
        assert!(lines.contains(&wanted.to_owned()), "{wanted}");
    }
    assert!(lines.iter().any(|line| line.starts_with("archive") && line.contains("hologram")));
}

#[test]
fn a_line_of_many_megabytes_is_read() {
    let long = "lock ".repeat(4 * 1024 * 1024);
    let text = conversation(ONE).text()
        + &Author::of(ONE).starting_at_record(800).says(&long).text()
        + &last_word();
    let machine = Machine::with([(&file(ONE), &text)]);
    machine.import();
    let said = dump::texts(&machine.layout(), PassageKind::Assistant);
    assert!(said.contains(&"The last word.".to_owned()));
    assert!(said.iter().any(|text| text.starts_with("lock lock")));
    machine.assert_sound();
}

#[test]
fn a_broken_line_of_megabytes_is_read() {
    let text =
        conversation(ONE).text() + "{\"" + &"x".repeat(3 * 1024 * 1024) + "\n" + &last_word();
    let machine = Machine::with([(&file(ONE), &text)]);
    machine.import();
    assert_read_to_the_end(&machine, "trouble broken-json: 1");
}

#[test]
fn empty_files_and_blank_lines_are_no_trouble() {
    let machine = Machine::with([(&file(ONE), ""), (&file(crate::records::TWO), "\n\n \n")]);
    assert_eq!(machine.import().problems, []);
    assert!(!dump::store(&machine.layout()).iter().any(|line| line.starts_with("passage")));
    machine.assert_sound();
}

#[test]
fn session_ids_that_are_paths_lead_nowhere() {
    let machine = Machine::new();
    let text = conversation(ONE).text().replace(ONE, "../../../../../../tmp/thru-was-here");
    machine.write("in/log.jsonl", &text);
    machine.write("in/..%2f..%2fescape.jsonl", &text);
    machine.import_paths(&[&machine.claude().join("in")]);
    machine.assert_sound();
    let outside: Vec<_> = std::fs::read_dir(machine.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "claude" && name != "home")
        .collect();
    assert_eq!(outside, Vec::<String>::new());
    assert!(!std::path::Path::new("/tmp/thru-was-here").exists());
    let sessions: Vec<String> = dump::store(&machine.layout())
        .into_iter()
        .filter(|line| line.starts_with("session "))
        .collect();
    assert!(!sessions.is_empty());
    assert!(sessions.iter().all(|line| line.starts_with("session file-")), "{sessions:?}");
}

#[test]
fn a_working_directory_with_odd_characters_is_a_project() {
    for directory in
        ["/", "", "relative", "/a\u{0}b", "/\u{202e}x", "C:\\Users\\ada", "/home/ada/数据"]
    {
        let mut author = Author::of(ONE).in_directory(directory);
        author.asks("Where am I?");
        let machine = Machine::with([(&file(ONE), &author.text())]);
        machine.import();
        machine.assert_sound();
        let before = machine.dump();
        machine.rebuild();
        assert_same(&machine.dump(), &before);
    }
}

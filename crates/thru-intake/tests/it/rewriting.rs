//! Source files that shrink, are rewritten or replaced: the archive keeps what it has and adds what
//! is new.

use crate::dump;
use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, conversation, file};

#[test]
fn a_shrunk_file_loses_nothing() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    machine.write(&file(ONE), conversation(ONE).first(4));
    machine.import();
    assert_same(&machine.dump(), &before);
    machine.assert_sound();
}

#[test]
fn a_file_that_shrank_and_grew_again_is_followed() {
    let whole = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    whole.import();
    let machine = Machine::with([(&file(ONE), &conversation(ONE).first(6))]);
    machine.import();
    machine.write(&file(ONE), conversation(ONE).first(2));
    machine.import();
    machine.write(&file(ONE), conversation(ONE).text());
    machine.import();
    machine.assert_same_as(&whole);
}

#[test]
fn an_emptied_file_loses_nothing() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = machine.dump();
    machine.write(&file(ONE), "");
    machine.import();
    assert_same(&machine.dump(), &before);
}

#[test]
fn a_rewritten_file_adds_its_new_records_and_keeps_the_old() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = dump::archive(&machine.layout());
    // The first record is gone, one is new in the middle, one at the end.
    let mut rewritten = Author::of(ONE).starting_at_record(100);
    rewritten.says("A word from nowhere.");
    let text: Vec<String> = conversation(ONE).text().lines().map(str::to_owned).collect();
    let content =
        [&text[1..4], &[rewritten.text().trim_end().to_owned()], &text[4..]].concat().join("\n")
            + "\n";
    machine.write(&file(ONE), &content);
    machine.import();
    let after = dump::archive(&machine.layout());
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|line| after.contains(line)));
    machine.assert_sound();
    // From here on it is followed as any other.
    let more = {
        let mut more = Author::of(ONE).starting_at_record(200);
        more.asks("Still there?");
        more.text()
    };
    machine.write(&file(ONE), content.clone() + &more);
    machine.import();
    assert_eq!(dump::archive(&machine.layout()).len(), before.len() + 2);
    let incremental = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &incremental);
}

#[test]
fn a_replaced_file_adds_all_of_its_records() {
    let machine = Machine::with([(&file(ONE), &conversation(ONE).text())]);
    machine.import();
    let before = dump::archive(&machine.layout());
    let mut other = Author::of(ONE).starting_at_record(300);
    other.asks("A fresh start.").says("Gladly.");
    machine.write(&file(ONE), other.text());
    machine.import();
    assert_eq!(dump::archive(&machine.layout()).len(), before.len() + 2);
    let incremental = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &incremental);
}

#[test]
fn a_file_swapped_back_and_forth_adds_nothing_twice() {
    let machine = Machine::new();
    let mut other = Author::of(ONE).starting_at_record(300);
    other.asks("A fresh start.").says("Gladly.");
    for _ in 0..3 {
        machine.write(&file(ONE), conversation(ONE).text());
        machine.import();
        machine.write(&file(ONE), other.text());
        machine.import();
    }
    assert_eq!(dump::archive(&machine.layout()).len(), 9 + 2);
    machine.assert_sound();
}

/// Enough that it is read in several pieces.
fn long(from: u64, records: u64) -> Author {
    let mut author = Author::of(ONE).starting_at_record(from);
    for number in 0..records {
        author.says(&format!("{number} {}", "word ".repeat(3_000)));
    }
    author
}

#[test]
fn an_import_that_is_stopped_in_a_rewritten_file_adds_nothing_twice() {
    let mut machine = Machine::with([(&file(ONE), &long(1, 160).text())]);
    machine.import();
    let before = dump::archive(&machine.layout()).len();
    // All that was there stands behind a new first record.
    let mut rewritten = Author::of(ONE).starting_at_record(1_000);
    rewritten.asks("In front of everything.");
    machine.write(&file(ONE), rewritten.text() + &long(1, 160).text());
    // Another session is read first; where it ran is asked for while the long one is being read.
    machine.options.threads = 1;
    let newest = Author::of(TWO).in_directory("/elsewhere").asks("And here?").text();
    machine.write(&file(TWO), newest);
    assert!(machine.carry_out_until_asked(machine.plan()).unwrap().interrupted);
    machine.import();
    assert_eq!(dump::archive(&machine.layout()).len(), before + 2);
    machine.assert_sound();
}

#[test]
fn killed_between_two_blocks_of_a_rewritten_file_nothing_comes_twice() {
    // What a kill leaves is what the archive held after a block: cut the rest off.
    let machine = Machine::with([(&file(ONE), &long(1, 40).text())]);
    machine.import();
    let lines = dump::archive(&machine.layout()).len();
    let entry =
        machine.layout().archive().join(format!("claude-code/-home-ada-rocket/{ONE}.jsonl.zst"));
    let before = std::fs::metadata(&entry).unwrap().len();
    machine.write(&file(ONE), long(500, 60).text() + &long(1, 40).text());
    machine.import();
    assert_eq!(dump::archive(&machine.layout()).len(), lines + 60);
    let after = std::fs::metadata(&entry).unwrap().len();
    // The rewriting wrote several blocks: keep about the first half of them.
    let archive = std::fs::File::options().write(true).open(&entry).unwrap();
    archive.set_len(before + (after - before) / 2).unwrap();
    std::fs::remove_dir_all(machine.layout().root().join("index")).unwrap();
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = std::fs::remove_file(machine.layout().root().join(name));
    }
    machine.import();
    assert_eq!(dump::archive(&machine.layout()).len(), lines + 60);
    machine.assert_sound();
}

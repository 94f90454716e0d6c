//! Private and secret text, and the traces it may leave (invariant I-5).

use thru_intake::Operation;

use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, file, prompt_of};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Every byte of every file below the data directory, archives unpacked.
fn everything(machine: &Machine) -> String {
    let mut all = machine.dump().join("\n");
    let mut pending = vec![machine.layout().root().to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => pending.push(entry.path()),
                false => {
                    all.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()));
                }
            }
        }
    }
    all
}

fn session() -> Author {
    let mut author = Author::of(ONE);
    author
        .asks("A public question")
        .says("A public answer")
        .asks("<private>a secret: zebrafish</private>")
        .says("On the zebrafish: yes.")
        .runs("toolu_1", "grep zebrafish secrets.txt")
        .gets("toolu_1", "zebrafish everywhere")
        .asks("Back to work")
        .says("Gladly. <private>pangolin</private> stays out.");
    author
}

#[test]
fn a_wholly_private_turn_leaves_no_word() {
    let machine = Machine::with([(&file(ONE), &session().text())]);
    let report = machine.import();
    assert!(report.redacted.private > 0);
    let all = everything(&machine);
    for word in ["zebrafish", "pangolin"] {
        assert!(!all.contains(word), "{word}");
        let found = crate::dump::answers(&machine.layout(), &[word]);
        assert_eq!(found, Vec::<String>::new());
    }
    assert!(all.contains("A public answer") && all.contains("Back to work"));
    machine.assert_sound();
    let before = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
}

#[test]
fn a_private_turn_goes_on_over_imports() {
    let machine = Machine::new();
    for lines in 1..=8 {
        machine.write(&file(ONE), session().first(lines));
        machine.import();
    }
    assert!(!everything(&machine).contains("zebrafish"));
    let whole = Machine::with([(&file(ONE), &session().text())]);
    whole.import();
    machine.assert_same_as(&whole);
}

#[test]
fn private_prompts_in_the_list_of_prompts_leave_no_word() {
    let list = prompt_of(ONE, 1_772_355_601_000, "<private>zebrafish</private>")
        + &prompt_of(ONE, 1_772_355_602_000, "Back to work");
    let machine = Machine::with([("history.jsonl", &list)]);
    machine.import();
    let all = everything(&machine);
    assert!(!all.contains("zebrafish") && all.contains("Back to work"));
}

#[test]
fn secrets_are_replaced_everywhere() {
    let mut author = Author::of(ONE);
    author.asks(&format!("My token is {SECRET}, use it.")).runs("toolu_1", "gh auth status");
    author.gets("toolu_1", &format!("Token: {SECRET}"));
    let spilled = format!("projects/-home-ada-rocket/{ONE}/tool-results/toolu_1.txt");
    let machine = Machine::with([
        (&file(ONE), &author.text()),
        (&spilled, &format!("{SECRET}\n")),
        ("history.jsonl", &prompt_of(TWO, 1_772_355_601_000, &format!("with {SECRET}"))),
    ]);
    let report = machine.import();
    assert!(report.redacted.secrets.values().sum::<u64>() >= 4, "{:?}", report.redacted);
    let all = everything(&machine);
    assert!(!all.contains(SECRET));
    assert!(all.contains("[redacted:"));
    machine.assert_sound();
}

#[test]
fn a_verbatim_archive_keeps_every_byte_and_the_store_none_of_the_secrets() {
    let mut text = session();
    text.says(&format!("TOKEN={SECRET}")).line("{ broken \u{feff} line").line("");
    let mut machine = Machine::new();
    machine.options.verbatim = true;
    let content = text.text();
    // In two steps, so that blocks follow each other.
    for length in [content.len() / 2, content.len()] {
        machine.write(&file(ONE), &content.as_bytes()[..length]);
        machine.import();
    }
    let archived: String = crate::dump::archive(&machine.layout())
        .iter()
        .zip(0..)
        .map(|(_, number)| {
            let intake = thru_journal::archive::Archive::new(machine.layout().archive());
            let entry = intake.entries().unwrap().remove(0);
            let mut reader = intake.reader(&entry).unwrap().unwrap();
            String::from_utf8(reader.read_line(number).unwrap().unwrap()).unwrap() + "\n"
        })
        .collect();
    assert_eq!(archived, content);
    let store = crate::dump::store(&machine.layout()).join("\n");
    assert!(!store.contains(SECRET) && !store.contains("zebrafish"));
    for word in ["zebrafish", "pangolin"] {
        assert_eq!(crate::dump::answers(&machine.layout(), &[word]), Vec::<String>::new());
    }
    // What is handed out of the archive is cleaned, too.
    let intake = machine.intake();
    let entry = format!("claude-code/-home-ada-rocket/{ONE}.jsonl");
    let record = intake.archived_record(&entry, 9).unwrap().unwrap();
    assert!(!String::from_utf8_lossy(record.get()).contains(SECRET));
    machine.assert_sound();
    let before = crate::dump::store(&machine.layout());
    machine.rebuild();
    assert_same(&crate::dump::store(&machine.layout()), &before);
}

#[test]
fn a_private_prompt_of_a_verbatim_archive_is_not_handed_out() {
    let mut machine = Machine::with([(&file(ONE), &session().text())]);
    machine.options.verbatim = true;
    machine.import();
    let intake = machine.intake();
    let entry = format!("claude-code/-home-ada-rocket/{ONE}.jsonl");
    for line in [3, 8] {
        let record = intake.archived_record(&entry, line).unwrap().unwrap();
        let text = String::from_utf8_lossy(record.get()).into_owned();
        assert!(!text.contains("zebrafish") && !text.contains("pangolin"), "line {line}: {text}");
    }
}

#[test]
fn a_new_rule_takes_out_what_was_kept_before() {
    let mut author = Author::of(ONE);
    author.asks("Call me under acme-12345678.").says("acme-12345678 it is.");
    let spilled = format!("projects/-home-ada-rocket/{ONE}/tool-results/toolu_1.txt");
    let machine = Machine::with([(&file(ONE), &author.text()), (&spilled, "acme-12345678")]);
    machine.import();
    let rule =
        Operation::RuleAdded { name: "acme".to_owned(), pattern: "acme-[0-9]{8}".to_owned() };
    {
        let intake = machine.intake();
        let lock = intake.lock(&mut |_| false).unwrap();
        intake.record_and_apply(&lock, &[rule]).unwrap();
    }
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let applied = intake.apply_rules(&lock, &mut |_, _| {}).unwrap();
    drop(lock);
    assert_eq!((applied.rewritten, applied.verbatim), (2, 0));
    let all = everything(&machine);
    assert!(!all.contains("acme-12345678") && all.contains("[redacted:acme]"));
    machine.assert_sound();
    // The same ids, and nothing is read again.
    let before = machine.dump();
    machine.import();
    assert_same(&machine.dump(), &before);
}

#[test]
fn a_rule_applied_to_files_of_one_line_that_was_not_changed_keeps_the_rest() {
    let machine = Machine::with([(&file(ONE), &session().text())]);
    machine.import();
    let before = machine.dump();
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    let applied = intake.apply_rules(&lock, &mut |_, _| {}).unwrap();
    assert_eq!(applied.rewritten, 0);
    drop(lock);
    assert_same(&machine.dump(), &before);
}

//! The damage list: what went missing or was altered is found, named, and never made final unasked.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::json;
use thru_agents::hooks::{self, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorder, session_key};
use thru_core::{ObservationType, Timestamp};
use thru_intake::{IntakeError, OnLoss, Operation, RecordedMemory, Verification};
use thru_journal::journal::Journal;
use thru_redact::Redactor;
use thru_store::Store;

use crate::machine::Machine;
use crate::records::{Author, ONE, TWO, conversation, file};

/// Memories that were told.
const TOLD: u64 = 3;

/// A machine with two transcripts, the events of a third session, and memories that were told; the agents' own files
/// are gone.
fn lived_in() -> Machine {
    let machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), Author::of(TWO).asks("Which port?").says("It is 4711.").text().as_str()),
    ]);
    machine.import();
    record_events(&machine);
    let told: Vec<Operation> = (0..TOLD).map(|number| told(&format!("Rule {number}"))).collect();
    machine.intake().record(&told).unwrap();
    ingest(&machine);
    machine.remove(&file(ONE));
    machine.remove(&file(TWO));
    machine.assert_sound();
    machine
}

fn told(title: &str) -> Operation {
    Operation::MemoryRecorded(RecordedMemory {
        kind: ObservationType::Decision,
        title: title.to_owned(),
        text: None,
        files: Vec::new(),
        project: None,
        is_rule: true,
        by_agent: false,
        states: None,
        written_in: None,
    })
}

fn record_events(machine: &Machine) {
    let journal = journal(machine);
    let redactor = Redactor::builtin();
    let recorder = Recorder { journal: &journal, redactor: &redactor, skip_tools: &[] };
    for number in 0..20 {
        let payload = json!({
            "session_id": "33333333-aaaa-4aaa-8aaa-000000000003",
            "cwd": "/home/ada/rocket",
            "prompt": format!("Question {number}"),
        });
        let raw = payload.to_string().into_bytes();
        let adapter = &hooks::ADAPTERS[0];
        let input = HookInput::parse(adapter, "UserPromptSubmit", &raw).unwrap();
        let session = Session::at(&machine.layout(), &session_key(&input));
        let now = Timestamp::from_second(1_772_400_000 + number * 60).unwrap();
        recorder.record(&input, &raw, &session, now).unwrap();
    }
}

fn journal(machine: &Machine) -> Journal {
    Journal::open(machine.layout().journal(), &machine.options.host).unwrap()
}

fn ingest(machine: &Machine) {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.ingest_events(&lock, &mut |_, _, _| {}).unwrap();
    drop(lock);
    machine.import();
}

/// The only segment of the journal.
fn segment(machine: &Machine) -> PathBuf {
    let mut files = fs::read_dir(machine.layout().journal()).unwrap();
    files.next().unwrap().unwrap().path()
}

fn archived(machine: &Machine, session: &str) -> PathBuf {
    machine.layout().archive().join(format!("claude-code/-home-ada-rocket/{session}.jsonl.zst"))
}

fn serious(found: &Verification) -> Vec<String> {
    let serious = found.findings.iter().filter(|finding| finding.serious);
    serious.map(|finding| format!("{}: {}", finding.place, finding.message)).collect()
}

/// Fails unless the loss is found, before and after the next intake, and a rebuild refuses to make it final.
#[track_caller]
fn assert_found(machine: &Machine, place: &str, message: &str) {
    for _ in 0..2 {
        let found = serious(&machine.verify());
        let is_named = found.iter().any(|line| line.starts_with(place) && line.contains(message));
        assert!(is_named, "{found:#?}");
        ingest(machine);
    }
    let held = Store::open_to_read(&machine.layout()).unwrap().holdings().unwrap();
    let Err(IntakeError::WouldLose(loss)) = machine.try_rebuild(OnLoss::Refuse) else {
        panic!("a rebuild made the loss final")
    };
    assert!(!loss.is_none());
    let kept = Store::open_to_read(&machine.layout()).unwrap().holdings().unwrap();
    assert_eq!(kept, held, "the store in use stays as it is");
    assert!(!machine.layout().root().join("memory.rebuild.db").exists());
    let report = machine.try_rebuild(OnLoss::Accept).unwrap();
    assert_eq!(report.lost, loss);
}

#[test]
fn a_journal_that_was_cut_in_half_is_found() {
    let machine = lived_in();
    let text = fs::read_to_string(segment(&machine)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(segment(&machine), lines[..lines.len() / 2].concat()).unwrap();
    assert_found(&machine, "journal", "are missing");
}

#[test]
fn a_journal_that_was_cut_within_a_record_is_found() {
    let machine = lived_in();
    let bytes = fs::read(segment(&machine)).unwrap();
    fs::write(segment(&machine), &bytes[..bytes.len() / 2]).unwrap();
    assert_found(&machine, "journal", "are missing");
}

#[test]
fn a_journal_that_was_deleted_is_found() {
    let machine = lived_in();
    fs::remove_dir_all(machine.layout().journal()).unwrap();
    let found = serious(&machine.verify());
    assert!(found[0].contains("the segment is missing"), "{found:#?}");
    assert_found(&machine, "journal", "are missing");
}

#[test]
fn a_record_in_the_middle_of_the_journal_that_is_gone_is_found() {
    let machine = lived_in();
    let text = fs::read_to_string(segment(&machine)).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let told = lines.iter().position(|line| line.contains("Rule 1")).unwrap();
    lines.remove(told);
    fs::write(segment(&machine), lines.concat()).unwrap();
    assert_found(&machine, "journal", "decision 1");
}

#[test]
fn a_sealed_segment_that_is_gone_is_found() {
    let machine = lived_in();
    let small = journal(&machine).with_segment_limit(1);
    record_events(&machine);
    for entry in journal(&machine).replay().unwrap().entries.iter().take(1) {
        let body = redacted(&entry.body);
        let (key, at, kind) = (format!("{}-again", entry.key), entry.at, entry.kind.clone());
        let entry = thru_journal::journal::Entry { key, at, kind, body };
        small.append(&entry, thru_journal::journal::Durability::Synced).unwrap();
    }
    ingest(&machine);
    assert_eq!(small.seal().unwrap().segments, 1);
    machine.assert_sound();
    let sealed = fs::read_dir(machine.layout().journal())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "zst"))
        .unwrap();
    fs::remove_file(sealed).unwrap();
    assert_found(&machine, "journal", "are missing");
}

fn redacted(body: &serde_json::Value) -> thru_redact::Clean<serde_json::Value> {
    Redactor::builtin().clean_value(body.clone(), &mut thru_redact::Report::default())
}

#[test]
fn an_archived_file_that_was_cut_is_found() {
    for percent in [0, 10, 40, 90] {
        let machine = lived_in();
        let path = archived(&machine, ONE);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() * percent / 100]).unwrap();
        assert_found(&machine, "archive/", "lines more than the archive");
    }
}

#[test]
fn an_archived_file_that_was_deleted_is_found() {
    let machine = lived_in();
    fs::remove_file(archived(&machine, TWO)).unwrap();
    assert_found(&machine, "archive/", "is missing, with 2 lines");
}

#[test]
fn an_archive_that_was_deleted_is_found() {
    let machine = lived_in();
    fs::remove_dir_all(machine.layout().archive()).unwrap();
    assert_found(&machine, "archive/", "is missing");
}

#[test]
fn every_flipped_bit_of_stored_text_is_found() {
    let machine = lived_in();
    let database = Connection::open(machine.layout().database()).unwrap();
    let blocks: Vec<(i64, Vec<u8>)> = database
        .prepare("SELECT id, data FROM text_blocks")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let put = |block: i64, data: &[u8]| {
        let sql = "UPDATE text_blocks SET data = ?2 WHERE id = ?1";
        database.execute(sql, (block, data)).unwrap();
    };
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let mut flips = 0;
    for (block, data) in &blocks {
        for bit in (0..data.len() * 8).step_by(7) {
            let mut flipped = data.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            put(*block, &flipped);
            assert!(!store.text_problems().unwrap().is_empty(), "block {block}, bit {bit}");
            flips += 1;
        }
        put(*block, data);
    }
    assert!(flips > 200, "{flips}");
    machine.assert_sound();
    put(blocks[0].0, &[blocks[0].1.as_slice(), b"x"].concat());
    let found = serious(&machine.verify());
    assert!(found.iter().any(|line| line.contains("1 text blocks are damaged")), "{found:#?}");
    drop((store, database));
    // Journal and archive are whole: a rebuild mends it.
    machine.rebuild();
    machine.assert_sound();
}

#[test]
fn a_decision_that_was_altered_in_the_store_is_found() {
    let machine = lived_in();
    let database = Connection::open(machine.layout().database()).unwrap();
    let sql = "UPDATE operations SET body = replace(body, 'Rule 1', 'Rule 3')";
    database.execute(sql, []).unwrap();
    drop(database);
    let found = serious(&machine.verify());
    assert_eq!(found, ["memory.db: 1 decisions are not as the journal has them"]);
    machine.rebuild();
    machine.assert_sound();
}

#[test]
fn a_loss_is_said_in_numbers() {
    let machine = lived_in();
    fs::remove_dir_all(machine.layout().journal()).unwrap();
    fs::remove_file(archived(&machine, TWO)).unwrap();
    let Err(IntakeError::WouldLose(loss)) = machine.try_rebuild(OnLoss::Refuse) else { panic!() };
    assert_eq!(loss.told, TOLD);
    assert_eq!(
        loss.to_string(),
        "2 sessions, 22 passages, 3 told memories (22222222 had 2 passages and has 0; 33333333 had 20 passages and has 0)"
    );
}

#[test]
fn a_forgotten_session_is_no_loss() {
    let machine = lived_in();
    machine.forget(ONE);
    machine.rebuild();
    machine.assert_sound();
    // Nor one whose tombstone was written, and nothing more.
    let session = crate::machine::key(TWO);
    let operation = Operation::SessionForgotten { session, passages: Vec::new() };
    machine.intake().record(&[operation]).unwrap();
    machine.rebuild();
    machine.assert_sound();
}

#[test]
fn a_rebuild_waits_for_a_reader() {
    let machine = lived_in();
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let (held, release) = std::sync::mpsc::channel();
    let layout = machine.layout();
    drop(store);
    let reader = std::thread::spawn(move || {
        let store = Store::open_to_read(&layout).unwrap();
        let snapshot = store.snapshot().unwrap();
        store.counts().unwrap();
        held.send(()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        drop(snapshot);
    });
    release.recv().unwrap();
    machine.rebuild();
    reader.join().unwrap();
    machine.assert_sound();
}

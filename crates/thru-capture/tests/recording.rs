//! Recording, given anything at all: nothing fails but the disk, nothing private is kept, and what is
//! kept is a record of bounded size that can be read again.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use thru_agents::hooks::{self, Event, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorded, Recorder, Skip, failures, session_key};
use thru_core::{CapturedEvent, Layout, Timestamp};
use thru_journal::journal::{Item, Journal};
use thru_redact::Redactor;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

struct Place {
    home: TempDir,
    second: i64,
}

impl Place {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), second: 1_795_000_000 }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.home.path())
    }

    fn journal(&self) -> Journal {
        Journal::open(self.layout().journal(), "test").unwrap()
    }

    /// Records an event ten seconds after the last one.
    fn record(&mut self, event: &str, payload: &Value) -> Recorded {
        self.second += 10;
        let raw = payload.to_string();
        let input = HookInput::parse(hooks::ADAPTERS[0], event, raw.as_bytes()).unwrap();
        let (journal, redactor) = (self.journal(), Redactor::builtin());
        let recorder = Recorder { journal: &journal, redactor: &redactor, skip_tools: &[] };
        let session = Session::at(&self.layout(), &session_key(&input));
        let now = Timestamp::from_second(self.second).unwrap();
        recorder.record(&input, raw.as_bytes(), &session, now).unwrap()
    }

    /// Returns the records, each a whole one.
    fn recorded(&self) -> Vec<CapturedEvent<Value>> {
        let replay = self.journal().replay().unwrap();
        assert_eq!(replay.problems, []);
        let body = |entry: thru_journal::journal::Stored| serde_json::from_value(entry.body);
        replay.entries.into_iter().map(|entry| body(entry).unwrap()).collect()
    }
}

/// Any JSON, with what matters to us in strange places.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,40}".prop_map(Value::from),
        Just(json!(SECRET)),
        Just(json!("<private>zebrafish</private>")),
        Just(json!("<private>zebrafish")),
        Just(json!("x".repeat(300_000))),
    ];
    let name = prop::sample::select(vec![
        // Ids stay as they are: an id is no secret, and records are joined by them.
        "prompt",
        "source",
        "tool_name",
        "tool_input",
        "tool_response",
        "cwd",
        "last_assistant_message",
        "content",
        "file",
        "answers",
        "error",
        "x",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|fields| fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

fn event() -> impl Strategy<Value = String> {
    let known: Vec<String> = Event::ALL.iter().map(|event| event.as_str().to_owned()).collect();
    prop_oneof![9 => prop::sample::select(known), 1 => "[A-Za-z]{1,20}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_payload_can_be_recorded(
        events in prop::collection::vec((event(), anything()), 1..6),
    ) {
        let mut place = Place::new();
        let mut kept = 0;
        for (event, more) in &events {
            let mut payload = json!({ "session_id": "s" });
            match more {
                Value::Object(fields) => payload.as_object_mut().unwrap().extend(fields.clone()),
                other => payload["tool_input"] = other.clone(),
            }
            kept += usize::from(place.record(event, &payload) == Recorded::Kept);
        }
        let recorded = place.recorded();
        prop_assert!(recorded.len() <= kept);
        for event in recorded {
            let written = event.payload.to_string();
            prop_assert!(!written.contains("ghp_") && !written.contains("zebrafish"));
            for field in event.payload.as_object().unwrap().values() {
                prop_assert!(field.to_string().len() < 600_000);
            }
        }
    }

    /// The last prompt of a person decides if a turn is private.
    #[test]
    fn a_private_turn_keeps_no_word(
        steps in prop::collection::vec(prop::sample::select(vec![
            "public", "private", "machine", "tool", "failure", "subagent", "stop", "compact",
        ]), 1..24),
    ) {
        let mut place = Place::new();
        let (mut private, mut expected) = (false, 0);
        for (number, step) in steps.iter().enumerate() {
            let word = |private: bool| if private { "zebrafish" } else { "ordinary" };
            let say = |text: &str| json!({ "session_id": "s", "cwd": "/p", "prompt_id": number.to_string(),
                "prompt": text, "tool_name": "Bash", "tool_use_id": number.to_string() });
            let with = |field: &str| {
                let mut payload = json!({ "session_id": "s", "cwd": "/p", "tool_name": "Bash",
                    "tool_use_id": number.to_string() });
                payload[field] = json!(word(private));
                payload
            };
            let (event, payload) = match *step {
                "public" => ("UserPromptSubmit", say("ordinary")),
                "private" => ("UserPromptSubmit", say("<private>zebrafish</private>")),
                "machine" => (
                    "UserPromptSubmit",
                    say(&format!("<task-notification>{}</task-notification>", word(private))),
                ),
                "tool" => ("PostToolUse", with("tool_input")),
                "failure" => ("PostToolUseFailure", with("error")),
                "subagent" => ("SubagentStop", with("last_assistant_message")),
                "stop" => ("Stop", with("last_assistant_message")),
                _ => ("PostCompact", with("compact_summary")),
            };
            match *step {
                "public" => private = false,
                "private" => private = true,
                _ => {}
            }
            let left_out = private && matches!(*step, "private" | "tool" | "failure");
            expected += usize::from(!left_out);
            let wanted = if left_out { Recorded::Skipped(Skip::Private) } else { Recorded::Kept };
            prop_assert_eq!(place.record(event, &payload), wanted);
        }
        let recorded = place.recorded();
        prop_assert_eq!(recorded.len(), expected);
        for event in &recorded {
            prop_assert!(!event.payload.to_string().contains("zebrafish"));
            prop_assert_eq!(&event.payload["cwd"], "/p");
        }
        let numbers: Vec<u32> = recorded.iter().filter_map(|event| event.prompt).collect();
        prop_assert_eq!(numbers.len(), steps.iter().filter(|step| **step == "public").count());
        prop_assert!(numbers.iter().zip(1..).all(|(number, place)| *number == place));
    }

    #[test]
    fn the_shape_of_anything_says_nothing(value in anything(), cut in 0..2_000_usize) {
        let mut text = json!({ "secret": SECRET, SECRET: value }).to_string().into_bytes();
        let whole = failures::shape(&text);
        prop_assert!(!whole.contains("ghp_") && !whole.contains("zebrafish"), "{}", whole);
        text.truncate(cut);
        let part = failures::shape(&text);
        prop_assert!(part.len() < 4_000 && !part.contains("ghp_"), "{}", part);
    }
}

#[test]
fn the_same_event_later_is_another_where_the_agent_gives_no_id() {
    let mut place = Place::new();
    let resumed = json!({ "session_id": "s", "source": "resume" });
    let ran = json!({ "session_id": "s", "tool_name": "Bash", "tool_use_id": "t1" });
    for _ in 0..2 {
        place.record("SessionStart", &resumed);
        place.record("PostToolUse", &ran);
    }
    let entries = place.journal().stream(Default::default()).unwrap();
    let entries = entries.filter(|item| matches!(item, Ok(Item::Entry(_)))).count();
    assert_eq!(entries, 3, "two starts, and one use of a tool");
}

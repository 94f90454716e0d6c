//! Hook events merged with transcripts: in whatever order both arrive, and whatever
//! comes twice, the store ends up the same (invariants I-3 and I-4).

use proptest::prelude::*;
use serde_json::{Value, json};
use thru_agents::hooks::{self, HookInput};
use thru_capture::session::Session;
use thru_capture::{Recorder, session_key};
use thru_core::{PassageKind, Timestamp};
use thru_journal::journal::Journal;
use thru_redact::Redactor;
use thru_store::{PassageFilter, Store};

use crate::dump;
use crate::machine::{Machine, assert_same, key};
use crate::records::{Author, ONE, file};

/// The second at which the first record of an [`Author`] is written, less one.
const START: i64 = 1_772_355_600;

/// One thing that happens in a session.
#[derive(Clone, Debug)]
enum Step {
    Asks(&'static str),
    Runs(&'static str),
    Fails,
    /// In the middle of a turn, where no hook fires.
    Remarks(&'static str),
    Ends(&'static str),
    /// The context is compacted, by hand where something is to be kept.
    Compacts(&'static str),
}

/// A session that was written, and what its hooks were sent, with the number of lines that the
/// transcript had by then.
struct Story {
    lines: Vec<String>,
    events: Vec<(Timestamp, &'static str, Value, usize)>,
}

fn told(steps: &[Step]) -> Story {
    let mut author = Author::of(ONE);
    let mut lines = 0;
    let mut events = Vec::new();
    let mut send = |event: &'static str, lines: usize, more: Value| {
        let mut payload = json!({
            "session_id": ONE,
            "transcript_path": format!("/nowhere/{ONE}.jsonl"),
            "cwd": "/home/ada/rocket",
            "hook_event_name": event,
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let after = Timestamp::from_millisecond((START + lines as i64) * 1_000 + 500).unwrap();
        events.push((after, event, payload, lines));
    };
    for (number, step) in steps.iter().enumerate() {
        let call = format!("toolu_{number}");
        let tool = |more: Value| {
            let mut all = json!({ "tool_name": "Bash", "tool_use_id": call,
                "tool_input": { "command": "make" } });
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        match step {
            Step::Asks(text) => {
                author.asks(text);
                lines += 1;
                let id = format!("prompt-{number}");
                send("UserPromptSubmit", lines, json!({ "prompt_id": id, "prompt": text }));
            }
            Step::Runs(output) => {
                author.runs(&call, "make").gets(&call, output);
                lines += 2;
                let response = json!({ "stdout": output, "stderr": "" });
                send("PostToolUse", lines, tool(json!({ "tool_response": response })));
            }
            Step::Fails => {
                author.runs(&call, "make").gets(&call, "Exit code 2");
                lines += 2;
                send("PostToolUseFailure", lines, tool(json!({ "error": "Exit code 2" })));
            }
            Step::Compacts(asked) => {
                let trigger = if asked.is_empty() { "auto" } else { "manual" };
                let what =
                    json!({ "trigger": trigger, "custom_instructions": asked, "turn": number });
                send("PreCompact", lines, what);
                author.compacts(trigger, "The agent's own words.");
                lines += 2;
                let summary = "The agent's own words, as a hook has them.";
                let what =
                    json!({ "trigger": trigger, "compact_summary": summary, "turn": number });
                send("PostCompact", lines, what);
            }
            Step::Remarks(text) => {
                author.says(text);
                lines += 1;
            }
            Step::Ends(text) => {
                author.says(text);
                lines += 1;
                send("Stop", lines, json!({ "last_assistant_message": text, "turn": number }));
            }
        }
    }
    Story { lines: author.text().lines().map(|line| format!("{line}\n")).collect(), events }
}

impl Story {
    fn write(&self, machine: &Machine, lines: usize) {
        machine.write(&file(ONE), self.lines[..lines].concat());
    }

    /// Records an event on a host, as a hook would have at that time.
    fn send(&self, machine: &Machine, number: usize, host: &str, late: i64) {
        let (at, event, payload, _) = &self.events[number];
        let at = Timestamp::from_millisecond(at.as_millisecond() + late).unwrap();
        let raw = payload.to_string();
        let input = HookInput::parse(hooks::ADAPTERS[0], event, raw.as_bytes()).unwrap();
        let journal = Journal::open(machine.layout().journal(), host).unwrap();
        let redactor = Redactor::builtin();
        let recorder = Recorder { journal: &journal, redactor: &redactor, skip_tools: &[] };
        let session = Session::at(&machine.layout(), &session_key(&input));
        recorder.record(&input, raw.as_bytes(), &session, at).unwrap();
    }
}

fn drain(machine: &Machine) {
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    intake.drain(&lock, 4).unwrap();
}

fn passages(machine: &Machine) -> Vec<String> {
    let all = dump::store(&machine.layout());
    all.into_iter().filter(|line| line.starts_with("passage ")).collect()
}

/// Compactions: whether a transcript tells of them, what for, and what was to be kept.
fn compactions(machine: &Machine) -> Vec<String> {
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    let all = store.compactions(row).unwrap();
    all.iter()
        .map(|one| {
            let place = one.place.is_some();
            format!("{place} {} {:?} {:?} {:?}", one.trigger, one.before, one.asked, one.summary)
        })
        .collect()
}

/// The same as the story has it.
fn wanted(story: &Story) -> Vec<String> {
    let begun = story.events.iter().filter(|event| event.1 == "PreCompact");
    begun
        .map(|(_, _, payload, _)| {
            let asked = payload["custom_instructions"].as_str().filter(|asked| !asked.is_empty());
            let (trigger, summary) =
                (payload["trigger"].as_str().unwrap(), "The agent's own words.");
            format!("true {trigger} Some(155000) {asked:?} {:?}", Some(summary))
        })
        .collect()
}

/// Prompts, tool calls and answers, without where they came from.
fn texts(machine: &Machine) -> [Vec<String>; 3] {
    [PassageKind::Human, PassageKind::Tool, PassageKind::Assistant]
        .map(|kind| dump::texts(&machine.layout(), kind))
}

/// The clock is a year behind while the events of a session are taken in, and right again.
#[test]
fn a_session_ended_when_it_did_after_a_clock_ran_behind() {
    let mut story = told(&[Step::Asks("fix the lock"), Step::Ends("Done.")]);
    let (stop, _, payload, lines) = story.events.last().unwrap().clone();
    let end = Timestamp::from_millisecond(stop.as_millisecond() + 1_000).unwrap();
    let mut payload = payload;
    payload["hook_event_name"] = json!("SessionEnd");
    payload["reason"] = json!("other");
    story.events.push((end, "SessionEnd", payload, lines));
    let machine = Machine::new();
    for number in 0..story.events.len() {
        story.send(&machine, number, "host", 0);
    }
    for ahead in [-365 * 86_400, 60] {
        let intake = machine.intake_at(Timestamp::from_second(START + ahead).unwrap());
        let lock = intake.lock(&mut |_| false).unwrap();
        intake.drain(&lock, 4).unwrap();
    }
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    let state = store.session_state(row).unwrap().unwrap();
    let now = Timestamp::from_second(START + 60).unwrap();
    let conversation = state.lifecycle.at(now, &machine.options.limits).unwrap();
    assert_eq!(conversation.ended().unwrap().at, end);
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::sample::select(vec!["continue", "fix the lock", "/review x", "go\n on"]).prop_map(Step::Asks),
        3 => prop::sample::select(vec!["built", "2 passed", ""]).prop_map(Step::Runs),
        1 => Just(Step::Fails),
        1 => prop::sample::select(vec!["Let me see.", "Done."]).prop_map(Step::Remarks),
        1 => prop::sample::select(vec!["", "keep the lock"]).prop_map(Step::Compacts),
        3 => prop::sample::select(vec!["Done.", "It holds.", "Two\n\n  lines"]).prop_map(Step::Ends),
    ]
}

/// The next action, in thousandths of the remaining ones.
#[derive(Clone, Debug)]
enum Action {
    Send { part: usize, twice: bool },
    Import { part: usize },
    Drain,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (0..1_000_usize, any::<bool>()).prop_map(|(part, twice)| Action::Send { part, twice }),
        (0..1_000_usize).prop_map(|part| Action::Import { part }),
        Just(Action::Drain),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_things_come_in_does_not_matter(
        steps in prop::collection::vec(step(), 1..9),
        actions in prop::collection::vec(action(), 0..5),
    ) {
        let story = told(&[&[Step::Asks("begin")], &steps[..]].concat());
        let alone = Machine::new();
        story.write(&alone, story.lines.len());
        alone.import();

        let machine = Machine::new();
        let (mut lines, mut sent) = (0, 0);
        for action in &actions {
            match action {
                Action::Send { part, twice } => {
                    let until = sent + (story.events.len() - sent) * part / 1_000;
                    for number in sent..until {
                        story.send(&machine, number, "test", 0);
                        // A copy that could not wait wrote a segment of its own, sorted before ours.
                        let has_id =
                            !["Stop", "PreCompact", "PostCompact"].contains(&story.events[number].1);
                        if *twice && !has_id {
                            story.send(&machine, number, "another", 3);
                        } else if *twice {
                            story.send(&machine, number, "test", 3);
                        }
                    }
                    sent = until;
                }
                Action::Import { part } => {
                    lines += (story.lines.len() - lines) * part / 1_000;
                    story.write(&machine, lines);
                    machine.import();
                }
                Action::Drain => drain(&machine),
            }
        }
        for number in sent..story.events.len() {
            story.send(&machine, number, "test", 0);
        }
        story.write(&machine, story.lines.len());
        machine.import();
        assert_same(&passages(&machine), &passages(&alone));
        assert_same(&compactions(&machine), &wanted(&story));
        machine.assert_sound();
        let merged = machine.dump();
        machine.rebuild();
        assert_same(&machine.dump(), &merged);
    }

    #[test]
    fn what_the_transcript_lacks_hooks_tell(
        steps in prop::collection::vec(step(), 1..9),
        part in 0..=1_000_usize,
        hooks_first in any::<bool>(),
    ) {
        let hidden = |step: &&Step| !matches!(step, Step::Remarks(_));
        let steps: Vec<Step> = steps.iter().filter(hidden).cloned().collect();
        let story = told(&[&[Step::Asks("begin")], &steps[..]].concat());
        let alone = Machine::new();
        story.write(&alone, story.lines.len());
        alone.import();

        // The transcript ends between two things that happened.
        let ends: Vec<usize> = story.events.iter().map(|event| event.3).collect();
        let written = ends[(ends.len() - 1) * part / 1_000];
        let machine = Machine::new();
        story.write(&machine, written);
        if !hooks_first {
            machine.import();
        }
        for number in 0..story.events.len() {
            story.send(&machine, number, "test", 0);
        }
        machine.import();
        prop_assert_eq!(texts(&machine), texts(&alone));
        let merged = machine.dump();
        machine.rebuild();
        assert_same(&machine.dump(), &merged);
        // When it comes to be known whole, nothing of hooks is left.
        story.write(&machine, story.lines.len());
        machine.import();
        assert_same(&passages(&machine), &passages(&alone));
    }
}

#[test]
fn hooks_alone_tell_of_compactions_until_a_transcript_does() {
    let story = told(&[
        Step::Asks("begin"),
        Step::Compacts("keep the lock"),
        Step::Asks("go on"),
        Step::Compacts(""),
    ]);
    let machine = Machine::new();
    // The end of the first is late, and the beginning of the second is lost.
    for number in [0, 1, 3, 5, 2] {
        story.send(&machine, number, "test", 0);
        machine.import();
    }
    let told =
        |what: &str| format!("false {what} Some(\"The agent's own words, as a hook has them.\")");
    assert_eq!(
        compactions(&machine),
        [told("manual None Some(\"keep the lock\")"), told("auto None None")]
    );
    story.write(&machine, story.lines.len());
    machine.import();
    assert_eq!(compactions(&machine), wanted(&story));
    let merged = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &merged);
}

#[test]
fn the_first_prompt_is_the_first_in_whichever_segment_it_stands() {
    let story = told(&[Step::Asks("begin"), Step::Ends("Done."), Step::Asks("go on")]);
    let machine = Machine::new();
    // It could not wait and has a segment of its own, sorted behind ours.
    story.send(&machine, 0, "waiting", 0);
    drain(&machine);
    for number in 1..story.events.len() {
        story.send(&machine, number, "test", 0);
    }
    machine.import();
    let told = machine.dump();
    assert!(told.iter().any(|line| line.contains("\"first-prompt\":\"begin\"")), "{told:?}");
    machine.rebuild();
    assert_same(&machine.dump(), &told);
}

#[test]
fn what_happens_within_a_millisecond_stays_in_its_order() {
    let outputs = ["one", "two", "three", "four", "five", "six"];
    let runs = outputs.map(Step::Runs);
    let story = told(&[&[Step::Asks("begin")], &runs[..]].concat());
    let machine = Machine::new();
    let begun = story.events[0].0.as_millisecond();
    for (number, event) in story.events.iter().enumerate() {
        story.send(&machine, number, "test", begun - event.0.as_millisecond());
        drain(&machine);
    }
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    let told = store.passages(PassageFilter::Session(row)).unwrap();
    let told = told.iter().map(|passage| store.text_of(passage).unwrap());
    let told: Vec<String> = told.filter(|text| text != "begin").collect();
    assert!(told.iter().zip(outputs).all(|(text, output)| text.contains(output)), "{told:?}");
    assert_eq!(told.len(), outputs.len());
    drop(store);
    machine.import();
    let merged = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &merged);
}

#[test]
fn a_copy_that_was_read_first_stands_for_neither() {
    let story = told(&[Step::Asks("begin"), Step::Ends("Done.")]);
    let machine = Machine::new();
    story.send(&machine, 0, "test", 0);
    // The later copy of the end is brought in before the earlier one is written.
    story.send(&machine, 1, "another", 3);
    machine.import();
    story.send(&machine, 1, "test", 0);
    machine.import();
    let merged = machine.dump();
    machine.rebuild();
    assert_same(&machine.dump(), &merged);
    assert_eq!(dump::texts(&machine.layout(), PassageKind::Assistant), ["Done."]);
}

#[test]
fn a_second_end_is_another_and_a_second_copy_is_none() {
    let story = told(&[Step::Asks("begin"), Step::Ends("Done.")]);
    let machine = Machine::new();
    story.send(&machine, 0, "test", 0);
    for late in [0, 1, 1_999, 3_000, 60_000] {
        story.send(&machine, 1, "test", late);
    }
    machine.import();
    let store = Store::open_to_read(&machine.layout()).unwrap();
    let row = store.session_by_key(&key(ONE)).unwrap().unwrap();
    let ends = store.events_of_session(row, 100).unwrap();
    // The fourth comes three seconds after the first, and stands for itself.
    assert_eq!(ends.iter().filter(|event| event.event == "Stop").count(), 3, "{ends:?}");
}

#[test]
fn a_clock_that_goes_back_costs_nothing() {
    let story = told(&[
        Step::Asks("begin"),
        Step::Runs("built"),
        Step::Ends("Done."),
        Step::Asks("continue"),
        Step::Ends("It holds."),
    ]);
    let alone = Machine::new();
    story.write(&alone, story.lines.len());
    alone.import();
    let machine = Machine::new();
    for (number, late) in [0, -3_600_000, 10, -7_200_000, 315_360_000_000].into_iter().enumerate() {
        story.send(&machine, number, "test", late);
    }
    machine.import();
    assert_eq!(texts(&machine), texts(&alone));
    story.write(&machine, story.lines.len());
    machine.import();
    assert_same(&passages(&machine), &passages(&alone));
}

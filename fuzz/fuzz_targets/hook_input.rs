//! Hook input for every event: nothing in it does harm, what is kept of it is small and clean, and the
//! reply is JSON. The bytes are also used as parts of an input, since a fuzzer rarely writes a whole
//! one, and repeated many times, since limits must hold for any length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use thru_agents::hooks::{ADAPTERS, Adapter, Event, HookInput, HookReply, passage};
use thru_core::{SessionId, Timestamp};
use thru_fuzz::lossy;
use thru_redact::{Redactor, Report};

/// Maximum bytes kept of a tool's input, response and error together.
const KEPT: usize = 400 * 1024;

fuzz_target!(|data: &[u8]| {
    let redactor = Redactor::builtin();
    let part = serde_json::from_slice(data).unwrap_or_else(|_| Value::String(lossy(data)));
    let many = Value::Array(vec![part.clone(); 1 + 20_000 / (1 + data.len())]);
    let payloads = [
        json!({
            "session_id": "s",
            "prompt": part,
            "last_assistant_message": part,
            "tool_name": "Edit",
            "tool_use_id": "t",
            "tool_input": part,
            "tool_response": { "file": many, "nested": [many] },
            "error": part,
        }),
        json!({
            "session_id": "s",
            "prompt": lossy(data),
            "last_assistant_message": lossy(data),
            "tool_name": "AskUserQuestion",
            "tool_input": { "file_path": lossy(data), "content": part },
            "tool_response": { "answers": part },
            "error": lossy(data),
        }),
    ];
    for (adapter, event) in ADAPTERS.into_iter().flat_map(events) {
        if let Ok(input) = HookInput::parse(adapter, event, data) {
            check(&redactor, &input);
        }
        for payload in &payloads {
            let input = serde_json::to_vec(payload).expect("a value that was JSON");
            check(&redactor, &HookInput::parse(adapter, event, &input).expect("a whole input"));
        }
        let reply = HookReply { context: Some(lossy(data)), message: Some(lossy(data)) };
        let output = adapter.capture.answer(&adapter.capture.event(event), &reply);
        assert!(output.is_empty() || serde_json::from_str::<Value>(&output).is_ok());
    }
});

/// Returns the events of an agent, and one that it does not have.
fn events(adapter: &'static Adapter) -> impl Iterator<Item = (&'static Adapter, &'static str)> {
    static KNOWN: [Event; 11] = Event::ALL;
    KNOWN.iter().map(Event::as_str).chain(["CwdChanged"]).map(move |event| (adapter, event))
}

/// Processes an input as a hook does, and later intake.
fn check(redactor: &Redactor, input: &HookInput) {
    let _ = (input.identity(), input.is_of_machine(), input.is_of_another_host());
    let clean = |payload: Value| redactor.clean_value(payload, &mut Report::default());
    let kept = clean(input.value.clone()).map(|payload| input.keep(payload));
    if input.event.is_tool_use() {
        let size = size(kept.get());
        assert!(size < KEPT, "{size} bytes are kept of {}", input.value.to_string().len());
    }
    let written = serde_json::to_string(kept.get()).expect("JSON that can be written");
    let read: Value = serde_json::from_str(&written).expect("JSON that can be read");
    assert_eq!(&read, kept.get());
    let again = clean(read);
    assert_eq!(again.get(), kept.get(), "cleaning again changed what was kept");
    let (session, at) = (SessionId::new("s"), Timestamp::UNIX_EPOCH);
    if let Some(passage) = passage(input.adapter.agent, &input.event, &session, "key", at, &again) {
        let _ = passage.get().fingerprint();
    }
}

/// Returns the bytes of names and texts, plus a few for each value.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, field)| name.len() + size(field)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

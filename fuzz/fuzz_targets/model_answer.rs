//! An answer of a model: the object in it is found however it is wrapped, and never only in part.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use thru_core::find_object;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let Some(found) = find_object(&text) else { return };
    assert!(found.is_object());
    if found.as_object().is_some_and(|fields| fields.is_empty()) {
        return;
    }
    // The same object is found again in any wrapping. Large numbers lose their last digits, so the
    // comparison is with the object's own text.
    let plain = found.to_string();
    let again: Option<Value> = serde_json::from_str(&plain).ok();
    let Ok(pretty) = serde_json::to_string_pretty(&found) else { return };
    for wrapped in [
        plain.clone(),
        format!("Of course! {plain}"),
        format!("Here it is:\n```json\n{pretty}\n```\nAnything {{else}}?"),
    ] {
        assert_eq!(find_object(&wrapped), again, "{wrapped}");
    }
    // A truncated object is not an answer.
    let cut: String = plain.chars().take(plain.chars().count() - 1).collect();
    assert_eq!(find_object(&cut), None, "{cut}");
});

//! What a model said: the object in it is found however it is wrapped, and a part is never taken for the
//! whole.
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
    // What was found is found again, whatever stands around it. Large numbers are not read to the last
    // digit, so that it is compared with what its own text says.
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
    // Nothing that ends too early is an answer.
    let cut: String = plain.chars().take(plain.chars().count() - 1).collect();
    assert_eq!(find_object(&cut), None, "{cut}");
});

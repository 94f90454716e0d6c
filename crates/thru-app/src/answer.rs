//! The form that all answers share.

use serde::Serialize;
use serde_json::Value;
use thru_core::may_be_shown;

use crate::trouble::Result;

/// The `version` of an answer. Keys may be added to a form; a change that breaks a reader is a new version.
pub const VERSION: u32 = 1;

/// The answer as indented JSON with its keys in alphabetical order, as every surface prints it.
///
/// # Errors
/// Fails only if a part of the answer cannot be written as JSON.
pub fn json(answer: &impl Serialize) -> Result<String> {
    // By way of text: a number of 32 bits would show, widened to 64, digits that it does not have.
    let value: Value = serde_json::from_str(&serde_json::to_string(answer)?)?;
    Ok(escaped(serde_json::to_string_pretty(&value)?))
}

/// JSON whose characters that could steer a terminal are escaped, so that a program reads them and no surface needs to take
/// them out.
fn escaped(json: String) -> String {
    if json.chars().all(may_be_shown) {
        return json;
    }
    let mut safe = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match may_be_shown(c) {
            true => safe.push(c),
            false => {
                safe.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")))
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_escaped() {
        let text = "warning \u{26a0}\u{fe0f} \u{9b}31m \u{202e} \u{e0001}\nü";
        let json = json(&[text]).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
        assert!(json.contains("\u{26a0}\\ufe0f \\u009b31m \\u202e \\udb40\\udc01\\nü"), "{json}");
    }

    #[test]
    fn numbers_have_the_digits_that_they_were_given() {
        let answer = [("weight", 1.72_f32), ("adds", 0.1 + 0.2)];
        let answer: std::collections::HashMap<_, _> = answer.into();
        insta::assert_snapshot!(json(&answer).unwrap(), @r#"
        {
          "adds": 0.3,
          "weight": 1.72
        }
        "#);
    }
}

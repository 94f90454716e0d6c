//! The form that all answers share.

use serde::Serialize;
use serde_json::Value;

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
    Ok(serde_json::to_string_pretty(&value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

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

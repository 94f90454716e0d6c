//! What a project's own `config.json` wishes. It comes with any clone: it may make us write less or tell
//! less, and nothing else.

use serde_json::Value;

/// What a project wishes, as far as it is heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// List at most so many summaries.
    pub max: Option<usize>,
    /// Put no code into summaries.
    pub no_code: bool,
    /// Tell a session nothing after its context was compacted.
    pub no_reload: bool,
}

/// Options that have a place elsewhere: what models are asked, the user alone says.
const ELSEWHERE: [&str; 2] = ["summary_model", "fallback_to_ollama"];

impl Wishes {
    /// How many, where the user wants so many.
    pub(crate) fn most(&self, wanted: usize) -> usize {
        self.max.map_or(wanted, |wished| wished.min(wanted))
    }

    /// What the file wishes, and what in it has no effect.
    pub(crate) fn read(text: &str) -> (Self, Vec<String>) {
        let mut wishes = Self::default();
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return (wishes, vec!["it is not a JSON object".to_owned()]);
        };
        let mut notes = Vec::new();
        for (name, value) in &fields {
            match (name.as_str(), value) {
                ("max_summaries", Value::Number(most)) if most.as_u64().is_some_and(|n| n > 0) => {
                    wishes.max = most.as_u64().and_then(|most| usize::try_from(most).ok());
                }
                ("include_code_snippets", Value::Bool(wanted)) => wishes.no_code = !wanted,
                ("auto_reload", Value::Bool(wanted)) => wishes.no_reload = !wanted,
                (name, _) if ELSEWHERE.contains(&name) => {
                    notes.push(format!("`{name}` is not for projects to say"));
                }
                ("max_summaries" | "include_code_snippets" | "auto_reload", _) => {
                    notes.push(format!("`{name}` has a value that it cannot have"));
                }
                (name, _) => {
                    let known: String =
                        name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                    let known = &known[..known.len().min(40)];
                    notes.push(format!("there is no option `{known}`"));
                }
            }
        }
        notes.truncate(10);
        (wishes, notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_can_only_have_less() {
        let (wishes, notes) = Wishes::read(
            r#"{"max_summaries":7,"summary_model":"http://evil","include_code_snippets":false,
                "auto_reload":"no","api_key":"k"}"#,
        );
        assert_eq!(wishes, Wishes { max: Some(7), no_code: true, no_reload: false });
        assert_eq!(
            notes,
            [
                "there is no option `api_key`",
                "`auto_reload` has a value that it cannot have",
                "`summary_model` is not for projects to say"
            ]
        );
        assert_eq!(Wishes::read("[]").0, Wishes::default());
        assert_eq!(Wishes::read(r#"{"max_summaries":0}"#).0.max, None);
    }
}

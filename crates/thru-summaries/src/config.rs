//! The options in a project's own `config.json`. It comes with any clone: it may make us write less or
//! inject less, and nothing else.

use serde_json::Value;

/// The options of a project that have an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProjectConfig {
    /// Maximum number of summaries to list.
    pub max: Option<usize>,
    /// True to keep code out of summaries.
    pub no_code: bool,
    /// True to inject nothing into a session after its context was compacted.
    pub no_reload: bool,
}

/// Options that belong elsewhere: only the user decides about models.
const ELSEWHERE: [&str; 2] = ["summary_model", "fallback_to_ollama"];

impl ProjectConfig {
    /// Returns the smaller of the user's limit and the project's.
    pub(crate) fn most(&self, wanted: usize) -> usize {
        self.max.map_or(wanted, |own| own.min(wanted))
    }

    /// Parses the file. Returns its options, and notes on entries without effect.
    pub(crate) fn read(text: &str) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
            return (config, vec!["it is not a JSON object".to_owned()]);
        };
        let mut notes = Vec::new();
        for (name, value) in &fields {
            match (name.as_str(), value) {
                ("max_summaries", Value::Number(most)) if most.as_u64().is_some_and(|n| n > 0) => {
                    config.max = most.as_u64().and_then(|most| usize::try_from(most).ok());
                }
                ("include_code_snippets", Value::Bool(wanted)) => config.no_code = !wanted,
                ("auto_reload", Value::Bool(wanted)) => config.no_reload = !wanted,
                (name, _) if ELSEWHERE.contains(&name) => {
                    notes.push(format!("`{name}` cannot be set by a project"));
                }
                ("max_summaries" | "include_code_snippets" | "auto_reload", _) => {
                    notes.push(format!("`{name}` has an invalid value"));
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
        (config, notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_can_only_have_less() {
        let (config, notes) = ProjectConfig::read(
            r#"{"max_summaries":7,"summary_model":"http://evil","include_code_snippets":false,
                "auto_reload":"no","api_key":"k"}"#,
        );
        assert_eq!(config, ProjectConfig { max: Some(7), no_code: true, no_reload: false });
        assert_eq!(
            notes,
            [
                "there is no option `api_key`",
                "`auto_reload` has an invalid value",
                "`summary_model` cannot be set by a project"
            ]
        );
        assert_eq!(ProjectConfig::read("[]").0, ProjectConfig::default());
        assert_eq!(ProjectConfig::read(r#"{"max_summaries":0}"#).0.max, None);
    }
}

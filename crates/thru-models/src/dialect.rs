//! The part of a wire format that a server supports. Servers that call themselves compatible differ, and
//! say so only when they reject something; a rejected feature is not tried again.

use crate::request::Request;

/// The way a structured answer is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// With the schema, which the server enforces.
    Schema,
    /// As JSON of any kind; the schema stands in the prompt.
    Object,
    /// Not requested; the schema stands in the prompt.
    Text,
}

/// The field that limits the length of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LengthField {
    MaxTokens,
    MaxCompletionTokens,
}

impl LengthField {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// The features used with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) form: Form,
    pub(crate) length: LengthField,
    /// True if the other field for the length was already rejected.
    length_is_settled: bool,
    pub(crate) has_temperature: bool,
    /// True if thinking is switched off with a field that not all servers know.
    pub(crate) has_think: bool,
}

impl Dialect {
    pub(crate) const fn new(length: LengthField) -> Self {
        Self {
            form: Form::Schema,
            length,
            length_is_settled: false,
            has_temperature: true,
            has_think: true,
        }
    }

    /// Returns the dialect to try after a server rejected this one with these words; `None` if they name
    /// nothing that can be left out.
    pub(crate) fn without(self, status: u16, objection: &str, request: &Request) -> Option<Self> {
        const FORMS: [&str; 6] =
            ["response_format", "json_schema", "json_object", "output_config", "grammar", "schema"];
        if !matches!(status, 400 | 422 | 500 | 501) {
            return None;
        }
        let objection = objection.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| objection.contains(word));
        if !self.length_is_settled && names(&[self.length.name()]) {
            let length = match self.length {
                LengthField::MaxTokens => LengthField::MaxCompletionTokens,
                LengthField::MaxCompletionTokens => LengthField::MaxTokens,
            };
            return Some(Self { length, length_is_settled: true, ..self });
        }
        if self.has_temperature && request.temperature.is_some() && names(&["temperature"]) {
            return Some(Self { has_temperature: false, ..self });
        }
        if self.has_think && names(&["think"]) {
            return Some(Self { has_think: false, ..self });
        }
        // Ollama before 0.5 names the field of its own program.
        if request.schema.is_some() && (names(&FORMS) || names(&["request.format"])) {
            let form = match self.form {
                Form::Schema => Form::Object,
                Form::Object => Form::Text,
                Form::Text => return None,
            };
            return Some(Self { form, ..self });
        }
        None
    }

    /// Returns the prompt as it is sent: with the schema if the server does not get it separately.
    pub(crate) fn prompt(self, request: &Request) -> String {
        match &request.schema {
            Some(schema) if self.form != Form::Schema => format!(
                "{}\n\nAnswer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}",
                request.prompt
            ),
            _ => request.prompt.clone(),
        }
    }
}

//! Prompts, in each form of record that Codex writes, and the meaning of a line for private turns.

use std::borrow::Cow;

use serde_json::value::RawValue;
use thru_core::SourceKind;

use super::record::{Payload, Record};
use crate::cleaner::Heard;
use crate::json;

/// The form of record that holds a prompt. A prompt can be recorded once in each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    /// A `user_message` event, up to 0.16x.
    Event,
    /// A completed item, in later versions.
    Item,
}

/// Returns the prompt in this event, if it holds one.
pub(super) fn said(event: &Payload<'_>) -> Option<(Form, String)> {
    match event.kind.as_deref()? {
        "user_message" => Some((Form::Event, typed(event.message.as_deref()?).to_owned())),
        "item_completed" => {
            let item = event.item.as_ref().filter(|item| is(item, "UserMessage"))?;
            Some((Form::Item, typed(&texts(item.content?).join("\n")).to_owned()))
        }
        _ => None,
    }
}

/// True if the payload is of this type.
pub(super) fn is(payload: &Payload<'_>, kind: &str) -> bool {
    payload.kind.as_deref() == Some(kind)
}

/// Returns the texts among the parts of a message.
pub(super) fn texts(content: &RawValue) -> Vec<Cow<'_, str>> {
    let part = |part: &'_ RawValue| -> Option<String> {
        let members = json::members(part.get());
        let (_, text) = members.iter().find(|(key, _)| key == "text")?;
        json::string(text.get()).map(Cow::into_owned)
    };
    match json::string(content.get()) {
        Some(text) => vec![text],
        None => {
            json::elements(content.get()).into_iter().filter_map(part).map(Cow::Owned).collect()
        }
    }
}

/// Returns a prompt without the context that an editor prepended.
pub(super) fn typed(message: &str) -> &str {
    const CONTEXT: &str = "# Context from my IDE setup:";
    const REQUEST: &str = "## My request for Codex:";
    let message = message.trim();
    match message.starts_with(CONTEXT).then(|| message.rsplit_once(REQUEST)).flatten() {
        Some((_, request)) => request.trim(),
        None => message,
    }
}

/// Returns the meaning of this line in a rollout; `None` if it cannot be parsed.
pub(crate) fn heard(kind: SourceKind, line: &str) -> Option<Heard> {
    let Record { kind: Some(record), payload: Some(payload), .. } = Record::parse(line).ok()?
    else {
        return Some(Heard::Nothing);
    };
    Some(match record.as_ref() {
        "event_msg" => match said(&payload) {
            // An instruction to a subagent starts nothing that ends a private turn.
            Some((_, text)) if kind == SourceKind::Subagent => Heard::Echo(text),
            Some((_, text)) => Heard::Prompt(text),
            None => Heard::Nothing,
        },
        // The prompt in the form that the model gets precedes the event.
        "response_item" if is(&payload, "message") && payload.role.as_deref() == Some("user") => {
            let text = payload.content.map(|content| texts(content).join("\n"));
            text.map_or(Heard::Nothing, |text| Heard::Echo(typed(&text).to_owned()))
        }
        _ => Heard::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_puts_before_a_prompt_goes() {
        assert_eq!(typed(" fix it \n"), "fix it");
        let message = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(typed(message), "fix it");
        assert_eq!(typed("## My request for Codex:\nquoted"), "## My request for Codex:\nquoted");
    }
}

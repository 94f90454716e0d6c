//! Errors as agents read them, whether through MCP or on the daemon's socket: the message, and a tool that helps, or the
//! command that the user can run.

use serde_json::{Value, json};

use crate::trouble::{Listing, MemoryAction, Remedy, Trouble};
use crate::words::printable;
use thru_config::Note;

/// Words an error: its message and its remedy, in a sentence each.
pub fn sentences(trouble: &Trouble) -> String {
    worded(trouble, advice)
}

/// The message of an error and its remedy as a surface words it, in a sentence each.
pub fn worded(trouble: &Trouble, advice: impl Fn(&Remedy) -> String) -> String {
    let message = sentence(&trouble.message());
    match trouble.remedy() {
        Some(remedy) => format!("{message} {}", sentence(&advice(remedy))),
        None => message,
    }
}

/// Words an error for programs: its kind, its message, and its remedy if there is one.
pub fn object(trouble: &Trouble) -> Value {
    json!({
        "status": "error",
        "kind": trouble.kind(),
        "message": sentence(&trouble.message()),
        "remedy": trouble.remedy().map(|remedy| sentence(&advice(remedy))),
    })
}

/// A sentence with its full stop, and nothing in it that could steer a terminal.
pub fn sentence(text: &str) -> String {
    let text = printable(text.trim_end());
    let stop = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{text}{stop}")
}

/// Words what is noted about the settings, and how to end it where another program's name or form counts.
pub fn notes(notes: &[Note]) -> Vec<String> {
    let mut lines: Vec<String> = notes.iter().map(ToString::to_string).collect();
    lines.dedup();
    if notes.iter().any(|note| matches!(note, Note::OtherName { .. } | Note::OtherForm { .. })) {
        lines.push(
            "the settings count as they are; write them in the new form to be rid of these notes"
                .to_owned(),
        );
    }
    lines.iter().map(|line| sentence(line)).collect()
}

/// Words a remedy.
pub fn advice(remedy: &Remedy) -> String {
    let user = |command: &str, purpose: &str| {
        format!("The user can run `thru {command}`, which {purpose}")
    };
    match remedy {
        Remedy::See(Listing::Unindexed) => "session_tracking_list_unindexed lists them".to_owned(),
        Remedy::See(Listing::Ids | Listing::Memories) => "search shows ids".to_owned(),
        Remedy::See(list) => user(list.command(), "lists them"),
        Remedy::Choose(names) => format!("Name one: {}", names.join(", ")),
        Remedy::WriteMore(ids) => format!("Write more of it: {}", ids.join(", ")),
        Remedy::DidYouMean { names, .. } => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("Did you mean {}?", names.join(" or "))
        }
        Remedy::OpenSession(_) => "get_session reads it".to_owned(),
        Remedy::NotASession(MemoryAction::Edit) => "search shows ids of its memories".to_owned(),
        Remedy::NotASession(MemoryAction::Forget) => {
            user("forget --session", "forgets a session for good")
        }
        Remedy::NotAPassage(MemoryAction::Edit) | Remedy::ForgetOrRemember => {
            "remember keeps a better version".to_owned()
        }
        Remedy::NotAPassage(MemoryAction::Forget) => {
            user("redact", "takes texts out of all sessions")
        }
        Remedy::Import => user("import", "reads the history that is on this machine"),
        Remedy::Rebuild => user("rebuild", "makes the store again from journal and archive"),
        Remedy::Doctor => user("doctor", "says what can be done"),
        Remedy::Set { key, value: Some(value) } => {
            user(&format!("config set {key} {value}"), "changes that")
        }
        Remedy::Set { key, value: None } => user(&format!("config set {key}"), "corrects it"),
        Remedy::ShowSetting(key) => {
            user(&format!("config show {key} --origin"), "says where it is set")
        }
        Remedy::Confirm => "Repeat the call with confirm=true if the user means it".to_owned(),
        Remedy::TryAgain => "Try again in a moment".to_owned(),
        Remedy::Advice(advice) => advice.clone(),
        Remedy::ByHand(steps) => format!("The user can help: {steps}"),
        Remedy::Run { command, purpose } => user(command, purpose),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_told_of_tools_and_users_of_commands() {
        let unknown = || Trouble::not_found("there is no project `x`");
        let told = sentences(&unknown().with(Remedy::See(Listing::Projects)));
        assert_eq!(
            told,
            "there is no project `x`. The user can run `thru projects`, which lists them."
        );
        let told = sentences(&unknown().with(Remedy::See(Listing::Ids)));
        assert_eq!(told, "there is no project `x`. search shows ids.");
    }
}

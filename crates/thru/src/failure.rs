//! Errors as people see them: what happened, and what to do next.

use std::io::Write;

use thru_app::wording::{sentence, worded};
use thru_app::{Listing, MemoryAction, Remedy, Trouble, TroubleKind};

use crate::ui::{Outcome, fold};

/// Prints an error, folded to a terminal of so many columns. A closed pipe is not an error.
pub(crate) fn report(trouble: &Trouble, errors: &mut impl Write, columns: usize) -> u8 {
    if trouble.io_kind() == Some(std::io::ErrorKind::BrokenPipe) {
        return 0;
    }
    if trouble.kind() == TroubleKind::Cancelled {
        return Outcome::Interrupted.status();
    }
    let mut text = format!("error: {}", sentence(&trouble.message()));
    if let Some(remedy) = trouble.remedy() {
        text = format!("{text}\nhint: {}", sentence(&hint(remedy)));
    }
    for line in text.lines() {
        // There is no other place to say so when even this fails.
        let _ = writeln!(errors, "{}", fold(line, columns));
    }
    2
}

/// An error with its advice, in one text.
pub(crate) fn whole(trouble: &Trouble) -> String {
    worded(trouble, hint)
}

/// The remedy as a command line names it.
fn hint(remedy: &Remedy) -> String {
    let quoted = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(" or ")
    };
    match remedy {
        Remedy::Choose(names) => format!("name one: {}", names.join(", ")),
        Remedy::WriteMore(names) => format!("write more of it: {}", names.join(", ")),
        Remedy::DidYouMean { names, all: Listing::Settings } => {
            format!("did you mean {}?", quoted(names))
        }
        Remedy::DidYouMean { names, all } => {
            format!("did you mean {}? `thru {}` lists all", quoted(names), all.command())
        }
        Remedy::See(Listing::Memories) => "`thru search` and `thru context` show ids".to_owned(),
        Remedy::See(list) => format!("`thru {}` {}", list.command(), shows(*list)),
        Remedy::NotASession(MemoryAction::Forget) => "name it with `--session`".to_owned(),
        Remedy::NotASession(MemoryAction::Edit) => {
            "`thru show` and `thru timeline` show ids of its memories".to_owned()
        }
        Remedy::NotAPassage(MemoryAction::Forget) => {
            "`thru forget --session` forgets a session, `thru redact` takes texts out of all of them"
                .to_owned()
        }
        Remedy::NotAPassage(MemoryAction::Edit) => {
            "a record cannot be edited; add what you know with `thru remember`".to_owned()
        }
        Remedy::ForgetOrRemember => {
            "forget it with `thru forget`, or tell what you know with `thru remember`".to_owned()
        }
        Remedy::OpenSession(id) => format!("`thru session show {id}` opens it"),
        Remedy::Import => {
            "run `thru up` to set everything up, or `thru import` only to read the history on this machine".to_owned()
        }
        Remedy::Rebuild => {
            "run `thru rebuild`: it rebuilds the store from journal and archive".to_owned()
        }
        Remedy::Doctor => "`thru doctor` says what can be done".to_owned(),
        Remedy::Set { key, value: Some(value) } => {
            format!("`thru config set {key} {value}` changes that")
        }
        Remedy::Set { key, value: None } => format!("correct it with `thru config set {key}`"),
        Remedy::ShowSetting(key) => {
            format!("`thru config show {key} --origin` says where it is set")
        }
        Remedy::Confirm => "add `--yes` if you mean it".to_owned(),
        Remedy::TryAgain => "try again in a moment".to_owned(),
        Remedy::Advice(advice) => advice.clone(),
        Remedy::ByHand(steps) => (*steps).to_owned(),
        Remedy::Run { command, purpose } => format!("`thru {command}` {purpose}"),
    }
}

const fn shows(list: Listing) -> &'static str {
    match list {
        Listing::Ids | Listing::Memories => "shows ids",
        Listing::Settings => "lists the settings",
        Listing::Providers => "lists what can be set",
        _ => "lists them",
    }
}

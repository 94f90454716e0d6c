//! Turns as they are refined, all of them invented.

use thru_core::{Access, FileTouch, Id, Outcome, PassageKind};

use super::TurnMoment;

/// Builds a turn, passage by passage.
#[derive(Clone, Debug, Default)]
pub(super) struct Story {
    pub(super) moments: Vec<TurnMoment>,
}

impl Story {
    pub(super) fn push(
        &mut self,
        kind: PassageKind,
        tool: Option<&str>,
        text: &str,
    ) -> &mut TurnMoment {
        let number = self.moments.len() as u64;
        self.moments.push(TurnMoment {
            passage: passage(number),
            kind,
            is_subagent: false,
            tool: tool.map(str::to_owned),
            command: None,
            outcome: tool.map(|_| Outcome::Succeeded),
            files: Vec::new(),
            text: text.to_owned(),
        });
        self.moments.last_mut().unwrap()
    }

    pub(super) fn asks(&mut self, text: &str) -> &mut Self {
        self.push(PassageKind::Human, None, text);
        self
    }

    pub(super) fn says(&mut self, text: &str) -> &mut Self {
        self.push(PassageKind::Assistant, None, text);
        self
    }

    pub(super) fn reads(&mut self, path: &str) -> &mut Self {
        let text = format!("Read\nfile_path: {path}\n     1→fn main() {{}}");
        let moment = self.push(PassageKind::Tool, Some("Read"), &text);
        moment.files = vec![FileTouch { path: path.to_owned(), access: Access::Read }];
        self
    }

    pub(super) fn edits(&mut self, path: &str, old: &str, new: &str) -> &mut Self {
        let text = format!(
            "Edit\nreplace_all: false\nfile_path: {path}\nold_string: {old}\nnew_string: {new}\nThe file {path} has been updated successfully."
        );
        let moment = self.push(PassageKind::Tool, Some("Edit"), &text);
        moment.files = vec![FileTouch { path: path.to_owned(), access: Access::Modified }];
        self
    }

    pub(super) fn runs(&mut self, command: &str, result: &str, outcome: Outcome) -> &mut Self {
        let text = format!("Bash\ncommand: {command}\ndescription: Run it\n{result}");
        let moment = self.push(PassageKind::Tool, Some("Bash"), &text);
        moment.command = Some(command.to_owned());
        moment.outcome = Some(outcome);
        self
    }

    pub(super) fn calls(&mut self, tool: &str, text: &str) -> &mut Self {
        self.push(PassageKind::Tool, Some(tool), &format!("{tool}\n{text}"));
        self
    }
}

/// Returns the id of the passage with that number, from 0.
pub(super) fn passage(number: u64) -> Id {
    Id::derive(&[b"passage", &number.to_le_bytes()])
}

//! Whole sessions, all of them invented.

mod choosing;
mod open;
mod properties;
mod sessions;
mod snapshots;
mod telling;

use thru_core::{
    Access, Agent, Distillate, FileTouch, Id, Observation, Outcome, PassageKind, SessionFacts,
    SessionId, SessionKey,
};

use crate::{Distiller, Moment, wants_text};

/// Builds a session, passage by passage.
#[derive(Default)]
struct Story {
    moments: Vec<Moment>,
    turn: u32,
}

impl Story {
    fn push(&mut self, kind: PassageKind, tool: Option<&str>, text: &str) -> &mut Moment {
        let number = self.moments.len() as u64;
        self.moments.push(Moment {
            id: Id::derive(&[b"passage", &number.to_le_bytes()]),
            turn: self.turn,
            kind,
            is_subagent: false,
            tool: tool.map(str::to_owned),
            command: None,
            outcome: tool.map(|_| Outcome::Succeeded),
            at: None,
            files: Vec::new(),
            length: text.len() as u64,
            text: text.to_owned(),
        });
        self.moments.last_mut().unwrap()
    }

    fn asks(&mut self, text: &str) -> &mut Self {
        self.turn += 1;
        self.push(PassageKind::Human, None, text);
        self
    }

    fn says(&mut self, text: &str) -> &mut Self {
        self.push(PassageKind::Assistant, None, text);
        self
    }

    fn file(&mut self, tool: &str, path: &str, access: Access) -> &mut Self {
        let moment = self.push(PassageKind::Tool, Some(tool), "");
        moment.files = vec![FileTouch { path: path.to_owned(), access }];
        moment.length = 400;
        self
    }

    fn edits(&mut self, path: &str) -> &mut Self {
        self.file("Edit", path, Access::Modified)
    }

    fn reads(&mut self, path: &str) -> &mut Self {
        self.file("Read", path, Access::Read)
    }

    fn runs(&mut self, command: &str, result: &str, outcome: Outcome) -> &mut Self {
        let text = format!("Bash\ncommand: {command}\ndescription: Run it\n{result}");
        let moment = self.push(PassageKind::Tool, Some("Bash"), &text);
        moment.command = Some(command.to_owned());
        moment.outcome = Some(outcome);
        self
    }

    fn calls(&mut self, tool: &str, rest: &str) -> &mut Self {
        self.push(PassageKind::Tool, Some(tool), &format!("{tool}\n{rest}"));
        self
    }

    fn distilled(&self) -> Distillate {
        distil(&self.moments)
    }

    fn observations(&self) -> Vec<Observation> {
        self.distilled().observations
    }
}

fn key() -> SessionKey {
    SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("s1") }
}

fn distil(moments: &[Moment]) -> Distillate {
    let mut distiller = Distiller::new(&key(), &SessionFacts::default(), Default::default());
    for moment in moments {
        let mut moment = moment.clone();
        if !wants_text(moment.kind, moment.tool.as_deref(), moment.outcome, moment.is_subagent) {
            moment.text.clear();
        }
        distiller.add(moment);
    }
    distiller.finish()
}

/// Renders an observation in the lines that matter to a reader.
fn shown(observation: &Observation) -> String {
    let rule = if observation.is_rule { ", rule" } else { "" };
    let concepts: Vec<&str> = observation.concepts.iter().map(|concept| concept.as_str()).collect();
    let mut text = format!(
        "{} {}: {} ({}{rule}; {})",
        observation.turn,
        observation.kind,
        observation.headline(),
        if observation.speaker == thru_core::Speaker::Person { "person" } else { "agent" },
        concepts.join(" "),
    );
    for (mark, statement) in
        [('|', &observation.narrative), ('?', &observation.asked), ('=', &observation.report)]
    {
        if let Some(statement) = statement {
            text.push_str(&format!("\n  {mark} {}", statement.text));
        }
    }
    for fact in &observation.facts {
        text.push_str(&format!("\n  - {} [{}]", fact.text, fact.sources.len()));
    }
    if !observation.files_modified.is_empty() {
        text.push_str(&format!("\n  changed {}", observation.files_modified.join(" ")));
    }
    if !observation.files_read.is_empty() {
        text.push_str(&format!("\n  read {}", observation.files_read.join(" ")));
    }
    text
}

fn all_shown(observations: &[Observation]) -> String {
    observations.iter().map(shown).collect::<Vec<_>>().join("\n")
}

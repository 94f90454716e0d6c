//! Every text of what is kept is shown to the redactor.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

use serde::Serialize;
use thru_core::{
    Agent, Certainty, ClaimedRelation, CodeChange, Concept, Digest, ErrorResolved, FileInPlay, Id,
    KeyDecision, Merged, Observation, ObservationType, RefinedSession, RefinedTurn, Relation,
    SessionId, SessionKey, SessionSections, Snapshot, SnapshotContent, Speaker, Statement, Summary,
    Timestamp, WorkOutcome,
};

/// Makes texts that can be told apart.
#[derive(Default)]
struct Marks(usize);

impl Marks {
    fn text(&mut self) -> String {
        self.0 += 1;
        format!("mark-{}-", self.0)
    }

    fn texts(&mut self) -> Vec<String> {
        vec![self.text(), self.text()]
    }

    fn statement(&mut self) -> Statement {
        Statement { text: self.text(), sources: vec![Id::derive(&[b"source"])] }
    }

    fn statements(&mut self) -> Vec<Statement> {
        vec![self.statement(), self.statement()]
    }

    // No `..` below: a new field does not compile until it has a value, which is a mark if it is a text.

    fn observation(&mut self) -> Observation {
        Observation {
            id: Id::derive(&[b"id"]),
            turn: 1,
            kind: ObservationType::Decision,
            title: self.text(),
            narrative: Some(self.statement()),
            asked: Some(self.statement()),
            report: Some(self.statement()),
            facts: self.statements(),
            concepts: Concept::ALL.into_iter().collect(),
            files_read: self.texts(),
            files_modified: self.texts(),
            sources: vec![Id::derive(&[b"source"])],
            speaker: Speaker::Person,
            certainty: Certainty::Low,
            is_rule: true,
            is_agreed: true,
            at: Some(Timestamp::UNIX_EPOCH),
            raw_tokens: 1,
            merged: vec![Merged { id: Id::derive(&[b"merged"]), title: self.text() }],
            relations: vec![ClaimedRelation {
                relation: Relation::FixedBy,
                subject: self.text(),
                object: self.text(),
            }],
        }
    }

    fn digest(&mut self) -> Digest {
        Digest {
            request: Some(self.statement()),
            investigated: self.statements(),
            learned: self.statements(),
            completed: self.statements(),
            next_steps: self.statements(),
            decisions: self.statements(),
            open_questions: self.statements(),
            files: self.texts(),
            state: Some(self.statement()),
            outcome: WorkOutcome::Blocked,
            is_refined: true,
        }
    }

    fn sections(&mut self) -> SessionSections {
        SessionSections {
            topics: self.statements(),
            code_changes: vec![CodeChange { file: self.text(), description: self.text() }],
            key_decisions: vec![KeyDecision {
                decision: self.statement(),
                rationale: Some(self.text()),
                alternatives: self.texts(),
            }],
            errors_resolved: vec![ErrorResolved {
                error: self.statement(),
                root_cause: Some(self.text()),
                fix: Some(self.text()),
                verification: Some(self.text()),
            }],
            outcomes: self.statements(),
            context: self.statements(),
            tags: self.texts(),
        }
    }

    fn summary(&mut self) -> Summary {
        Summary {
            id: Id::derive(&[b"id"]),
            title: self.text(),
            digest: self.digest(),
            turns: vec![(1, self.digest()), (2, self.digest())],
            sections: self.sections(),
            at: Some(Timestamp::UNIX_EPOCH),
            raw_tokens: 1,
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            session: SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("one") },
            event: "event".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            trigger: self.text(),
            custom_instructions: Some(self.text()),
            directory: Some(self.text()),
            messages: 1,
            content: SnapshotContent {
                title: self.text(),
                objective: Some(self.statement()),
                last_request: Some(self.statement()),
                requests: self.statements(),
                outcome: WorkOutcome::Blocked,
                done: self.statements(),
                learned: self.statements(),
                decisions: self.statements(),
                rulings: self.statements(),
                failed: self.statements(),
                resolved: self.statements(),
                context: self.statements(),
                next_steps: self.statements(),
                open_questions: self.statements(),
                files: vec![FileInPlay {
                    path: self.text(),
                    modified: true,
                    what: Some(self.text()),
                    turn: 1,
                }],
                commands: self.statements(),
                names: self.texts(),
                topics: self.texts(),
            },
        }
    }
}

/// Checks that each mark is shown once, and that none is left where each is replaced.
fn assert_all_are_shown<T: Serialize>(
    make: impl Fn(&mut Marks) -> T,
    texts: impl Fn(&mut T, &mut dyn FnMut(&mut String)),
) {
    let mut marks = Marks::default();
    let mut value = make(&mut marks);
    let written = serde_json::to_string(&value).unwrap();
    assert_eq!(written.matches("mark-").count(), marks.0, "{written}");
    let mut shown = Vec::new();
    texts(&mut value, &mut |text| shown.push(std::mem::replace(text, "clean".to_owned())));
    shown.sort();
    let mut all: Vec<String> = (1..=marks.0).map(|number| format!("mark-{number}-")).collect();
    all.sort();
    assert_eq!(shown, all);
    let written = serde_json::to_string(&value).unwrap();
    assert!(!written.contains("mark-"), "{written}");
}

#[test]
fn the_redactor_sees_every_text_that_is_kept() {
    assert_all_are_shown(Marks::observation, Observation::texts);
    assert_all_are_shown(Marks::digest, Digest::texts);
    assert_all_are_shown(Marks::summary, Summary::texts);
    assert_all_are_shown(Marks::sections, SessionSections::texts);
    assert_all_are_shown(Marks::snapshot, Snapshot::texts);
    assert_all_are_shown(
        |marks| RefinedTurn { observations: vec![marks.observation()], digest: marks.digest() },
        RefinedTurn::texts,
    );
    assert_all_are_shown(
        |marks| RefinedSession {
            title: marks.text(),
            digest: marks.digest(),
            sections: marks.sections(),
        },
        RefinedSession::texts,
    );
}

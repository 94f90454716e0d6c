//! A model's additions to the memory of a session: more than distilling finds, each statement with its
//! sources.

use serde::{Deserialize, Serialize};

use crate::{Digest, Statement};

/// A decision with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct KeyDecision {
    /// The chosen option.
    pub decision: Statement,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// The rejected alternatives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
}

/// An error that was resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorResolved {
    /// The error.
    pub error: Statement,
    /// Its cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// The fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The way in which the fix was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CodeChange {
    /// The file, as the agent wrote its path.
    pub file: String,
    /// A description of the change.
    pub description: String,
}

/// The sections of a session's summary beside its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SessionSections {
    /// The subjects of the session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Statement>,
    /// The changes of its files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_changes: Vec<CodeChange>,
    /// Decisions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_decisions: Vec<KeyDecision>,
    /// Errors that were resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors_resolved: Vec<ErrorResolved>,
    /// Results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Statement>,
    /// Context for continuing the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Statement>,
    /// Words by which to find it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// A session as summarised by a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RefinedSession {
    /// The subject of the session, in at most 80 characters. Empty if no title was supported by
    /// evidence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The session as a whole.
    #[serde(default)]
    pub digest: Digest,
    /// The sections beside it.
    #[serde(default)]
    pub sections: SessionSections,
}

impl SessionSections {
    /// True if all sections are empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Calls `each` with every text in it, including files.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let lists = [&mut self.topics, &mut self.outcomes, &mut self.context];
        lists.into_iter().flatten().for_each(|statement| each(&mut statement.text));
        for change in &mut self.code_changes {
            each(&mut change.file);
            each(&mut change.description);
        }
        for decision in &mut self.key_decisions {
            each(&mut decision.decision.text);
            decision.rationale.iter_mut().for_each(&mut *each);
            decision.alternatives.iter_mut().for_each(&mut *each);
        }
        for resolved in &mut self.errors_resolved {
            each(&mut resolved.error.text);
            let told = [&mut resolved.root_cause, &mut resolved.fix, &mut resolved.verification];
            told.into_iter().flatten().for_each(&mut *each);
        }
        self.tags.iter_mut().for_each(&mut *each);
    }

    /// Returns every statement with sources, in reading order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let decisions = self.key_decisions.iter().map(|one| &one.decision);
        let errors = self.errors_resolved.iter().map(|one| &one.error);
        let told = self.topics.iter().chain(decisions).chain(errors);
        told.chain(&self.outcomes).chain(&self.context)
    }
}

impl RefinedSession {
    /// Calls `each` with every text in it, including files.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        each(&mut self.title);
        self.digest.texts(each);
        self.sections.texts(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_passed_to_the_redactor() {
        let said = |text: &str| Statement { text: text.to_owned(), sources: Vec::new() };
        let one = |text: &str| Some(text.to_owned());
        let mut session = RefinedSession {
            title: "x".into(),
            digest: Digest {
                request: Some(said("x")),
                learned: vec![said("x")],
                ..Digest::default()
            },
            sections: SessionSections {
                topics: vec![said("x")],
                code_changes: vec![CodeChange { file: "x".into(), description: "x".into() }],
                key_decisions: vec![KeyDecision {
                    decision: said("x"),
                    rationale: one("x"),
                    alternatives: vec!["x".into()],
                }],
                errors_resolved: vec![ErrorResolved {
                    error: said("x"),
                    root_cause: one("x"),
                    fix: one("x"),
                    verification: one("x"),
                }],
                outcomes: vec![said("x")],
                context: vec![said("x")],
                tags: vec!["x".into()],
            },
        };
        session.texts(&mut |text| *text = "clean".into());
        assert!(!format!("{session:?}").contains("\"x\""), "{session:?}");
        assert_eq!(session.sections.statements().count(), 5);
    }
}

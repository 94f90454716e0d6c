//! What a model adds to the memory of a session: more than distilling finds, each statement with its
//! sources.

use serde::{Deserialize, Serialize};

use crate::{Digest, Statement};

/// A choice that was made, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct KeyDecision {
    /// What was chosen.
    pub decision: Statement,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What else could have been chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
}

/// Something that went wrong and was put right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorResolved {
    /// What went wrong.
    pub error: Statement,
    /// Why it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// What put it right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// How that was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<String>,
}

/// What became of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CodeChange {
    /// The file, as the agent wrote its path.
    pub file: String,
    /// What was changed in it.
    pub description: String,
}

/// What is said of a session beside its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SessionSections {
    /// What it was about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Statement>,
    /// What became of its files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_changes: Vec<CodeChange>,
    /// What was decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub key_decisions: Vec<KeyDecision>,
    /// What went wrong and was put right.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors_resolved: Vec<ErrorResolved>,
    /// What came of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Statement>,
    /// What whoever goes on has to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Statement>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// A session as a model told it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RefinedSession {
    /// What the session was about, in at most 80 characters. Empty where no title could be believed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The session as a whole.
    #[serde(default)]
    pub digest: Digest,
    /// What is said beside it.
    #[serde(default)]
    pub sections: SessionSections,
}

impl SessionSections {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Shows every text that it holds, files included.
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

    /// Every statement with sources, in the order in which it is read.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let decisions = self.key_decisions.iter().map(|one| &one.decision);
        let errors = self.errors_resolved.iter().map(|one| &one.error);
        let told = self.topics.iter().chain(decisions).chain(errors);
        told.chain(&self.outcomes).chain(&self.context)
    }
}

impl RefinedSession {
    /// Shows every text that it holds, files included.
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
    fn every_text_is_shown_to_who_cleans() {
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

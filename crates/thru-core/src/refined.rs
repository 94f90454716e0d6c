//! A model's additions to the memory of a session: more than distilling finds, each statement with its
//! sources.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Digest, Statement};

/// A decision with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CodeChange {
    /// The file, as the agent wrote its path.
    pub file: String,
    /// A description of the change.
    pub description: String,
}

/// The sections of a session's summary beside its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
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
    /// The subject of the session, in at most 100 characters. Empty if no title was supported by
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

impl fmt::Display for KeyDecision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.decision.text)?;
        if let Some(reason) = &self.rationale {
            write!(formatter, " (because: {reason})")?;
        }
        match self.alternatives.is_empty() {
            true => Ok(()),
            false => write!(formatter, " (instead of: {})", self.alternatives.join("; ")),
        }
    }
}

impl fmt::Display for ErrorResolved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.error.text)?;
        let parts =
            [("cause", &self.root_cause), ("fix", &self.fix), ("verified", &self.verification)];
        for (label, text) in parts {
            if let Some(text) = text {
                write!(formatter, "; {label}: {text}")?;
            }
        }
        Ok(())
    }
}

impl SessionSections {
    /// True if all sections are empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Calls `each` with every text, file names included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self { topics, code_changes, key_decisions, errors_resolved, outcomes, context, tags } =
            self;
        let lists = [topics, outcomes, context];
        lists.into_iter().flatten().for_each(|statement| statement.texts(each));
        for CodeChange { file, description } in code_changes {
            each(file);
            each(description);
        }
        for KeyDecision { decision, rationale, alternatives } in key_decisions {
            decision.texts(each);
            rationale.iter_mut().chain(alternatives).for_each(&mut *each);
        }
        for ErrorResolved { error, root_cause, fix, verification } in errors_resolved {
            error.texts(each);
            [root_cause, fix, verification].into_iter().flatten().for_each(&mut *each);
        }
        tags.iter_mut().for_each(&mut *each);
    }
}

impl RefinedSession {
    /// Calls `each` with every text, file names included.
    pub fn texts(&mut self, each: &mut dyn FnMut(&mut String)) {
        let Self { title, digest, sections } = self;
        each(title);
        digest.texts(each);
        sections.texts(each);
    }
}

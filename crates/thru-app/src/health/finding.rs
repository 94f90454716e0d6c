//! The results of checks.

use schemars::JsonSchema;
use serde::Serialize;

/// The gravity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Something does not work, or will not for long.
    Problem,
}

impl Level {
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// A repair that is made without asking: no recorded text is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Take the permissions of others away.
    Modes,
    /// Remove what killed processes left.
    Leftovers,
    /// Write the hooks again, with the path of this program.
    Hooks,
}

/// The result of a check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Its subject, in a word or two.
    pub check: &'static str,
    /// Its gravity.
    pub level: Level,
    /// The finding in a line.
    pub line: String,
    /// The user's next step.
    pub remedy: Option<String>,
    /// The repair for it.
    #[serde(rename = "fix", serialize_with = "has_repair")]
    #[schemars(with = "bool")]
    pub mend: Option<Mend>,
}

impl Finding {
    /// Makes a finding that all is well.
    pub fn ok(check: &'static str, line: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, line: line.into(), remedy: None, mend: None }
    }

    /// Makes a finding worth knowing.
    pub fn note(check: &'static str, line: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Note, remedy: Some(remedy.into()), ..Self::ok(check, line) }
    }

    /// Makes a finding that something does not work.
    pub fn problem(
        check: &'static str,
        line: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { level: Level::Problem, ..Self::note(check, line, remedy) }
    }

    /// Adds the repair.
    #[must_use]
    pub fn mended_by(self, mend: Mend) -> Self {
        Self { mend: Some(mend), ..self }
    }
}

fn has_repair<S: serde::Serializer>(mend: &Option<Mend>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(mend.is_some())
}

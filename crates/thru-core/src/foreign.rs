//! Programs whose memories are imported.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UnknownName;
use crate::memory::named;

/// A program, or a kind of file, that memories are imported from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignSource {
    /// The database of claude-mem.
    ClaudeMem,
    /// The notes of basic-memory.
    BasicMemory,
    /// A Markdown file, or a folder of them.
    Markdown,
}

impl ForeignSource {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::ClaudeMem, Self::BasicMemory, Self::Markdown];

    /// Returns the name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeMem => "claude-mem",
            Self::BasicMemory => "basic-memory",
            Self::Markdown => "markdown",
        }
    }
}

impl fmt::Display for ForeignSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ForeignSource {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("source", name, &Self::ALL, Self::as_str)
    }
}

/// The name of a memory in the program that it was imported from: `claude-mem:12`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize,
)]
pub struct ForeignName {
    /// The program.
    #[serde(rename = "from")]
    pub source: ForeignSource,
    /// The name there.
    pub name: String,
}

impl fmt::Display for ForeignName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.name)
    }
}

impl ForeignName {
    /// Parses what [`ForeignName`] displays; `None` for text of another form.
    pub fn parse(text: &str) -> Option<Self> {
        let (source, name) = text.split_once(':')?;
        Some(Self { source: source.parse().ok()?, name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_parsed_as_it_is_shown() {
        for source in ForeignSource::ALL {
            let name = ForeignName { source, name: "a/b:c.md".to_owned() };
            assert_eq!(ForeignName::parse(&name.to_string()), Some(name));
        }
        assert_eq!(ForeignName::parse("k3f9a"), None);
        assert_eq!(ForeignName::parse("elsewhere:12"), None);
    }
}

//! Profiles: which tools a server lists.

use crate::graphiti;
use crate::tool::{TOOLS, Tool};

/// A set of tools under the names that one kind of client knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Throughline's own.
    #[default]
    Throughline,
    /// Those of Graphiti's server.
    Graphiti,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 2] = [Self::Throughline, Self::Graphiti];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Throughline => "throughline",
            Self::Graphiti => "graphiti",
        }
    }

    /// Returns the tools that it lists. Those of the others are answered, too.
    pub const fn tools(self) -> &'static [Tool] {
        const OWN: &[Tool] = &TOOLS;
        match self {
            Self::Throughline => OWN,
            Self::Graphiti => graphiti::TOOLS,
        }
    }
}

//! The made-up histories that prompts were labelled over. No line of them is from a real session, and
//! none may be changed because of how an engine answers.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Sessions of one developer, and prompts over them that were labelled by hand.
pub(super) struct History {
    pub(super) name: &'static str,
    /// Transcripts of Claude Code: names below `projects/` with what is in them.
    transcripts: &'static [(&'static str, &'static str)],
    /// One label a line.
    pub(super) labels: &'static str,
}

/// A transcript below `histories/`: the folder of its project and its session.
macro_rules! transcript {
    ($history:literal, $session:literal) => {
        (
            concat!($session, ".jsonl"),
            include_str!(concat!("../../histories/", $history, "/", $session, ".jsonl")),
        )
    };
}

/// All of them. They lie in one home, as the projects of one person do.
pub(super) const HISTORIES: [History; 3] = [
    History {
        name: "demo",
        transcripts: &[
            (
                "-home-ada-rocket/5b1f0c9e-8a51-4a57-9d0e-2f6c1b7a9e01.jsonl",
                include_str!("../../../crates/thru/demo/lock.jsonl"),
            ),
            (
                "-home-ada-rocket/c27d4e83-1f0b-4c3e-b6a5-90d1e2f3a402.jsonl",
                include_str!("../../../crates/thru/demo/retry.jsonl"),
            ),
            (
                "-home-ada-orchard/e9a86b15-7c42-4d18-8f3b-5a6b7c8d9e03.jsonl",
                include_str!("../../../crates/thru/demo/orchard.jsonl"),
            ),
        ],
        labels: include_str!("../../labels/packs.jsonl"),
    },
    History {
        name: "tally",
        transcripts: &[
            transcript!("tally", "-home-mira-tally/7a1c4e90-3b52-4c1d-9e07-5d2f8a6b1c01"),
            transcript!("tally", "-home-mira-tally/b93d0f17-6c24-4e8a-a1b5-08e7c49d2f02"),
            transcript!("tally", "-home-mira-tally/2e60b8d4-91fa-47c3-8d1e-c3b5a7f09e03"),
            transcript!("tally", "-home-mira-tally/d5f7a213-0e8b-4b96-b2c4-617e9d30ab04"),
            transcript!("tally", "-home-mira-tally/4c88e1f6-d7a0-4f35-97b9-e20a6c5d4b05"),
            transcript!("tally", "-home-mira-tally/91b2d7c5-4af8-4e61-8c0d-7f3e5a19c606"),
        ],
        labels: include_str!("../../labels/packs-tally.jsonl"),
    },
    History {
        name: "kranich",
        transcripts: &[
            transcript!("kranich", "-home-jonas-kranich/3d9e5b02-c481-4f7a-90b6-1a8f7e2c5d01"),
            transcript!("kranich", "-home-jonas-kranich/8f20c6ae-57d3-4b19-a8e4-c90b1d3f6e02"),
            transcript!("kranich", "-home-jonas-kranich/c61a9f7d-20e5-4d83-b7f9-52e4c8a03b03"),
            transcript!("kranich", "-home-jonas-kranich/e7b4d158-9c36-4a02-8e5d-03f9a6b7c104"),
            transcript!("kranich", "-home-jonas-kranich/05ac7e93-b1f8-4d67-92c3-d84e6f1b0a05"),
            transcript!("kranich", "-home-jonas-kranich/b80f3c2a-6d97-4e15-a4b1-7c52e9d0f306"),
        ],
        labels: include_str!("../../labels/packs-kranich.jsonl"),
    },
];

impl History {
    /// Writes its transcripts to where Claude Code keeps them.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        for (name, content) in self.transcripts {
            let path = folder.join("projects").join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, content)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

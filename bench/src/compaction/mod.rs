//! `compaction`: of what a real session holds before its context is compacted and uses after it, how
//! much is in the pack that we give it then, and how much in the agent's own summary.
//!
//! What counts is defined here and in `items`, by simple means of its own that read the transcript's
//! records and know nothing of distilling. It was written down before there were snapshots; since then
//! edits count, too, which made it harder, and words of tools (`in_progress`), patterns (`*.test.ts`), mail
//! addresses and programs within a command line (`python3 -c …`) no longer pass for items:
//!
//! A *use* is what is typed or said in the main conversation: prompts of a person, texts of the
//! agent, and the inputs of its tool calls without bodies of whole files (what `Write` writes,
//! here-documents). What tools print is no use, and neither is the agent's own
//! summary. An *item* is what is used before the boundary and again after it, until the next boundary
//! or the end of the session. Each counts once, however often it is used:
//!
//! - *files*: paths that a tool was given, and names of files in prose and command lines. A short name
//!   is the one file that ends so. A text holds a file that it names; where several files of the session
//!   have that name, it must name the directory on the same line.
//! - *identifiers*: `snake_case`, `camelCase`, `a::b`, `a.b` and `--flags` of five characters and more
//!   in prose, commands, searches and edits. No files, addresses and names of products.
//! - *commands*: program, subcommand and first argument of command lines. None that only looks
//!   (`ls`, `grep` …) or that every agent knows in every project (`git add`, `mkdir` …). A text holds one
//!   whose words stand on one line in this order.
//! - *decisions*: what a person ruled or answered, and what the agent says that it chose or found to be
//!   the cause; it recurs where half of its telling words (three at least) stand in one paragraph later.
//!   A text holds one of which it has as many on one line.
//!
//! Each class counts the same in a boundary's share, each boundary in its session's, each session in
//! the mean. All items alike (micro) are given beside it. A text's rate is its share by thousand tokens.
//! The agent goes on from its own summary, so that what stands in it is used again more likely than it
//! would have been; nothing is taken off for that.
//!
//! The sessions that were compacted are few. Any long session can be cut in the middle (`--cuts`): what
//! is used on both sides was needed as much, there is only no summary of the agent's to compare with.

mod boundary;
mod items;
mod packs;
mod report;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use self::items::Items;
use self::report::{Measured, Report};

/// The arguments of `compaction`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder with transcripts of Claude Code
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// Tell apart the sessions whose file's path holds this, and all others
    #[arg(long, value_name = "TEXT")]
    split: Option<String>,
    /// Cut long sessions that were never compacted in the middle, too
    #[arg(long)]
    cuts: bool,
    /// The budget of a pack, in tokens
    #[arg(long, default_value_t = 2_000)]
    tokens: u64,
    /// Only boundaries of sessions whose id starts so
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Say which items the pack misses: this prints words of the transcripts
    #[arg(long)]
    misses: bool,
    /// Print the packs themselves
    #[arg(long)]
    show: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Measures every boundary and prints tables.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.transcripts;
    if !folder.is_dir() {
        eprintln!("SKIPPED: there is no folder {}; nothing was measured", folder.display());
        return Ok(());
    }
    let mut report = Report::new(arguments.split.clone());
    for boundary in boundary::boundaries(folder, arguments.cuts)? {
        if !arguments.session.iter().all(|prefix| boundary.session.starts_with(prefix)) {
            continue;
        }
        let items = Items::of(&boundary);
        if items.is_empty() {
            continue;
        }
        let packs = packs::make(&boundary, arguments.tokens)?;
        if arguments.show {
            println!("{}", packs.now);
        }
        let measured = Measured::of(&boundary, &items, &packs);
        if arguments.misses {
            measured.print_misses(&boundary, &items, &packs);
        }
        report.add(measured);
    }
    report.print(arguments.json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = Arguments {
            transcripts: folder.path().join("none"),
            split: None,
            cuts: false,
            tokens: 2_000,
            session: None,
            misses: false,
            show: false,
            json: false,
        };
        assert!(run(&arguments).is_ok());
    }
}

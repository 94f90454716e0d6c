//! The readers against real transcripts, where they are at hand. They are other people's words: what is
//! compared here must never be printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use thru_agents::Reader;
use thru_agents::agents::discover_path;
use thru_core::{Agent, SourceKind};

use crate::common::clean;
use crate::support::read_in_pieces;

fn transcripts(of: Agent) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    let folder = folder.join(of.as_str());
    if !folder.is_dir() {
        eprintln!("SKIPPED: there are no real transcripts in {}", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn splits_of_real_transcripts_give_the_same() {
    for agent in [Agent::Codex, Agent::Copilot] {
        let Some(folder) = transcripts(agent) else { continue };
        let found = discover_path(&folder);
        assert!(found.problems.is_empty() && !found.sources.is_empty());
        let mut names = BTreeMap::new();
        for source in found.sources {
            assert_eq!((source.agent, source.kind), (agent, SourceKind::Main));
            *names.entry(source.archive_name.clone()).or_insert(0) += 1;
            let block = std::fs::read(&source.path).unwrap();
            let whole = Reader::for_source(&source).read(&clean(&block), 1).into_inner();
            assert!(!whole.passages.is_empty(), "{}", source.archive_name);
            assert!(whole.amendments.is_empty(), "{}", source.archive_name);
            assert!(
                whole.diagnostics.is_empty(),
                "{}: {:?}",
                source.archive_name,
                whole.diagnostics
            );
            // Cuts that differ from file to file, and are the same on each run.
            let step = 10_000 + block.len() % 77_777;
            let cuts: Vec<usize> = (0..block.len()).step_by(step).collect();
            let pieces = read_in_pieces(agent, Reader::for_source(&source), &block, &cuts);
            assert!(pieces == whole, "{} differs when read in pieces", source.archive_name);
        }
        assert!(names.values().all(|files| *files == 1), "two sessions go by one name");
    }
}

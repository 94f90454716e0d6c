//! The reader against real transcripts, where they are at hand. They are other people's words: what is
//! compared here must never be printed.

use std::path::{Path, PathBuf};

use thru_agents::agents::discover_path;
use thru_agents::claude_code::Reader;
use thru_core::SourceKind;

use crate::support::{clean, read_in_pieces};

fn transcripts() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts/claude");
    if !folder.is_dir() {
        eprintln!("SKIPPED: there are no real transcripts in {}", folder.display());
        return None;
    }
    Some(folder)
}

#[test]
fn splits_of_real_transcripts_give_the_same() {
    let Some(folder) = transcripts() else { return };
    let found = discover_path(&folder);
    assert!(found.problems.is_empty() && !found.sources.is_empty());
    let mut passages = 0;
    for source in found.sources {
        assert_eq!(source.kind, SourceKind::Main, "{}", source.archive_name);
        let block = std::fs::read(&source.path).unwrap();
        let whole = Reader::for_source(&source).read(&clean(&block), 1).into_inner();
        passages += whole.passages.len();
        assert!(whole.amendments.is_empty(), "{}", source.archive_name);
        let unexpected = whole.diagnostics.iter().any(|d| d.kind != "not-utf8");
        assert!(!unexpected, "{}: {:?}", source.archive_name, whole.diagnostics);
        // Cuts that differ from file to file, and are the same on each run.
        let step = 10_000 + block.len() % 77_777;
        let cuts: Vec<usize> = (0..block.len()).step_by(step).collect();
        let pieces = read_in_pieces(Reader::for_source(&source), &block, &cuts);
        assert!(pieces == whole, "{} differs when read in pieces", source.archive_name);
    }
    assert!(passages > 0);
}

#[test]
fn a_growing_transcript_gives_growing_passages() {
    let Some(folder) = transcripts() else { return };
    let found = discover_path(&folder.join("snapshots"));
    let mut earlier: Option<(PathBuf, Vec<thru_core::Passage>)> = None;
    for source in found.sources {
        let block = std::fs::read(&source.path).unwrap();
        let passages = Reader::for_source(&source).read(&clean(&block), 1).into_inner().passages;
        if let Some((path, earlier)) = earlier
            && path.parent() == source.path.parent()
        {
            assert!(earlier.len() <= passages.len());
            for (old, new) in earlier.iter().zip(&passages) {
                assert_eq!((old.id, old.ordinal, old.turn), (new.id, new.ordinal, new.turn));
                assert!(new.text.starts_with(&old.text), "a passage changed what it said");
            }
        }
        earlier = Some((source.path, passages));
    }
}

//! Properties of every file: its cuts into reads never matter, and nothing it holds does harm.

use proptest::collection::vec;
use proptest::prelude::*;
use thru_agents::Cleaner;
use thru_agents::claude_code::{HistoryReader, Reader};
use thru_core::{Agent, SourceKind};
use thru_redact::{Redactor, Report};

use crate::support::{clean, fixture, read, read_in_pieces, reader};

const TRANSCRIPTS: [(&str, SourceKind); 6] = [
    ("v1_0.jsonl", SourceKind::Main),
    ("v2_0.jsonl", SourceKind::Main),
    ("v2_1.jsonl", SourceKind::Main),
    ("odd.jsonl", SourceKind::Main),
    ("private.jsonl", SourceKind::Main),
    ("agent-a9f.jsonl", SourceKind::Subagent),
];

/// Pieces of records, so that random lines come close to real ones.
const SCRAPS: [&str; 14] = [
    "{\"type\":\"user\",",
    "{\"type\":\"assistant\",\"uuid\":\"0f8fad5b-d9cb-469f-a165-70867728950e\",",
    "\"message\":{\"content\":[",
    "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"x\"}}",
    "{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":",
    "\"<system-reminder>",
    "</system-reminder>\"",
    "\\ud83d",
    "]",
    "}",
    "]}}",
    ",",
    "\n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

#[test]
fn reading_line_by_line_gives_the_same() {
    for (name, kind) in TRANSCRIPTS {
        let block = fixture(name);
        let cuts: Vec<usize> = (0..block.len()).collect();
        assert_eq!(read_in_pieces(reader(kind), &block, &cuts), read(kind, &block), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_split_gives_the_same(which in 0usize..TRANSCRIPTS.len(), cuts in vec(0usize..12_000, 0..6)) {
        let (name, kind) = TRANSCRIPTS[which];
        let block = fixture(name);
        prop_assert_eq!(read_in_pieces(reader(kind), &block, &cuts), read(kind, &block));
    }

    #[test]
    fn arbitrary_bytes_are_read(bytes in vec(any::<u8>(), 0..400)) {
        everything_reads(&bytes);
    }

    #[test]
    fn scraps_of_records_are_read(scraps in vec(0usize..SCRAPS.len(), 0..24)) {
        let text: String = scraps.into_iter().map(|at| SCRAPS[at]).collect();
        everything_reads(text.as_bytes());
    }

    #[test]
    fn flipped_bytes_are_read(which in 0usize..TRANSCRIPTS.len(), flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut block = fixture(TRANSCRIPTS[which].0);
        for (at, byte) in flips {
            let at = at.index(block.len());
            block[at] = byte;
        }
        everything_reads(&block);
    }

    #[test]
    fn arbitrary_states_are_refused_or_used(state in "\\PC*") {
        let _ = Reader::resume(&state);
        let _ = HistoryReader::resume(&state);
    }
}

fn everything_reads(bytes: &[u8]) {
    for kind in [SourceKind::Main, SourceKind::Subagent, SourceKind::Attachment] {
        read(kind, bytes);
    }
    HistoryReader::new().read(&clean(bytes), 1);
    let (redactor, mut report) = (Redactor::builtin(), Report::default());
    for kind in [SourceKind::Main, SourceKind::Subagent, SourceKind::PromptHistory] {
        let mut cleaner = Cleaner::resume(Agent::ClaudeCode, kind, None);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            cleaner.clean(&redactor, line, &mut report);
        }
    }
}

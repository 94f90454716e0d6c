//! Properties of every file: its cuts into reads never matter, and nothing it holds does harm.

use proptest::collection::vec;
use proptest::prelude::*;
use thru_agents::Reader;
use thru_core::{Agent, SourceKind};

use crate::support::{FIXTURES, cleaned, fixture, read, read_in_pieces, reader};

/// Pieces of records, so that random lines come close to real ones.
const SCRAPS: [&str; 18] = [
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"shell\",\"call_id\":\"c\",\"arguments\":",
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"exec_command_end\",\"call_id\":\"c\",\"command\":[\"a\"],\"exit_code\":",
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":",
    "{\"type\":\"session_meta\",\"payload\":{\"id\":\"a\",\"source\":",
    "{\"type\":\"tool.execution_start\",\"data\":{\"toolCallId\":\"t\",\"arguments\":",
    "{\"type\":\"tool.execution_complete\",\"data\":{\"toolCallId\":\"t\",\"result\":",
    "{\"type\":\"user.message\",\"data\":{\"content\":",
    "\"<private>\"",
    "\"{\\\"cmd\\\":\\\"*** Begin Patch\\\\n*** Add File: x\\\"}\"",
    "\"Exit code: 1\\nOutput:\\n\"",
    "\\ud83d",
    "-1",
    "}}",
    "}}\n",
    ",",
    "\n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

#[test]
fn reading_line_by_line_gives_the_same() {
    for (agent, name, kind) in FIXTURES {
        let block = fixture(agent, name);
        let cuts: Vec<usize> = (0..block.len()).collect();
        let pieces = read_in_pieces(agent, reader(agent, kind), &block, &cuts);
        assert_eq!(pieces, read(agent, kind, &block), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_split_gives_the_same(which in 0usize..FIXTURES.len(), cuts in vec(0usize..12_000, 0..6)) {
        let (agent, name, kind) = FIXTURES[which];
        let block = fixture(agent, name);
        let pieces = read_in_pieces(agent, reader(agent, kind), &block, &cuts);
        prop_assert_eq!(pieces, read(agent, kind, &block));
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
    fn flipped_bytes_are_read(which in 0usize..FIXTURES.len(), flips in vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut block = fixture(FIXTURES[which].0, FIXTURES[which].1);
        for (at, byte) in flips {
            let at = at.index(block.len());
            block[at] = byte;
        }
        everything_reads(&block);
    }

    #[test]
    fn arbitrary_states_are_refused_or_used(state in "\\PC*") {
        for agent in Agent::ALL {
            let _ = Reader::resume(agent, &state);
        }
    }
}

/// At once and line by line, which must give the same whatever the bytes are.
fn everything_reads(bytes: &[u8]) {
    for agent in [Agent::Codex, Agent::Copilot] {
        for kind in [SourceKind::Main, SourceKind::Subagent, SourceKind::Attachment] {
            let cuts: Vec<usize> = (0..bytes.len()).collect();
            let pieces = read_in_pieces(agent, reader(agent, kind), bytes, &cuts);
            assert_eq!(pieces, read(agent, kind, bytes));
            cleaned(agent, kind, bytes);
        }
    }
}

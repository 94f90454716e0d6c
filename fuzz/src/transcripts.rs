//! A transcript of any agent, cut into blocks: nothing it holds does harm, and how it is cut never matters.
//! Lines go through the cleaner first, as they do on their way into the store.

use thru_agents::{Cleaner, Reader};
use thru_core::{Agent, ReadBatch, SessionId, SourceKind};
use thru_redact::{Redactor, Report};

use crate::{as_clean, check_document, lossy};

/// Reads a transcript, as it is and cleaned.
pub fn check(agent: Agent, data: &[u8]) {
    // Main and subagent files in turn; how many lines a block has follows from the input as well.
    let kind = [SourceKind::Main, SourceKind::Subagent][data.len() % 2];
    let lines_per_block = 1 + data.len() % 3;
    read(agent, kind, data, lines_per_block);
    let cleaned = clean(agent, kind, data);
    if cleaned != data {
        read(agent, kind, &cleaned, lines_per_block);
    }
}

fn reader(agent: Agent, kind: SourceKind) -> Reader {
    let session = SessionId::new("a1a1a1a1-0000-4000-8000-000000000001");
    Reader::for_archived(agent, kind, session, "agent-a1.jsonl")
}

/// Reads all at once and in blocks, each by a reader that resumes the one before.
fn read(agent: Agent, kind: SourceKind, transcript: &[u8], lines_per_block: usize) {
    let at_once = reader(agent, kind).read(&as_clean(transcript), 1).into_inner();
    let lines: Vec<&[u8]> = transcript.split_inclusive(|&byte| byte == b'\n').collect();
    let (mut in_blocks, mut number, mut state) = (ReadBatch::default(), 1, None::<String>);
    for block in lines.chunks(lines_per_block) {
        let mut reader = match &state {
            Some(state) => Reader::resume(agent, state).expect("a state that a reader saved"),
            None => reader(agent, kind),
        };
        append(&mut in_blocks, reader.read(&as_clean(&block.concat()), number).into_inner());
        state = Some(reader.state());
        number += block.len() as u64;
    }
    assert_eq!(in_blocks, at_once);
}

/// Puts batches together as the store does.
fn append(whole: &mut ReadBatch, later: ReadBatch) {
    for amendment in later.amendments {
        match whole.passages.iter_mut().rfind(|passage| passage.id == amendment.passage) {
            Some(passage) => thru_agents::amend(passage, &amendment),
            None => whole.amendments.push(amendment),
        }
    }
    whole.passages.extend(later.passages);
    whole.boundaries.extend(later.boundaries);
    whole.compact_summaries.extend(later.compact_summaries);
    whole.facts.merge(later.facts);
    for (name, count) in later.record_types {
        *whole.record_types.entry(name).or_default() += count;
    }
    for diagnostic in later.diagnostics {
        match whole.diagnostics.iter_mut().find(|known| known.kind == diagnostic.kind) {
            Some(known) => known.count += diagnostic.count,
            None => whole.diagnostics.push(diagnostic),
        }
    }
}

/// Cleans line by line; the cleaner may be another one for each line.
pub fn clean(agent: Agent, kind: SourceKind, transcript: &[u8]) -> Vec<u8> {
    let redactor = Redactor::builtin();
    let mut report = Report::default();
    let mut one = Cleaner::resume(agent, kind, None);
    let mut carry = None;
    let mut cleaned = Vec::new();
    for line in transcript.split(|&byte| byte == b'\n') {
        let clean = one.clean(&redactor, line, &mut report).into_inner();
        let mut another = Cleaner::resume(agent, kind, carry.as_deref());
        let same = another.clean(&redactor, line, &mut report).into_inner();
        carry = another.carry();
        assert_eq!(lossy(&clean), lossy(&same), "it matters which cleaner cleans a line");
        assert!(!clean.contains(&b'\n'), "a line became several: {}", lossy(&clean));
        check_document(line, &clean);
        cleaned.extend(clean);
        cleaned.push(b'\n');
    }
    cleaned
}

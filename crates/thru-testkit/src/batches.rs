//! Pieces of transcripts, and batches of a reader merged and written out.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use thru_core::{PassageKind, ReadBatch};
use thru_redact::{Clean, Redactor, Report};

/// Returns whole lines as clean text.
pub fn clean(block: &[u8]) -> Clean<Vec<u8>> {
    // Cleaning is tested elsewhere: here the bytes are to arrive as they are. An empty line is clean,
    // and what tests derive from it is what they made up themselves.
    Redactor::builtin().clean_json_line(b"", &mut Report::default()).map(|_| block.to_vec())
}

/// Returns the ends of blocks that end at the newlines nearest after `cuts`.
pub fn ends(block: &[u8], cuts: &[usize]) -> BTreeSet<usize> {
    cuts.iter()
        .map(|&cut| cut.min(block.len()))
        .map(|cut| {
            block[cut..].iter().position(|&b| b == b'\n').map_or(block.len(), |n| cut + n + 1)
        })
        .chain([block.len()])
        .collect()
}

/// Merges a later batch of the same file into the batches before it.
pub fn append(whole: &mut ReadBatch, later: ReadBatch) {
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

/// Returns a batch as text, for snapshots.
pub fn show(batch: &ReadBatch) -> String {
    let mut out = String::new();
    for passage in &batch.passages {
        write!(out, "{} turn {} {}", passage.ordinal, passage.turn, passage.kind).unwrap();
        if let Some(agent) = &passage.agent_id {
            write!(out, " @{agent}").unwrap();
        }
        write!(out, " {:?}", passage.lines).unwrap();
        if passage.kind == PassageKind::Tool {
            write!(out, " {:?}", passage.outcome.unwrap()).unwrap();
        }
        if let Some(command) = &passage.command {
            write!(out, " $ {command}").unwrap();
        }
        for file in &passage.files {
            write!(out, " {:?} {}", file.access, file.path).unwrap();
        }
        if let Some(origin) = &passage.copied_from {
            write!(out, " from {}", &origin.as_str()[..8]).unwrap();
        }
        writeln!(out, "\n    {}", passage.text.replace('\n', "\n    ")).unwrap();
    }
    for amendment in &batch.amendments {
        writeln!(out, "amend {:?}: {}", amendment.line, amendment.text).unwrap();
    }
    writeln!(out, "{:?}", batch.record_types).unwrap();
    for diagnostic in &batch.diagnostics {
        writeln!(out, "{} x{} first {}", diagnostic.kind, diagnostic.count, diagnostic.line)
            .unwrap();
    }
    out
}

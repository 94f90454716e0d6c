//! Compares the journal with what a reader found in it before.
//!
//! The journal cannot tell by itself that whole records are gone from its end, or a whole segment. A cursor can: it
//! says how far each segment was read, and what was there.

use std::path::Path;

use super::Journal;
use super::cursor::{Cursor, Position, Read};
use super::record::{self, Content};
use super::replay::{JournalProblem, ProblemKind};
use super::scan::{Line, Scan};
use crate::error::Result;

impl Journal {
    /// Returns what was there when the reader of this cursor read it, and is there no longer: missing segments, missing
    /// lines, other lines. A segment that was rewritten since is no problem.
    ///
    /// # Errors
    /// Returns an error if a segment cannot be read.
    pub fn missing(&self, cursor: &Cursor) -> Result<Vec<JournalProblem>> {
        let mut problems = Vec::new();
        for (name, read) in cursor.segments().filter(|(_, read)| read.lines > 0) {
            problems.extend(compare(&self.dir, name, read)?);
        }
        Ok(problems)
    }
}

fn compare(dir: &Path, name: &str, read: Read) -> Result<Option<JournalProblem>> {
    let problem = |read: Read, kind| {
        let position =
            Position { segment: name.to_owned(), line: read.lines + 1, offset: read.bytes };
        Some(JournalProblem { position, kind })
    };
    let Some(mut scan) = Scan::at_start(dir, name.to_owned())? else {
        return Ok(problem(Read::default(), ProblemKind::Missing(read.lines)));
    };
    while scan.read.lines < read.lines {
        match scan.read_line()? {
            Line::Whole | Line::TooLong if scan.read.lines == 1 && is_another(&scan, read) => {
                return Ok(match record::decode(&scan.line) {
                    // By redaction or forgetting, which the reader has not seen yet.
                    Ok(Content::Rewritten(_)) => None,
                    _ => problem(Read::default(), ProblemKind::Replaced(read.lines)),
                });
            }
            Line::Whole | Line::TooLong => {}
            Line::Unfinished | Line::Broken | Line::End => {
                return Ok(problem(scan.read, ProblemKind::Shortened(read.lines)));
            }
        }
    }
    let is_same =
        scan.read.bytes == read.bytes && (read.chain.is_none() || read.chain == scan.read.chain);
    Ok(match is_same {
        true => None,
        false => problem(Read::default(), ProblemKind::Replaced(read.lines)),
    })
}

/// True if the segment begins otherwise than the one that was read.
fn is_another(scan: &Scan, read: Read) -> bool {
    read.start.is_some() && read.start != scan.read.start
}

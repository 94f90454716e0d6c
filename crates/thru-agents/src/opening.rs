//! Reads the beginning of a file to find out its type and what it says about itself.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use crate::{json, lines};

/// Limits of the search, in lines and bytes: the first lines can be metadata, and lines can be long.
const LINES: usize = 50;
const BYTES: u64 = 4 * 1024 * 1024;

/// Passes the first lines of the file at `path` to `look`, one by one and as text that a JSON parser
/// accepts, until it breaks: with a value, or with `None` at a record of another agent, so that a folder with
/// thousands of its files is not read from end to end. Returns `None` if no line has a value.
pub(crate) fn search<T>(
    path: &Path,
    mut look: impl FnMut(&str) -> ControlFlow<Option<T>>,
) -> io::Result<Option<T>> {
    let mut from = BufReader::new(File::open(path)?.take(BYTES));
    let mut line = Vec::new();
    for _ in 0..LINES {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let Some((_, content)) = lines::numbered(&line, 1).next() else { continue };
        if let ControlFlow::Break(found) = look(&json::mend(content)) {
            return Ok(found);
        }
    }
    Ok(None)
}

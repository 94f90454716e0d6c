//! Small files of lines that hooks append to, kept short.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Appends a line; when the file has grown past `limit` bytes, only the last `kept` lines stay, and of
/// them what fits into half of it. Losing a line costs nothing but the note.
pub(crate) fn append(path: &Path, line: &str, limit: u64, kept: usize) -> io::Result<()> {
    let mut options = OpenOptions::new();
    thru_journal::files::private(options.append(true).create(true));
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                thru_journal::files::create_dir_private(directory).map_err(io::Error::other)?;
            }
            options.open(path)?
        }
        opened => opened?,
    };
    file.write_all(format!("{line}\n").as_bytes())?;
    if file.metadata()?.len() > limit {
        let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let mut room = limit / 2;
        let fits = |line: &&&str| {
            let left = room.checked_sub(line.len() as u64 + 1);
            room = left.unwrap_or(0);
            left.is_some()
        };
        let count = lines.iter().rev().take(kept).take_while(fits).count();
        let last = &lines[lines.len() - count..];
        let shortened: String = last.iter().flat_map(|line| [line, "\n"]).collect();
        thru_journal::files::replace(path, shortened.as_bytes()).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The lines of a file, none where there is no file.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

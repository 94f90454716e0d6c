//! Short excerpts of the code that a session wrote, from the tool calls that wrote it.

use std::collections::HashSet;

use thru_core::{Access, Outcome, SnapshotContent, Timestamp};
use thru_redact::{Clean, Report};
use thru_store::{PassageFilter, Store};

use crate::{Intake, Result};

/// Maximum number of files shown with an excerpt.
const FILES: usize = 6;
/// Maximum lines of an excerpt, and characters of a line.
const LINES: usize = 8;
const COLUMNS: usize = 120;
/// Prefixes of the call members that hold the written text.
const WRITTEN: [&str; 3] = ["\nnew_string: ", "\ncontent: ", "\nnew_source: "];
/// Prefixes of the members that may follow them.
const OTHERS: [&str; 4] = ["\nold_string: ", "\nreplace_all: ", "\nedit_mode: ", "\nnew_string: "];

/// Prefixes of the answers of writing tools.
const ANSWERS: [&str; 4] = ["The file ", "File created successfully", "Updated cell ", "ok"];

/// A short excerpt of the code that a session wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExcerpt {
    /// The file.
    pub path: String,
    /// The first lines of the code.
    pub code: String,
}

impl Intake {
    /// Returns excerpts of the code that a session last wrote to the first files of its snapshot.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn excerpts(
        &self,
        store: &Store,
        session: i64,
        content: &SnapshotContent,
        before: Timestamp,
    ) -> Result<Vec<Clean<CodeExcerpt>>> {
        let modified = content.files.iter().filter(|file| file.modified);
        let mut wanted: HashSet<&str> =
            modified.take(FILES).map(|file| file.path.as_str()).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let touches = store.touches_of_session(session)?;
        let mut found = Vec::new();
        for passage in store.passages(PassageFilter::Session(session))?.iter().rev() {
            // A refused or failed edit wrote nothing.
            if passage.outcome == Some(Outcome::Failed) {
                continue;
            }
            let Some(touched) = touches.get(&passage.row) else { continue };
            let touch = touched.iter().find(|touch| {
                touch.file.access == Access::Modified && wanted.contains(touch.file.path.as_str())
            });
            let is_before = passage.at.is_none_or(|at| at <= before);
            let Some(touch) = touch.filter(|_| is_before) else { continue };
            let Some(code) = written(&store.text_of(passage)?) else { continue };
            wanted.remove(touch.file.path.as_str());
            let excerpt = CodeExcerpt { path: touch.file.path.clone(), code };
            // It was clean when it was stored; the rules may be newer.
            found.push(self.redactor.clean_texts(
                excerpt,
                |CodeExcerpt { path, code }, each| {
                    each(path);
                    each(code);
                },
                &mut Report::default(),
            ));
            if wanted.is_empty() {
                break;
            }
        }
        Ok(found)
    }
}

/// Returns the beginning of the text that a call wrote, from the call's passage.
fn written(text: &str) -> Option<String> {
    let (at, begin) =
        WRITTEN.iter().filter_map(|mark| Some((text.find(mark)?, mark.len()))).min()?;
    let code = &text[at + begin..];
    let end = OTHERS.iter().filter_map(|mark| code.find(mark)).min().unwrap_or(code.len());
    let mut lines: Vec<String> = code[..end]
        .lines()
        .map(|line| line.chars().take(COLUMNS).collect::<String>())
        .skip_while(|line| line.trim().is_empty())
        .take(LINES + 1)
        .collect();
    // The tool's answer follows it and is not part of the written text.
    let answer = |line: &String| ANSWERS.iter().any(|begin| line.starts_with(begin));
    lines.truncate(lines.iter().position(answer).unwrap_or(lines.len()));
    let is_cut = lines.len() > LINES;
    lines.truncate(LINES);
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    if is_cut {
        lines.push("…".to_owned());
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_shown_and_nothing_else() {
        let edit = "Edit\nfile_path: a.rs\nold_string: let a;\nnew_string: let b;\n    let c;\nreplace_all: false\nok";
        assert_eq!(written(edit).as_deref(), Some("let b;\n    let c;"));
        let long = format!("Write\nfile_path: a.rs\ncontent: {}", "x\n".repeat(20));
        assert_eq!(written(&long).unwrap().lines().count(), LINES + 1);
        assert_eq!(written("Bash\ncommand: make"), None);
    }
}

//! One-line descriptions of tool calls: "Created path (N lines)", "Edited path: 'old' -> 'new'", "Ran:
//! command".
//!
//! They are based on the effect of a call, not on the agent's name for the tool: the files that it changed,
//! whether it wrote a whole file, the command line that it ran. The words of an edit are found by the names
//! of its fields, which agents share by now.

use thru_core::{Access, Outcome};
use thru_store::{PassageRow, Touch};

/// Characters of the replaced text, and of its replacement.
const EDITED: usize = 30;
/// Characters of a command line.
const COMMAND: usize = 50;

/// Prefixes of the fields of calls that change files, in the text of a passage.
const FIELDS: [&str; 9] = [
    "file_path: ",
    "path: ",
    "content: ",
    "edits: ",
    "old_string: ",
    "new_string: ",
    "replace_all: ",
    "instructions: ",
    "description: ",
];

/// Prefixes of the results of such calls.
const RESULTS: [&str; 7] = [
    "File created successfully",
    "The file ",
    "File has ",
    "Updated ",
    "Successfully ",
    "<tool_use_error>",
    "Error: ",
];

/// Describes a call that changed something or ran a command; `None` for calls that only read. Paths below
/// `directory` are relative to it. The line still has to be made safe to show.
pub(crate) fn describe_call(
    passage: &PassageRow,
    text: &str,
    touches: &[Touch],
    directory: Option<&str>,
) -> Option<String> {
    let failed = if passage.outcome == Some(Outcome::Failed) { " (failed)" } else { "" };
    if let Some(command) = &passage.command {
        return Some(format!("Ran: {}{failed}", short(command, COMMAND)));
    }
    let changed = touches.iter().find(|touch| touch.file.access == Access::Modified)?;
    let path = from_directory(&changed.file.path, directory);
    let written = field(text, "content: ").filter(|_| field(text, "old_string: ").is_none());
    if let Some(content) = written.filter(|_| changed.content.is_some() || failed.is_empty()) {
        let lines = content.lines().count().max(1);
        let noun = if lines == 1 { "line" } else { "lines" };
        // A result that speaks of an update means that the file existed before.
        let verb = if text.contains("has been updated") { "Wrote" } else { "Created" };
        return Some(format!("{verb} {path} ({lines} {noun}){failed}"));
    }
    let words = field(text, "old_string: ").zip(field(text, "new_string: "));
    let words = words.map_or_else(String::new, |(old, new)| {
        format!(": '{}' -> '{}'", short(old, EDITED), short(new, EDITED))
    });
    Some(format!("Edited {path}{words}{failed}"))
}

/// Returns what an agent wrote beside a command to say what it is for.
pub(crate) fn description(text: &str) -> Option<&str> {
    field(text, "description: ").and_then(|value| value.lines().next())
}

/// Makes a path relative to a directory, if it lies below it.
pub(crate) fn from_directory<'p>(path: &'p str, directory: Option<&str>) -> &'p str {
    directory
        .filter(|directory| !directory.is_empty())
        .and_then(|directory| path.strip_prefix(directory.trim_end_matches(['/', '\\'])))
        .and_then(|rest| rest.strip_prefix(['/', '\\']))
        .unwrap_or(path)
}

/// The first value of a field, up to the next field or the result. A value that contains such a line ends
/// early, which shortens the description and does no other harm.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = starts_of_lines(text).find(|at| text[*at..].starts_with(name))? + name.len();
    let value = &text[start..];
    let is_next = |at: &usize| {
        let rest = &value[*at..];
        FIELDS.iter().chain(&RESULTS).any(|begin| rest.starts_with(begin))
    };
    let end = starts_of_lines(value).skip(1).find(is_next).unwrap_or(value.len());
    Some(value[..end].trim_end_matches('\n'))
}

fn starts_of_lines(text: &str) -> impl Iterator<Item = usize> + '_ {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}

/// Puts a text on one line of at most `longest` characters.
fn short(text: &str, longest: usize) -> String {
    thru_core::plain_line(text, longest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_end_where_the_next_one_or_the_result_begins() {
        let edit = "Edit\nreplace_all: false\nfile_path: /p/a.rs\nold_string: loop {\n  x\nnew_string: for\n\
                    The file /p/a.rs has been updated.";
        assert_eq!(field(edit, "old_string: "), Some("loop {\n  x"));
        assert_eq!(field(edit, "new_string: "), Some("for"));
        assert_eq!(field(edit, "content: "), None);
        let write = "Write\nfile_path: a\ncontent: one\ntwo\nFile created successfully at: a";
        assert_eq!(field(write, "content: "), Some("one\ntwo"));
        assert_eq!(field("old_string: ", "old_string: "), Some(""));
    }

    #[test]
    fn paths_are_shown_from_the_directory_of_the_session() {
        for (path, directory, shown) in [
            ("/p/src/a.rs", Some("/p"), "src/a.rs"),
            ("/p/src/a.rs", Some("/p/"), "src/a.rs"),
            ("/pq/a.rs", Some("/p"), "/pq/a.rs"),
            ("/p/a.rs", None, "/p/a.rs"),
            ("a.rs", Some(""), "a.rs"),
            (r"C:\p\a.rs", Some(r"C:\p"), "a.rs"),
        ] {
            assert_eq!(from_directory(path, directory), shown);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(old_string: |new_string: |content: |\n|The file |é|a){0,30}") {
            for name in FIELDS {
                if let Some(value) = field(&text, name) {
                    prop_assert!(text.contains(value));
                }
            }
        }

        #[test]
        fn what_is_shown_of_a_path_ends_as_it_does(path in "[/a-c]{0,12}", directory in "[/a-c]{0,6}") {
            let shown = from_directory(&path, Some(&directory));
            prop_assert!(path.ends_with(shown));
        }
    }
}

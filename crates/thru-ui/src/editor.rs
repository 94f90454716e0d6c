//! A memory in the user's editor: the title, an empty line, the text.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use thru_app::App;

use crate::state::Draft;

/// Opens a draft in the user's editor. Returns `None` if it was left as it was.
///
/// # Errors
/// In words, if the editor cannot be started or fails, or no title is left.
pub(crate) fn edit(app: &App, draft: &Draft) -> Result<Option<Draft>, String> {
    let name = format!("thru-edit-{}-{}.md", draft.id, std::process::id());
    let file = app.machine.temp_dir.join(name);
    write(&file, &text_of(draft)).map_err(|error| format!("{}: {error}", file.display()))?;
    let edited = open(app, &file);
    let _ = fs::remove_file(&file);
    read(draft, &edited?)
}

fn text_of(draft: &Draft) -> String {
    match draft.text.as_str() {
        "" => format!("{}\n", draft.title),
        text => format!("{}\n\n{text}\n", draft.title),
    }
}

/// Writes a new file that only the user may read.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Runs the editor, and reads what it wrote.
fn open(app: &App, file: &Path) -> Result<String, String> {
    let otherwise = if cfg!(windows) { "notepad" } else { "vi" };
    let editor = app.machine.variable("VISUAL").or_else(|| app.machine.variable("EDITOR"));
    let editor = editor.unwrap_or_else(|| otherwise.to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(otherwise);
    let status = Command::new(program).args(words).arg(file).status();
    let status = status.map_err(|error| format!("{program} cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("{program} failed: nothing was changed."));
    }
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// The draft as it was edited.
fn read(draft: &Draft, edited: &str) -> Result<Option<Draft>, String> {
    let (title, text) = edited.trim_start().split_once('\n').unwrap_or((edited, ""));
    let (title, text) = (title.trim(), text.trim());
    if title.is_empty() {
        return Err("No title was left: nothing was changed.".to_owned());
    }
    if title == draft.title.trim() && text == draft.text.trim() {
        return Ok(None);
    }
    Ok(Some(Draft { title: title.to_owned(), text: text.to_owned(), ..draft.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_a_title_and_a_text() {
        let draft = Draft {
            id: "k3f9a".to_owned(),
            base: "b".to_owned(),
            title: "A title".to_owned(),
            text: "One line.\nAnother.".to_owned(),
        };
        assert_eq!(read(&draft, &text_of(&draft)), Ok(None));
        let edited = read(&draft, "\nB title\n\nOne line.\n").unwrap().unwrap();
        assert_eq!((edited.title.as_str(), edited.text.as_str()), ("B title", "One line."));
        assert_eq!(edited.base, draft.base);
        assert!(read(&draft, " \n\n").is_err());
        let bare = Draft { text: String::new(), ..draft };
        assert_eq!(read(&bare, &text_of(&bare)), Ok(None));
    }
}

//! The text whose vectors stand for a passage: what was said, or what a commit says of the work before it.

use std::borrow::Cow;

use thru_core::{Outcome, PassageKind};

use crate::query::PassageRow;

/// Commands that give work a title.
const TITLED: [&str; 2] = ["git commit", "gh pr create"];
/// Options of those commands that are followed by the title.
const OPTIONS: [&str; 6] = ["-m ", "-am ", "--message ", "--message=", "--title ", "--title="];
/// Bytes of the shortest title that says something.
const SHORTEST: usize = 8;

/// Returns the text whose vectors stand for a passage, if it gets any. Only what people and agents say has a meaning beyond
/// its words, and the title of a commit or a pull request.
pub(super) fn meant<'t>(passage: &PassageRow, text: &'t str) -> Option<Cow<'t, str>> {
    match passage.kind {
        PassageKind::Tool => {
            let worked = passage.outcome != Some(Outcome::Failed);
            let title = passage.command.as_deref().filter(|_| worked).and_then(work_title);
            title.map(|title| Cow::Owned(title.to_owned()))
        }
        _ => (!text.trim().is_empty()).then_some(Cow::Borrowed(text)),
    }
}

/// The first line of the message in a command that commits, or opens a pull request.
fn work_title(command: &str) -> Option<&str> {
    let rest =
        TITLED.iter().filter_map(|titled| command.find(titled)).min().map(|at| &command[at..])?;
    let values = OPTIONS.iter().filter_map(|option| Some(rest.find(option)? + option.len()));
    let value = &rest[values.min()?..];
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    let value = value.trim_start_matches(['"', '\'']);
    let title = match value.strip_prefix("$(cat <<") {
        Some(document) => document.split_once('\n')?.1.trim_start().lines().next()?,
        None => value.split(|c| c == '\n' || Some(c) == quote).next()?,
    };
    Some(title.trim()).filter(|title| title.len() >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_title_of_work_is_the_first_line_of_its_message() {
        for (command, title) in [
            (
                "git add -A && git commit -m \"Retry uploads that fail\" && git push",
                Some("Retry uploads that fail"),
            ),
            ("git commit -am 'Say \"done\" once'", Some("Say \"done\" once")),
            (
                "git commit -m \"$(cat <<'EOF'\nKeep the user's lock\n\nIt was lost.\nEOF\n)\"",
                Some("Keep the user's lock"),
            ),
            (
                "gh pr create --title \"Move files on the drive\" --body \"x\"",
                Some("Move files on the drive"),
            ),
            ("git commit -m wip", None),
            ("git commit --amend --no-edit", None),
            ("cargo test -m something long", None),
        ] {
            assert_eq!(work_title(command), title, "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_command_is_read(command in "(git commit|gh pr create| -m |--title=|\\$\\(cat <<|['\"\n]|\\PC){0,12}") {
            if let Some(title) = work_title(&command) {
                prop_assert!(command.contains(title) && !title.contains('\n'));
            }
        }
    }
}

//! What `git status` prints.

/// A file that `git status` lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Its path, as it was printed.
    pub path: String,
    /// True if all of its changes are to be committed next.
    pub is_staged: bool,
    /// True for a file that git does not know.
    pub is_new: bool,
}

/// The part of a listing that the lines are in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Staged,
    Changed,
    New,
}

/// Returns the files of the listing in a text, in the long form or the short one; `None` where there is no listing.
pub fn listed_files(text: &str) -> Option<Vec<ListedFile>> {
    let mut files: Vec<ListedFile> = Vec::new();
    let mut part = None;
    let mut is_status = false;
    for line in text.lines() {
        if let Some(heading) = Part::headed(line) {
            (part, is_status) = (Some(heading), true);
        } else if says_so(line) {
            (part, is_status) = (None, true);
        } else if let Some(file) = short(line) {
            files.push(file);
        } else if let Some(part) = part.filter(|_| line.starts_with(['\t', ' '])) {
            files.extend(long(line, part));
        } else if !line.trim().is_empty() {
            part = None;
        }
    }
    // What is both staged and changed again stands in two parts.
    let again: Vec<String> =
        files.iter().filter(|file| !file.is_staged).map(|file| file.path.clone()).collect();
    files.retain(|file| !file.is_staged || !again.contains(&file.path));
    (is_status || !files.is_empty()).then_some(files)
}

impl Part {
    /// Reads a heading: of git, or of a program that shortens what git prints.
    fn headed(line: &str) -> Option<Self> {
        let name = line.trim_start_matches(|c: char| !c.is_alphabetic());
        let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
        if line.starts_with(['\t', ' ']) {
            None
        } else if starts(&["Changes to be committed:", "Staged:"]) {
            Some(Self::Staged)
        } else if starts(&["Changes not staged for commit:", "Unmerged paths:", "Modified:"]) {
            Some(Self::Changed)
        } else if starts(&["Untracked files:", "Untracked:"]) {
            Some(Self::New)
        } else {
            None
        }
    }
}

/// True for a line that only `git status` prints, whatever there is to list.
fn says_so(line: &str) -> bool {
    let branch = line.strip_prefix("## ").map(|rest| rest.split_once(' ').unwrap_or((rest, "")));
    line.starts_with("On branch ")
        || line.contains("nothing to commit, working tree clean")
        || branch.is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('['))
}

/// Reads a line of the long form: `modified:   src/a.rs`, or the path alone.
fn long(line: &str, part: Part) -> Option<ListedFile> {
    let line = line.trim();
    let path = match line.split_once(": ") {
        Some((_, path)) => path.trim(),
        None => line,
    };
    let path = path.rsplit(" -> ").next().unwrap_or(path);
    let is_path = !path.is_empty() && !path.starts_with(['(', '.']) && !path.contains(' ');
    is_path.then(|| ListedFile {
        path: path.to_owned(),
        is_staged: part == Part::Staged,
        is_new: part == Part::New,
    })
}

/// Reads a line of the short form: ` M src/a.rs`, `?? src/b.rs`, `R  old.rs -> new.rs`.
fn short(line: &str) -> Option<ListedFile> {
    let (state, path) = line.split_at_checked(2)?;
    let path = path.strip_prefix(' ')?;
    let mut letters = state.chars();
    let (index, tree) = (letters.next()?, letters.next()?);
    let is_state = |c: char| " MADRCTU".contains(c);
    let is_new = state == "??";
    let is_listed = is_new || is_state(index) && is_state(tree) && state != "  ";
    let path = path.rsplit(" -> ").next().unwrap_or(path).trim_matches('"');
    (is_listed && !path.is_empty() && !path.contains(' ')).then(|| ListedFile {
        path: path.to_owned(),
        is_staged: !is_new && tree == ' ',
        is_new,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        let mark = |file: &ListedFile| match (file.is_staged, file.is_new) {
            (true, _) => "staged",
            (_, true) => "new",
            _ => "changed",
        };
        let files = listed_files(text)?;
        Some(files.iter().map(|file| format!("{} {}", mark(file), file.path)).collect())
    }

    #[test]
    fn a_listing_is_read_in_each_form() {
        let files = |files: &[&str]| Some(files.iter().map(|file| (*file).to_owned()).collect());
        for (text, wanted) in [
            (
                "On branch main\nYour branch is ahead of 'origin/main' by 2 commits.\n\n\
                 Changes to be committed:\n  (use \"git restore --staged <file>...\" to unstage)\n\
                 \trenamed:    src/old.rs -> src/a.rs\n\n\
                 Changes not staged for commit:\n\tmodified:   src/b.rs\n\tdeleted:    c.rs\n\n\
                 Untracked files:\n\tdocs/kiln.md\n\n\
                 no changes added to commit (use \"git add\")",
                files(&["staged src/a.rs", "changed src/b.rs", "changed c.rs", "new docs/kiln.md"]),
            ),
            (
                "command: git status -sb\n## main...origin/main [ahead 1]\n M src/a.rs\nMM b.rs\nA  c.rs\n?? d.rs",
                files(&["changed src/a.rs", "changed b.rs", "staged c.rs", "new d.rs"]),
            ),
            ("R  old.rs -> new.rs", files(&["staged new.rs"])),
            (
                "✅ Staged: 1 files\n   a.rs\n📝 Modified: 3 files\n   a.rs\n   b.rs\n   ... +1 more",
                files(&["changed a.rs", "changed b.rs"]),
            ),
            ("On branch main\nnothing to commit, working tree clean", files(&[])),
            ("## main...origin/main", files(&[])),
            ("## A heading of prose\nMD files are Markdown", None),
            (" src/a.rs | 2 +-\n 1 file changed", None),
            ("", None),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|\n|\t| M |\\?\\? |## |Staged:|Untracked files:){0,60}") {
            listed_files(&text);
        }
    }
}

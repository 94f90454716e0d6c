//! Patches in the form of `apply_patch`, which several agents use, and the files that they change.

use thru_core::{Access, FileTouch, Id, content_hash};

use crate::passages::PATH_LIMIT;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// Maximum number of files read from one patch.
const FILES: usize = 1_000;

/// True if `text` holds a patch, alone or in a command that applies it.
pub(crate) fn is_in(text: &str) -> bool {
    text.contains(BEGIN)
}

/// Returns the files that the patch in `text` adds, changes, moves or deletes, by the names it uses.
pub(crate) fn files(text: &str) -> Vec<FileTouch> {
    const HEADS: [&str; 4] =
        ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut files: Vec<FileTouch> = Vec::new();
    for line in lines(text) {
        let path = HEADS.iter().find_map(|head| line.strip_prefix(head)).map(str::trim);
        let Some(path) = path.filter(|path| !path.is_empty() && path.len() <= PATH_LIMIT) else {
            continue;
        };
        if files.len() < FILES && !files.iter().any(|known| known.path == path) {
            files.push(FileTouch { path: path.to_owned(), access: Access::Modified });
        }
    }
    files
}

/// Returns the hash of what the patch writes, if that is exactly one new file and none of it was
/// redacted.
pub(crate) fn written(text: &str) -> Option<Id> {
    let mut content = String::new();
    let mut added = 0;
    for line in lines(text) {
        match line.strip_prefix('+') {
            Some(line) => {
                content.push_str(line);
                content.push('\n');
            }
            None if line.starts_with("*** Add File: ") => added += 1,
            None => return None,
        }
    }
    let is_whole = added == 1 && !content.contains("[redacted:") && !content.contains("[private]");
    is_whole.then(|| content_hash(content.as_bytes()))
}

/// Returns the lines of the patch, without the markers that begin and end it.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let start = text.find(BEGIN).map_or(text.len(), |at| at + BEGIN.len());
    text[start..].lines().skip(1).take_while(|line| !line.starts_with(END))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named_once() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n\
            @@\n-*** Add File: no.rs\n+x\n*** Add File: c d.rs\n+y\n*** Delete File: e.rs\n\
            *** Update File: src/a.rs\n*** End Patch\nEOF\n*** Add File: behind.rs";
        let paths: Vec<String> = files(patch).into_iter().map(|file| file.path).collect();
        assert_eq!(paths, ["src/a.rs", "src/b.rs", "c d.rs", "e.rs"]);
        assert!(is_in(patch) && !is_in("echo") && files("*** Add File: x").is_empty());
        assert_eq!(files("*** Begin Patch").len(), 0);
    }

    #[test]
    fn one_new_file_is_known_whole() {
        let patch = "*** Begin Patch\n*** Add File: a\n+one\n+\n+two\n*** End Patch";
        assert_eq!(written(patch), Some(content_hash(b"one\n\ntwo\n")));
        for other in [
            "*** Begin Patch\n*** Add File: a\n+one\n*** Add File: b\n+two\n*** End Patch",
            "*** Begin Patch\n*** Update File: a\n@@\n+one\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+[redacted:token]\n*** End Patch",
            "one",
        ] {
            assert_eq!(written(other), None, "{other}");
        }
    }
}

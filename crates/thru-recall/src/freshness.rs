//! Freshness of memories: the files they name, compared with their state at that time.

use thru_core::{FileState, Id, Relation, Timestamp};
use thru_store::{FactFilter, FactTime, Result, Store};

/// Files change a moment before or after their change is recorded.
const SLACK_SECONDS: i64 = 5;

/// Maximum number of files checked per memory; more would not change the verdict.
const FILES_LOOKED_AT: usize = 40;

/// The current state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Its project is not on this machine.
    Unknown,
    /// The project exists, the file does not.
    Gone,
    /// The file exists.
    There {
        /// The time of its last change.
        modified: Option<Timestamp>,
    },
}

/// The files of this machine. The binary looks; libraries ask it (invariant I-9).
pub trait Disk {
    /// Returns the current state of a file. `root` is the directory that its session worked in.
    fn look(&self, path: &str, root: Option<&str>) -> Presence;
    /// Returns the hash of a file's content ([`thru_core::content_hash`]), if it can be read and is not
    /// large.
    fn content(&self, path: &str, root: Option<&str>) -> Option<Id>;
}

/// The changes to the files of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Files whose content has changed.
    pub changed: usize,
    /// Files that no longer exist.
    pub gone: usize,
    /// Files that could be checked.
    pub of: usize,
}

impl Freshness {
    /// Compares files with the state recorded in a memory: by content if that is known, else by time.
    pub fn check(files: &[FileState], root: Option<&str>, disk: &dyn Disk) -> Self {
        let mut freshness = Self::default();
        // A changed file says more than one that was only read.
        let any_modified = files.iter().any(|file| file.modified);
        let files = files.iter().filter(|file| file.modified || !any_modified);
        for file in files.take(FILES_LOOKED_AT) {
            let modified = match disk.look(&file.path, root) {
                Presence::Unknown => continue,
                Presence::Gone => {
                    freshness.of += 1;
                    freshness.gone += 1;
                    continue;
                }
                Presence::There { modified } => modified,
            };
            freshness.of += 1;
            let is_later = match (modified, file.at) {
                (Some(modified), Some(at)) => modified.as_second() > at.as_second() + SLACK_SECONDS,
                _ => false,
            };
            // The modification time only says that the file was written, by a checkout for example; the
            // content decides if it is known.
            let is_changed = match file.content.map(|then| (then, disk.content(&file.path, root))) {
                Some((then, Some(now))) => then != now,
                _ => is_later,
            };
            freshness.changed += usize::from(is_changed);
        }
        freshness
    }

    /// Returns a short note, if there is anything to say.
    pub fn note(&self) -> Option<String> {
        let files =
            |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        match (self.changed, self.gone) {
            (0, 0) => None,
            (changed, 0) => Some(format!("{} changed since", files(changed))),
            (0, gone) => Some(format!("{} gone since", files(gone))),
            (changed, gone) => Some(format!("{} changed, {gone} gone since", files(changed))),
        }
    }

    /// Returns true if none of its files exists any more.
    pub const fn is_gone(&self) -> bool {
        self.of > 0 && self.gone == self.of
    }
}

/// What commits did to the files of a memory since, as git told sessions of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Commits that changed them.
    pub commits: usize,
    /// The latest name of one that was renamed.
    pub renamed: Option<String>,
}

impl Since {
    /// Looks for commits and renames after a moment: the end of the memory's own session, whose commits are its own.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn look(
        store: &Store,
        project: Option<i64>,
        files: &[FileState],
        root: Option<&str>,
        after: Option<Timestamp>,
    ) -> Result<Self> {
        let Some(after) = after else { return Ok(Self::default()) };
        let any_modified = files.iter().any(|file| file.modified);
        let files = files.iter().filter(|file| file.modified || !any_modified);
        let keys: Vec<&str> =
            files.take(FILES_LOOKED_AT).map(|file| within(&file.path, root)).collect();
        let rows = store.file_entities(project, &keys)?;
        if rows.is_empty() {
            return Ok(Self::default());
        }
        let later = store.facts(&FactFilter {
            entities: Some(rows.clone()),
            relations: Some(vec![Relation::Touches, Relation::RenamedTo]),
            time: FactTime::Changed(after, Timestamp::MAX),
            ..FactFilter::default()
        })?;
        let commits = later.iter().filter(|fact| fact.relation == Relation::Touches);
        let commits: std::collections::BTreeSet<i64> =
            commits.map(|fact| fact.subject.row).collect();
        let renamed = later
            .iter()
            .find(|fact| fact.relation == Relation::RenamedTo && rows.contains(&fact.subject.row));
        let renamed = renamed.map(|fact| fact.object_shown().to_owned());
        Ok(Self { commits: commits.len(), renamed })
    }

    /// Returns short notes, if there is anything to say.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let renamed = self.renamed.as_ref().map(|to| format!("renamed to {to} since"));
        let commits = match self.commits {
            0 => None,
            1 => Some("1 commit since".to_owned()),
            number => Some(format!("{number} commits since")),
        };
        renamed.into_iter().chain(commits)
    }
}

/// Returns a path as the graph names it: within the directory of its session.
fn within<'p>(path: &'p str, root: Option<&str>) -> &'p str {
    root.and_then(|root| path.strip_prefix(root))
        .and_then(|rest| rest.strip_prefix(['/', '\\']))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake;

    impl Disk for Fake {
        fn look(&self, path: &str, _root: Option<&str>) -> Presence {
            match path {
                "gone" => Presence::Gone,
                "elsewhere" => Presence::Unknown,
                "old" => Presence::There { modified: Timestamp::from_second(50).ok() },
                _ => Presence::There { modified: Timestamp::from_second(1_000).ok() },
            }
        }

        fn content(&self, path: &str, _root: Option<&str>) -> Option<Id> {
            Some(thru_core::content_hash(path.as_bytes()))
        }
    }

    fn note(files: &[(&str, Option<&str>)]) -> Option<String> {
        let files: Vec<FileState> = files
            .iter()
            .map(|(path, content)| FileState {
                path: (*path).to_owned(),
                modified: true,
                at: Timestamp::from_second(100).ok(),
                content: content.map(|content| thru_core::content_hash(content.as_bytes())),
            })
            .collect();
        Freshness::check(&files, None, &Fake).note()
    }

    #[test]
    fn content_decides_where_it_is_known() {
        assert_eq!(note(&[("old", None), ("elsewhere", None)]), None);
        assert_eq!(note(&[("new", Some("new"))]), None);
        assert_eq!(note(&[("new", Some("other")), ("old", None)]).unwrap(), "1 file changed since");
        assert_eq!(
            note(&[("a", None), ("b", None), ("gone", None)]).unwrap(),
            "2 files changed, 1 gone since"
        );
    }

    #[test]
    fn without_any_file_it_is_gone() {
        let file = FileState { path: "gone".to_owned(), modified: true, at: None, content: None };
        assert!(Freshness::check(&[file], None, &Fake).is_gone());
        assert!(!Freshness::check(&[], None, &Fake).is_gone());
    }
}

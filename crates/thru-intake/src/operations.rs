//! What this crate records in the journal because it cannot be computed again.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use thru_core::{Id, Layout, ProjectKey, SessionKey};
use thru_journal::journal::{Cursor, Durability, Entry, Item, Journal};
use thru_redact::{Redactor, Report};
use thru_store::Store;

use crate::{Intake, IntakeLock, Result};

/// One thing that somebody decided, or that was found out once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body", rename_all = "kebab-case")]
pub enum Operation {
    /// A working directory was found to belong to a project.
    DirectoryPlaced {
        /// The directory.
        directory: String,
        /// The project.
        project: ProjectKey,
    },
    /// The user gave a project another name.
    ProjectRenamed {
        /// The project.
        project: ProjectKey,
        /// Its new name.
        name: String,
    },
    /// The user made one project part of another.
    ProjectMerged {
        /// The one that is no longer listed.
        from: ProjectKey,
        /// The one that takes its sessions.
        into: ProjectKey,
    },
    /// The user added a rule of redaction. One of the same name is replaced.
    RuleAdded {
        /// Its name.
        name: String,
        /// Its regular expression.
        pattern: String,
    },
    /// The user took a rule of redaction away.
    RuleRemoved {
        /// Its name.
        name: String,
    },
    /// The user had a session forgotten. Nothing of its content is kept here.
    SessionForgotten {
        /// The session.
        session: SessionKey,
    },
}

impl Intake {
    /// Records operations, in order and durably.
    ///
    /// # Errors
    /// Where the journal cannot be written.
    pub fn record(&self, operations: &[Operation]) -> Result<()> {
        for (number, operation) in operations.iter().enumerate() {
            let durability = match number + 1 == operations.len() {
                true => Durability::Synced,
                false => Durability::Buffered,
            };
            let at = self.clock.now();
            let written = serde_json::to_value(operation).unwrap_or_default();
            let kind = written["kind"].as_str().unwrap_or_default().to_owned();
            let key = match operation {
                // Found out once is enough; whatever was found first holds.
                Operation::DirectoryPlaced { directory, .. } => {
                    Id::derive(&[kind.as_bytes(), directory.as_bytes()])
                }
                _ => Id::derive(&[
                    kind.as_bytes(),
                    written.to_string().as_bytes(),
                    &at.as_nanosecond().to_le_bytes(),
                ]),
            };
            // The user's rules are for what others wrote: applied here they would change the names that
            // the user gave, the rules' own among them.
            let body =
                Redactor::builtin().clean_value(written["body"].clone(), &mut Report::default());
            self.journal.append(&Entry { key: key.to_string(), at, kind, body }, durability)?;
        }
        Ok(())
    }

    /// Brings the store up to the journal.
    pub(crate) fn apply_journal(&self, store: &mut Store) -> Result<()> {
        let cursor = applied(store)?;
        let (operations, moved) = read(&self.journal, cursor.clone())?;
        if moved == cursor {
            return Ok(());
        }
        let rules = with_rules(stored_rules(store)?, &operations);
        let forgotten: Vec<&SessionKey> = operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::SessionForgotten { session } => Some(session),
                _ => None,
            })
            .collect();
        // Before the cursor moves on: whoever was killed while forgetting goes on here.
        self.remove_archived(&forgotten)?;
        let batch = store.begin()?;
        for operation in &operations {
            match operation {
                Operation::DirectoryPlaced { directory, project } => {
                    batch.directory(directory, project)?;
                }
                Operation::ProjectRenamed { project, name } => {
                    batch.rename_project(project, name)?
                }
                Operation::ProjectMerged { from, into } => batch.merge_project(from, into)?,
                Operation::SessionForgotten { session } => batch.forget_session(session)?,
                Operation::RuleAdded { .. } | Operation::RuleRemoved { .. } => {}
            }
        }
        batch.set_rules(&serde_json::to_string(&rules).unwrap_or_default())?;
        batch.set_journal_cursor(&serde_json::to_string(&moved).unwrap_or_default())?;
        batch.commit()?;
        Ok(())
    }

    /// Records operations and applies them to the store that there is, if there is one.
    ///
    /// # Errors
    /// Where journal or store cannot be written.
    pub fn record_and_apply(&self, _lock: &IntakeLock, operations: &[Operation]) -> Result<()> {
        self.record(operations)?;
        if Store::open_if_there(&self.layout)?.is_some() {
            let mut store = self.open_store(&mut |_, _, _| {})?;
            self.apply_journal(&mut store)?;
        }
        Ok(())
    }

    /// Brings a store that an older version wrote up to this version's schema.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn upgrade(&self, _lock: &IntakeLock, progress: thru_store::Progress<'_>) -> Result<()> {
        self.open_store(progress).map(drop)
    }
}

/// The operations behind a cursor, in order, and where the journal ends.
fn read(journal: &Journal, cursor: Cursor) -> Result<(Vec<Operation>, Cursor)> {
    let mut stream = journal.stream(cursor)?;
    let mut found = Vec::new();
    for item in &mut stream {
        // What is no record is for `verify` to report.
        let Item::Entry(entry) = item? else { continue };
        let whole = serde_json::json!({ "kind": entry.kind, "body": entry.body });
        // Kinds that are not ours to apply are somebody else's: later hooks, say.
        if let Ok(operation) = serde_json::from_value::<Operation>(whole) {
            found.push(operation);
        }
    }
    Ok((found, stream.cursor().clone()))
}

/// What the journal says that the rest of intake needs before it opens the store.
pub(crate) struct Decisions {
    /// The user's rules of redaction, by name.
    pub(crate) rules: BTreeMap<String, String>,
    /// Sessions that the user had forgotten.
    pub(crate) forgotten: HashSet<SessionKey>,
}

/// Reads decisions: from the store as far as it was brought up to the journal, and from there on from
/// the journal itself.
pub(crate) fn decisions(layout: &Layout, journal: &Journal) -> Result<Decisions> {
    let (cursor, rules, mut forgotten) = match Store::open_to_read(layout) {
        Ok(store) => {
            (applied(&store)?, stored_rules(&store)?, store.forgotten()?.into_iter().collect())
        }
        // Without a store that can be read, the journal alone decides.
        Err(_) => (Cursor::default(), BTreeMap::new(), HashSet::new()),
    };
    let (operations, _) = read(journal, cursor)?;
    let rules = with_rules(rules, &operations);
    forgotten.extend(operations.into_iter().filter_map(|operation| match operation {
        Operation::SessionForgotten { session } => Some(session),
        _ => None,
    }));
    Ok(Decisions { rules, forgotten })
}

fn applied(store: &Store) -> Result<Cursor> {
    let cursor = store.journal_cursor()?;
    Ok(cursor.and_then(|cursor| serde_json::from_str(&cursor).ok()).unwrap_or_default())
}

fn stored_rules(store: &Store) -> Result<BTreeMap<String, String>> {
    let rules = store.rules()?;
    Ok(rules.and_then(|rules| serde_json::from_str(&rules).ok()).unwrap_or_default())
}

fn with_rules(
    mut rules: BTreeMap<String, String>,
    operations: &[Operation],
) -> BTreeMap<String, String> {
    for operation in operations {
        match operation {
            Operation::RuleAdded { name, pattern } => {
                rules.insert(name.clone(), pattern.clone());
            }
            Operation::RuleRemoved { name } => {
                rules.remove(name);
            }
            _ => {}
        }
    }
    rules
}

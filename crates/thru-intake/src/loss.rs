//! What a rebuilt store lacks of the one that it replaces.

use std::collections::BTreeMap;
use std::fmt;

use thru_core::{SessionKey, plural_noun};
use thru_store::Holdings;

/// The kind of a told memory among decisions.
const TOLD: &str = "memory-told";
/// Sessions that are named in a sentence.
const NAMED: usize = 3;

/// The decision about a rebuild that lacks something of the store in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoss {
    /// The store in use stays.
    Refuse,
    /// It is replaced all the same.
    Accept,
}

/// Parts of a store that journal and archive no longer hold. Derived memories do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Sessions with fewer passages, each with the number before and after.
    pub sessions: BTreeMap<SessionKey, (u64, u64)>,
    /// Memories that were told.
    pub told: u64,
    /// Memories that were imported from other programs.
    pub imported: u64,
    /// Other decisions of people.
    pub decisions: u64,
}

impl Loss {
    /// Compares the store in use with the one that is to replace it.
    pub(crate) fn between(old: &Holdings, new: &Holdings, forgotten: &[SessionKey]) -> Self {
        let mut loss = Self::default();
        for (session, before) in &old.passages {
            let after = new.passages.get(session).copied().unwrap_or(0);
            if after < *before && !forgotten.contains(session) {
                loss.sessions.insert(session.clone(), (*before, after));
            }
        }
        for (key, kind) in &old.decisions {
            if !new.decisions.contains_key(key) {
                match kind.as_str() {
                    TOLD => loss.told += 1,
                    _ => loss.decisions += 1,
                }
            }
        }
        loss.imported = old.imported.difference(&new.imported).count() as u64;
        loss
    }

    /// True if nothing is lost.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The number of passages that are lost.
    pub fn passages(&self) -> u64 {
        self.sessions.values().map(|(before, after)| before - after).sum()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |number: u64, noun: &str| {
            let noun = if number == 1 { noun.to_owned() } else { plural_noun(noun) };
            (number > 0).then(|| format!("{number} {noun}"))
        };
        let whole = self.sessions.values().filter(|(_, after)| *after == 0).count() as u64;
        let parts = [
            number(whole, "session"),
            number(self.passages(), "passage"),
            number(self.told, "told memory"),
            number(self.imported, "imported memory"),
            number(self.decisions, "decision"),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))?;
        let named: Vec<String> = self
            .sessions
            .iter()
            .take(NAMED)
            .map(|(session, (before, after))| {
                format!("{} had {before} passages and has {after}", session.id.short())
            })
            .collect();
        let more = match self.sessions.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        match named.is_empty() {
            true => Ok(()),
            false => write!(f, " ({}{more})", named.join("; ")),
        }
    }
}

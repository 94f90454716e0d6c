//! The things and the relations that a question means.

use std::collections::BTreeMap;

use thru_core::{EntityKind, Relation};
use thru_recall::analyse;
use thru_store::EntityRow;

use super::OpenGraph;
use crate::trouble::Result;

/// Words of a question that are looked up one by one, and the things that each may mean.
const WORDS: usize = 8;
const EACH: usize = 200;

/// Shortest word that is looked up by itself, in characters.
const SHORTEST: usize = 3;

/// Stems of words by which people ask for a relation.
const RELATIONS: [(&str, Relation); 20] = [
    ("depend", Relation::DependsOn),
    ("packag", Relation::DependsOn),
    ("toolchain", Relation::Toolchain),
    ("runtim", Relation::Toolchain),
    ("branch", Relation::OnBranch),
    ("renam", Relation::RenamedTo),
    ("merg", Relation::MergedInto),
    ("decid", Relation::Decided),
    ("decis", Relation::Decided),
    ("rule", Relation::Ruled),
    ("fix", Relation::FixedBy),
    ("fail", Relation::FailedWith),
    ("commit", Relation::Committed),
    ("outcom", Relation::Outcome),
    ("replac", Relation::Replaces),
    ("supersed", Relation::Replaces),
    ("defin", Relation::Defines),
    ("edit", Relation::Edited),
    ("touch", Relation::Edited),
    ("mov", Relation::MovedTo),
];

/// What a question means.
#[derive(Default)]
pub(in crate::ask) struct Meant {
    /// The things that it names, the best first.
    pub(in crate::ask) entities: Vec<EntityRow>,
    /// The relations that it asks for, where no thing has all of its words.
    pub(in crate::ask) relations: Vec<Relation>,
}

impl OpenGraph {
    /// Finds what a question means: the things that it names; else those that hold most of its words, and the relations
    /// that other words ask for.
    pub(in crate::ask) fn meant(&self, question: &str, limit: usize) -> Result<Meant> {
        let question = question.trim();
        if question.is_empty() {
            return Ok(Meant::default());
        }
        let projects = self.projects.as_deref();
        let entities = self.called(question, limit)?;
        if !entities.is_empty() {
            return Ok(Meant { entities, relations: Vec::new() });
        }
        let (mut relations, mut unknown) = (Vec::new(), 0);
        let mut held: BTreeMap<i64, (usize, EntityRow)> = BTreeMap::new();
        let named = |word: &str| match word.chars().count() < SHORTEST {
            true => Ok(Vec::new()),
            false => self.store().entities_named(projects, word, EACH),
        };
        let terms = analyse(question).terms;
        for word in question.split_whitespace().take(WORDS) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let stems: Vec<String> =
                analyse(word).terms.into_iter().filter(|stem| terms.contains(stem)).collect();
            if let [stem] = stems.as_slice() {
                if let Some((_, relation)) = RELATIONS.iter().find(|(own, _)| stem.starts_with(own))
                {
                    relations.push(*relation);
                    continue;
                }
                // `error E0382`: the kind of a thing tells it from no other.
                if stem.len() > SHORTEST
                    && EntityKind::ALL.iter().any(|kind| kind.as_str().starts_with(stem.as_str()))
                {
                    continue;
                }
            }
            // The name of a test is often the stem of another thing's: `melts` is not `fn melt`.
            let as_typed = if stems.is_empty() { Vec::new() } else { named(word)? };
            let by_stem: Vec<Vec<EntityRow>> =
                stems.iter().map(|stem| named(stem)).collect::<std::result::Result<_, _>>()?;
            if as_typed.is_empty() {
                unknown += by_stem.iter().filter(|named| named.is_empty()).count();
                for entity in by_stem.into_iter().flatten() {
                    held.entry(entity.row).or_insert((0, entity)).0 += 1;
                }
                continue;
            }
            // A file is named by its errors, too.
            let typed = word.to_lowercase();
            let others = by_stem.into_iter().flatten();
            let others = others.filter(|one| one.key.to_lowercase().contains(&typed));
            let all: BTreeMap<i64, EntityRow> =
                as_typed.into_iter().chain(others).map(|one| (one.row, one)).collect();
            for entity in all.into_values() {
                held.entry(entity.row).or_insert((0, entity)).0 += stems.len();
            }
        }
        let most = held.values().map(|(words, _)| *words).max().unwrap_or_default();
        // One word of many says nothing.
        if most < unknown && relations.is_empty() {
            return Ok(Meant::default());
        }
        let mut entities: Vec<EntityRow> =
            held.into_values().filter(|(words, _)| *words == most).map(|(_, one)| one).collect();
        entities.sort_by(|one, other| {
            (one.key.len(), &one.key, one.row).cmp(&(other.key.len(), &other.key, other.row))
        });
        entities.truncate(limit);
        Ok(Meant { entities, relations })
    }
}

//! Functions and types, as edits of source code show them.

use std::collections::BTreeMap;

use thru_core::{Entity, EntityKind, Id, Object, Relation, Timestamp};
use thru_distil::Step;

use super::Extractor;
use crate::opening::{Claim, FoldKey, Opening};
use crate::symbols::{Act, SymbolChange};

/// A definition that came to a file, or went.
pub(super) struct Move {
    symbol: Entity,
    file: Entity,
    is_gone: bool,
    passage: Id,
    at: Timestamp,
}

impl Extractor {
    /// Reads what an edit of source code shows.
    pub(super) fn source(
        &mut self,
        step: &Step,
        path: &str,
        changes: &[SymbolChange],
        at: Timestamp,
    ) {
        let Some(file) = self.file(path) else { return };
        for SymbolChange { word, name, is_top, act } in changes {
            let key = format!("{}#{name}", file.key);
            let symbol =
                Entity::new(EntityKind::Symbol, key.as_str()).named(format!("{word} {name}"));
            if *act != Act::Kept {
                let session = self.session.clone();
                let parts = ["edited", session.key.as_str(), key.as_str()];
                let object = Object::Entity(symbol.clone());
                self.event(step, at, &parts, (session.clone(), Relation::Edited, object));
            }
            // Others of its name may be left in the file, if it stands in something.
            if !is_top {
                continue;
            }
            if matches!(act, Act::Added | Act::Removed) {
                let (symbol, file) = (symbol.clone(), file.clone());
                let is_gone = *act == Act::Removed;
                self.moves.push(Move { symbol, file, is_gone, passage: step.id, at });
            }
            let claim = Claim::Value {
                subject: file.clone(),
                relation: Relation::Defines,
                object: (*act != Act::Removed).then_some(Object::Entity(symbol)),
                scope: String::new(),
                note: String::new(),
            };
            self.open(step, at, &["defines", file.key.as_str(), name.as_str()], claim);
        }
    }

    /// Adds what the session moved: definitions that went from one file and came to one other.
    pub(super) fn moved(&mut self) {
        let mut by_name: BTreeMap<String, Vec<Move>> = BTreeMap::new();
        for one in std::mem::take(&mut self.moves) {
            by_name.entry(one.symbol.shown().to_owned()).or_default().push(one);
        }
        for moves in by_name.into_values() {
            // A definition that the session itself wrote where it then left.
            let moves = match &moves[..] {
                [written, rest @ ..] if !written.is_gone && leaves(rest, written) => rest,
                all => all,
            };
            let [one, other] = moves else { continue };
            let (from, to) = if one.is_gone { (one, other) } else { (other, one) };
            if !from.is_gone || to.is_gone || from.file == to.file {
                continue;
            }
            let last = if from.at < to.at { to } else { from };
            self.openings.push(Opening {
                key: FoldKey::new(&["moved", &from.symbol.key]),
                at: last.at,
                passage: last.passage,
                claim: Claim::Event {
                    subject: from.symbol.clone(),
                    relation: Relation::MovedTo,
                    object: Object::Entity(to.file.clone()),
                    note: String::new(),
                },
            });
        }
    }
}

/// Returns true if one of these is the end of a definition that came with `written`.
fn leaves(moves: &[Move], written: &Move) -> bool {
    moves.iter().any(|one| one.is_gone && one.file == written.file)
}

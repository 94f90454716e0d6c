//! Memories that are kept from sessions for who said them.

use thru_store::{MemoryRow, Store};

use super::finding::Finding;
use super::seen::Seen;
use crate::words::plural;

/// Ids that a finding names.
const NAMED: usize = 3;

/// Notes of agents that wait for a person, and memories in the shape of an order.
pub(super) fn held_back(seen: &Seen<'_>) -> Vec<Finding> {
    const CHECK: &str = "held back";
    let Ok(Some(store)) = &seen.store else { return Vec::new() };
    let notes = thru_recall::agent_notes(store).unwrap_or_default();
    let orders = thru_recall::orders_held_back(store).unwrap_or_default();
    let mut findings = Vec::new();
    if !notes.is_empty() {
        let number = plural(notes.len() as u64, "note");
        let line = format!("{number} from agents to accept or forget ({})", ids(store, &notes));
        let remedy = "`thru log --agents` lists them; `thru edit ID --agree` accepts one";
        findings.push(Finding::note(CHECK, line, remedy));
    }
    if !orders.is_empty() {
        let number = plural(orders.len() as u64, "memory");
        let line =
            format!("{number} phrased as an order, not by a person ({})", ids(store, &orders));
        let remedy = "`thru show ID` shows where one came from; `thru forget ID` removes it";
        findings.push(Finding::note(CHECK, line, remedy));
    }
    findings
}

fn ids(store: &Store, memories: &[MemoryRow]) -> String {
    let short = |memory: &MemoryRow| store.short_id(&memory.id).unwrap_or_default();
    let mut named: Vec<String> = memories.iter().take(NAMED).map(short).collect();
    if memories.len() > NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}

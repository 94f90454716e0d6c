//! What a person sees of the answers: the default screen behind the gate. An unsure screen counts as refused; a second
//! column says what it would have given.

use std::collections::BTreeMap;

use super::engine::Engine;
use super::labelled::Asked;
use super::screen::Seen;
use crate::metrics::{Table, evidence, hit, place};

const COLUMNS: [&str; 8] = [
    "hit@1",
    "hit@5",
    "refused",
    "hit@1 shown",
    "hit@5 shown",
    "ev@10",
    "ev@10 with turns",
    "calls@10",
];

/// Prints it.
pub(super) fn print(engine: &Engine, asked: &[Asked]) {
    let mut table = Table::default();
    let mut told: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for Asked { query, seen, ranked, .. } in asked {
        if query.is_unanswerable() {
            for group in &query.groups {
                let (refused, all) = told.entry(group).or_default();
                *refused += usize::from(!seen.is_sure);
                *all += 1;
            }
            continue;
        }
        let Seen { is_sure, shown, with_turns } = seen;
        let place = place(shown.sessions.iter().map(String::as_str), &query.sessions);
        let sure = f64::from(u8::from(*is_sure));
        let mut values = vec![
            ("hit@1", sure * hit(place, 1)),
            ("hit@5", sure * hit(place, 5)),
            ("refused", 1.0 - sure),
            ("hit@1 shown", hit(place, 1)),
            ("hit@5 shown", hit(place, 5)),
        ];
        if query.is_answerable_question() {
            let share = |passages| evidence(passages, &query.records, query.wanted, 10);
            values.push(("ev@10", share(&shown.passages)));
            values.push(("ev@10 with turns", share(with_turns)));
            // By the order, as evidence is: a screen makes room for other sessions.
            let calls = engine.tool_calls(&query.records);
            for call in &calls {
                let is_found = ranked
                    .passages
                    .iter()
                    .take(10)
                    .any(|records| records.iter().any(|one| call.contains(one)));
                table.add("gold tool calls", &[("calls@10", f64::from(u8::from(is_found)))]);
            }
        }
        for group in &query.groups {
            table.add(group, &values);
        }
    }
    table.sort(super::labels::order_of_group);
    table.print("as seen", &COLUMNS);
    for (group, (refused, all)) in told {
        println!("\n{group}: told so {refused} of {all}.");
    }
    println!();
}

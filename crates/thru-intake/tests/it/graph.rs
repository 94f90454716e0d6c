//! Facts follow import in any order, replaced and forgotten sessions, and rebuilds.

use serde_json::json;

use crate::machine::{Machine, assert_same};
use crate::records::{Author, ONE, TWO, file};

const CHECK: &str = "npm run typecheck 2>&1 | tail -20";

/// A session in which a check fails.
fn red() -> Author {
    let mut author = Author::of(ONE);
    author
        .asks("Check the types")
        .runs("toolu_1", CHECK)
        .gets("toolu_1", "src/kiln.ts(3,1): error TS2304: Cannot find name 'cone'.");
    author
}

/// A later session in which it passes after an edit, and is committed.
fn green() -> Author {
    let mut author = Author::of(TWO).starting_at_record(600);
    author
        .asks("Fix the types")
        .calls(
            "toolu_1",
            "Edit",
            json!({ "file_path": "/home/ada/rocket/src/kiln.ts", "old_string": "a", "new_string": "b" }),
        )
        .gets("toolu_1", "The file has been updated.")
        .runs("toolu_2", "npm run typecheck")
        .gets("toolu_2", "")
        .runs("toolu_3", "git add src/kiln.ts && git commit -m 'Name the cone'")
        .gets("toolu_3", "[main abc1234] Name the cone\n 1 file changed, 1 insertion(+)");
    author
}

/// The facts of a machine without ids and records.
fn facts(machine: &Machine) -> Vec<String> {
    let dump = machine.dump();
    let facts = dump.iter().filter_map(|line| line.strip_prefix("fact "));
    let mut facts: Vec<String> = facts
        .map(|fact| {
            let (_, fact) = fact.split_once(": ").unwrap();
            let end = if fact.contains("Some(FactEnd") { " (ended)" } else { "" };
            let name = |kind: &str| {
                let (_, rest) = fact.split_once(&format!("({kind}, \""))?;
                Some(rest.split('"').next()?.to_owned())
            };
            let relation = fact.split(' ').find(|word| {
                word.len() > 4 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            });
            let ends = ["Command", "Error", "Session", "Commit", "File", "Branch"]
                .into_iter()
                .filter_map(name);
            format!(
                "{}: {}{end}",
                relation.unwrap_or_default(),
                ends.collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    facts.sort();
    facts
}

const ERROR: &str = "TS2304: Cannot find name 'cone'. (src/kiln.ts)";

#[test]
fn what_one_session_breaks_another_mends() {
    let machine = Machine::with([(&file(ONE), &red().text())]);
    machine.import();
    let open = [
        format!("FAILED_WITH: npm run typecheck, {ERROR}"),
        "ON_BRANCH: main".to_owned(),
        "OUTCOME: npm run typecheck".to_owned(),
    ];
    assert_eq!(facts(&machine), open);
    machine.write(&file(TWO), green().text());
    machine.import();
    assert_eq!(
        facts(&machine),
        [
            format!("COMMITTED: claude-code/{TWO}, abc1234"),
            format!("FAILED_WITH: npm run typecheck, {ERROR} (ended)"),
            format!("FIXED_BY: {ERROR}, abc1234"),
            format!("FIXED_BY: {ERROR}, src/kiln.ts"),
            "ON_BRANCH: main".to_owned(),
            "OUTCOME: npm run typecheck".to_owned(),
            "OUTCOME: npm run typecheck (ended)".to_owned(),
            "TOUCHES: abc1234, src/kiln.ts".to_owned(),
        ]
    );
    machine.assert_sound();
    // Without the session that mended it, it is broken again.
    machine.forget(TWO);
    assert_eq!(facts(&machine), open);
}

#[test]
fn any_order_and_a_rebuild_give_the_same_facts() {
    let (red, green) = (red().text(), green().text());
    let first = Machine::with([(&file(ONE), &red), (&file(TWO), &green)]);
    first.import();
    let late = Machine::with([(&file(TWO), &green)]);
    late.import();
    late.write(&file(ONE), &red);
    late.import();
    assert_eq!(facts(&late), facts(&first));
    let before = first.dump();
    first.rebuild();
    assert_same(&first.dump(), &before);
}

#[test]
fn a_session_that_goes_on_is_shown_anew() {
    let mut author = red();
    let machine = Machine::with([(&file(ONE), &author.text())]);
    machine.import();
    let before = facts(&machine);
    author.runs("toolu_9", "npm run typecheck").gets("toolu_9", "");
    machine.write(&file(ONE), author.text());
    machine.import();
    let after = facts(&machine);
    assert_ne!(after, before);
    assert!(
        after.contains(&format!("FAILED_WITH: npm run typecheck, {ERROR} (ended)")),
        "{after:#?}"
    );
}

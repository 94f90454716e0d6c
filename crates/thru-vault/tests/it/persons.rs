//! What people do to notes.

use std::collections::HashSet;

use thru_vault::{Change, Earlier, Note, Property, changes, merged, with_ids};

use crate::foreign::{id, plan};

fn written() -> String {
    plan(&[(0, "[decision] one lock"), (3, "[decision] no cache"), (2, "step")], "active")
        .new_note(&HashSet::new())
        .unwrap()
}

#[test]
fn edits_ticks_removals_and_new_lines_are_told_apart() {
    let base = written();
    let disk = base
        .replace("one lock", "one **lock** for each\n  file")
        .replace("[ ] step", "[x] step")
        .replace("## Work Log", "- [bugfix] found a \\[trap\\]\n- [[link]] as well\n\n## Work Log")
        .replace(&format!("- [decision] no cache {}\n", id(3)), "");
    let found = changes(&base, &disk);
    assert!(matches!(&found[0], Change::Edited { line, text, category: Some(category), .. }
        if *line == id(0) && text == "one **lock** for each file" && category == "decision"));
    assert_eq!(found[1], Change::Ticked { line: id(2), is_done: true });
    assert_eq!(found[2], Change::Removed { line: id(3) });
    let told: Vec<(&str, Option<&str>)> = found[3..]
        .iter()
        .map(|change| match change {
            Change::Told(told) => (told.text.as_str(), told.category.as_deref()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, [("found a [trap]", Some("bugfix")), ("[[link]] as well", None)]);
}

#[test]
fn a_line_keeps_its_identity_wherever_it_goes() {
    let base = written();
    let line = format!("- [decision] one lock {}\n", id(0));
    let moved = base.replace(&line, "") + &format!("\n> quoted\n> {line}");
    assert_eq!(changes(&base, &moved), []);
    let nested = base.replace(&line, &format!("* mine\n\t{line}"));
    let found = changes(&base, &nested);
    assert!(found.iter().all(|change| matches!(change, Change::Told(_))), "{found:?}");
    let plan =
        plan(&[(0, "[decision] two locks"), (3, "[decision] no cache"), (2, "step")], "active");
    let updated = plan.put_into(&moved, Some(&base), &HashSet::new()).unwrap();
    assert!(updated.contains(&format!("> - [decision] two locks {}\n", id(0))));
}

#[test]
fn the_person_wins_and_what_was_removed_stays_away() {
    let base = written();
    let disk = base.replace("one lock", "mine").replace(&format!("- [ ] step {}\n", id(2)), "");
    let plan = plan(&[(0, "[decision] ours"), (3, "[decision] no cache"), (2, "step")], "active");
    let updated = plan.put_into(&disk, Some(&base), &HashSet::new()).unwrap();
    assert_eq!(updated, disk);
    let hidden = HashSet::from([id(2)]);
    assert!(!plan.put_into(&disk, Some(&disk), &hidden).unwrap().contains("step"));
}

#[test]
fn a_copied_line_is_told_anew() {
    let base = written();
    let line = format!("- [decision] one lock {}\n", id(0));
    let disk = base.replace(&line, &format!("{line}{}", line.replace("one", "another")));
    let Change::Told(told) = changes(&base, &disk).remove(0) else { panic!("nothing was told") };
    assert_eq!(told.text, "another lock");
    let copied = Note::parse(&disk);
    assert!(copied.lines.iter().any(|line| line.is_copy));
}

#[test]
fn an_id_goes_behind_what_was_told() {
    let disk = written().replace("## Work Log", "- told by hand\n\n## Work Log");
    let Change::Told(told) = changes(&written(), &disk).remove(0) else {
        panic!("nothing was told")
    };
    let marked = with_ids(&disk, &[(told.range, id(7))]);
    assert!(marked.contains(&format!("- told by hand {}\n", id(7))));
    assert_eq!(changes(&marked, &marked), []);
}

#[test]
fn what_a_person_nested_in_a_line_outlives_it() {
    let base = written();
    let line = format!("- [decision] one lock {}\n", id(0));
    let disk = base.replace(&line, &format!("{line}  - my thoughts\n"));
    let plan = plan(&[(3, "[decision] no cache"), (2, "step")], "active");
    let updated = plan.put_into(&disk, Some(&base), &HashSet::new()).unwrap();
    assert!(updated.contains("- (no longer remembered)\n  - my thoughts\n"), "{updated}");
    assert!(!updated.contains("one lock"));
}

/// A box may hold a sign of several bytes.
#[test]
fn a_task_with_another_sign_is_ticked_whole() {
    let line = |is_done| {
        let mut plan = plan(&[(2, "step")], "active");
        plan.sections[2].lines[0].task = Some(is_done);
        plan
    };
    let base = line(false).new_note(&HashSet::new()).unwrap().replace("[ ]", "[✓]");
    let ticked = line(true).put_into(&base, Some(&base), &HashSet::new()).unwrap();
    assert!(ticked.contains("- [x] step ^t-"), "{ticked}");
}

/// "Compaction Failure" on one of two machines over one vault: neither writes over the other again and again.
#[test]
fn a_failure_of_another_machine_stands_until_the_note_is_archived() {
    let lines = [(0, "[decision] one lock")];
    let nothing = HashSet::new();
    let active = plan(&lines, "active");
    let mut failed = plan(&lines, "compaction_failed");
    failed.properties.push(Property::text("error", "the disk is full"));
    let base = active.new_note(&nothing).unwrap();
    let theirs = failed.put_into(&base, Some(&base), &nothing).unwrap();
    assert!(theirs.contains("status: compaction_failed\n") && theirs.contains("\nerror: "));
    for base in [&base, &theirs] {
        let ours = active.put_into(&theirs, Some(base), &nothing).unwrap();
        assert_eq!(ours, theirs);
    }
    let archived = plan(&lines, "archived").put_into(&theirs, Some(&theirs), &nothing).unwrap();
    assert!(archived.contains("status: archived\n") && !archived.contains("error"), "{archived}");
    // What failed here and no longer does is not said any more: only the archive failed then.
    let mut only_archive = plan(&lines, "active");
    only_archive.properties.push(Property::text("archive_error", "Verification failed"));
    let later = only_archive.put_into(&theirs, Some(&theirs), &nothing).unwrap();
    assert!(later.contains("status: active\n") && !later.contains("\nerror: "), "{later}");
}

/// Told on one machine and carried over before it had an id: the copy has one by now.
#[test]
fn what_was_told_in_a_note_and_its_copy_is_one_line() {
    let note = "## Key Decisions\n- one lock\n";
    let copy = format!("## Key Decisions\n- one lock {}\n- another one\n", id(1));
    let merged_once = merged(note, &copy, "copy.md", (None, &Earlier::default()));
    assert_eq!(merged_once, copy);
    let again = merged(&merged_once, note, "note.md", (None, &Earlier::default()));
    assert_eq!(again, copy);
}

/// Each of two machines may merge the same copy.
#[test]
fn a_copy_that_was_merged_adds_nothing_again() {
    let note = format!("## Key Decisions\n- one lock {}\n", id(1));
    let copy = format!("## Key Decisions\n- two locks {}\n\nProse.\n", id(1));
    let once = merged(&note, &copy, "copy.md", (None, &Earlier::default()));
    assert!(once.contains("> - two locks\n> Prose.\n"), "{once}");
    assert_eq!(merged(&once, &copy, "copy.md", (None, &Earlier::default())), once);
}

#[test]
fn an_item_within_an_item_on_one_line_is_not_lost_by_a_merge() {
    let copy = "## Key Decisions\n- - one lock\n";
    let text = merged("## Key Decisions\n", copy, "copy.md", (None, &Earlier::default()));
    assert!(text.ends_with("\n> - - one lock\n"), "{text}");
}

/// What a merge sets apart is the person's. With an id, it would follow memory once its line is gone: taken for what the line says
/// now, or removed with it.
#[test]
fn what_a_merge_sets_apart_outlives_its_line() {
    let base = written();
    let (here, copy) = (base.replace("one lock", "mine"), base.replace("one lock", "yours"));
    let merged = merged(&here, &copy, "copy.md", (Some(&base), &Earlier::default()));
    assert!(merged.ends_with("> - [decision] yours\n"), "{merged}");
    let gone = plan(&[(3, "[decision] no cache"), (2, "step")], "active");
    let left = gone.put_into(&merged, Some(&merged), &HashSet::new()).unwrap();
    assert!(!left.contains("mine") && left.ends_with("> - [decision] yours\n"), "{left}");
    assert!(!changes(&merged, &left).iter().any(|change| matches!(change, Change::Edited { .. })));
}

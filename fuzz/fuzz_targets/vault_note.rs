//! Notes are arbitrary text that people write: every text is a note, and putting our lines into it changes no other line.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use thru_core::Id;
use thru_fuzz::lossy;
use thru_vault::{Note, Plan, PlannedLine, Property, Section, changes};

fuzz_target!(|data: &[u8]| {
    let text = lossy(data);
    let plan = |words: &str| Plan {
        id: Id::derive(&[b"note"]),
        folder: "projects".to_owned(),
        name: "note".to_owned(),
        properties: vec![
            Property::members("tags", vec!["session".to_owned()]),
            Property::text("status", words),
        ],
        title: "Note".to_owned(),
        sections: ["Key Decisions", "References"]
            .iter()
            .map(|name| Section {
                name,
                lines: vec![PlannedLine::derived(&[name.as_bytes()], words.to_owned())],
            })
            .collect(),
        points_to: None,
    };
    let nothing = HashSet::new();
    let first = plan("one");
    // What cannot be edited safely is refused, and stays as it is.
    let Ok(written) = first.put_into(&text, None, &nothing) else { return };
    assert_eq!(first.put_into(&written, Some(&written), &nothing).as_deref(), Ok(&*written));
    let note = Note::parse(&written);
    assert!(first.lines().all(|line| note.with_id(&line.id).is_some()), "a line is missing");
    assert!(changes(&written, &written).is_empty(), "nothing was changed");
    if let Ok(again) = plan("two").put_into(&written, Some(&written), &nothing) {
        let back = first.put_into(&again, Some(&again), &nothing);
        assert_eq!(back.as_deref(), Ok(&*written), "our lines there and back");
    }
});

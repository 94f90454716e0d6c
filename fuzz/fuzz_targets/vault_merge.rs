//! A note, a conflict copy of it and the version before them are arbitrary text: merging loses no line of the note and no
//! word of the copy.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_fuzz::lossy;
use thru_vault::{Earlier, Note, merged};

/// The line between the three texts of an input.
const BETWEEN: &str = "\n=+=\n";

fuzz_target!(|data: &[u8]| {
    let input = lossy(data);
    // A lone carriage return ends an item and no line, and no editor writes one.
    if input.replace("\r\n", "").contains('\r') {
        return;
    }
    let mut texts = input.splitn(3, BETWEEN);
    let (note, copy) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    let base = texts.next();
    let earlier = Earlier::default();
    let once = merged(note, copy, "copy.md", (base, &earlier));
    let lines = |text: &str| -> Vec<String> {
        let note = Note::parse(text);
        let own = note.own_lines().map(|(id, _)| id.to_string());
        own.collect()
    };
    let after = lines(&once);
    assert!(lines(note).iter().all(|id| after.contains(id)), "a line of the note is gone");
    // Properties of ours follow from memory.
    let body = &copy[Note::parse(copy).body..];
    for word in body.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 6) {
        let is_known = base.is_some_and(|base| base.contains(word));
        // What is shown of a copy has no ids of ours.
        let is_id = copy.contains(&format!("^t-{word}"));
        assert!(once.contains(word) || is_known || is_id, "{word} is gone");
    }
});

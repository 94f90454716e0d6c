//! Notes in Markdown are arbitrary text: whatever they hold, they become memories that are not too long, and lose no word.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::ForeignSource;
use thru_foreign::markdown::memories;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for source in ForeignSource::ALL {
        for memory in memories(source, "folder/note.md", text) {
            assert!(!memory.name.is_empty());
            assert!(memory.text.is_none_or(|text| text.chars().count() <= 6_000));
        }
    }
});

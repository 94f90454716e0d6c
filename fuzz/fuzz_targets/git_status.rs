//! What `git status` printed, found in any text, and commands that take changes back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::{Undoing, listed_files, shell_commands};

fuzz_target!(|text: &str| {
    for file in listed_files(text).into_iter().flatten() {
        assert!(!file.path.is_empty() && !file.path.contains(' '), "{file:?}");
    }
    for command in shell_commands(text) {
        Undoing::of(&command.words);
    }
});

//! Commands that take changes back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::{Undoing, shell_commands};

fuzz_target!(|text: &str| {
    for command in shell_commands(text) {
        Undoing::of(&command.words);
    }
});

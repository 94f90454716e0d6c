//! The events of a session of Copilot CLI.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::Agent;
use thru_fuzz::transcripts;

fuzz_target!(|data: &[u8]| transcripts::check(Agent::Copilot, data));

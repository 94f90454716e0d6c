//! A rollout of Codex.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_core::Agent;
use thru_fuzz::transcripts;

fuzz_target!(|data: &[u8]| transcripts::check(Agent::Codex, data));

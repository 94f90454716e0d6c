//! A transcript of Claude Code, and its list of prompts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_agents::claude_code::HistoryReader;
use thru_core::{Agent, SourceKind};
use thru_fuzz::{as_clean, transcripts};

fuzz_target!(|data: &[u8]| {
    transcripts::check(Agent::ClaudeCode, data);
    let _ = HistoryReader::new().read(&as_clean(data), 1);
    transcripts::clean(Agent::ClaudeCode, SourceKind::PromptHistory, data);
});

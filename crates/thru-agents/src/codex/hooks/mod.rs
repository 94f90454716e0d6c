//! Codex's hooks: the only place that knows the fields of their input and output.

mod install;
mod passage;
mod trust;

use serde_json::Value;
use thru_core::{Agent, Passage};

use crate::blank::is_blank;
use crate::hooks::{Adapter, Capture, Event, Fields, HookInput, HookReply, context_and_message};

/// The hooks of Codex.
pub(crate) static HOOKS: Adapter =
    Adapter { agent: Agent::Codex, capture: &Codex, setup: &install::Codex };

/// Bytes of a context that Codex (0.169) hands on whole; of a longer one the middle goes to a file. It counts
/// 2,500 tokens of four bytes.
const LONGEST_CONTEXT: usize = 10_000;

/// Turns have ids, prompts have none: a turn has one prompt.
const FIELDS: Fields = Fields { turn: "/turn_id", ..Fields::USUAL };

struct Codex;

impl Capture for Codex {
    fn fields(&self) -> &'static Fields {
        &FIELDS
    }

    fn session_variable(&self) -> Option<&'static str> {
        Some("CODEX_THREAD_ID")
    }

    fn is_of_machine(&self, input: &HookInput) -> bool {
        is_blank(input.prompt())
    }

    fn asks_user(&self, tool: &str) -> bool {
        tool == "request_user_input"
    }

    fn passage(&self, event: &Event, payload: &Value) -> Option<Passage> {
        passage::passage(event, payload)
    }

    /// Objects with a key that Codex does not know make a hook fail; these two are known.
    fn answer(&self, event: &Event, reply: &HookReply) -> String {
        let fits = |context: &String| context.len() <= LONGEST_CONTEXT;
        let context = reply.context.clone().filter(fits);
        let reply = HookReply { context, message: reply.message.clone() };
        context_and_message(event, &reply, LONGEST_CONTEXT)
    }
}

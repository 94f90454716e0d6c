//! Records the input of a hook in the journal.

use thru_agents::hooks::{Event, HookInput};
use thru_core::{
    CapturedEvent, HOOK_RECORD, INJECTED_RECORD, Id, Injection, SessionKey, Timestamp,
};
use thru_journal::journal::{Durability, Entry, Journal};
use thru_redact::{Redactor, Report};

use crate::session::Session;

/// The result of recording an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is in the journal.
    Kept,
    /// It is not to be kept, and why.
    Skipped(Skip),
}

/// The reason why an event is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The user had the session forgotten.
    Forgotten,
    /// It is a call of a tool of ours.
    OwnTool,
    /// The tool is on the skip list.
    SkippedTool,
    /// The turn is private.
    Private,
}

/// The means of recording.
pub struct Recorder<'a> {
    /// The journal for the records.
    pub journal: &'a Journal,
    /// Takes secrets and private text out.
    pub redactor: &'a Redactor,
    /// Tools whose calls are not recorded.
    pub skip_tools: &'a [String],
}

impl Recorder<'_> {
    /// Keeps an event, or says why not. When this returns [`Recorded::Kept`], the event is in the journal.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn record(
        &self,
        input: &HookInput,
        raw: &[u8],
        session: &Session,
        now: Timestamp,
    ) -> thru_journal::Result<Recorded> {
        if session.is_forgotten() {
            return Ok(Recorded::Skipped(Skip::Forgotten));
        }
        if let Some(reason) = self.skipped(input) {
            return Ok(Recorded::Skipped(reason));
        }
        begin_turn(input, self.redactor, session)?;
        let is_human = is_human_prompt(input);
        let is_private = session.is_private(input.payload().turn());
        if is_private && (is_human || input.event.is_tool_use()) {
            return Ok(Recorded::Skipped(Skip::Private));
        }
        let hash = input.identity().is_none().then(|| Id::derive(&[raw]));
        let key = key(input, hash, now);
        let counted = || session.count_prompt(event_id(input, raw), now);
        let prompt = is_human.then(counted).flatten();
        let payload = if is_private { input.without_words() } else { input.value.clone() };
        let payload = self.redactor.clean_value(payload, &mut Report::default());
        let body = payload.map(|payload| {
            let event = CapturedEvent {
                agent: input.adapter.agent,
                event: input.event.as_str().to_owned(),
                session: input.session.clone(),
                prompt,
                hash,
                foreign: input.is_of_another_host(),
                payload: input.keep(payload),
            };
            serde_json::to_value(event).unwrap_or_default()
        });
        let durability = match input.event.is_momentous() {
            true => Durability::Synced,
            false => Durability::Buffered,
        };
        let entry = Entry { key: key.to_string(), at: now, kind: HOOK_RECORD.to_owned(), body };
        self.journal.append(&entry, durability)?;
        Ok(Recorded::Kept)
    }

    /// Keeps what a session was given.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn injected(&self, injection: &Injection, now: Timestamp) -> thru_journal::Result<()> {
        let written = serde_json::to_value(injection).unwrap_or_default();
        let at = now.as_nanosecond().to_le_bytes();
        let key = Id::derive(&[b"injected", injection.session.as_str().as_bytes(), &at]);
        let body = self.redactor.clean_value(written, &mut Report::default());
        let kind = INJECTED_RECORD.to_owned();
        self.journal
            .append(&Entry { key: key.to_string(), at: now, kind, body }, Durability::Buffered)
    }

    fn skipped(&self, input: &HookInput) -> Option<Skip> {
        if !input.event.is_tool_use() {
            return None;
        }
        let (tool, agent) = (input.payload().tool().unwrap_or_default(), input.adapter.capture);
        if thru_core::is_own_tool(tool) {
            return Some(Skip::OwnTool);
        }
        let is_skipped =
            !agent.asks_user(tool) && self.skip_tools.iter().any(|skipped| skipped == tool);
        is_skipped.then_some(Skip::SkippedTool)
    }
}

/// Notes if the turn that a prompt begins is private: also while recording is paused, as that may change
/// before the turn ends.
///
/// # Errors
/// Returns an error if the mark cannot be written or removed.
pub fn begin_turn(
    input: &HookInput,
    redactor: &Redactor,
    session: &Session,
) -> thru_journal::Result<()> {
    match is_human_prompt(input) {
        true => {
            let is_private = redactor.is_wholly_private(input.prompt());
            session.set_private(is_private, input.payload().turn())
        }
        false => Ok(()),
    }
}

fn is_human_prompt(input: &HookInput) -> bool {
    input.event == Event::UserPromptSubmit && !input.is_of_machine()
}

/// The key of an event's record. Two copies of a hook come to the same key where the agent names the
/// event; where it does not, intake sees by hash and time that they are one.
fn key(input: &HookInput, hash: Option<Id>, now: Timestamp) -> Id {
    let agent = input.adapter.agent.as_str().as_bytes();
    let (session, event) = (input.session.as_str().as_bytes(), input.event.as_str().as_bytes());
    match (input.identity(), hash) {
        (Some(id), _) => Id::derive(&[b"hook", agent, session, event, id.as_bytes()]),
        (None, hash) => {
            let hash = hash.unwrap_or(Id::from_bytes([0; Id::BYTES]));
            let at = now.as_nanosecond().to_le_bytes();
            let process = std::process::id().to_le_bytes();
            Id::derive(&[b"hook", agent, session, event, hash.as_bytes(), &at, &process])
        }
    }
}

/// Returns the key of an event's record, if this process wrote it at that time.
pub fn record_key(input: &HookInput, raw: &[u8], now: Timestamp) -> Id {
    key(input, input.identity().is_none().then(|| Id::derive(&[raw])), now)
}

/// Returns an id of the event that every copy of our hook computes alike.
pub fn event_id(input: &HookInput, raw: &[u8]) -> Id {
    let event = input.event.as_str().as_bytes();
    match input.identity() {
        Some(id) => Id::derive(&[event, id.as_bytes()]),
        None => Id::derive(&[event, raw]),
    }
}

/// Returns the session of an input.
pub fn session_key(input: &HookInput) -> SessionKey {
    SessionKey { agent: input.adapter.agent, id: input.session.clone() }
}

//! Facts about the session that single records state, apart from passages.

use thru_core::{Boundary, ReadBatch, SessionFacts, SessionId, Timestamp, Usage};

use super::reader::{MessageOrigin, record_id};
use super::record::{Message, Record};
use super::state::State;
use crate::batch::{count_type, note};
use crate::facts::{keep_last, note_place, note_time, short};
use crate::json::Text;
use crate::text::head;

/// Record types that this build knows. Those that are handled neither below nor in the reader hold
/// nothing worth searching.
const KNOWN: [&str; 20] = [
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "mode",
    "permission-mode",
    "pr-link",
    "tag",
    "content-replacement",
    "worktree-state",
];

/// True if this build knows the record type.
pub(super) fn is_known_type(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// Counts the record under its type, and notes a new or absent type.
pub(super) fn note_type(record: &Record<'_>, line: u64, batch: &mut ReadBatch) {
    let Some(kind) = record.kind.as_deref() else {
        count_type(batch, "(none)");
        return note(batch, "not-a-record", line);
    };
    // A type is a name of the format, not text of the transcript; cut all the same.
    count_type(batch, head(kind, 40));
    if !is_known_type(kind) {
        note(batch, "unknown-type", line);
    }
}

/// Notes the facts in the envelope that every record has.
pub(super) fn note_envelope(record: &Record<'_>, at: Option<Timestamp>, facts: &mut SessionFacts) {
    if let Some(at) = at {
        note_time(at, facts);
    }
    note_place(short(&record.cwd), short(&record.git_branch), facts);
    keep_last(&mut facts.version, short(&record.version));
    if facts.forked_from.is_none() {
        facts.forked_from = forked_from(record);
    }
}

/// Notes the facts in a record without a passage.
pub(super) fn note_metadata(record: &Record<'_>, state: &mut State, facts: &mut SessionFacts) {
    match record.kind.as_deref().unwrap_or_default() {
        "custom-title" => keep_last(&mut facts.user_title, short(&record.custom_title)),
        "ai-title" => {
            keep_last(&mut facts.agent_title, short(&record.ai_title));
            state.has_title |= facts.agent_title.is_some();
        }
        // The title of old versions, which a real one replaces. At the head of a file it belongs to
        // another session.
        "summary" if !state.has_title && state.next_ordinal > 0 => {
            keep_last(&mut facts.agent_title, short(&record.summary));
        }
        "pr-link" => facts.pull_requests.extend(short(&record.pr_url).map(str::to_owned)),
        "system" => match record.subtype.as_deref().unwrap_or_default() {
            "compact_boundary" => facts.compactions += 1,
            "api_error" => facts.api_errors += 1,
            _ => {}
        },
        "assistant" if record.is_api_error_message => facts.api_errors += 1,
        _ => {}
    }
}

/// Returns the boundary of a compaction, if the record is one.
pub(super) fn boundary(
    record: &Record<'_>,
    ordinal: u32,
    origin: &MessageOrigin<'_>,
) -> Option<Boundary> {
    let is_boundary = record.kind.as_deref() == Some("system")
        && record.subtype.as_deref() == Some("compact_boundary");
    is_boundary.then(|| {
        let said = record.compact_metadata.as_ref();
        let trigger = said.and_then(|said| short(&said.trigger)).unwrap_or("unknown");
        Boundary {
            record: record_id(origin),
            ordinal,
            at: origin.timestamp,
            trigger: head(trigger, 40).to_owned(),
            before: said.and_then(|said| said.pre_tokens),
            after: said.and_then(|said| said.post_tokens),
        }
    })
}

/// Notes the model and the tokens of an answer.
pub(super) fn note_answer(
    record: &Record<'_>,
    message: &Message<'_>,
    state: &mut State,
    facts: &mut SessionFacts,
) {
    if let Some(model) = short(&message.model)
        && model != "<synthetic>"
        && !facts.models.contains(model)
    {
        facts.models.insert(model.to_owned());
    }
    let Some(tokens) = &message.usage else { return };
    let usage = Usage {
        input: tokens.input_tokens.unwrap_or_default(),
        output: tokens.output_tokens.unwrap_or_default(),
        cache_creation: tokens.cache_creation_input_tokens.unwrap_or_default(),
        cache_read: tokens.cache_read_input_tokens.unwrap_or_default(),
    };
    let part = |text: &Text<'_>| head(text.as_deref().unwrap_or_default(), 128).to_owned();
    let new = match (part(&message.id), part(&record.request_id)) {
        // The record names neither a message nor a request to share the tokens with, so they are its
        // own.
        (id, request) if id.is_empty() && request.is_empty() => usage,
        (id, request) => state.newly_used(format!("{id} {request}"), usage),
    };
    // Saturating, unlike `Usage::add`: a damaged file may hold any number.
    facts.usage.input = facts.usage.input.saturating_add(new.input);
    facts.usage.output = facts.usage.output.saturating_add(new.output);
    facts.usage.cache_creation = facts.usage.cache_creation.saturating_add(new.cache_creation);
    facts.usage.cache_read = facts.usage.cache_read.saturating_add(new.cache_read);
}

/// Returns the session that the record was copied from; `None` if the file's own session wrote it.
pub(super) fn copied_from(
    record: &Record<'_>,
    timestamp: Option<Timestamp>,
    state: &State,
) -> Option<SessionId> {
    let other = || short(&record.session_id).filter(|&id| id != state.session.as_str());
    // A fork of 2.1.197 copies records under its own id and does not state their origin.
    let is_older = timestamp.is_some_and(|at| state.begun.is_some_and(|begun| at < begun));
    let unknown_origin = || is_older.then(|| SessionId::new(""));
    forked_from(record).or_else(|| other().map(SessionId::new)).or_else(unknown_origin)
}

/// Maximum number of records before the first message of a file.
const HEAD: u64 = 8;

/// Notes the time of the file's first dated record, which queues the first prompt, as the beginning of
/// the file.
pub(super) fn note_beginning(
    record: &Record<'_>,
    line: u64,
    timestamp: Option<Timestamp>,
    state: &mut State,
) {
    let is_first = line <= HEAD && state.next_ordinal == 0 && state.begun.is_none();
    if is_first && record.kind.as_deref() == Some("queue-operation") {
        state.begun = timestamp;
    }
}

fn forked_from(record: &Record<'_>) -> Option<SessionId> {
    record.forked_from.as_ref().and_then(|forked| short(&forked.session_id)).map(SessionId::new)
}

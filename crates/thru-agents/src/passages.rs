//! Builds passages from what was said and done: assigns turns and positions, and joins results to their
//! calls, however a file is split into reads. Knows no agent's record format.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thru_core::{
    Agent, Amendment, FileTouch, Id, Outcome, Passage, PassageKind, ReadBatch, RecordId, SessionId,
    SourceKind, Timestamp,
};

use crate::batch::Made;
use crate::blank::is_blank;
use crate::facts;
use crate::text::{self, CALL_LIMIT, PROSE_LIMIT, RESULT_LIMIT};

/// Calls remembered. An interrupted call may never get a result, so the oldest are dropped.
const CALLS: usize = 512;

/// Bytes kept of ids that the agent assigned.
pub(crate) const ID_LIMIT: usize = 128;

/// Bytes kept of a tool's name and of a path.
const NAME_LIMIT: usize = 256;
pub(crate) const PATH_LIMIT: usize = 4096;

/// The state that a reader of any agent's files carries from one read of a file to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Course {
    pub(crate) kind: SourceKind,
    pub(crate) session: SessionId,
    /// The subagent whose file this is.
    pub(crate) agent_id: Option<String>,
    pub(crate) turn: u32,
    pub(crate) next_ordinal: u32,
    calls: VecDeque<OpenCall>,
}

/// A call that may still get a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenCall {
    /// The agent's id of the call.
    call: String,
    /// The passage of the call; `None` if it was made in a private turn.
    passage: Option<Id>,
    /// The failure flag of the call, once a record states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
    /// True once the result was read. Another one is a repetition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    answered: bool,
}

impl Course {
    pub(crate) fn new(kind: SourceKind, session: SessionId, agent_id: Option<String>) -> Self {
        Self { kind, session, agent_id, turn: 0, next_ordinal: 0, calls: VecDeque::new() }
    }

    fn call(&mut self, call: &str) -> Option<&mut OpenCall> {
        let call = text::head(call, ID_LIMIT);
        self.calls.iter_mut().rfind(|known| !call.is_empty() && known.call == call)
    }

    fn remember(&mut self, call: &str, passage: Option<Id>, answered: bool) {
        if self.calls.len() == CALLS {
            self.calls.pop_front();
        }
        let call = text::head(call, ID_LIMIT).to_owned();
        self.calls.push_back(OpenCall { call, passage, failed: None, answered });
    }
}

/// The position of a record in its file, and the ids derived from it.
#[derive(Clone, Debug)]
pub(crate) struct RecordPosition {
    /// The record, in the form that citations use.
    pub(crate) record: RecordId,
    /// The name from which passage ids derive. It is the same wherever the record is found.
    pub(crate) name: String,
    pub(crate) line: u64,
    pub(crate) timestamp: Option<Timestamp>,
    /// The subagent that speaks or is addressed.
    pub(crate) agent_id: Option<String>,
}

/// A tool call at the time it is made.
#[derive(Debug, Default)]
pub(crate) struct ToolCall {
    /// The agent's id of the call; empty if it has none.
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) input: String,
    pub(crate) command: Option<String>,
    pub(crate) files: Vec<FileTouch>,
    /// The hash of the complete file content that the call writes, if it writes one.
    pub(crate) written: Option<Id>,
    /// True if the call was made in a private turn, so that none of it may be kept.
    pub(crate) blanked: bool,
    /// The outcome, for calls that get no result.
    pub(crate) outcome: Option<Outcome>,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(crate) struct ToolResult {
    pub(crate) text: String,
    /// The failure flag of the result, if it states one.
    pub(crate) failed: Option<bool>,
    pub(crate) files: Vec<FileTouch>,
}

/// One read: the state it advances and the batch it fills.
pub(crate) struct Filling<'r> {
    agent: Agent,
    pub(crate) course: &'r mut Course,
    pub(crate) batch: ReadBatch,
    /// The positions in the batch of the tool passages that a result may complete.
    made: Made,
}

impl<'r> Filling<'r> {
    pub(crate) fn new(agent: Agent, course: &'r mut Course) -> Self {
        Self { agent, course, batch: ReadBatch::default(), made: Made::default() }
    }

    /// Adds a person's prompt, which starts a turn. In a subagent's file, an instruction starts none.
    pub(crate) fn prompt(&mut self, text: String, position: &RecordPosition) {
        if is_blank(&text) {
            return;
        }
        if position.agent_id.is_some() {
            return self.said(&text, 0, position);
        }
        facts::note_prompt(&text, &mut self.batch.facts);
        self.course.turn = self.course.turn.saturating_add(1);
        let passage = self.passage(PassageKind::Human, 0, text::cap(text, PROSE_LIMIT), position);
        self.push(passage);
    }

    /// Adds a text of the agent, taken from this block of its record.
    pub(crate) fn said(&mut self, text: &str, block: usize, position: &RecordPosition) {
        let text = text.trim();
        if !is_blank(text) {
            let text = text::cap(text.to_owned(), PROSE_LIMIT);
            let passage = self.passage(PassageKind::Assistant, block, text, position);
            self.push(passage);
        }
    }

    /// Adds a tool call of the agent.
    pub(crate) fn call(&mut self, call: ToolCall, position: &RecordPosition) {
        if call.blanked {
            return self.course.remember(&call.id, None, false);
        }
        let tool = text::head(&call.tool, NAME_LIMIT).to_owned();
        let parts = [tool.as_str(), call.input.as_str()];
        let text: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let text = text::cap(text.join("\n"), CALL_LIMIT);
        let mut passage = self.passage(PassageKind::Tool, 0, text, position);
        self.course.remember(&call.id, Some(passage.id), false);
        passage.tool = (!tool.is_empty()).then_some(tool);
        passage.call = call_id(&call.id);
        passage.command = call.command.map(|command| text::cap(command, CALL_LIMIT));
        passage.files = call.files;
        passage.written = call.written;
        passage.outcome = Some(call.outcome.unwrap_or(Outcome::Pending));
        self.push(passage);
    }

    /// Joins a result to the passage of its call. A repeated result counts once.
    pub(crate) fn result(&mut self, id: &str, result: ToolResult, position: &RecordPosition) {
        let text = if is_blank(&result.text) { String::new() } else { result.text };
        let text = text::cap(text, RESULT_LIMIT);
        let outcome = |failed| if failed { Outcome::Failed } else { Outcome::Succeeded };
        match self.course.call(id) {
            Some(call) => {
                let failed = result.failed.or(call.failed).unwrap_or(false);
                call.failed = Some(failed);
                let text = if call.answered { String::new() } else { text };
                call.answered = true;
                // Without a passage, the call was made in a private turn.
                if let Some(passage) = call.passage {
                    self.made.amend(
                        &mut self.batch,
                        Amendment {
                            passage,
                            text,
                            outcome: outcome(failed),
                            record: position.record.clone(),
                            line: position.line,
                            files: result.files,
                        },
                    );
                }
            }
            None if text.trim().is_empty() && result.files.is_empty() => {}
            None => {
                let mut passage = self.passage(PassageKind::Tool, 0, text, position);
                self.course.remember(id, Some(passage.id), true);
                passage.outcome = Some(outcome(result.failed.unwrap_or(false)));
                passage.files = result.files;
                passage.call = call_id(id);
                self.push(passage);
            }
        }
    }

    /// Records the outcome of a call before its result arrives.
    pub(crate) fn verdict(&mut self, id: &str, failed: bool) {
        if let Some(call) = self.course.call(id)
            && !call.answered
        {
            call.failed = Some(failed);
        }
    }

    /// True if a call with this id was made.
    pub(crate) fn knows(&mut self, id: &str) -> bool {
        self.course.call(id).is_some()
    }

    fn push(&mut self, passage: Passage) {
        self.course.next_ordinal = self.course.next_ordinal.saturating_add(1);
        self.made.push(&mut self.batch, passage);
    }

    fn passage(
        &self,
        kind: PassageKind,
        block: usize,
        text: String,
        position: &RecordPosition,
    ) -> Passage {
        Passage {
            id: Id::derive(&[
                self.agent.as_str().as_bytes(),
                position.name.as_bytes(),
                kind.as_str().as_bytes(),
                block.to_string().as_bytes(),
            ]),
            session: self.course.session.clone(),
            turn: self.course.turn,
            ordinal: self.course.next_ordinal,
            kind,
            agent_id: position.agent_id.clone(),
            text,
            tool: None,
            call: None,
            command: None,
            files: Vec::new(),
            written: None,
            outcome: None,
            records: vec![position.record.clone()],
            lines: vec![position.line],
            timestamp: position.timestamp,
            copied_from: None,
        }
    }
}

/// Returns the agent's id of a tool call, cut to the length that is kept.
pub(crate) fn call_id(id: &str) -> Option<String> {
    (!is_blank(id)).then(|| text::head(id, ID_LIMIT).to_owned())
}

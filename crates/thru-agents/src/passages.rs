//! From what was said and done to passages: turns, places in the file, and results that join their
//! calls, in whatever reads a file comes. Knows no agent's records.

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

/// Calls remembered. An interrupted call may never get a result; the oldest are given up.
const CALLS: usize = 512;

/// Bytes kept of the agent's ids.
pub(crate) const ID_LIMIT: usize = 128;

/// Bytes kept of a tool's name and of a path.
const NAME_LIMIT: usize = 256;
pub(crate) const PATH_LIMIT: usize = 4096;

/// The state of a reader between two reads of a file, whichever agent's it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Course {
    pub(crate) kind: SourceKind,
    pub(crate) session: SessionId,
    /// The subagent whose file it is.
    pub(crate) agent_id: Option<String>,
    pub(crate) turn: u32,
    pub(crate) next_ordinal: u32,
    calls: VecDeque<OpenCall>,
}

/// A call of which something may still be said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OpenCall {
    /// The agent's id of the call.
    call: String,
    /// The passage that it became; none if it was made in a private turn.
    passage: Option<Id>,
    /// True if it failed, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<bool>,
    /// True if its result was read: a later one is the same once more.
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

/// A place in a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The record, as people cite it.
    pub(crate) record: RecordId,
    /// The source of the ids of its passages: the same wherever the record is found.
    pub(crate) name: String,
    pub(crate) line: u64,
    pub(crate) timestamp: Option<Timestamp>,
    /// The subagent that speaks or is spoken to.
    pub(crate) agent_id: Option<String>,
}

/// A tool call as it was made.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// The agent's id of the call; empty where it gives none.
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) input: String,
    pub(crate) command: Option<String>,
    pub(crate) files: Vec<FileTouch>,
    /// The hash of the file's whole content, where the call writes it.
    pub(crate) written: Option<Id>,
    /// True if it was made in a private turn, and nothing of it may be kept.
    pub(crate) blanked: bool,
    /// Its outcome, if no result will follow.
    pub(crate) outcome: Option<Outcome>,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// True if the call failed, if the result says.
    pub(crate) failed: Option<bool>,
    pub(crate) files: Vec<FileTouch>,
}

/// One read: the course it goes on with and the batch it fills.
pub(crate) struct Filling<'r> {
    agent: Agent,
    pub(crate) course: &'r mut Course,
    pub(crate) batch: ReadBatch,
    /// Positions in the batch of the tool passages that a result may complete.
    made: Made,
}

impl<'r> Filling<'r> {
    pub(crate) fn new(agent: Agent, course: &'r mut Course) -> Self {
        Self { agent, course, batch: ReadBatch::default(), made: Made::default() }
    }

    /// Adds a prompt: it starts a turn. Prompts of subagents start none.
    pub(crate) fn prompt(&mut self, text: String, place: &Place) {
        if is_blank(&text) {
            return;
        }
        if place.agent_id.is_some() {
            return self.said(&text, 0, place);
        }
        facts::note_prompt(&text, &mut self.batch.facts);
        self.course.turn = self.course.turn.saturating_add(1);
        let passage = self.passage(PassageKind::Human, 0, text::cap(text, PROSE_LIMIT), place);
        self.push(passage);
    }

    /// Adds a text of the agent, in this block of its record.
    pub(crate) fn said(&mut self, text: &str, block: usize, place: &Place) {
        let text = text.trim();
        if !is_blank(text) {
            let text = text::cap(text.to_owned(), PROSE_LIMIT);
            let passage = self.passage(PassageKind::Assistant, block, text, place);
            self.push(passage);
        }
    }

    /// A tool that the agent called.
    pub(crate) fn call(&mut self, call: Call, place: &Place) {
        if call.blanked {
            return self.course.remember(&call.id, None, false);
        }
        let tool = text::head(&call.tool, NAME_LIMIT).to_owned();
        let parts = [tool.as_str(), call.input.as_str()];
        let text: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let text = text::cap(text.join("\n"), CALL_LIMIT);
        let mut passage = self.passage(PassageKind::Tool, 0, text, place);
        self.course.remember(&call.id, Some(passage.id), false);
        passage.tool = (!tool.is_empty()).then_some(tool);
        passage.call = call_id(&call.id);
        passage.command = call.command.map(|command| text::cap(command, CALL_LIMIT));
        passage.files = call.files;
        passage.written = call.written;
        passage.outcome = Some(call.outcome.unwrap_or(Outcome::Pending));
        self.push(passage);
    }

    /// Adds the result of a call. It goes to the passage of the call; said twice, it counts once.
    pub(crate) fn answer(&mut self, id: &str, answer: Answer, place: &Place) {
        let text = if is_blank(&answer.text) { String::new() } else { answer.text };
        let text = text::cap(text, RESULT_LIMIT);
        let outcome = |failed| if failed { Outcome::Failed } else { Outcome::Succeeded };
        match self.course.call(id) {
            Some(call) => {
                let failed = answer.failed.or(call.failed).unwrap_or(false);
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
                            record: place.record.clone(),
                            line: place.line,
                            files: answer.files,
                        },
                    );
                }
            }
            None if text.trim().is_empty() && answer.files.is_empty() => {}
            None => {
                let mut passage = self.passage(PassageKind::Tool, 0, text, place);
                self.course.remember(id, Some(passage.id), true);
                passage.outcome = Some(outcome(answer.failed.unwrap_or(false)));
                passage.files = answer.files;
                passage.call = call_id(id);
                self.push(passage);
            }
        }
    }

    /// Notes the outcome of a call before its result comes.
    pub(crate) fn verdict(&mut self, id: &str, failed: bool) {
        if let Some(call) = self.course.call(id)
            && !call.answered
        {
            call.failed = Some(failed);
        }
    }

    /// True if a call by this id was made.
    pub(crate) fn knows(&mut self, id: &str) -> bool {
        self.course.call(id).is_some()
    }

    fn push(&mut self, passage: Passage) {
        self.course.next_ordinal = self.course.next_ordinal.saturating_add(1);
        self.made.push(&mut self.batch, passage);
    }

    fn passage(&self, kind: PassageKind, block: usize, text: String, place: &Place) -> Passage {
        Passage {
            id: Id::derive(&[
                self.agent.as_str().as_bytes(),
                place.name.as_bytes(),
                kind.as_str().as_bytes(),
                block.to_string().as_bytes(),
            ]),
            session: self.course.session.clone(),
            turn: self.course.turn,
            ordinal: self.course.next_ordinal,
            kind,
            agent_id: place.agent_id.clone(),
            text,
            tool: None,
            call: None,
            command: None,
            files: Vec::new(),
            written: None,
            outcome: None,
            records: vec![place.record.clone()],
            lines: vec![place.line],
            timestamp: place.timestamp,
            copied_from: None,
        }
    }
}

/// The agent's id of a tool call, as far as it is kept.
pub(crate) fn call_id(id: &str) -> Option<String> {
    (!is_blank(id)).then(|| text::head(id, ID_LIMIT).to_owned())
}

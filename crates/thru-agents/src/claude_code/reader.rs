//! Reads a transcript as it grows: whole lines in, passages out. Never fails because of a file's
//! content, and never touches the disk.

use serde_json::value::RawValue;
use thru_core::{
    Agent, Amendment, CompactSummary, Id, Outcome, Passage, PassageKind, ReadBatch, RecordId,
    SessionId, SourceKind, Timestamp,
};
use thru_redact::Clean;

use super::calls::OpenCall;
use super::names::subagent_of_file;
use super::record::{Message, Record};
use super::state::State;
use super::{notes, prompt, tools};
use crate::batch::{Made, note};
use crate::blank::is_blank;
use crate::names::is_uuid;
use crate::passages::{ID_LIMIT, call_id};
use crate::text::{self, PROSE_LIMIT};
use crate::{InvalidState, Source, facts, json, lines};

/// The id of subagents that the transcript does not name (inline ones of 1.0.x).
const NAMELESS: &str = "sidechain";

/// Reads one transcript, from its beginning or from where an earlier reader stopped.
///
/// The passages are the same whether a file is read at once or in blocks, by one reader or by several
/// that resume each other, once later results have joined their calls ([`amend`](crate::amend)).
#[derive(Clone, Debug)]
pub struct Reader {
    state: State,
}

impl Reader {
    /// Returns a reader at the beginning of a transcript of this session. It finds no passages in
    /// attachments and prompt histories (for the latter see [`HistoryReader`](super::HistoryReader)).
    pub fn new(kind: SourceKind, session: SessionId) -> Self {
        Self { state: State::new(kind, session) }
    }

    /// Returns a reader at the beginning of this file.
    pub fn for_source(source: &Source) -> Self {
        Self::for_archived(source.kind, source.session.clone(), &source.archive_name)
    }

    /// Returns a reader at the beginning of an archived file. The archived name tells which subagent it
    /// belongs to.
    pub fn for_archived(kind: SourceKind, session: SessionId, archive_name: &str) -> Self {
        let mut reader = Self::new(kind, session);
        if kind == SourceKind::Subagent {
            let file = archive_name.rsplit('/').next().unwrap_or(archive_name);
            reader.state.agent_id = subagent_of_file(file).map(str::to_owned);
        }
        reader
    }

    /// Returns a reader that continues where the one that saved `state` stopped.
    ///
    /// # Errors
    /// Fails if `state` was not saved by a reader of this version.
    pub fn resume(state: &str) -> Result<Self, InvalidState> {
        State::load(state).map(|state| Self { state })
    }

    /// Returns the state for [`Reader::resume`]: ids and numbers, no text of the transcript.
    pub fn state(&self) -> String {
        self.state.save()
    }

    /// Reads whole lines. The first has the number `first_line` (1-based) in the file.
    pub fn read(&mut self, block: &Clean<Vec<u8>>, first_line: u64) -> Clean<ReadBatch> {
        block.derive(|block| self.read_bytes(block, first_line))
    }

    fn read_bytes(&mut self, block: &[u8], first_line: u64) -> ReadBatch {
        let mut pass =
            Pass { state: &mut self.state, batch: ReadBatch::default(), made: Made::default() };
        for (number, line) in lines::numbered(block, first_line) {
            pass.line(number, line);
        }
        pass.batch
    }
}

/// One read: the state it advances and the batch it fills.
struct Pass<'r> {
    state: &'r mut State,
    batch: ReadBatch,
    /// The positions in the batch of the tool passages that a result may complete.
    made: Made,
}

/// The origin of a message, whether it is a record of the file or is embedded in one.
pub(super) struct MessageOrigin<'r> {
    uuid: &'r str,
    line: u64,
    pub(super) timestamp: Option<Timestamp>,
    /// The subagent that speaks or is addressed.
    agent_id: Option<&'r str>,
    copied_from: Option<SessionId>,
    calling_record: &'r str,
    tool_use_result: Option<&'r RawValue>,
}

impl Pass<'_> {
    fn line(&mut self, number: u64, line: &[u8]) {
        let text = lines::text(line, number, &mut self.batch);
        let read = json::leniently(&text, |text| {
            self.record(&Record::parse(text).ok()?, number);
            Some(())
        });
        if read.is_none() {
            note(&mut self.batch, "broken-json", number);
        }
    }

    fn record(&mut self, record: &Record<'_>, line: u64) {
        notes::note_type(record, line, &mut self.batch);
        if !matches!(self.state.kind, SourceKind::Main | SourceKind::Subagent) {
            return;
        }
        let timestamp = facts::timestamp(&record.timestamp, line, &mut self.batch);
        notes::note_beginning(record, line, timestamp, self.state);
        notes::note_envelope(record, timestamp, &mut self.batch.facts);
        notes::note_metadata(record, self.state, &mut self.batch.facts);

        let agent_id = self.speaker(record).map(str::to_owned);
        let origin = MessageOrigin {
            uuid: record.uuid.as_deref().unwrap_or_default(),
            line,
            timestamp,
            agent_id: agent_id.as_deref(),
            copied_from: notes::copied_from(record, timestamp, self.state),
            calling_record: record.calling_record.as_deref().unwrap_or_default(),
            tool_use_result: record.tool_use_result,
        };
        self.compaction(record, &origin);
        let kind = record.kind.as_deref().unwrap_or_default();
        match (kind, &record.message) {
            ("user", Some(message)) if !record.is_meta && !record.is_compact_summary => {
                self.results(message, &origin);
                match origin.agent_id {
                    None => self.prompt(prompt::typed(record), &origin),
                    Some(_) => self.instruction(message, &origin),
                }
            }
            ("assistant", Some(message)) => {
                // The tokens of a copied answer are counted in the session that it was copied from.
                if origin.copied_from.is_none() {
                    notes::note_answer(record, message, self.state, &mut self.batch.facts);
                }
                self.answer(message, &origin);
            }
            ("attachment", _) if origin.agent_id.is_none() => {
                self.prompt(prompt::typed(record), &origin);
            }
            ("progress", _) => self.progress(record, &origin),
            _ => {}
        }
    }

    /// Notes a compaction of the main conversation: its boundary, and the text that replaces the earlier
    /// context, which follows a little later. Copied records are ignored, as they compacted the context
    /// of another session.
    fn compaction(&mut self, record: &Record<'_>, origin: &MessageOrigin<'_>) {
        if self.state.kind != SourceKind::Main
            || origin.agent_id.is_some()
            || origin.copied_from.is_some()
        {
            return;
        }
        if let Some(boundary) = notes::boundary(record, self.state.next_ordinal, origin) {
            self.state.boundary = Some(boundary.record.as_str().to_owned());
            self.batch.boundaries.push(boundary);
        } else if let Some(text) = prompt::continued(record)
            && let Some(boundary) = self.state.boundary.take()
        {
            let text = text::cap(text, PROSE_LIMIT);
            let boundary = RecordId::named(boundary);
            self.batch.compact_summaries.push(CompactSummary { boundary, text });
        }
    }

    /// Returns the subagent that the record belongs to; `None` in the main conversation.
    fn speaker<'a>(&'a self, record: &'a Record<'_>) -> Option<&'a str> {
        let is_subagent = record.is_sidechain || self.state.kind == SourceKind::Subagent;
        let named = || record.agent_id.as_deref().filter(|id| !is_blank(id));
        is_subagent.then(|| {
            let id = self.state.agent_id.as_deref().or_else(named).unwrap_or(NAMELESS);
            text::head(id, ID_LIMIT)
        })
    }

    /// Reads a subagent's message that its parent's file reports (2.0.76 to 2.1.8x).
    fn progress(&mut self, record: &Record<'_>, outer: &MessageOrigin<'_>) {
        let Some(data) = &record.data else { return };
        let Some(embedded) = &data.message else {
            return;
        };
        let Some(message) = &embedded.message else {
            return;
        };
        let uuid = embedded.uuid.as_deref().unwrap_or_default();
        if data.kind.as_deref() != Some("agent_progress")
            || !self.state.is_new_message(text::head(uuid, ID_LIMIT))
        {
            return;
        }
        let timestamp = facts::timestamp(&embedded.timestamp, outer.line, &mut self.batch);
        let origin = MessageOrigin {
            uuid,
            line: outer.line,
            timestamp: timestamp.or(outer.timestamp),
            agent_id: Some(text::head(data.agent_id.as_deref().unwrap_or(NAMELESS), ID_LIMIT)),
            copied_from: outer.copied_from.clone(),
            calling_record: "",
            tool_use_result: embedded.tool_use_result,
        };
        match embedded.kind.as_deref().unwrap_or_default() {
            "user" if !embedded.is_meta => {
                self.results(message, &origin);
                self.instruction(message, &origin);
            }
            "assistant" => self.answer(message, &origin),
            _ => {}
        }
    }

    /// Adds a person's prompt, which starts a turn.
    fn prompt(&mut self, typed: Option<String>, origin: &MessageOrigin<'_>) {
        let Some(text) = typed.filter(|text| !is_blank(text)) else {
            return;
        };
        facts::note_prompt(&text, &mut self.batch.facts);
        self.state.turn = self.state.turn.saturating_add(1);
        let passage = self.passage(PassageKind::Human, 0, text::cap(text, PROSE_LIMIT), origin);
        self.push(passage);
    }

    /// Adds an instruction from an agent to a subagent.
    fn instruction(&mut self, message: &Message<'_>, origin: &MessageOrigin<'_>) {
        let text = prompt::typed_blocks(&message.content).filter(|text| !is_blank(text));
        if let Some(text) = text {
            let text = text::cap(text, PROSE_LIMIT);
            let passage = self.passage(PassageKind::Assistant, 0, text, origin);
            self.push(passage);
        }
    }

    /// Adds the texts and tool calls of an agent's message.
    fn answer(&mut self, message: &Message<'_>, origin: &MessageOrigin<'_>) {
        for (ordinal, block) in message.content.iter().enumerate() {
            match block.kind.as_deref().unwrap_or_default() {
                "text" => {
                    let text = block.text.as_deref().unwrap_or_default().trim();
                    let is_filler = matches!(text, "(no content)" | "No response requested.");
                    if !is_filler && !is_blank(text) {
                        let text = text::cap(text.to_owned(), PROSE_LIMIT);
                        let passage = self.passage(PassageKind::Assistant, ordinal, text, origin);
                        self.push(passage);
                    }
                }
                "tool_use" => {
                    let call = tools::call(block);
                    self.state.open.add(OpenCall {
                        tool_use: text::head(block.id.as_deref().unwrap_or_default(), ID_LIMIT)
                            .to_owned(),
                        record: text::head(origin.uuid, ID_LIMIT).to_owned(),
                        passage: call.as_ref().map(|_| self.id(PassageKind::Tool, ordinal, origin)),
                        asks: call.as_ref().is_some_and(|call| call.asks),
                    });
                    if let Some(call) = call {
                        let mut passage =
                            self.passage(PassageKind::Tool, ordinal, call.text, origin);
                        passage.tool = call.name;
                        passage.call = block.id.as_deref().and_then(call_id);
                        passage.command = call.command;
                        passage.files = call.files;
                        passage.written = call.written;
                        passage.outcome = Some(Outcome::Pending);
                        self.push(passage);
                    }
                }
                _ => {}
            }
        }
    }

    /// Joins each tool result to the passage of its call.
    fn results(&mut self, message: &Message<'_>, origin: &MessageOrigin<'_>) {
        for (ordinal, block) in message.content.iter().enumerate() {
            if block.kind.as_deref() != Some("tool_result") {
                continue;
            }
            let tool_use = text::head(block.tool_use_id.as_deref().unwrap_or_default(), ID_LIMIT);
            let record = text::head(origin.calling_record, ID_LIMIT);
            let call = self.state.open.take(tool_use, record);
            let asks = call.as_ref().is_some_and(|call| call.asks);
            let result = tools::result(block, origin.tool_use_result, call.is_some(), asks);
            let outcome = if block.is_error { Outcome::Failed } else { Outcome::Succeeded };
            match call {
                Some(OpenCall { passage: Some(passage), .. }) => self.made.amend(
                    &mut self.batch,
                    Amendment {
                        passage,
                        text: result.text,
                        outcome,
                        record: record_id(origin),
                        line: origin.line,
                        files: result.files,
                    },
                ),
                // The call was made in a private turn.
                Some(OpenCall { passage: None, .. }) => {}
                None if result.text.trim().is_empty() && result.files.is_empty() => {}
                None => {
                    let mut passage = self.passage(PassageKind::Tool, ordinal, result.text, origin);
                    passage.outcome = Some(outcome);
                    passage.files = result.files;
                    passage.call = block.tool_use_id.as_deref().and_then(call_id);
                    self.push(passage);
                }
            }
        }
    }

    fn push(&mut self, passage: Passage) {
        self.state.next_ordinal = self.state.next_ordinal.saturating_add(1);
        self.made.push(&mut self.batch, passage);
    }

    fn passage(
        &self,
        kind: PassageKind,
        block: usize,
        text: String,
        origin: &MessageOrigin<'_>,
    ) -> Passage {
        Passage {
            id: self.id(kind, block, origin),
            session: self.state.session.clone(),
            turn: self.state.turn,
            ordinal: self.state.next_ordinal,
            kind,
            agent_id: origin.agent_id.map(str::to_owned),
            text,
            tool: None,
            call: None,
            command: None,
            files: Vec::new(),
            written: None,
            outcome: None,
            records: vec![record_id(origin)],
            lines: vec![origin.line],
            timestamp: origin.timestamp,
            copied_from: origin.copied_from.clone(),
        }
    }

    /// Returns the id of a passage, which is the same wherever a copy of its record is found.
    fn id(&self, kind: PassageKind, block: usize, origin: &MessageOrigin<'_>) -> Id {
        let nameless;
        let record = if is_uuid(origin.uuid) {
            origin.uuid
        } else {
            // Lines are numbered per file, and the subagents of a session have files of their own.
            let file =
                self.state.agent_id.as_deref().map(|id| format!("/{id}")).unwrap_or_default();
            nameless = format!("{}{file}#L{}", self.state.session, origin.line);
            &nameless
        };
        Id::derive(&[
            Agent::ClaudeCode.as_str().as_bytes(),
            record.as_bytes(),
            kind.as_str().as_bytes(),
            block.to_string().as_bytes(),
        ])
    }
}

pub(super) fn record_id(origin: &MessageOrigin<'_>) -> RecordId {
    match is_uuid(origin.uuid) {
        true => RecordId::named(origin.uuid),
        false => RecordId::line(origin.line),
    }
}

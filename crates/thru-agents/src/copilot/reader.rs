//! Reads a session's events as they grow: whole lines in, passages out. Never fails because of a file's
//! content, and never touches the disk.

use serde::{Deserialize, Serialize};
use thru_core::{
    Agent, Boundary, CompactSummary, ReadBatch, RecordId, SessionId, SourceKind, Usage,
};
use thru_redact::Clean;

use super::record::{Data, ModelUse, Record, Tokens};
use super::tools;
use crate::batch::{count_type, note};
use crate::blank::is_blank;
use crate::cleaner::Heard;
use crate::facts::{self, keep_last, note_place, short};
use crate::names::is_uuid;
use crate::passages::{Course, Filling, ID_LIMIT, RecordPosition};
use crate::text::{self, PROSE_LIMIT};
use crate::{InvalidState, json, lines, state};

/// The version of the saved state. A reader of another version cannot resume from it and reads the file
/// anew.
const VERSION: u32 = 1;

/// Beginnings of the event names that this build knows. Events that are not handled below hold nothing
/// worth searching.
const KNOWN: [&str; 14] = [
    "session",
    "user",
    "assistant",
    "tool",
    "hook",
    "system",
    "subagent",
    "skill",
    "permission",
    "elicitation",
    "user_input",
    "pending_messages",
    "command",
    "abort",
];

/// Reads one transcript, from its beginning or from where an earlier reader stopped.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    version: u32,
    course: Course,
}

impl Reader {
    /// Returns a reader at the beginning of a transcript of this session.
    pub(crate) fn new(kind: SourceKind, session: SessionId) -> Self {
        Self { state: State { version: VERSION, course: Course::new(kind, session, None) } }
    }

    /// Returns a reader that continues where the one that saved `state` stopped.
    pub(crate) fn resume(state: &str) -> Result<Self, InvalidState> {
        state::load(state, VERSION).map(|state| Self { state })
    }

    /// Returns the state for [`Reader::resume`].
    pub(crate) fn state(&self) -> String {
        // Consists of strings and numbers, which always serialize.
        serde_json::to_string(&self.state).unwrap_or_default()
    }

    /// Reads whole lines. The first has the number `first_line` (1-based) in the file.
    pub(crate) fn read(&mut self, block: &Clean<Vec<u8>>, first_line: u64) -> Clean<ReadBatch> {
        block.derive(|block| {
            let mut pass = Pass { filling: Filling::new(Agent::Copilot, &mut self.state.course) };
            for (number, line) in lines::numbered(block, first_line) {
                pass.line(number, line);
            }
            pass.filling.batch
        })
    }
}

/// Returns the meaning of this line in a transcript; `None` if it cannot be parsed.
pub(crate) fn heard(_kind: SourceKind, line: &str) -> Option<Heard> {
    let record = Record::parse(line).ok()?;
    Some(match &record.data {
        Some(data) if record.kind.as_deref() == Some("user.message") => {
            let said = data.content.as_deref().unwrap_or_default().trim().to_owned();
            match subagent(&record, data).is_some() || !is_human(data) {
                true => Heard::Echo(said),
                false => Heard::Prompt(said),
            }
        }
        _ => Heard::Nothing,
    })
}

/// Returns the subagent that an event belongs to: its own id, or that of the call that started it.
fn subagent(record: &Record<'_>, data: &Data<'_>) -> Option<String> {
    let id = short(&record.agent_id).or_else(|| short(&data.parent_tool_call_id))?;
    Some(text::head(id, ID_LIMIT).to_owned())
}

/// True if a person wrote the user message. Skills write messages with the role of the user too.
fn is_human(data: &Data<'_>) -> bool {
    data.source.as_deref().is_none_or(|source| source != "system" && !source.starts_with("skill"))
}

/// One read: the state it advances and the batch it fills.
struct Pass<'r> {
    filling: Filling<'r>,
}

impl Pass<'_> {
    fn line(&mut self, number: u64, line: &[u8]) {
        let text = lines::text(line, number, &mut self.filling.batch);
        let read = json::leniently(&text, |text| {
            self.record(&Record::parse(text).ok()?, number);
            Some(())
        });
        if read.is_none() {
            note(&mut self.filling.batch, "broken-json", number);
        }
    }

    fn record(&mut self, record: &Record<'_>, line: u64) {
        let Some(kind) = record.kind.as_deref() else {
            count_type(&mut self.filling.batch, "(none)");
            return note(&mut self.filling.batch, "not-a-record", line);
        };
        // Names of the format, not text of the transcript; cut all the same.
        count_type(&mut self.filling.batch, text::head(kind, 60));
        if !KNOWN.contains(&kind.split('.').next().unwrap_or_default()) {
            note(&mut self.filling.batch, "unknown-type", line);
        }
        if self.filling.course.kind != SourceKind::Main {
            return;
        }
        let timestamp = facts::timestamp(&record.timestamp, line, &mut self.filling.batch);
        if let Some(at) = timestamp {
            facts::note_time(at, &mut self.filling.batch.facts);
        }
        let nothing = Data::default();
        let data = record.data.as_ref().unwrap_or(&nothing);
        let id = record.id.as_deref().filter(|id| is_uuid(id));
        let position = RecordPosition {
            record: id.map_or_else(|| RecordId::line(line), RecordId::named),
            name: id
                .map_or_else(|| format!("{}#L{line}", self.filling.course.session), str::to_owned),
            line,
            timestamp,
            agent_id: subagent(record, data),
        };
        self.event(kind, data, &position);
    }

    fn event(&mut self, kind: &str, data: &Data<'_>, position: &RecordPosition) {
        let call = data.tool_call_id.as_deref().unwrap_or_default();
        match kind {
            "user.message" if is_human(data) => {
                let text = data.content.as_deref().unwrap_or_default().trim();
                self.filling.prompt(text.to_owned(), position);
            }
            "assistant.message" => {
                let model = short(&data.model).map(str::to_owned);
                self.filling.batch.facts.models.extend(model);
                self.filling.said(data.content.as_deref().unwrap_or_default(), 0, position);
            }
            "tool.execution_start" => self.filling.call(tools::call(data), position),
            "tool.execution_complete" => self.filling.result(call, tools::result(data), position),
            "session.compaction_complete" => self.compaction(data, position),
            _ => self.session(kind, data),
        }
    }

    /// Notes the facts in an event about the session as a whole.
    fn session(&mut self, kind: &str, data: &Data<'_>) {
        let facts = &mut self.filling.batch.facts;
        match kind {
            "session.start" | "session.resume" => {
                if let Some(context) = &data.context {
                    note_place(short(&context.cwd), short(&context.branch), facts);
                }
                keep_last(&mut facts.version, short(&data.copilot_version));
            }
            "session.title_changed" => keep_last(&mut facts.agent_title, short(&data.title)),
            "session.error" => facts.api_errors += 1,
            "session.shutdown" => {
                let models = data.model_metrics.map(|models| json::members(models.get()));
                for (_, model) in models.unwrap_or_default() {
                    let model = serde_json::from_str::<ModelUse>(model.get()).unwrap_or_default();
                    facts.usage.add(&usage(&model.usage.unwrap_or_default()));
                }
            }
            _ => {}
        }
    }

    /// Notes a compaction of the context.
    fn compaction(&mut self, data: &Data<'_>, position: &RecordPosition) {
        if position.agent_id.is_some()
            || data.success.is_some_and(|success| success.get() == "false")
        {
            return;
        }
        self.filling.batch.facts.compactions += 1;
        self.filling.batch.boundaries.push(Boundary {
            record: position.record.clone(),
            ordinal: self.filling.course.next_ordinal,
            at: position.timestamp,
            trigger: "unknown".to_owned(),
            before: data.pre_compaction_tokens,
            after: data.post_compaction_tokens,
        });
        if let Some(text) = data.summary_content.as_deref().filter(|text| !is_blank(text)) {
            let text = text::cap(text.to_owned(), PROSE_LIMIT);
            let boundary = position.record.clone();
            self.filling.batch.compact_summaries.push(CompactSummary { boundary, text });
        }
    }
}

fn usage(tokens: &Tokens) -> Usage {
    let cache_read = tokens.cache_read_tokens.unwrap_or_default();
    let cache_creation = tokens.cache_write_tokens.unwrap_or_default();
    Usage {
        input: tokens
            .input_tokens
            .unwrap_or_default()
            .saturating_sub(cache_read.saturating_add(cache_creation)),
        output: tokens.output_tokens.unwrap_or_default(),
        cache_creation,
        cache_read,
    }
}

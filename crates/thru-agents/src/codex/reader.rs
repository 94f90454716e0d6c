//! Reads a rollout as it grows: whole lines in, passages out. Never fails because of a file's content,
//! and never touches the disk.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thru_core::{
    Agent, Boundary, CompactSummary, Id, Outcome, ReadBatch, RecordId, SessionId, SourceKind,
    Timestamp, Usage, is_timed_uuid,
};
use thru_redact::Clean;

use super::hearing::{self, Form, is};
use super::meta::Meta;
use super::names;
use super::record::{Payload, Record, TokenInfo, Tokens};
use super::tools;
use crate::batch::{count_type, note};
use crate::blank::is_blank;
use crate::facts::{self, keep_last, note_place, short};
use crate::passages::{Course, Filling, RecordPosition, ToolCall};
use crate::text::{self, PROSE_LIMIT};
use crate::{InvalidState, json, lines, state};

/// The version of the saved state. A reader of another version cannot resume from it and reads the file
/// anew.
const VERSION: u32 = 1;

/// Maximum milliseconds that writing inherited history takes. It is written all at once when the thread
/// is begun.
const TAKING_OVER: i64 = 5_000;

/// Types of lines and response items that this build knows. Those that are not handled below hold
/// nothing worth searching.
const LINES: [&str; 8] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "token_usage_record",
    "inter_agent_communication",
];
const ITEMS: [&str; 14] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
    "ghost_snapshot",
    "compaction",
    "context_compaction",
];

/// Reads one rollout, from its beginning or from where an earlier reader stopped.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    state: State,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    version: u32,
    course: Course,
    /// The thread of the file, once its first record was read.
    thread: Option<String>,
    /// The time the file was begun.
    begun: Option<Timestamp>,
    /// True if the thread was forked from another one.
    is_fork: bool,
    /// True while the records are inherited from another thread.
    is_inherited: bool,
    /// Tokens used by the thread so far.
    used: Option<Usage>,
    /// The last prompt, with the form of its record: a record of the other form repeats it.
    prompt: Option<(Form, Id)>,
}

impl Reader {
    /// Returns a reader at the beginning of the rollout with this archive name.
    pub(crate) fn for_archived(kind: SourceKind, session: SessionId, archive_name: &str) -> Self {
        let file = archive_name.rsplit('/').next().unwrap_or(archive_name);
        let agent_id = match kind {
            SourceKind::Subagent => {
                let thread = names::rollout(file).map_or("subagent", |name| name.thread);
                Some(thread.to_owned())
            }
            _ => None,
        };
        let state = State {
            version: VERSION,
            course: Course::new(kind, session, agent_id),
            thread: None,
            begun: None,
            is_fork: false,
            is_inherited: false,
            used: None,
            prompt: None,
        };
        Self { state }
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
        block.derive(|block| self.read_bytes(block, first_line))
    }

    fn read_bytes(&mut self, block: &[u8], first_line: u64) -> ReadBatch {
        let State { course, thread, begun, is_fork, is_inherited, used, prompt, .. } =
            &mut self.state;
        let filling = Filling::new(Agent::Codex, course);
        let mut pass = Pass { filling, thread, begun, is_fork, is_inherited, used, prompt };
        for (number, line) in lines::numbered(block, first_line) {
            pass.line(number, line);
        }
        pass.filling.batch
    }
}

/// One read: the state it advances and the batch it fills.
struct Pass<'r> {
    filling: Filling<'r>,
    thread: &'r mut Option<String>,
    begun: &'r mut Option<Timestamp>,
    is_fork: &'r mut bool,
    is_inherited: &'r mut bool,
    used: &'r mut Option<Usage>,
    prompt: &'r mut Option<(Form, Id)>,
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
        let nothing = Payload::default();
        let payload = record.payload.as_ref().unwrap_or(&nothing);
        self.count(kind, payload, line);
        if !matches!(self.filling.course.kind, SourceKind::Main | SourceKind::Subagent) {
            return;
        }
        let timestamp = facts::timestamp(&record.timestamp, line, &mut self.filling.batch);
        *self.begun = self.begun.or(timestamp);
        match kind {
            "session_meta" => self.meta(payload),
            "turn_context" => self.turn(payload),
            "event_msg" if is(payload, "task_started") => self.turn(payload),
            _ => {}
        }
        self.leave_history(timestamp);
        if *self.is_inherited {
            if is(payload, "token_count") {
                *self.used = payload.info.as_ref().and_then(total).or(*self.used);
            }
            return;
        }
        if let Some(at) = timestamp {
            facts::note_time(at, &mut self.filling.batch.facts);
        }
        let course = &self.filling.course;
        let named = self.thread.as_deref().or(course.agent_id.as_deref());
        let thread = named.unwrap_or(course.session.as_str());
        let position = RecordPosition {
            record: RecordId::line(line),
            name: format!("{thread}#L{line}"),
            line,
            timestamp,
            agent_id: self.filling.course.agent_id.clone(),
        };
        match kind {
            "response_item" => self.item(payload, &position),
            "event_msg" => self.event(payload, &position),
            "compacted" => self.compaction(payload, &position),
            "turn_context" => {
                let model = short(&payload.model).map(str::to_owned);
                self.filling.batch.facts.models.extend(model);
            }
            _ => {}
        }
    }

    /// Counts the record under its type, and notes a new type.
    fn count(&mut self, kind: &str, payload: &Payload<'_>, line: u64) {
        let within =
            payload.kind.as_deref().filter(|_| matches!(kind, "response_item" | "event_msg"));
        let name = within.map_or_else(|| kind.to_owned(), |within| format!("{kind}/{within}"));
        // Names of the format, not text of the transcript; cut all the same.
        count_type(&mut self.filling.batch, text::head(&name, 60));
        let is_known = match (kind, within) {
            ("response_item", Some(item)) => ITEMS.contains(&item.trim_end_matches("_summary")),
            _ => LINES.contains(&kind),
        };
        if !is_known {
            note(&mut self.filling.batch, "unknown-type", line);
        }
    }

    /// Notes the metadata of the file's own thread, or that the following records are inherited.
    fn meta(&mut self, payload: &Payload<'_>) {
        let Some(meta) = Meta::of(payload) else { return };
        *self.is_inherited = self.thread.as_ref().is_some_and(|thread| *thread != meta.thread);
        if *self.is_inherited {
            return;
        }
        let facts = &mut self.filling.batch.facts;
        if let Some(origin) = short(&payload.forked_from_id) {
            *self.is_fork = true;
            if !meta.is_subagent && facts.forked_from.is_none() {
                facts.forked_from = Some(SessionId::new(origin));
            }
        }
        let branch = payload.git.as_ref().and_then(|git| short(&git.branch));
        note_place(meta.directory.as_deref(), branch, facts);
        keep_last(&mut facts.version, short(&payload.cli_version));
        *self.thread = Some(meta.thread);
    }

    /// Ends inherited history at a turn that was begun after the thread.
    fn turn(&mut self, payload: &Payload<'_>) {
        // Both ids begin with their time (UUID version 7), so they can be compared.
        if let (Some(turn), Some(thread)) = (payload.turn_id.as_deref(), self.thread.as_deref())
            && is_timed_uuid(turn)
            && is_timed_uuid(thread)
            && turn >= thread
        {
            *self.is_inherited = false;
        }
    }

    /// Ends inherited history by time, as older turns have no such ids.
    fn leave_history(&mut self, timestamp: Option<Timestamp>) {
        if let (true, Some(at), Some(begun)) = (*self.is_inherited, timestamp, *self.begun) {
            *self.is_inherited = at.as_millisecond() - begun.as_millisecond() <= TAKING_OVER;
        }
    }

    fn item(&mut self, item: &Payload<'_>, position: &RecordPosition) {
        let call = item.call_id.as_deref().unwrap_or_default();
        match item.kind.as_deref().unwrap_or_default() {
            "message" if item.role.as_deref() == Some("assistant") => {
                let texts = item.content.map(hearing::texts).unwrap_or_default();
                for (block, text) in texts.iter().enumerate() {
                    self.filling.said(text, block, position);
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                let result = item.output.map(tools::result).unwrap_or_default();
                self.filling.result(call, result, position);
            }
            _ => {
                if let Some(call) = tools::call(item) {
                    self.filling.call(call, position);
                }
            }
        }
    }

    fn event(&mut self, event: &Payload<'_>, position: &RecordPosition) {
        if let Some((form, text)) = hearing::said(event) {
            return self.person(form, text, position);
        }
        let call = event.call_id.as_deref().unwrap_or_default();
        match event.kind.as_deref().unwrap_or_default() {
            "exec_command_end" => self.command(event, call, position),
            "patch_apply_end" => {
                let failed = event.success.is_some_and(|success| success.get() == "false");
                self.filling.verdict(call, failed);
            }
            "mcp_tool_call_end" => {
                let failed = event.result.is_some_and(says_error);
                self.filling.verdict(call, failed);
            }
            "item_completed" => {
                let Some(item) = &event.item else { return };
                let call = item.id.as_deref().unwrap_or_default();
                match is(item, "CommandExecution") {
                    true => self.command(item, call, position),
                    false if matches!(item.status.as_deref(), Some("failed" | "declined")) => {
                        self.filling.verdict(call, true);
                    }
                    false => {}
                }
            }
            "token_count" => self.tokens(event.info.as_ref()),
            "thread_name_updated" => {
                let facts = &mut self.filling.batch.facts;
                keep_last(&mut facts.user_title, short(&event.thread_name));
            }
            "error" => self.filling.batch.facts.api_errors += 1,
            _ => {}
        }
    }

    /// Adds a prompt. Versions that write both forms of records repeat each prompt.
    fn person(&mut self, form: Form, text: String, position: &RecordPosition) {
        let said = Id::derive(&[text.as_bytes()]);
        let is_repeated = self.prompt.is_some_and(|(told, known)| told != form && known == said);
        // Cleared after a repetition, so that the same words typed again count again.
        *self.prompt = (!is_repeated).then_some((form, said));
        if !is_repeated {
            self.filling.prompt(text, position);
        }
    }

    /// Records how a command ended. Its output comes with the call's result. A command that the user ran
    /// has no call and becomes one.
    fn command(&mut self, event: &Payload<'_>, call: &str, position: &RecordPosition) {
        let exit = event.exit_code.map(RawValue::get).filter(|code| *code != "null");
        let failed = exit.is_some_and(|code| code != "0")
            || matches!(event.status.as_deref(), Some("failed" | "declined"));
        if self.filling.knows(call) {
            return self.filling.verdict(call, failed);
        }
        let Some(command) = event.command.and_then(tools::words).filter(|text| !is_blank(text))
        else {
            return;
        };
        let output = event.aggregated_output.as_deref().filter(|text| !is_blank(text));
        let input = [Some(command.as_str()), output].into_iter().flatten().collect::<Vec<_>>();
        let call = ToolCall {
            id: call.to_owned(),
            tool: "shell".to_owned(),
            input: input.join("\n"),
            command: Some(command),
            outcome: Some(if failed { Outcome::Failed } else { Outcome::Succeeded }),
            ..ToolCall::default()
        };
        self.filling.call(call, position);
    }

    /// Notes a compaction. The context that it keeps was read before, and is not read again.
    fn compaction(&mut self, compacted: &Payload<'_>, position: &RecordPosition) {
        self.filling.batch.facts.compactions += 1;
        if self.filling.course.kind != SourceKind::Main {
            return;
        }
        self.filling.batch.boundaries.push(Boundary {
            record: position.record.clone(),
            ordinal: self.filling.course.next_ordinal,
            at: position.timestamp,
            trigger: "unknown".to_owned(),
            before: None,
            after: None,
        });
        if let Some(text) = compacted.message.as_deref().filter(|text| !is_blank(text)) {
            let text = text::cap(text.to_owned(), PROSE_LIMIT);
            let boundary = position.record.clone();
            self.filling.batch.compact_summaries.push(CompactSummary { boundary, text });
        }
    }

    /// Adds the tokens of the last answer. Events state the sum of the thread, often more than once.
    fn tokens(&mut self, info: Option<&TokenInfo>) {
        let Some((info, total)) = info.and_then(|info| Some((info, total(info)?))) else { return };
        let known = match *self.used {
            // The thread started counting anew.
            Some(known) if known.input > total.input || known.output > total.output => {
                Usage::default()
            }
            Some(known) => known,
            // A fork continues with the sum of its origin.
            None if *self.is_fork => match &info.last_token_usage {
                Some(last) => less(total, usage(last)),
                None => total,
            },
            None => Usage::default(),
        };
        *self.used = Some(total);
        self.filling.batch.facts.usage.add(&less(total, known));
    }
}

fn total(info: &TokenInfo) -> Option<Usage> {
    info.total_token_usage.as_ref().map(usage)
}

fn usage(tokens: &Tokens) -> Usage {
    let cache_read = tokens.cached_input_tokens.unwrap_or_default();
    let cache_creation = tokens.cache_write_input_tokens.unwrap_or_default();
    let cached = cache_read.saturating_add(cache_creation);
    Usage {
        input: tokens.input_tokens.unwrap_or_default().saturating_sub(cached),
        output: tokens.output_tokens.unwrap_or_default(),
        cache_creation,
        cache_read,
    }
}

fn less(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_sub(b.input),
        output: a.output.saturating_sub(b.output),
        cache_creation: a.cache_creation.saturating_sub(b.cache_creation),
        cache_read: a.cache_read.saturating_sub(b.cache_read),
    }
}

/// True if an MCP call's result is an error, of the server or of the connection to it.
fn says_error(result: &RawValue) -> bool {
    json::members(result.get()).iter().any(|(key, value)| match key.as_ref() {
        "Err" => true,
        "Ok" => json::members(value.get()).iter().any(|(key, value)| {
            matches!(key.as_ref(), "isError" | "is_error") && value.get() == "true"
        }),
        _ => false,
    })
}

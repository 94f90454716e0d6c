//! What clients report and tell: prompts, tool calls, ends of turns and of sessions, memories.

use serde_json::{Map, Value, json};
use thru_agents::hooks::Event;
use thru_app::ask::ProjectScope;
use thru_app::ask::sessions::{ListSessions, list};
use thru_app::hook::report::{LeftOut, Reported, ReportedEvent, Skip, report};
use thru_app::keep::remember::{Remember, remember};
use thru_app::{App, Call};
use thru_core::{
    Agent, ObservationType, ProjectKey, SessionId, SessionKey, Summary, TITLE_LENGTH, head,
    one_line,
};

use super::input::Input;
use super::read::known_project;
use super::{Failure, Reply};

/// Bytes that are kept of a prompt.
const LONGEST_PROMPT: usize = 256 * 1024;
/// Characters of the title that a text without one is given.
const TITLE: usize = 60;
/// Sessions among which one is looked for by its number.
const LATEST: usize = 500;

/// The tool whose calls the worker of claude-mem leaves out, although ours are kept where hooks report them.
const QUESTION: &str = "AskUserQuestion";

/// The names under which clients send the id of a session.
const SESSION: [&str; 5] =
    ["contentSessionId", "claudeSessionId", "sessionId", "content_session_id", "session_id"];

/// Records a prompt.
pub(super) fn init(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let prompt = input.text(&["prompt", "userPrompt", "user_prompt"]);
    let prompt = prompt.unwrap_or_else(|| "[media prompt]".to_owned());
    let fields = [("prompt", head(&prompt, LONGEST_PROMPT).into())];
    let Reported { summary, prompts, is_again, left_out } =
        record(input, app, call, Event::UserPromptSubmit, fields)?;
    let mut answer = json!({ "sessionDbId": summary.number(), "promptNumber": prompts });
    match left_out {
        None if is_again => {
            answer["skipped"] = true.into();
            answer["reason"] = "duplicate".into();
            answer["contextInjected"] = false.into();
        }
        None => {
            answer["skipped"] = false.into();
            answer["contextInjected"] = false.into();
            answer["status"] = "initialized".into();
        }
        Some(left_out) => {
            answer["skipped"] = true.into();
            answer["reason"] = reason(left_out).into();
        }
    }
    Ok(Reply::Json(answer))
}

/// Records a tool call.
pub(super) fn observation(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let tool = input.text(&["tool_name", "toolName"]).ok_or_else(|| required("tool_name"))?;
    if tool == QUESTION {
        return Ok(Reply::Json(json!({ "status": "skipped", "reason": "tool_excluded" })));
    }
    let mut fields = vec![
        ("tool_name", tool.into()),
        // A call without an input is a call all the same.
        ("tool_input", parsed(input.value(&["tool_input"])).unwrap_or_else(|| json!({}))),
    ];
    fields.extend(parsed(input.value(&["tool_response"])).map(|value| ("tool_response", value)));
    let texts = [
        ("tool_use_id", ["tool_use_id", "toolUseId"]),
        ("agent_id", ["agentId", "agent_id"]),
        ("agent_type", ["agentType", "agent_type"]),
    ];
    for (name, names) in texts {
        fields.extend(input.text(&names).map(|text| (name, text.into())));
    }
    match record(input, app, call, Event::PostToolUse, fields) {
        Ok(reported) => Ok(queued(reported)),
        Err(Failure::Malformed(status, reason)) if status.is_server_error() => {
            Err(Failure::NotStored(reason))
        }
        Err(failure) => Err(failure),
    }
}

/// Records the end of a turn.
pub(super) fn summarize(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    if input.text(&["agentId", "agent_id"]).is_some() {
        return Ok(Reply::Json(json!({ "status": "skipped", "reason": "subagent_context" })));
    }
    let said = input.text(&["last_assistant_message", "lastAssistantMessage"]);
    let fields = said.map(|said| ("last_assistant_message", said.into()));
    Ok(queued(record(input, app, call, Event::Stop, fields)?))
}

/// Records the end of a session.
pub(super) fn complete(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    let reason = input.text(&["reason"]).unwrap_or_else(|| "other".to_owned());
    record(input, app, call, Event::SessionEnd, [("reason", reason.into())])?;
    Ok(Reply::Json(json!({ "status": "completed" })))
}

/// Keeps a memory, as a note of an agent: no person stands behind what comes without a token.
pub(super) fn save(input: &Input, app: &App, call: Call<'_>) -> Result<Reply, Failure> {
    if let Some(unknown) = input.other_than(&["text", "title", "project", "metadata"]) {
        let message = format!("Unrecognized key: {}", one_line(unknown, TITLE));
        return Err(Failure::Invalid { field: "body", message });
    }
    let text = input.text(&["text"]).ok_or_else(|| required("text"))?.trim().to_owned();
    let title = match input.text(&["title"]) {
        Some(title) => one_line(&title, TITLE_LENGTH),
        None if text.chars().count() > TITLE || text.contains('\n') => {
            let start: String = text.chars().take(TITLE).collect();
            format!("{}...", one_line(&start, TITLE))
        }
        None => text.clone(),
    };
    let metadata = input.value(&["metadata"]).and_then(|metadata| metadata["project"].as_str());
    let named = input.text(&["project"]).or_else(|| metadata.map(str::to_owned));
    let known = known_project(named.as_deref(), app, call)?;
    // One that is not known begins with it.
    let scope = known.unwrap_or_else(|| {
        let name = one_line(named.as_deref().unwrap_or_default(), TITLE);
        ProjectScope::Named(ProjectKey::named(&name).to_string())
    });
    let request = Remember {
        text,
        title: Some(title.clone()),
        kind: ObservationType::Discovery,
        is_rule: false,
        files: Vec::new(),
        scope,
        by_agent: true,
    };
    let kept = remember(app, &request, call)?;
    let id = kept.id.number();
    Ok(Reply::Json(json!({
        "success": true,
        "id": id,
        "title": title,
        "project": kept.project.map(|project| project.into_inner()),
        "message": format!("Memory saved as observation #{id}"),
    })))
}

/// Records an event of the session that the input names.
fn record(
    input: &Input,
    app: &App,
    call: Call<'_>,
    event: Event,
    fields: impl IntoIterator<Item = (&'static str, Value)>,
) -> Result<Reported, Failure> {
    let SessionKey { agent, id } = session(input, app, call)?;
    let project = input.text(&["project"]).filter(|name| name != "unknown");
    let is_path = |name: &String| name.starts_with('/');
    let directory = input.text(&["cwd"]).or_else(|| project.clone().filter(is_path));
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(report(app, ReportedEvent { agent, event, session: id, directory, project, fields })?)
}

/// Returns the session that the body names, else the one in the path: by the client's id, or by the number that an
/// earlier answer gave it.
fn session(input: &Input, app: &App, call: Call<'_>) -> Result<SessionKey, Failure> {
    let agent = input.agent();
    if let Some(id) = input.text(&SESSION) {
        return Ok(SessionKey { agent, id: SessionId::new(id) });
    }
    let id = input.text(&["id"]).ok_or_else(|| required("contentSessionId"))?;
    let numbered = match id.parse() {
        Ok(number) => numbered_session(number, app, call)?,
        Err(_) => None,
    };
    Ok(numbered.unwrap_or_else(|| SessionKey { agent, id: SessionId::new(id) }))
}

fn numbered_session(number: u64, app: &App, call: Call<'_>) -> Result<Option<SessionKey>, Failure> {
    let request = ListSessions {
        project: ProjectScope::Everywhere,
        agents: Vec::new(),
        since: None,
        until: None,
        cursor: None,
        limit: LATEST,
    };
    let mut sessions = list(app, &request, call)?.sessions.into_iter();
    let has_number =
        |agent: Agent, id: &SessionId| Summary::id_of(agent, id.as_str()).number() == number;
    let found = sessions.find(|session| has_number(session.agent, &session.id));
    Ok(found.map(|session| SessionKey { agent: session.agent, id: session.id }))
}

fn queued(reported: Reported) -> Reply {
    Reply::Json(match reported.left_out {
        None => json!({ "status": "queued" }),
        Some(left_out) => json!({ "status": "skipped", "reason": reason(left_out) }),
    })
}

/// Names a reason as clients know it.
const fn reason(left_out: LeftOut) -> &'static str {
    match left_out {
        LeftOut::Off => "project_excluded",
        LeftOut::Skipped(Skip::Private) => "private",
        LeftOut::Skipped(Skip::SkippedTool) => "tool_excluded",
        LeftOut::Skipped(Skip::OwnTool) => "session_memory_meta",
        LeftOut::Skipped(Skip::Forgotten) => "session_forgotten",
    }
}

fn required(field: &'static str) -> Failure {
    Failure::Invalid { field, message: "Required".to_owned() }
}

/// Returns a value; one that was sent as JSON in a text is read.
fn parsed(value: Option<&Value>) -> Option<Value> {
    let value = value?;
    let inner = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    Some(inner.filter(Value::is_object).unwrap_or_else(|| value.clone()))
}

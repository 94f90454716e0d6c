//! The content of a tool call (text, files, command line), and of its output.

use std::borrow::Cow;

use serde_json::value::RawValue;
use thru_core::{Access, FileTouch, Outcome};

use super::hearing::texts;
use super::record::Payload;
use crate::blank::is_blank;
use crate::passages::{PATH_LIMIT, ToolCall, ToolResult};
use crate::{json, patch, render};

/// Reads the call in a response item, if it is one.
pub(super) fn call(item: &Payload<'_>) -> Option<ToolCall> {
    let (name, input) = match item.kind.as_deref()? {
        "function_call" => (item.name.as_deref().unwrap_or_default(), item.arguments),
        "custom_tool_call" => (item.name.as_deref().unwrap_or_default(), item.input),
        "local_shell_call" => ("local_shell", item.action),
        "web_search_call" => ("web_search", item.action),
        _ => return None,
    };
    let tool = match item.namespace.as_deref() {
        Some(namespace) if !is_blank(namespace) => format!("{namespace}__{name}"),
        _ => name.to_owned(),
    };
    // Arguments are JSON inside a JSON string.
    let text = input.and_then(|input| json::string(input.get()));
    let parsed = text.as_deref().filter(|text| text.trim_start().starts_with('{'));
    let parsed = parsed.and_then(|text| RawValue::from_string(text.trim().to_owned()).ok());
    let input = parsed.as_deref().or(input);
    let rendered = input.map(render::flat).unwrap_or_default();

    let command = match name {
        "exec_command" | "shell" | "shell_command" | "container.exec" | "local_shell" => {
            input.and_then(command)
        }
        _ => None,
    };
    let patched = command.as_deref().unwrap_or(&rendered.text);
    let patched = Some(patched).filter(|text| {
        (name == "apply_patch" || command.is_some()) && patch::is_in(text) && !rendered.blanked
    });
    let seen = input.filter(|_| name == "view_image").and_then(|input| text_member(input, "path"));
    let seen = seen.filter(|path| !path.is_empty() && path.len() <= PATH_LIMIT);
    let mut files = patched.map(patch::files).unwrap_or_default();
    files.extend(seen.map(|path| FileTouch { path, access: Access::Read }));
    Some(ToolCall {
        id: item.call_id.as_deref().unwrap_or_default().to_owned(),
        tool,
        written: patched.and_then(patch::written),
        command,
        files,
        blanked: rendered.blanked,
        input: rendered.text,
        outcome: match (name, item.status.as_deref()) {
            // The search results are for the model only.
            ("web_search", Some("failed")) => Some(Outcome::Failed),
            ("web_search", _) => Some(Outcome::Succeeded),
            _ => None,
        },
    })
}

/// Returns the command line of a call. The input may be a string or an argument list, often a shell with
/// a script.
pub(super) fn command(input: &RawValue) -> Option<String> {
    let members = json::members(input.get());
    let (_, command) = members.iter().find(|(key, _)| matches!(key.as_ref(), "cmd" | "command"))?;
    words(command)
}

/// Returns a command line given as a string or an argument list.
pub(super) fn words(command: &RawValue) -> Option<String> {
    if let Some(text) = json::string(command.get()) {
        return Some(text.into_owned());
    }
    let words: Vec<Cow<'_, str>> = json::elements(command.get())
        .into_iter()
        .filter_map(|word| json::string(word.get()))
        .collect();
    match words.as_slice() {
        [] => None,
        [_, flag, script] if matches!(flag.as_ref(), "-c" | "-lc" | "-Command" | "/c") => {
            Some(script.clone().into_owned())
        }
        words => Some(words.join(" ")),
    }
}

/// Reads the output of a tool.
pub(super) fn result(output: &RawValue) -> ToolResult {
    if let Some(text) = json::string(output.get()) {
        return result_in(&text);
    }
    let members = json::members(output.get());
    if members.is_empty() {
        let texts = texts(output);
        let text = if texts.is_empty() { render::flat(output).text } else { texts.join("\n") };
        return result_in(&text);
    }
    let member = |name| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let content = member("content").or_else(|| member("output")).unwrap_or(output);
    let mut result = match json::string(content.get()) {
        Some(text) => result_in(&text),
        None => result_in(&texts(content).join("\n")),
    };
    let failed = member("metadata").and_then(|metadata| number_member(metadata, "exit_code"));
    let success = member("success").map(|success| success.get() == "false");
    result.failed = failed.map(|code| code != "0").or(success).or(result.failed);
    result
}

fn result_in(text: &str) -> ToolResult {
    // Up to 2025, shells answered in JSON.
    if text.starts_with("{\"output\":")
        && let Ok(object) = RawValue::from_string(text.to_owned())
    {
        return result(&object);
    }
    let (exit, body) = without_head(text);
    let failed = match &exit {
        Some(code) => Some(*code != "0"),
        None => says_failure(text).then_some(true),
    };
    // A command that still runs has no outcome yet, and later calls name it by its number.
    let running = text.lines().take(4).find(|line| line.starts_with(RUNNING));
    let text = match (exit.filter(|_| failed == Some(true)), running) {
        (Some(code), _) => format!("Exit code: {code}\n{body}"),
        (None, Some(line)) => format!("{line}\n{body}"),
        (None, None) => body.to_owned(),
    };
    ToolResult { text, failed, files: Vec::new() }
}

/// The beginning of the line that Codex writes above the output of a command that still runs.
const RUNNING: &str = "Process running with session ID ";

/// Removes the header that Codex writes above an output (`Chunk ID`, `Wall time` and the like), and
/// returns the exit code from it with the rest.
fn without_head(text: &str) -> (Option<&str>, &str) {
    const UNINFORMATIVE: [&str; 4] =
        ["Chunk ID: ", "Wall time: ", "Original token count: ", "Total output lines: "];
    let mut exit = None;
    let mut rest = text;
    loop {
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        let code = ["Exit code: ", "Process exited with code "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        if let Some(code) = code {
            exit = Some(code.trim());
        } else if line == "Output:" {
            return (exit, below);
        } else if !UNINFORMATIVE.iter().any(|start| line.starts_with(start))
            && !line.starts_with(RUNNING)
        {
            // No header, or one in another format.
            return (exit, text);
        }
        if below.is_empty() {
            return (exit, if exit.is_some() { "" } else { text });
        }
        rest = below;
    }
}

/// True if the text is Codex's message for a call that failed.
fn says_failure(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let start = &first[..first.floor_char_boundary(48)];
    start.starts_with("aborted by user")
        || start.starts_with("unsupported ")
        || start.split_once(" failed:").is_some_and(|(what, _)| what.split(' ').count() <= 2)
}

fn text_member(object: &RawValue, name: &str) -> Option<String> {
    let members = json::members(object.get());
    let (_, value) = members.iter().find(|(key, _)| key == name)?;
    json::string(value.get()).map(Cow::into_owned)
}

fn number_member<'a>(object: &'a RawValue, name: &str) -> Option<&'a str> {
    let members = json::members(object.get());
    members.into_iter().find(|(key, _)| key == name).map(|(_, value)| value.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(output: &str) -> (String, Option<bool>) {
        let output = RawValue::from_string(output.to_owned()).unwrap();
        let result = result(&output);
        (result.text, result.failed)
    }

    #[test]
    fn outputs_say_how_calls_ended() {
        for (output, text, failed) in [
            (
                r#""Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nhi\n""#,
                "hi\n",
                Some(false),
            ),
            (
                r#""Exit code: 2\nWall time: 1 seconds\nOutput:\nno such file""#,
                "Exit code: 2\nno such file",
                Some(true),
            ),
            (
                r#""Chunk ID: a1\nWall time: 0.1 seconds\nProcess running with session ID 7\nOutput:\nstill""#,
                "Process running with session ID 7\nstill",
                None,
            ),
            (
                r#""{\"output\":\"gone\\n\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.1}}""#,
                "gone\n",
                Some(true),
            ),
            (
                r#""apply_patch verification failed: no such line""#,
                "apply_patch verification failed: no such line",
                Some(true),
            ),
            (r#""aborted by user after 3.1s""#, "aborted by user after 3.1s", Some(true)),
            (r#""Plan updated""#, "Plan updated", None),
            (r#""Exit code: 0""#, "", Some(false)),
            (
                r#"[{"type":"input_text","text":"seen"},{"type":"input_image","image_url":"data:"}]"#,
                "seen",
                None,
            ),
            (r#"{"content":"no","success":false}"#, "no", Some(true)),
            ("null", "", None),
            ("7", "7", None),
        ] {
            assert_eq!(said(output), (text.to_owned(), failed), "{output}");
        }
    }

    #[test]
    fn the_script_is_the_command() {
        let words = |raw: &str| words(&RawValue::from_string(raw.to_owned()).unwrap());
        assert_eq!(words(r#"["bash","-lc","cargo test"]"#).as_deref(), Some("cargo test"));
        assert_eq!(words(r#"["git","log","-1"]"#).as_deref(), Some("git log -1"));
        assert_eq!(words(r#""ls""#).as_deref(), Some("ls"));
        assert_eq!(words("[]"), None);
    }
}

//! The user's own `claude`, as installed and signed in.
//!
//! It runs hooks, and some of them are ours: a question to the model would be recorded as a session,
//! distilled, and asked about again. So every way that leads there is closed on its own: it gets no
//! hooks, settings, plugins, servers, tools, project or history, and a variable marks everything it
//! starts as started by us. A client that lacks the options for this is not asked at all.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use thru_core::Micros;
use thru_outside::process::{self, ProcessError};
use thru_outside::{Key, Limits, excerpt};

use crate::anthropic;
use crate::chat::Heard;
use crate::error::AskError;
use crate::provider::{Kind, Provider, Settings};
use crate::refusal::{Refusal, discreet};
use crate::request::{Reply, Request, Stop};

/// Options without which it is not asked.
const GUARDS: [(&str, &[&str]); 5] = [
    ("--settings", &["--settings", r#"{"disableAllHooks":true}"#]),
    ("--setting-sources", &["--setting-sources", ""]),
    ("--strict-mcp-config", &["--strict-mcp-config"]),
    ("--tools", &["--tools", ""]),
    ("--no-session-persistence", &["--no-session-persistence"]),
];

/// Disables again what the other options disable; from 2.1.169 on.
const SAFE_MODE: &str = "--safe-mode";

/// Variables that mark the process as ours, and limit it.
const VARIABLES: [(&str, &str); 6] = [
    ("THROUGHLINE_CHILD", "1"),
    ("CLAUDE_CODE_SKIP_PROMPT_HISTORY", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    // Retries are up to the caller.
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    // Thoughts are paid for, and by default there may be 32,000 tokens of them.
    ("MAX_THINKING_TOKENS", "0"),
];

/// Variables of the session that we may have been started in, which must not leak.
const FOREIGN: [&str; 7] = [
    "CLAUDECODE",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_EFFORT",
    // Otherwise the client would use and bill a key although the user signed in.
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "NODE_OPTIONS",
];
const FOREIGN_PREFIXES: [&str; 2] = ["CLAUDE_CODE_", "CLAUDE_PLUGIN_"];

/// Variables with the user's login, or with the cloud that serves the model.
const SIGNED_IN: [&str; 1] = ["CLAUDE_CODE_OAUTH_TOKEN"];
const SIGNED_IN_PREFIXES: [&str; 3] =
    ["CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CODE_CLIENT_"];

/// Limits of the call that lists its options.
const HELP: Limits = Limits { time: Duration::from_secs(20), size: 256 * 1024 };

/// Longest text that every system accepts as an argument of a program, in bytes.
const LONGEST_ARGUMENT: usize = 100_000;

const ADVICE: &str = "run `claude` once and sign in with /login";

/// The `claude` program.
pub(crate) struct ClaudeCli {
    program: PathBuf,
    model: String,
    key: Option<Key>,
    environment: Vec<(OsString, OsString)>,
    scratch: PathBuf,
    limits: Limits,
    /// True if it knows [`SAFE_MODE`]; `None` before it was checked.
    knows_safe_mode: Mutex<Option<bool>>,
}

impl ClaudeCli {
    pub(crate) fn new(settings: &Settings, scratch: PathBuf) -> Self {
        let environment = settings.environment.iter().filter(|(name, _)| is_passed_on(name));
        Self {
            program: settings.program.clone(),
            model: settings.model.clone(),
            key: settings.key.clone(),
            environment: environment.cloned().collect(),
            scratch,
            limits: Limits { time: settings.timeout, size: settings.longest_answer },
            knows_safe_mode: Mutex::new(None),
        }
    }

    fn command(&self, folder: &TempDir) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter().cloned()).envs(VARIABLES);
        if let Some(key) = &self.key {
            command.env(anthropic::KEY_VARIABLE, key.reveal());
        }
        // Some programs trust this more than their actual directory.
        command.env("PWD", folder.path()).current_dir(folder.path());
        command
    }

    /// Checks, once, that it supports all the options that it must be restricted with.
    fn knows_safe_mode(&self, folder: &TempDir, stop: &AtomicBool) -> Result<bool, AskError> {
        let mut known = self.knows_safe_mode.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *known {
            return Ok(known);
        }
        let help = process::run(self.command(folder).arg("--help"), b"", HELP, stop)
            .map_err(|error| failed(&error, &self.program, None))?;
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        let knows = |option: &str| {
            let mut words = help.split(|letter: char| letter.is_whitespace() || letter == ',');
            words.any(|word| word == option)
        };
        if let Some((missing, _)) = GUARDS.iter().find(|(option, _)| !knows(option)) {
            let said = format!("this version of claude lacks {missing}; update it");
            return Err(AskError::Rejected { status: 0, said });
        }
        Ok(*known.insert(knows(SAFE_MODE)))
    }

    fn arguments(&self, request: &Request, safe_mode: bool) -> Vec<String> {
        let mut arguments = vec!["-p".to_owned()];
        let mut add = |more: &[&str]| arguments.extend(more.iter().map(|&text| text.to_owned()));
        add(&["--output-format", "json", "--model", &self.model]);
        GUARDS.iter().for_each(|(_, guard)| add(guard));
        if safe_mode {
            add(&[SAFE_MODE]);
        }
        if !request.system.is_empty() {
            add(&["--system-prompt", &request.system]);
        }
        if let Some(schema) = &request.schema {
            add(&["--json-schema", &schema.to_string()]);
        }
        arguments
    }

    /// Parses its output. When the model returned an error, it exits with an error and says so in its
    /// output.
    fn hear(&self, output: &process::Output, request: &Request) -> Result<Heard, AskError> {
        let Some(body) = result(&output.stdout) else {
            let said = match String::from_utf8_lossy(&output.stderr).trim() {
                "" => String::from_utf8_lossy(&output.stdout).into_owned(),
                complaint => complaint.to_owned(),
            };
            let said = discreet(&said, request, self.key.as_ref());
            return Err(AskError::Protocol {
                said: excerpt(&format!("claude ended with {}: {said}", output.status)),
                spent: Some(request.estimate()),
            });
        };
        let usage = body["usage"].is_object().then(|| anthropic::usage(&body["usage"]));
        let text = body["result"].as_str().unwrap_or_default();
        let subtype = body["subtype"].as_str().unwrap_or_default();
        if body["is_error"] == true || subtype != "success" {
            return Err(self.error(&body, text, subtype, request));
        }
        let structured = Some(&body["structured_output"]).filter(|value| value.is_object());
        let stopped = match body["stop_reason"].as_str() {
            // The structured output is a tool call to it.
            None | Some("end_turn" | "stop_sequence" | "tool_use") => Stop::Complete,
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Refused,
            Some(other) => Stop::Other(other.to_owned()),
        };
        let models = body["modelUsage"].as_object();
        Ok(Heard {
            text: text.to_owned(),
            structured: structured.cloned(),
            model: models.and_then(|models| models.keys().next().cloned()),
            usage,
            stopped: Some(stopped),
            cost: body["total_cost_usd"].as_f64().map(Micros::from_dollars),
        })
    }

    fn error(&self, body: &Value, text: &str, subtype: &str, request: &Request) -> AskError {
        let spent = anthropic::usage(&body["usage"]);
        if subtype == "error_max_structured_output_retries" {
            return AskError::Unusable { spent };
        }
        let text =
            if text.is_empty() { body["errors"][0].as_str().unwrap_or(subtype) } else { text };
        let status =
            body["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
        let lower = text.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let status = match status.or_else(|| status_in(text)) {
            Some(status) => status,
            None if says(&[
                "not logged in",
                "/login",
                "invalid api key",
                "oauth token",
                "credit balance",
            ]) =>
            {
                401
            }
            None if says(&["limit reached", "rate limit", "hit your limit", "usage limit"]) => 429,
            None if says(&["overloaded"]) => 529,
            None if says(&["unable to connect", "connection error"]) => {
                let said = discreet(text, request, self.key.as_ref());
                return AskError::Unreachable { said };
            }
            None if spent.output > 0 => {
                let said = discreet(text, request, self.key.as_ref());
                return AskError::Protocol { said, spent: Some(spent) };
            }
            None => 500,
        };
        Refusal::said(status, text).into_error(request, self.key.as_ref(), ADVICE)
    }
}

impl Provider for ClaudeCli {
    fn name(&self) -> &str {
        Kind::ClaudeCli.name()
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn is_local(&self) -> bool {
        false
    }

    fn ask(&self, request: &Request, stop: &AtomicBool) -> Result<Reply, AskError> {
        let started = Instant::now();
        let rejected = |said: String| AskError::Rejected { status: 0, said };
        let schema = request.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        if request.system.len().max(schema) > LONGEST_ARGUMENT {
            return Err(rejected("rules or schema are too long for an argument".to_owned()));
        }
        let folder = empty_folder(&self.scratch)
            .map_err(|error| rejected(format!("no folder to work in: {}", error.kind())))?;
        let safe_mode = self.knows_safe_mode(&folder, stop)?;
        let mut command = self.command(&folder);
        command.args(self.arguments(request, safe_mode));
        command.env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", request.max_output_tokens.to_string());
        let output = process::run(&mut command, request.prompt.as_bytes(), self.limits, stop)
            .map_err(|error| failed(&error, &self.program, Some(request)))?;
        self.hear(&output, request)?.into_reply(request, &self.model, started)
    }
}

/// Creates a new folder that only this user can read.
fn empty_folder(scratch: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix("thru-ask-").tempdir_in(scratch)
}

/// Returns true if an environment variable is passed on.
fn is_passed_on(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let is_signed_in = SIGNED_IN.contains(&name)
        || (starts(&SIGNED_IN_PREFIXES) && name != "CLAUDE_CODE_SKIP_PROMPT_HISTORY");
    let is_ours = VARIABLES.iter().any(|(ours, _)| *ours == name);
    !is_ours && (is_signed_in || !(FOREIGN.contains(&name) || starts(&FOREIGN_PREFIXES)))
}

/// Returns the last result document of an output. Warnings may precede it.
fn result(stdout: &[u8]) -> Option<Value> {
    let is_result = |value: &Value| value["type"] == "result";
    let text = String::from_utf8_lossy(stdout);
    let mut lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    serde_json::from_str(&text).ok().filter(is_result).or_else(|| lines.find(is_result))
}

/// Returns the status in words such as "API Error: 529 …".
fn status_in(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("API Error: ")?;
    rest.get(..3)?.parse().ok().filter(|status| (400..600).contains(status))
}

fn failed(error: &ProcessError, program: &Path, asked: Option<&Request>) -> AskError {
    let spent = asked.map(Request::estimate);
    match error {
        ProcessError::Start(error) => AskError::Rejected {
            status: 0,
            said: match error.kind() {
                std::io::ErrorKind::NotFound => {
                    format!(
                        "`{}` was not found: install Claude Code, or put it on your PATH",
                        program.display()
                    )
                }
                _ => excerpt(&format!("{} cannot be started: {error}", program.display())),
            },
        },
        ProcessError::Timeout(limit) => AskError::Timeout { limit: *limit, spent },
        ProcessError::Stopped => AskError::Stopped { spent },
        ProcessError::TooLong(limit) => AskError::TooLong { limit: *limit, spent },
        ProcessError::Wait(error) => {
            AskError::Protocol { said: excerpt(&error.to_string()), spent }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_we_are_in_is_not_passed_on() {
        let dropped = [
            "CLAUDECODE",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SIMPLE",
            "CLAUDE_PLUGIN_ROOT",
            "CLAUDE_ENV_FILE",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "THROUGHLINE_CHILD",
            "CLAUDE_CODE_SKIP_PROMPT_HISTORY",
        ];
        let kept = [
            "HOME",
            "PATH",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "ANTHROPIC_BASE_URL",
            "HTTPS_PROXY",
            "AWS_PROFILE",
        ];
        let passed: Vec<&str> =
            dropped.into_iter().chain(kept).filter(|name| is_passed_on(OsStr::new(name))).collect();
        assert_eq!(passed, kept);
    }

    #[test]
    fn a_status_is_read_from_words() {
        assert_eq!(status_in(r#"API Error: 529 {"type":"error"}"#), Some(529));
        assert_eq!(status_in("API Error: Unable to connect"), None);
        assert_eq!(status_in("I looked at API Error: 200"), None);
    }
}

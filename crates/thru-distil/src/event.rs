//! The part of a passage that is kept: little, so that a session of any length fits into memory.

use thru_core::{Access, Id, Outcome, PassageKind, Timestamp};

use crate::agent_text::AgentText;
use crate::answers::{self, DialogAnswer, Plan};
use crate::checks::{self, Status};
use crate::commits::{self, Commit, PullRequest};
use crate::declined::{self, Declined};
use crate::moment::Moment;
use crate::request::Request;
use crate::shell;
use crate::tasks::{self, Change};

/// One passage, reduced to what the detectors need.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) id: Id,
    pub(crate) turn: u32,
    pub(crate) at: Option<Timestamp>,
    pub(crate) is_subagent: bool,
    /// Tokens (estimated) of the passage.
    pub(crate) tokens: u64,
    pub(crate) is_pending: bool,
    /// True if the tool is not one of the client's: its effects are unknown.
    pub(crate) is_foreign: bool,
    pub(crate) read: Vec<String>,
    pub(crate) modified: Vec<String>,
    pub(crate) action: Action,
}

/// The content of a passage.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A person sent a prompt.
    Asked(Box<Request>),
    /// The agent wrote.
    Wrote(Box<AgentText>),
    /// A shell ran.
    Ran(Box<Run>),
    /// A person answered questions.
    Answered(Vec<DialogAnswer>),
    /// A person approved a plan.
    Approved(Box<Plan>),
    /// A person declined a call.
    Declined(Declined),
    /// The agent changed its list of tasks.
    Tasks(Change),
    /// Another tool ran.
    Used,
    /// Nothing of interest.
    Nothing,
}

/// A run of a command line.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// A key that stays the same when the command is run again.
    pub(crate) key: u64,
    /// Its program and subcommand.
    pub(crate) family: String,
    /// The command line as shown.
    pub(crate) shown: String,
    pub(crate) status: Status,
    pub(crate) is_check: bool,
    /// True if the command only inspects things, so that a failure means nothing.
    pub(crate) is_looking: bool,
    /// True if another form of the command may replace it.
    pub(crate) has_variants: bool,
    pub(crate) commits: Vec<Commit>,
    pub(crate) pull_request: Option<PullRequest>,
}

impl Event {
    /// Reduces a passage to the part that is kept.
    pub(crate) fn from_moment(moment: Moment) -> Self {
        let action = match moment.kind {
            PassageKind::Human => Action::Asked(Box::new(Request::parse(&moment.text))),
            PassageKind::Assistant if moment.is_subagent => Action::Nothing,
            PassageKind::Assistant => Action::Wrote(Box::new(AgentText::parse(&moment.text))),
            PassageKind::Tool => tool(&moment),
        };
        let is_failed = moment.outcome == Some(Outcome::Failed);
        let (mut read, mut modified) = (Vec::new(), Vec::new());
        for file in moment.files {
            match file.access {
                Access::Read if !is_failed => read.push(file.path),
                Access::Modified if !is_failed => modified.push(file.path),
                Access::Read | Access::Modified => {}
            }
        }
        let is_foreign = moment.tool.as_deref().is_some_and(|tool| tool.starts_with("mcp__"));
        Self {
            is_foreign: is_foreign && !is_failed,
            id: moment.id,
            turn: moment.turn,
            at: moment.at,
            is_subagent: moment.is_subagent,
            tokens: moment.length.div_ceil(4),
            is_pending: moment.outcome == Some(Outcome::Pending),
            read,
            modified,
            action,
        }
    }

    /// Returns the agent's prose in it, if any.
    pub(crate) fn agent_text(&self) -> Option<&AgentText> {
        match &self.action {
            Action::Wrote(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the command that ran in it.
    pub(crate) fn run(&self) -> Option<&Run> {
        match &self.action {
            Action::Ran(run) => Some(run),
            _ => None,
        }
    }

    /// Returns the person's request in it.
    pub(crate) fn request(&self) -> Option<&Request> {
        match &self.action {
            Action::Asked(request) => Some(request),
            _ => None,
        }
    }

    /// Returns true if a tool ran in it.
    pub(crate) fn is_tool(&self) -> bool {
        !matches!(self.action, Action::Asked(_) | Action::Wrote(_) | Action::Nothing)
    }
}

fn tool(moment: &Moment) -> Action {
    let tool = moment.tool.as_deref().unwrap_or_default();
    let text = moment.text.as_str();
    if let Some(command) = &moment.command {
        return run(moment, command);
    }
    let is_done = moment.outcome == Some(Outcome::Succeeded);
    match tool {
        "AskUserQuestion" if is_done => {
            let answers = answers::answers(text);
            if answers.is_empty() { Action::Used } else { Action::Answered(answers) }
        }
        "ExitPlanMode" if is_done && answers::is_approved(text) => {
            Action::Approved(Box::new(answers::plan(text)))
        }
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "update_plan" if is_done => {
            tasks::change(tool, text).map_or(Action::Used, Action::Tasks)
        }
        _ if moment.outcome == Some(Outcome::Failed) => {
            declined::by_call(tool, text).map_or(Action::Used, Action::Declined)
        }
        _ => Action::Used,
    }
}

fn run(moment: &Moment, command: &str) -> Action {
    if moment.text.is_empty() {
        return Action::Used;
    }
    let line = shell::parse(command);
    let result = shell::result(&moment.text, command);
    if moment.outcome == Some(Outcome::Failed)
        && matches!(moment.tool.as_deref(), Some("Bash" | "PowerShell"))
        && let Some(declined) = declined::by_shell(&moment.text, result)
    {
        return Action::Declined(declined);
    }
    let Some(main) = line.main() else { return Action::Used };
    let is_check = line.acting().any(shell::Simple::is_check);
    let status = checks::status(moment.outcome, is_check, result);
    let is_done = moment.outcome == Some(Outcome::Succeeded);
    let commits = commits::parse(&line, result);
    // A failed chain may have committed before it failed: git's own output shows it.
    let commits = if is_done {
        commits
    } else {
        commits.into_iter().filter(|commit| commit.place.is_some()).collect()
    };
    Action::Ran(Box::new(Run {
        key: hash(&line.key()),
        family: main.family(),
        shown: shell::shown(command),
        status,
        is_check,
        is_looking: line.acting().all(shell::Simple::is_looking),
        has_variants: main.is_check() || main.has_subcommand(),
        commits,
        pull_request: if is_done { commits::pull_request(&line, result) } else { None },
    }))
}

/// Returns a short key.
fn hash(key: &str) -> u64 {
    let id = Id::derive(&[key.as_bytes()]);
    id.as_bytes().iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

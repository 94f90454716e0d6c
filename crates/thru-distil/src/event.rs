//! The part of a passage that is kept: little, so that a session of any length fits into memory.

use thru_core::{
    ASKING_TOOLS, Access, Id, Outcome, PassageKind, Timestamp, Undoing, is_memory_question,
    loads_tools,
};

use crate::agent_text::AgentText;
use crate::answers::{self, DialogAnswer, Plan};
use crate::checks::{self, Status};
use crate::commits::{self, Commit, PullRequest};
use crate::course::ShellCourse;
use crate::declined::{self, Declined};
use crate::landing::{self, Landing};
use crate::moment::Moment;
use crate::request::Request;
use crate::scope::Scope;
use crate::shell::{self, CommandLine};
use crate::tasks::{self, Change};
use crate::undone;

/// One passage, reduced to what the detectors need.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) id: Id,
    pub(crate) turn: u32,
    pub(crate) at: Option<Timestamp>,
    pub(crate) is_subagent: bool,
    /// Tokens (estimated) of the passage.
    pub(crate) tokens: u64,
    /// True if the tool is not one of the client's: its effects are unknown.
    pub(crate) is_foreign: bool,
    /// True if the call only asks memory about other sessions.
    pub(crate) asks_memory: bool,
    /// True if the call only loads tools or instructions.
    pub(crate) is_loading: bool,
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
    /// A call read on from a command that was still running.
    Polled(Box<Poll>),
    /// A tool other than the shell brought the work further.
    Landed(Landing),
    /// A person answered questions.
    Answered(Vec<DialogAnswer>),
    /// A person approved a plan.
    Approved(Box<Plan>),
    /// The agent proposed a plan with this heading, and it was not approved.
    Proposed(Option<String>),
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
    /// True if the shell reports the outcome of a filter that follows.
    pub(crate) is_filtered: bool,
    /// True if the command only inspects things, so that a failure means nothing.
    pub(crate) is_looking: bool,
    /// True if another form of the command may replace it.
    pub(crate) has_variants: bool,
    pub(crate) commits: Vec<Commit>,
    pub(crate) pull_request: Option<PullRequest>,
    /// The reach of each check in it.
    pub(crate) scopes: Vec<Scope>,
    /// The steps that it took with the work.
    pub(crate) landings: Vec<Landing>,
    /// The subject of a commit that it calls for and that is not known to be made.
    pub(crate) intended: Option<String>,
    /// Numbers and titles of the pull requests that it showed.
    pub(crate) pull_requests: Vec<(u64, String)>,
    /// What it did to changes that it did not commit.
    pub(crate) restored: Option<Undoing>,
    /// True if it calls for a commit, made or not.
    pub(crate) tries_commit: bool,
    /// The temporary folder in which git ran; true if the repository was made there.
    pub(crate) scratch: Option<(String, bool)>,
    /// The branch without a history that it begins.
    pub(crate) orphan: Option<String>,
    /// The client's name for it, if it had not ended.
    pub(crate) running: Option<String>,
    /// What it shows of the course of the session.
    pub(crate) course: ShellCourse,
    /// The command line, if the result may come with a later call.
    line: Option<Box<CommandLine>>,
    /// True if a later call read on from it.
    went_on: bool,
}

/// A call that read on from a command that was still running.
#[derive(Clone, Debug)]
pub(crate) struct Poll {
    /// The client's name for the running command.
    pub(crate) session: String,
    result: String,
    outcome: Option<Outcome>,
}

impl Run {
    /// Returns the subject of the commit that it calls for, if its end is not known.
    pub(crate) fn may_have_committed(&self) -> Option<&str> {
        self.intended.as_deref().filter(|_| self.status == Status::Unknown)
    }

    /// Returns true if a later call may be the first to read on from it.
    pub(crate) fn may_go_on(&self) -> bool {
        self.line.is_some() && !self.went_on && !matches!(self.status, Status::Red(_))
    }

    /// Takes the result that a later call read.
    pub(crate) fn go_on(&mut self, poll: &Poll) {
        let Some(line) = &self.line else { return };
        self.went_on = true;
        self.status = checks::status(poll.outcome, self.is_check, self.is_filtered, &poll.result);
        let is_done = poll.outcome == Some(Outcome::Succeeded);
        self.course.go_on(line, poll.outcome, &self.status, &poll.result);
        if line.commands.iter().any(commits::is_commit) {
            let printed = commits::printed_in(&poll.result);
            if !printed.is_empty() {
                self.commits = printed;
            } else if poll.outcome == Some(Outcome::Failed) {
                self.commits.retain(|commit| commit.hash.is_some());
            }
        }
        let found = landing::parse(line, &poll.result, is_done);
        if is_done && self.pull_request.is_none() {
            self.pull_request = commits::pull_request(line, &poll.result);
        }
        // The first part of an output may have told of some of them.
        let pushes = |landing: &Landing| matches!(landing, Landing::Pushed(..));
        if found.iter().any(pushes) {
            self.landings.retain(|landing| !pushes(landing));
        }
        self.landings.extend(found);
        self.landings.dedup();
        if poll.outcome == Some(Outcome::Failed) {
            self.landings.retain(|landing| !matches!(landing, Landing::Pushed(..)));
        }
    }
}

impl Event {
    /// Reduces a passage to the part that is kept.
    pub(crate) fn from_moment(moment: Moment) -> Self {
        let is_tool = moment.kind == PassageKind::Tool;
        let name = moment.tool.as_deref();
        let is_loading = is_tool && name.is_some_and(loads_tools);
        let paths = moment.files.iter().map(|file| file.path.as_str());
        let asks_memory = is_tool && is_memory_question(name, moment.command.as_deref(), paths);
        let action = match moment.kind {
            PassageKind::Human => Action::Asked(Box::new(Request::parse(&moment.text))),
            PassageKind::Assistant if moment.is_subagent => Action::Nothing,
            PassageKind::Assistant => Action::Wrote(Box::new(AgentText::parse(&moment.text))),
            PassageKind::Tool => match tool(&moment) {
                // What it prints was said elsewhere.
                Action::Ran(_) if asks_memory => Action::Used,
                action => action,
            },
        };
        let is_failed = moment.outcome == Some(Outcome::Failed);
        let (mut read, mut modified) = (Vec::new(), Vec::new());
        for file in moment.files {
            if asks_memory {
                break;
            }
            match file.access {
                Access::Read if !is_failed => read.push(file.path),
                Access::Modified if !is_failed => modified.push(file.path),
                Access::Read | Access::Modified => {}
            }
        }
        let is_foreign = moment.tool.as_deref().is_some_and(|tool| tool.starts_with("mcp__"));
        Self {
            is_foreign: is_foreign && !is_failed && !asks_memory,
            asks_memory,
            is_loading,
            id: moment.id,
            turn: moment.turn,
            at: moment.at,
            is_subagent: moment.is_subagent,
            tokens: moment.length.div_ceil(4),
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

    /// Returns the heading of the plan that the agent proposed in it.
    pub(crate) fn proposed(&self) -> Option<&str> {
        match &self.action {
            Action::Proposed(plan) => plan.as_deref(),
            _ => None,
        }
    }

    /// Returns the command that ran in it, to be completed.
    pub(crate) fn run_mut(&mut self) -> Option<&mut Run> {
        match &mut self.action {
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

    /// Returns true if a tool ran in it, for more than asking memory.
    pub(crate) fn is_work(&self) -> bool {
        self.is_tool() && !self.asks_memory && !self.is_loading
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
        _ if shell::is_poll(tool) => poll(moment),
        _ if is_done && tool.starts_with("mcp__") && tool.ends_with("create_pull_request") => {
            Action::Landed(Landing::Opened { number: None, title: None, is_draft: false })
        }
        _ if is_done && tool.starts_with("mcp__") && tool.ends_with("merge_pull_request") => {
            Action::Landed(Landing::Merged(None))
        }
        _ if is_done && ASKING_TOOLS.contains(&tool) => {
            let answers = answers::answers(text);
            if answers.is_empty() { Action::Used } else { Action::Answered(answers) }
        }
        "ExitPlanMode" if is_done && answers::is_approved(text) => {
            Action::Approved(Box::new(answers::plan(text)))
        }
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "update_plan" if is_done => {
            tasks::change(tool, text).map_or(Action::Used, Action::Tasks)
        }
        "ExitPlanMode" => match declined::by_call(tool, text) {
            Some(declined) if !is_done => Action::Declined(declined),
            _ => Action::Proposed(answers::plan(text).title),
        },
        _ if moment.outcome == Some(Outcome::Failed) => {
            declined::by_call(tool, text).map_or(Action::Used, Action::Declined)
        }
        _ => Action::Used,
    }
}

/// Bytes of a later result that are kept until they are joined to their command.
const POLLED: usize = 2 * 1024;

fn poll(moment: &Moment) -> Action {
    let member = |name: &str| moment.text.lines().take(8).find_map(|line| line.strip_prefix(name));
    let session = ["session_id: ", "task_id: ", "bash_id: "].into_iter().find_map(member);
    let Some(session) = session else { return Action::Used };
    let result = shell::result(&moment.text, "");
    Action::Polled(Box::new(Poll {
        session: session.to_owned(),
        result: crate::text::ends(result, POLLED, 2 * POLLED).into_owned(),
        outcome: moment.outcome.filter(|_| checks::running(result).is_none()),
    }))
}

fn run(moment: &Moment, command: &str) -> Action {
    if moment.text.is_empty() {
        return Action::Used;
    }
    let line = shell::parse(command);
    let result = shell::result(&moment.text, command);
    if moment.outcome == Some(Outcome::Failed)
        && matches!(moment.tool.as_deref(), Some("Bash" | "PowerShell"))
        && let Some(declined) = declined::by_shell(command, &moment.text, result)
    {
        return Action::Declined(declined);
    }
    let Some(main) = line.main() else { return Action::Used };
    let is_check = line.acting().any(shell::Simple::is_check);
    let is_filtered = line.is_filtered();
    let status = checks::status(moment.outcome, is_check, is_filtered, result);
    let running = checks::running(result).map(str::to_owned);
    let is_done = moment.outcome == Some(Outcome::Succeeded) && running.is_none();
    let folder = shell::folder(&moment.text, command);
    let commits = commits::parse(&line, result);
    let course =
        ShellCourse::parse(&line, folder, moment.outcome, &status, result, commits.clone());
    // A failed chain may have committed before it failed: git's own output shows it.
    let commits = if is_done {
        commits
    } else {
        commits.into_iter().filter(|commit| commit.hash.is_some()).collect()
    };
    let is_looking = line.acting().all(shell::Simple::is_looking);
    let may_go_on = running.is_some() || moment.tool.as_deref() == Some("exec_command");
    let goes_on = may_go_on && (is_check || acts_on_git(&line));
    let is_open = status != Status::Green && commits.is_empty();
    Action::Ran(Box::new(Run {
        course,
        intended: commits::intended(&line).filter(|_| is_open),
        pull_requests: if is_done { landing::titles(&line, result) } else { Vec::new() },
        scopes: line.scopes(folder),
        scratch: line.scratch(folder),
        orphan: line.orphan().map(str::to_owned),
        tries_commit: line.commands.iter().any(commits::is_commit),
        landings: landing::parse(&line, result, is_done),
        restored: undone::parse(&line).filter(|_| is_done),
        key: hash(&line.key()),
        family: main.family(),
        shown: shell::shown(command),
        status,
        is_check,
        is_filtered,
        is_looking,
        has_variants: main.is_check() || main.has_subcommand(),
        commits,
        pull_request: if is_done { commits::pull_request(&line, result) } else { None },
        running,
        line: goes_on.then(|| Box::new(line)),
        went_on: false,
    }))
}

fn acts_on_git(line: &CommandLine) -> bool {
    let words = line.commands.iter().flat_map(|command| command.words.iter().take(3));
    words.into_iter().any(|word| matches!(word.as_str(), "git" | "gh" | "glab"))
}

/// Returns a short key.
pub(crate) fn hash(key: &str) -> u64 {
    let id = Id::derive(&[key.as_bytes()]);
    id.as_bytes().iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

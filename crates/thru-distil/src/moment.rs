//! The input: passages as distilling sees them.

use std::collections::{BTreeMap, BTreeSet};

use thru_core::{
    ASKING_TOOLS, Agent, Distillate, FileTouch, Id, Outcome, PassageKind, SeenCommit, SessionFacts,
    SessionKey, Timestamp,
};

use crate::course::Step;
use crate::event::{Action, Event};
use crate::landing::Landing;
use crate::refine::ActivityProfile;
use crate::session::{self, Session};
use crate::text::one_line;
use crate::{segment, shell, title};

/// Most temporary folders that are kept in mind.
const SCRATCH: usize = 1000;

/// One passage of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The passage's id.
    pub id: Id,
    /// The turn, from 1; 0 before the first prompt.
    pub turn: u32,
    /// The speaker, and the form of the passage.
    pub kind: PassageKind,
    /// True if it comes from a subagent.
    pub is_subagent: bool,
    /// The tool that ran.
    pub tool: Option<String>,
    /// The command line, where the tool is a shell.
    pub command: Option<String>,
    /// The outcome of the call; `None` for prose.
    pub outcome: Option<Outcome>,
    /// The time it was written.
    pub at: Option<Timestamp>,
    /// Files that the call named.
    pub files: Vec<FileTouch>,
    /// Length of the whole text in bytes.
    pub length: u64,
    /// The text, where [`wants_text`] asks for it; else empty.
    pub text: String,
}

/// Returns true if distilling needs the text of such a passage: reading it is expensive.
pub fn wants_text(
    kind: PassageKind,
    tool: Option<&str>,
    outcome: Option<Outcome>,
    is_subagent: bool,
) -> bool {
    match kind {
        PassageKind::Human => true,
        PassageKind::Assistant => !is_subagent,
        PassageKind::Tool => match tool {
            Some("ExitPlanMode" | "TodoWrite" | "TaskCreate" | "TaskUpdate" | "update_plan") => {
                true
            }
            Some(tool) if ASKING_TOOLS.contains(&tool) || shell::is_shell(tool) => true,
            // A person may have declined it with a reason.
            _ => outcome == Some(Outcome::Failed) && !is_subagent,
        },
    }
}

/// Takes the passages of one session in their order and makes its observations and summary.
#[derive(Debug)]
pub struct Distiller {
    agent: Agent,
    session: String,
    user_title: Option<String>,
    agent_title: Option<String>,
    branch: Option<String>,
    kept_apart: BTreeSet<Id>,
    events: Vec<Event>,
    /// The places of commands that were still running, by the client's names for them.
    running: BTreeMap<String, usize>,
    /// True if a person spoke and the agent has not written since.
    awaits_answer: bool,
    /// Temporary folders in which repositories were made.
    scratch: BTreeSet<String>,
    /// Branches that were begun without a history.
    orphans: BTreeSet<String>,
    /// Commits that the repository told of.
    commits: Vec<SeenCommit>,
}

impl Distiller {
    /// Creates a distiller for one session. Observations in `kept_apart` are not merged into others.
    pub fn new(session: &SessionKey, facts: &SessionFacts, kept_apart: BTreeSet<Id>) -> Self {
        let line = |title: &Option<String>| {
            let line = one_line(title.as_deref().unwrap_or_default(), title::LENGTH);
            Some(line).filter(|line| !line.is_empty())
        };
        Self {
            agent: session.agent,
            session: session.id.as_str().to_owned(),
            user_title: line(&facts.user_title),
            agent_title: line(&facts.agent_title),
            branch: facts
                .branch
                .clone()
                .filter(|branch| facts.first_branch.as_ref().is_none_or(|first| first == branch)),
            kept_apart,
            events: Vec::new(),
            running: BTreeMap::new(),
            awaits_answer: false,
            scratch: BTreeSet::new(),
            orphans: BTreeSet::new(),
            commits: Vec::new(),
        }
    }

    /// Takes the next passage: those of the transcript itself first, then those of each subagent.
    pub fn add(&mut self, moment: Moment) {
        self.add_event(moment);
    }

    /// Like [`Self::add`]; returns the event made of the passage.
    pub(crate) fn add_event(&mut self, moment: Moment) -> &Event {
        let place = self.events.len();
        let mut event = Event::from_moment(moment);
        if let Some(run) = event.run_mut()
            && let Some((folder, inits)) = run.scratch.take()
        {
            if inits && self.scratch.len() < SCRATCH {
                self.scratch.insert(folder.clone());
            }
            // Commits of a repository made for a test are none of the project.
            let pushes = run.landings.iter().any(|step| matches!(step, Landing::Pushed(..)));
            if self.scratch.contains(&folder) && !pushes {
                run.commits.clear();
                run.landings.clear();
                run.course.git.clear();
            }
        }
        if let Some(run) = event.run_mut() {
            if let Some(orphan) = run.orphan.take()
                && self.orphans.len() < SCRATCH
            {
                self.orphans.insert(orphan);
            }
            // What is put on a branch of its own, beside the history, is not the work.
            let is_aside =
                |branch: &str| self.orphans.contains(branch.trim_end_matches(" (root-commit)"));
            run.commits.retain(|commit| !commit.branch.as_deref().is_some_and(is_aside));
        }
        if let Some(name) = event.run_mut().and_then(|run| run.running.take()) {
            self.running.insert(name, place);
        }
        if let Action::Polled(poll) = &event.action
            && let Some(at) = self.running_command(&poll.session)
            && let Some(run) = self.events.get_mut(at).and_then(Event::run_mut)
        {
            run.go_on(poll);
            self.running.insert(poll.session.clone(), at);
        }
        match &mut event.action {
            Action::Asked(_) | Action::Answered(_) => self.awaits_answer = true,
            // The beginnings of other texts answer no person.
            Action::Wrote(text) if std::mem::take(&mut self.awaits_answer) => text.open(),
            _ => {}
        }
        // A turn may begin without a prompt.
        let last = self.events.iter().rev().find(|one| !one.is_subagent);
        let is_next = last.is_some_and(|last| !event.is_subagent && last.turn != event.turn);
        if is_next || !matches!(event.action, Action::Wrote(_) | Action::Nothing) {
            self.settle(is_next || matches!(event.action, Action::Asked(_)));
        }
        self.events.push(event);
        &self.events[place]
    }

    /// Makes the reports of the last texts, which close a turn or lead to a call.
    fn settle(&mut self, closes: bool) {
        for event in self.events.iter_mut().rev() {
            match &mut event.action {
                Action::Wrote(text) => text.settle(closes),
                Action::Nothing => {}
                _ => break,
            }
        }
    }

    /// Returns the place of the command that a call reads on from: the first one of the last calls that
    /// may still have been running.
    fn running_command(&self, session: &str) -> Option<usize> {
        const REACH: usize = 40;
        if let Some(known) = self.running.get(session) {
            return Some(*known);
        }
        let mut found = None;
        for (at, event) in self.events.iter().enumerate().rev().take(REACH) {
            match &event.action {
                Action::Ran(run) if run.may_go_on() => found = Some(at),
                Action::Asked(_) => break,
                // Calls made at once follow one text.
                Action::Wrote(_) if found.is_some() => break,
                _ => {}
            }
        }
        found
    }

    /// Takes the commits that the repository told of in the time of the session, earliest first.
    pub fn add_commits(&mut self, commits: Vec<SeenCommit>) {
        self.commits = commits;
    }

    /// Returns the kinds of work done so far.
    pub fn profile(&self) -> ActivityProfile {
        ActivityProfile::of_events(&self.events)
    }

    /// Returns the observations and the summary of the session.
    pub fn finish(self) -> Distillate {
        self.finish_with_steps().0
    }

    /// Returns the observations and the summary of the session, and its course.
    pub fn finish_with_steps(mut self) -> (Distillate, Vec<Step>) {
        self.settle(true);
        let events = segment::in_order(self.events);
        let distillate = session::distil(&Session {
            agent: self.agent,
            id: &self.session,
            user_title: self.user_title.as_deref(),
            agent_title: self.agent_title.as_deref(),
            branch: self.branch.as_deref(),
            kept_apart: &self.kept_apart,
            commits: &self.commits,
            turns: segment::turns(&events),
            fixes: crate::fixes::follow(&events),
            events: &events,
        });
        (distillate, events.into_iter().map(Step::of_event).collect())
    }
}

//! Snapshots: enough of a session to go on after its context is gone.
//!
//! The distilled part holds requests, work, findings, decisions and rulings. Beside it stand things
//! likely to be needed again word for word: files, commands, names. Those are ranked by use, the latest
//! use weighing most.

mod commands;
mod files;
mod names;
mod remarks;

use std::collections::BTreeSet;

use thru_core::{
    Certainty, Distillate, Id, Observation, ObservationType, PassageKind, SessionFacts, SessionKey,
    SnapshotContent, Speaker, Statement, Timestamp,
};

use crate::event::Event;
use crate::moment::{Distiller, Moment, wants_text};
use crate::text::{cut, one_line};

use commands::Commands;
use files::Files;
use names::Names;
use remarks::Remarks;

/// Most statements in each list: people read them, too.
const LIST: usize = 16;

/// Most names among the subjects of a session.
const NAMED_TOPICS: usize = 6;

/// Characters of a statement.
const STATEMENT: usize = 320;

/// Bytes of a passage that are searched for names.
const READ: usize = 16 * 1024;

/// Returns true if a snapshot needs the text of such a passage: prompts and prose of the main
/// conversation, and everything that distilling needs.
pub fn snapshot_wants_text(moment: &Moment) -> bool {
    const TYPED: [&str; 6] = ["Edit", "MultiEdit", "Grep", "Glob", "Task", "Agent"];
    let Moment { kind, is_subagent, outcome, .. } = *moment;
    let tool = moment.tool.as_deref();
    wants_text(kind, tool, outcome, is_subagent)
        || !is_subagent && tool.is_some_and(|tool| TYPED.contains(&tool))
}

/// Takes the passages of one session up to a moment, in order, and makes a snapshot of them.
#[derive(Debug)]
pub struct SnapshotMaker {
    distiller: Distiller,
    files: Files,
    commands: Commands,
    names: Names,
    remarks: Remarks,
    /// Requests, the latest last.
    requests: Vec<Statement>,
    /// The agent's last announcement, and the remaining work it last named.
    announced: Option<Statement>,
    planned: Vec<Statement>,
    /// The time of each passage of the main conversation so far.
    times: Vec<Option<Timestamp>>,
}

/// Returns the weight of an event at a place, seen from the end: it halves every `half_life` passages.
fn recency(place: usize, end: usize, half_life: f64) -> f64 {
    0.5_f64.powf(end.saturating_sub(place) as f64 / half_life)
}

impl SnapshotMaker {
    /// Creates a maker for one session. Observations in `kept_apart` are not merged into others.
    pub fn new(session: &SessionKey, facts: &SessionFacts, kept_apart: BTreeSet<Id>) -> Self {
        Self {
            distiller: Distiller::new(session, facts, kept_apart),
            files: Files::default(),
            commands: Commands::default(),
            names: Names::default(),
            remarks: Remarks::default(),
            requests: Vec::new(),
            announced: None,
            planned: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Takes the next passage: those of the transcript itself first, then those of each subagent.
    pub fn add(&mut self, moment: Moment) {
        let place = self.place(&moment);
        self.files.touched(place, &moment);
        if !moment.is_subagent {
            let text = &moment.text[..moment.text.floor_char_boundary(READ)];
            self.files.named(place, &moment, text);
            self.names.add(place, &moment, text);
            if moment.kind == PassageKind::Assistant {
                self.remarks.add(place, moment.id, text);
            }
        }
        let is_subagent = moment.is_subagent;
        let event = self.distiller.add_event(moment);
        if !is_subagent {
            self.commands.add(place, event);
            if let Some(request) = request_in(event) {
                self.requests.push(request);
                if self.requests.len() > LIST {
                    self.requests.remove(0);
                }
                self.announced = None;
            }
            if let Some(written) = event.agent_text() {
                let statement =
                    |text: &String| Statement { text: text.clone(), sources: vec![event.id] };
                self.announced =
                    written.announced.as_ref().map(statement).or(self.announced.take());
                if !written.remaining.steps.is_empty() {
                    self.planned = written.remaining.steps.iter().map(statement).collect();
                }
            }
        }
    }

    /// Returns the place of a passage in the main conversation.
    fn place(&mut self, moment: &Moment) -> usize {
        if !moment.is_subagent {
            self.times.push(moment.at);
            return self.times.len();
        }
        match moment.at {
            Some(at) => self.times.partition_point(|time| time.is_none_or(|time| time <= at)),
            None => self.times.len(),
        }
    }

    /// Returns the snapshot. The distilled part goes through `decided` first: people may have had some
    /// of it forgotten.
    pub fn finish(mut self, decided: impl FnOnce(Distillate) -> Distillate) -> SnapshotContent {
        let end = self.times.len();
        let distillate = decided(self.distiller.finish());
        let mut content = of_distillate(&distillate);
        content.last_request = self.requests.pop();
        content.requests = self.requests.into_iter().rev().collect();
        if content.next_steps.is_empty() {
            content.next_steps = self.planned;
        }
        content.next_steps.splice(0..0, self.announced);
        content.files = self.files.in_play(end, &distillate.observations);
        content.names = self.names.in_play(end, &content.files);
        content.topics = content.names.iter().take(NAMED_TOPICS).cloned().collect();
        let (commands, failed) = self.commands.finish(end);
        content.commands = commands;
        content.failed.extend(failed);
        let (choices, setbacks) = self.remarks.finish(end);
        content.decisions.extend(choices);
        content.failed.extend(setbacks);
        tidy(&mut content);
        content
    }
}

fn request_in(event: &Event) -> Option<Statement> {
    let request = event.request().filter(|request| !request.is_slight)?;
    Some(Statement { text: request.text.clone()?, sources: vec![event.id] })
}

/// Returns the distilled part, the latest first.
fn of_distillate(distillate: &Distillate) -> SnapshotContent {
    let mut content = SnapshotContent::default();
    for observation in distillate.observations.iter().rev() {
        let narrative = observation.narrative.as_ref();
        let sources = match narrative {
            Some(narrative) if !narrative.sources.is_empty() => narrative.sources.clone(),
            _ => observation.sources.iter().take(4).copied().collect(),
        };
        let title = observation.title.as_str();
        // A decision is worth its reason.
        let whole = narrative.map_or(title, |narrative| narrative.text.as_str());
        let is_likely = observation.certainty == Certainty::High;
        let (list, text) = match (observation.kind, observation.speaker) {
            (ObservationType::Decision, Speaker::Person) if is_likely => {
                (&mut content.rulings, with_facts(whole, observation))
            }
            (ObservationType::Decision, Speaker::Agent) => {
                (&mut content.decisions, with_facts(whole, observation))
            }
            (ObservationType::Discovery, _) if is_likely => {
                (&mut content.learned, title.to_owned())
            }
            (ObservationType::Decision | ObservationType::Discovery, _) => continue,
            _ => (&mut content.done, title.to_owned()),
        };
        list.push(Statement { text, sources });
        content.resolved.extend(observation.facts.iter().filter(|fact| is_fix(fact)).cloned());
    }
    if let Some(summary) = &distillate.summary {
        content.title.clone_from(&summary.title);
        content.objective.clone_from(&summary.digest.request);
        content.outcome = summary.digest.outcome;
        content.next_steps.clone_from(&summary.digest.next_steps);
        content.open_questions.clone_from(&summary.digest.open_questions);
    }
    content
}

/// Returns true if a fact is about a command that failed and worked later.
fn is_fix(fact: &Statement) -> bool {
    let text = &fact.text;
    text.contains("` failed") && (text.contains(" passed") || text.contains(" worked"))
}

/// Returns a statement with its facts.
fn with_facts(text: &str, observation: &Observation) -> String {
    let mut whole = text.to_owned();
    for fact in observation.facts.iter().take(2) {
        if whole.chars().count() + fact.text.chars().count() < STATEMENT {
            whole.push_str("; ");
            whole.push_str(&fact.text);
        }
    }
    whole
}

/// Removes duplicates, joins lines, and cuts lists and texts to their limits.
fn tidy(content: &mut SnapshotContent) {
    content.title = one_line(&content.title, 80);
    for statement in content.objective.iter_mut().chain(&mut content.last_request) {
        statement.text = one_line(&statement.text, STATEMENT);
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    for list in content.lists_mut() {
        for statement in list.iter_mut() {
            statement.text = one_line(&statement.text, STATEMENT);
        }
        list.retain(|statement| {
            let key: String = statement.text.to_lowercase();
            !key.is_empty() && known.insert(cut(&key, 80))
        });
        list.truncate(LIST);
    }
}

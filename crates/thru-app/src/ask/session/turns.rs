//! The turns of a session: all of them, or a part at a time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Outcome, PassageKind, Timestamp};
use thru_redact::{Clean, Redactor};
use thru_store::{PassageFilter, PassageRow, Store};

use super::{SessionEntry, TouchedPath, touched_paths};
use crate::answer;
use crate::app::App;
use crate::ask::{Opened, cleaned, named};
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// A request for some turns of a session.
#[derive(Clone, Debug)]
pub struct ReadTurns {
    /// The start of its id.
    pub session: String,
    /// The number of the first turn.
    pub first: u32,
    /// Turns at most.
    pub limit: u32,
}

/// Some turns of a session, and what it comes to as a whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "session-turns")]
pub struct TurnPart {
    version: u32,
    /// The session.
    pub session: SessionEntry,
    /// The turns, in order.
    pub turns: Vec<TurnOutline>,
    /// The number of its commands that failed.
    pub failed_commands: usize,
    /// The turns in which commands failed, with their number, in order.
    pub failures: Vec<TurnFailures>,
    /// The files that it touched.
    pub files: Vec<TouchedPath>,
}

/// The failed commands of one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnFailures {
    /// Its number, from 1.
    pub turn: u32,
    /// The number of its commands that failed.
    pub commands: usize,
}

/// One turn.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TurnOutline {
    /// Its number, from 1; 0 before the first prompt.
    #[serde(rename = "turn")]
    pub number: u32,
    /// The prompt of the user.
    pub prompt: Option<Utterance>,
    /// The last text of the agent.
    pub conclusion: Option<Utterance>,
    /// The commands that ran.
    pub commands: Vec<RunCommand>,
    /// The number of tool calls.
    pub tool_calls: u64,
}

/// The text of a passage that a person or an agent wrote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Utterance {
    /// The short id of the passage.
    pub id: String,
    /// Its time.
    pub at: Option<Timestamp>,
    /// Its text.
    pub text: Clean<String>,
}

/// A command that an agent ran.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunCommand {
    /// The command line.
    #[serde(rename = "command")]
    pub line: Clean<String>,
    /// The number of times that it ran.
    pub runs: u32,
    /// The number of runs that failed.
    pub failed: u32,
    /// The outcome of the last run.
    pub outcome: Option<Outcome>,
}

impl RunCommand {
    /// The number of runs and of failures among them, where there was more than one run: ` (×2, 1 failed)`.
    pub fn repeated(&self) -> String {
        match (self.runs, self.failed) {
            (0 | 1, _) => String::new(),
            (runs, failed) if failed > 0 && failed < runs => format!(" (×{runs}, {failed} failed)"),
            (runs, _) => format!(" (×{runs})"),
        }
    }
}

/// Reads some turns of a session.
///
/// # Errors
/// Fails if there is no such session, or the store cannot be read.
pub fn read_turns(app: &App, request: &ReadTurns, call: Call<'_>) -> Result<TurnPart> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let redactor = intake.redactor();
    let session = named::named_session(app, &store, &request.session)?;
    let passages = store.passages(PassageFilter::Session(session.row))?;
    let wanted = request.first..request.first.saturating_add(request.limit);
    let part = passages.iter().filter(|passage| wanted.contains(&passage.turn));
    let mut failures: Vec<TurnFailures> = Vec::new();
    for failed in failed_commands(&passages) {
        match failures.last_mut() {
            Some(last) if last.turn == failed.turn => last.commands += 1,
            _ => failures.push(TurnFailures { turn: failed.turn, commands: 1 }),
        }
    }
    Ok(TurnPart {
        version: answer::VERSION,
        turns: turns(&store, redactor, part)?,
        failed_commands: failures.iter().map(|turn| turn.commands).sum(),
        failures,
        files: touched_paths(&store, redactor, session.row)?,
        session: SessionEntry::new(app, redactor, &session),
    })
}

/// Returns the commands that failed, without those of subagents.
pub(super) fn failed_commands(passages: &[PassageRow]) -> impl Iterator<Item = &PassageRow> {
    let is_failed = |passage: &&PassageRow| {
        passage.command.is_some()
            && passage.outcome == Some(Outcome::Failed)
            && passage.agent_id.is_none()
    };
    passages.iter().filter(is_failed)
}

/// Puts passages of a session into turns. Subagents are counted, not quoted.
pub(super) fn turns<'p>(
    store: &Store,
    redactor: &Redactor,
    passages: impl Iterator<Item = &'p PassageRow>,
) -> Result<Vec<TurnOutline>> {
    let mut turns: BTreeMap<u32, TurnOutline> = BTreeMap::new();
    // Only the last text of the agent is read: the others would be read for nothing.
    let mut last: BTreeMap<u32, &PassageRow> = BTreeMap::new();
    // A turn may run thousands of commands.
    let mut places: BTreeMap<(u32, String), usize> = BTreeMap::new();
    for passage in passages.filter(|passage| passage.agent_id.is_none()) {
        let turn = turns.entry(passage.turn).or_default();
        turn.number = passage.turn;
        match passage.kind {
            PassageKind::Human => turn.prompt = Some(utterance(store, redactor, passage)?),
            PassageKind::Assistant => {
                last.insert(passage.turn, passage);
            }
            PassageKind::Tool => {
                turn.tool_calls += 1;
                let Some(line) = &passage.command else { continue };
                let line = cleaned(redactor, line);
                let place = places.entry((passage.turn, line.get().clone()));
                let place = *place.or_insert(turn.commands.len());
                let outcome = passage.outcome;
                let failed = u32::from(outcome == Some(Outcome::Failed));
                match turn.commands.get_mut(place) {
                    Some(command) => {
                        command.runs += 1;
                        command.failed += failed;
                        command.outcome = outcome;
                    }
                    None => turn.commands.push(RunCommand { line, runs: 1, failed, outcome }),
                }
            }
        }
    }
    for (number, passage) in last {
        if let Some(turn) = turns.get_mut(&number) {
            turn.conclusion = Some(utterance(store, redactor, passage)?);
        }
    }
    Ok(turns.into_values().collect())
}

fn utterance(store: &Store, redactor: &Redactor, passage: &PassageRow) -> Result<Utterance> {
    let text = cleaned(redactor, &store.text_of(passage)?);
    Ok(Utterance { id: store.short_id(&passage.id)?, at: passage.at, text })
}

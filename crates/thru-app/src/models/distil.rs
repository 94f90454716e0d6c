//! Asking a model about earlier turns and sessions, once a person saw the price.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use thru_core::{Micros, SessionKey, Timestamp};
use thru_lifecycle::content::ContentHash;
use thru_models::Usage;
use thru_recall::parse_date;
use thru_refine::{Meter, RefineEvent, Report};
use thru_store::{JobKind, Store, TurnFilter, TurnRow};

use super::{Models, no_model};
use crate::app::App;
use crate::ask::named;
use crate::call::{Call, Unit};
use crate::fresh::{self, Freshness};
use crate::trouble::Result;
use crate::words::printable;
use crate::{answer, background};

/// Tokens of a question beside the record of the turn or the session.
const FRAME: u64 = 800;
/// Tokens of an answer, as a rule.
const ANSWER: u64 = 350;
/// Tokens of the record of a session, as a rule.
const SESSION: u64 = 2_500;

/// The request to have a model look at earlier turns and sessions.
#[derive(Clone, Debug)]
pub struct Distil {
    /// The first day, as people write one. A session that is named counts whole.
    pub since: String,
    /// The day after the last one.
    pub until: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// The start of a session's id: only this session.
    pub session: Option<String>,
    /// True if what a model looked at before counts, too.
    pub again: bool,
    /// True to ask; false for the price alone.
    pub run: bool,
}

/// The turns and sessions that no model looked at, the price, and the outcome where they were asked about.
#[derive(Clone, Debug, Serialize)]
pub struct Distilled {
    version: u32,
    kind: &'static str,
    /// The number of turns.
    pub turns: usize,
    /// The number of sessions.
    pub sessions: usize,
    /// The price, about.
    pub estimated: Estimate,
    /// The outcome; nothing where nothing was to be done.
    pub done: Option<Refined>,
    /// The provider that is asked first, and its model.
    #[serde(skip)]
    pub asked: Option<(String, String)>,
    /// Tokens that are left of the budget: today, and this month.
    #[serde(skip)]
    pub left: (u64, u64),
}

impl Distilled {
    /// True if there is nothing to ask about.
    pub const fn is_empty(&self) -> bool {
        self.turns == 0 && self.sessions == 0
    }
}

/// Tokens and money, about.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    /// Tokens to send.
    pub input_tokens: u64,
    /// Tokens to come back.
    pub output_tokens: u64,
    /// Money, where a model is set and its price is known.
    #[serde(rename = "cost_micros")]
    pub cost: Option<Micros>,
}

/// Tokens of the record of a turn that a model is given at most.
fn record(models: Option<&Models>) -> u64 {
    models.map_or(2_000, |models| models.settings().turn.record)
}

impl Estimate {
    fn new(models: Option<&Models>, input: u64, output: u64) -> Self {
        let usage = Usage { input, output, cached_input: 0, estimated: true };
        let cost = models.and_then(|models| {
            let link = models.first()?;
            match link.provider.is_local() {
                true => Some(Micros(0)),
                false => models.chain().prices.cost(link.provider.model(), usage),
            }
        });
        Self { input_tokens: input, output_tokens: output, cost }
    }

    /// Estimates what asking about whole sessions takes, each by the tokens of its transcript: its turns are not known
    /// before it is imported.
    pub(crate) fn of_transcripts(
        models: Option<&Models>,
        tokens: impl Iterator<Item = u64>,
    ) -> Self {
        let record = record(models).max(1);
        let (mut input, mut questions) = (0, 0);
        for tokens in tokens {
            let turns = tokens.div_ceil(record);
            input += tokens + turns * FRAME + FRAME + SESSION;
            questions += turns + 1;
        }
        Self::new(models, input, questions * ANSWER)
    }
}

/// The outcome of asking.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Refined {
    /// Turns that a model looked at.
    pub turns: u64,
    /// Sessions that a model looked at.
    pub sessions: u64,
    /// Questions that were answered before, so that nothing was sent.
    pub reused: u64,
    /// Questions that are not worth asking, or must not be sent.
    pub skipped: u64,
    /// Questions without a usable answer.
    pub failed: u64,
    /// Statements that were dropped because the record does not hold what they name.
    #[serde(rename = "statements_dropped")]
    pub dropped: u64,
    /// Tokens that were sent.
    pub input_tokens: u64,
    /// Tokens that came back.
    pub output_tokens: u64,
    /// Money, where the price is known.
    #[serde(rename = "cost_micros")]
    pub cost: Option<Micros>,
    /// The limit that ended it, in words.
    pub exhausted: Option<&'static str>,
    /// The time when that limit starts anew.
    #[serde(skip)]
    pub exhausted_until: Option<Timestamp>,
    /// The reason why it ended early.
    pub trouble: Option<String>,
}

impl Refined {
    /// True if there was nothing to ask.
    pub fn is_idle(&self) -> bool {
        let Self { turns, sessions, reused, skipped, failed, .. } = self;
        turns + sessions + reused + skipped + failed == 0
            && self.exhausted.is_none()
            && self.trouble.is_none()
    }
}

impl From<Report> for Refined {
    fn from(report: Report) -> Self {
        Self {
            turns: report.turns,
            sessions: report.sessions,
            reused: report.reused,
            skipped: report.skipped,
            failed: report.failed,
            dropped: report.dropped,
            input_tokens: report.spent.input,
            output_tokens: report.spent.output,
            cost: report.spent.cost,
            exhausted: report.exhausted.map(|exhausted| exhausted.what),
            exhausted_until: report.exhausted.map(|exhausted| exhausted.until),
            trouble: report.trouble,
        }
    }
}

/// Finds turns and sessions to ask about and estimates the price; asks where the request says so.
///
/// # Errors
/// Fails if a date, the session or the project cannot be understood, no model is set to be asked, or journal or store
/// cannot be used. A provider that does not answer is no error.
pub fn distil(app: &App, request: &Distil, call: Call<'_>) -> Result<Distilled> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let work = Work::find(app, &store, request)?;
    let models = Models::from_config(app)?;
    if request.run && models.is_none() {
        return Err(no_model());
    }
    let meter = Meter::read(&store, app.clock.now(), None)?;
    drop(store);
    let limits = app.config.budget.limits();
    let first = models.as_ref().and_then(Models::first);
    let mut distilled = Distilled {
        version: answer::VERSION,
        kind: "distil",
        turns: work.turns.len(),
        sessions: work.sessions.len(),
        estimated: work.estimate(models.as_ref()),
        done: None,
        asked: first.map(|link| (link.name.clone(), printable(link.provider.model()))),
        left: (
            limits.daily.tokens.saturating_sub(meter.day.tokens()),
            limits.monthly.tokens.saturating_sub(meter.month.tokens()),
        ),
    };
    if let Some(models) = models.filter(|_| request.run && !distilled.is_empty()) {
        distilled.done = Some(work.ask(app, &models, call)?.into());
    }
    Ok(distilled)
}

/// The turns and sessions to ask about.
struct Work {
    turns: Vec<TurnRow>,
    sessions: Vec<(i64, SessionKey, ContentHash)>,
}

impl Work {
    fn find(app: &App, store: &Store, request: &Distil) -> Result<Self> {
        let (now, zone) = (app.clock.now(), app.zone());
        let session = match &request.session {
            Some(name) => Some(named::named_session(app, store, name)?.row),
            None => None,
        };
        let projects = match &request.project {
            Some(name) => Some(store.project_rows(named::named_project(store, name)?.row)?),
            None => None,
        };
        let until = request.until.as_deref();
        let filter = TurnFilter {
            projects,
            session,
            since: match session {
                Some(_) => None,
                None => Some(parse_date(&request.since, now, zone)?),
            },
            until: until.map(|until| parse_date(until, now, zone)).transpose()?,
        };
        let mut turns = store.turns(&filter)?;
        turns.retain(|turn| turn.turn > 0 && turn.messages > 1);
        let mut rows: Vec<i64> = turns.iter().map(|turn| turn.session).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut sessions = Vec::new();
        for row in rows {
            let Some(state) = store.session_state(row)? else { continue };
            let left = state.lifecycle.left(now, &app.limits()).is_some();
            let Some(content) = state.content.filter(|_| left) else { continue };
            let refined = store.refinements(row)?;
            let is_refined = refined.iter().any(|one| one.is_whole && one.content == content.hash);
            if request.again || !is_refined {
                sessions.push((row, state.key, content.hash));
            }
        }
        turns.retain(|turn| request.again || !turn.is_refined);
        Ok(Self { turns, sessions })
    }

    fn estimate(&self, models: Option<&Models>) -> Estimate {
        let record = record(models);
        let turns = self.turns.iter().map(|turn| FRAME + turn.tokens.min(record)).sum::<u64>();
        let sessions = self.sessions.len() as u64;
        let input = turns + sessions * (FRAME + SESSION);
        Estimate::new(models, input, (self.turns.len() as u64 + sessions) * ANSWER)
    }

    /// Queues the questions and asks them.
    fn ask(&self, app: &App, models: &Models, call: Call<'_>) -> Result<Report> {
        let intake = app.intake()?;
        let turns = self
            .turns
            .iter()
            .map(|turn| (JobKind::RefineTurn(turn.turn), turn.session, turn.content));
        let sessions =
            self.sessions.iter().map(|(row, _, content)| (JobKind::RefineSession, *row, *content));
        let jobs: Vec<(JobKind, i64, ContentHash)> = turns.chain(sessions).collect();
        intake.queue_questions(&call.lock(&intake)?, &jobs)?;
        let wanted: HashSet<(i64, Option<JobKind>)> =
            jobs.iter().map(|(kind, session, _)| (*session, Some(*kind))).collect();
        let numbers: HashSet<i64> = Store::open_to_read(&app.layout)?
            .jobs()?
            .into_iter()
            .filter(|job| wanted.contains(&(job.session, job.kind)))
            .map(|job| job.number)
            .collect();
        let (done, total) = (AtomicU64::new(0), numbers.len() as u64);
        let progress = call.progress();
        progress.step("Asking", 0, total, Unit::Items);
        let step = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.step("Asking", done, total, Unit::Items);
        };
        let on_event = |event: &RefineEvent<'_>| match event {
            RefineEvent::Refined { .. } => step(),
            RefineEvent::Failed { provider, error, next } => {
                let next = next.map_or_else(String::new, |next| format!("; asking {next} instead"));
                progress.remark(&format!("{provider}: {}{next}", printable(error)));
                step();
            }
            RefineEvent::Exhausted(_) => {}
        };
        let report = models.run(app, Some(&numbers), call.cancelled(), &on_event)?;
        if call.is_cancelled() {
            background::poke(app);
        }
        Ok(report)
    }
}

//! Insights out: what is known of a session that was left goes to an MCP server of the user's choice, where
//! one is set. Each thing once; what is not taken waits and is tried again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use thru_config::{Config, McpSink};
use thru_core::{
    Certainty, Id, MemoryKind, Observation, ObservationType, SessionKey, Summary, Timestamp,
    WorkOutcome,
};
use thru_intake::{Intake, Operation, RetryPolicy};
use thru_redact::Report;
use thru_sinks::{Delivery, Retry, Settings, Sink, SinkError, Transport};
use thru_store::{JobKind, JobRow, MemoryBody, MemoryFilter, Store};

use crate::app::App;
use crate::models::settings_of;
use crate::trouble::{Result, Trouble};
use crate::words::printable;

/// Sessions that ended longer ago are history, which no setting asks to send anywhere.
const RECENT: SignedDuration = SignedDuration::from_hours(24);
/// The time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Since when sessions are delivered; never where there is no server.
pub fn since(config: &Config, now: Timestamp) -> Option<Timestamp> {
    config.sinks.mcp()?;
    now.checked_sub(RECENT).ok()
}

/// The result of a delivery.
#[derive(Debug, Default)]
pub struct Delivered {
    /// Things that arrived.
    pub things: usize,
    /// The reason why no more did.
    pub trouble: Option<String>,
}

/// One thing, and what stands for it.
struct Thing {
    key: Id,
    delivery: Delivery,
}

/// Delivers what is due.
///
/// # Errors
/// Fails if settings, journal or store cannot be used.
pub fn deliver(app: &App, stop: &AtomicBool) -> Result<Delivered> {
    let mut delivered = Delivered::default();
    let Some(target) = app.config.sinks.mcp() else { return Ok(delivered) };
    let Some(store) = Store::open_if_there(&app.layout)? else { return Ok(delivered) };
    let due = due(&store, app.clock.now())?;
    if due.is_empty() {
        return Ok(delivered);
    }
    let sink = connect(app, target)?;
    for job in due {
        if stop.load(Ordering::Relaxed) || delivered.trouble.is_some() {
            break;
        }
        one(app, &store, &sink, target, &job, stop, &mut delivered)?;
    }
    Ok(delivered)
}

/// Sessions that are to be delivered now: not before a model told them, where one is to.
fn due(store: &Store, now: Timestamp) -> Result<Vec<JobRow>> {
    let jobs = store.jobs()?;
    let waits = |session: i64| {
        jobs.iter().any(|job| {
            let asks = job.is_question() && !job.is_dead && job.error.is_none();
            asks && job.session == session
        })
    };
    let is_due = |job: &&JobRow| {
        job.kind == Some(JobKind::Deliver) && job.is_due(now) && !waits(job.session)
    };
    Ok(jobs.iter().filter(is_due).cloned().collect())
}

fn one(
    app: &App,
    store: &Store,
    sink: &Sink,
    target: McpSink<'_>,
    job: &JobRow,
    stop: &AtomicBool,
    delivered: &mut Delivered,
) -> Result<()> {
    let intake = app.intake()?;
    let things = match may_leave(app, store, job.session)? {
        true => things(&intake, store, target, job)?,
        false => Vec::new(),
    };
    let mut arrived = Vec::new();
    let mut failure: Option<SinkError> = None;
    for thing in things {
        match sink.deliver(&thing.delivery, stop) {
            Ok(()) => arrived.push(thing.key),
            // What the server does not want, it does not want next time either.
            Err(error) if error.retry() == Retry::No && is_about_one(&error) => {
                arrived.push(thing.key);
                failure.get_or_insert(error);
            }
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    delivered.things += arrived.len();
    if !arrived.is_empty() {
        let operation = Operation::Delivered { session: job.key.clone(), keys: arrived };
        intake.record(&[operation])?;
    }
    let Some(lock) = intake.try_lock(PATIENCE)? else { return Ok(()) };
    intake.apply_answers(&lock, &[])?;
    match failure {
        Some(error) if !is_about_one(&error) || error.retry() != Retry::No => {
            let again = match error.retry() {
                Retry::After(wait) => {
                    let at = app.clock.now().checked_add(wait);
                    at.map_or(RetryPolicy::Backoff, RetryPolicy::At)
                }
                Retry::Backoff => RetryPolicy::Backoff,
                Retry::No => RetryPolicy::Never,
            };
            let error = error.to_string();
            intake.question_failed(&lock, JobKind::Deliver, job.session, &error, again)?;
            delivered.trouble = Some(error);
        }
        _ => intake.drop_question(&lock, JobKind::Deliver, job.session)?,
    }
    Ok(())
}

/// True if an error is about the delivered thing, not about the receiving server.
const fn is_about_one(error: &SinkError) -> bool {
    matches!(error, SinkError::Failed(_))
}

/// True if a session's memories may leave this machine, by the file of its directory.
fn may_leave(app: &App, store: &Store, session: i64) -> Result<bool> {
    let directory = store.session(session)?.and_then(|row| row.facts.directory);
    let Some(directory) = directory.map(PathBuf::from).filter(|path| path.is_absolute()) else {
        return Ok(true);
    };
    Ok(settings_of(app, &directory).is_some())
}

/// The session's summary and what was learned in it, without what was delivered before.
fn things(intake: &Intake, store: &Store, target: McpSink<'_>, job: &JobRow) -> Result<Vec<Thing>> {
    let filter =
        MemoryFilter { session: Some(job.session), oldest_first: true, ..MemoryFilter::default() };
    let row = store.session(job.session)?;
    let directory = row.and_then(|row| row.facts.directory).unwrap_or_default();
    let project = store.project_key_of_session(job.session)?;
    let project = project.map(|project| project.default_name().to_owned()).unwrap_or_default();
    let mut things = Vec::new();
    let mut topics: Vec<String> = Vec::new();
    let mut memories = store.memories(&filter)?;
    // The summary first: it is what the rest belongs to.
    memories.sort_by_key(|memory| memory.kind != MemoryKind::Summary);
    for memory in memories {
        if memory.flags.is_uncertain {
            continue;
        }
        let body = intake.redactor().clean_texts(
            store.body_of(&memory)?,
            MemoryBody::texts,
            &mut Report::default(),
        );
        let delivery = match body.get() {
            MemoryBody::Summary(summary) => {
                topics = summary.sections.topics.iter().map(|topic| label(&topic.text)).collect();
                of_summary(summary, &job.key, &directory, target.summary_tool)
            }
            MemoryBody::Observation(observation) => {
                match of_observation(observation, &project, &topics, target.memory_tool) {
                    Some(delivery) => delivery,
                    None => continue,
                }
            }
        };
        let said = delivery.arguments.to_string();
        let key = Id::derive(&[b"delivery", memory.id.as_bytes(), said.as_bytes()]);
        if !store.is_delivered(&key)? {
            things.push(Thing { key, delivery });
        }
    }
    Ok(things)
}

fn of_summary(summary: &Summary, session: &SessionKey, directory: &str, tool: &str) -> Delivery {
    let mut text = format!("{} ({})", summary.title, summary.digest.outcome.as_str());
    let digest = &summary.digest;
    for (label, statements) in [
        ("Done", digest.completed.as_slice()),
        ("State", digest.state.as_slice()),
        ("Learned", &digest.learned),
        ("Decided", &digest.decisions),
        ("Next", &digest.next_steps),
    ] {
        for statement in statements {
            text.push_str(&format!("\n{label}: {}", statement.text));
        }
    }
    Delivery {
        tool: tool.to_owned(),
        arguments: json!({
            "client": session.agent.as_str(),
            "session_id": session.id.as_str(),
            "project_path": directory,
            "persist_mode": "current",
            "title": summary.title,
            "summary": text,
            "finished": digest.outcome == WorkOutcome::Completed,
        }),
    }
}

/// A topic as a label: on a list of labels, a comma would part it.
fn label(topic: &str) -> String {
    let words: Vec<&str> = topic.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Returns the delivery of an observation that is worth sharing; `None` for one that only says what was done.
fn of_observation(
    observation: &Observation,
    project: &str,
    topics: &[String],
    tool: &str,
) -> Option<Delivery> {
    let importance = match observation.kind {
        _ if observation.certainty == Certainty::Low => return None,
        ObservationType::Decision if observation.is_rule => 0.9,
        ObservationType::Decision => 0.8,
        ObservationType::Bugfix => 0.7,
        ObservationType::Discovery | ObservationType::Feature => 0.6,
        ObservationType::Refactor | ObservationType::Change => return None,
    };
    let content: Vec<&str> =
        observation.statements().map(|statement| statement.text.as_str()).collect();
    let labels = [project, observation.kind.as_str()].into_iter();
    let labels = labels.chain(observation.concepts.iter().map(|concept| concept.as_str()));
    let labels = labels.chain(topics.iter().map(String::as_str));
    let labels: Vec<&str> = labels.filter(|label| !label.is_empty()).collect();
    Some(Delivery {
        tool: tool.to_owned(),
        arguments: json!({
            "title": observation.headline(),
            "content": if content.is_empty() { observation.headline().into_owned() } else { content.join("\n") },
            "importance": importance,
            "labels": labels.join(","),
        }),
    })
}

/// Checks the settings of the server. Nothing is sent yet.
///
/// # Errors
/// Fails if they name no usable server.
pub fn connect(app: &App, target: McpSink<'_>) -> Result<Sink> {
    let transport = match target.target.contains("://") {
        true => Transport::Url(target.target.to_owned()),
        false => {
            let mut words = target.target.split_whitespace().map(str::to_owned);
            Transport::Command {
                program: words.next().map(PathBuf::from).unwrap_or_default(),
                arguments: words.collect(),
                environment: app.machine.child_variables().collect(),
                folder: app.home.clone(),
            }
        }
    };
    let settings = Settings { allow_remote: target.allow_remote, ..Settings::new(transport) };
    Sink::connect(settings).map_err(|error| {
        Trouble::invalid(format!("sinks.mcp: {}", printable(&error.to_string())))
            .advise("`sinks.mcp_allow_remote` allows another machine")
    })
}

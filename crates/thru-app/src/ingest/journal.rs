//! The journal: its records, their damage, their numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use thru_core::{HOOK_RECORD, Timestamp};
use thru_journal::journal::{
    Count, Cursor, Item, Journal, JournalProblem, ProblemKind, Stats, Stored,
};
use thru_recall::parse_date;
use thru_redact::{Clean, Report};

use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::trouble::{Result, TroubleKind};

/// The request for the latest records.
#[derive(Clone, Debug)]
pub struct ShowRecords {
    /// Only records of this kind, or of this event of an agent.
    pub kind: Option<String>,
    /// Only of sessions whose id begins so.
    pub session: Option<String>,
    /// The first day, as people write one.
    pub since: Option<String>,
    /// The number of records, at most.
    pub limit: usize,
}

/// A record of the journal.
#[derive(Clone, Debug, Serialize)]
pub struct JournalRecord {
    version: u32,
    kind: &'static str,
    /// The name of its segment.
    pub segment: String,
    /// Its line in there, counted from 1.
    pub line: u64,
    /// The record itself.
    pub record: RecordContent,
}

/// The content of a record.
#[derive(Clone, Debug, Serialize)]
pub struct RecordContent {
    /// Its idempotency key.
    pub key: String,
    /// The machine that recorded it.
    pub host: String,
    /// The time of the fact.
    pub at: Timestamp,
    /// The type of the body.
    pub kind: String,
    /// The fact, cleaned by today's rules.
    pub body: Clean<Value>,
}

impl JournalRecord {
    fn new(stored: Stored, body: Clean<Value>) -> Self {
        let Stored { position, key, host, at, kind, .. } = stored;
        Self {
            version: answer::VERSION,
            kind: "journal-record",
            segment: position.segment,
            line: position.line,
            record: RecordContent { key, host, at, kind, body },
        }
    }
}

impl RecordContent {
    /// The agent's name of the event where a hook made the record, else the type of the body.
    pub fn name(&self) -> &str {
        event(&self.kind, self.body.get()).unwrap_or(&self.kind)
    }

    /// The id of the session that it is about; empty where it is about none.
    pub fn session(&self) -> &str {
        session(self.body.get())
    }
}

/// The agent's name of the event, in a record that a hook made.
fn event<'r>(kind: &str, body: &'r Value) -> Option<&'r str> {
    if kind == HOOK_RECORD { body["event"].as_str() } else { None }
}

fn session(body: &Value) -> &str {
    let session = &body["session"];
    session.as_str().or_else(|| session["id"].as_str()).unwrap_or_default()
}

/// The damage of the journal.
#[derive(Clone, Debug, Serialize)]
pub struct JournalCheck {
    version: u32,
    kind: &'static str,
    /// True if nothing is damaged.
    pub clean: bool,
    /// The number of segments.
    pub segments: usize,
    /// The number of records that can be read.
    pub records: u64,
    /// The number of further records with the key of an earlier one.
    pub repeated: u64,
    /// The problems.
    pub problems: Vec<RecordProblem>,
}

/// A problem of a record.
#[derive(Clone, Debug, Serialize)]
pub struct RecordProblem {
    /// The name of its segment.
    pub segment: String,
    /// Its line in there, counted from 1.
    pub line: u64,
    /// Its byte in there, counted from 0.
    pub offset: u64,
    /// The problem, with its place.
    pub message: String,
    /// The next step, or the meaning of it.
    pub advice: &'static str,
    /// True if it is damage.
    pub serious: bool,
}

impl From<&JournalProblem> for RecordProblem {
    fn from(problem: &JournalProblem) -> Self {
        Self {
            segment: problem.position.segment.clone(),
            line: problem.position.line,
            offset: problem.position.offset,
            message: problem.to_string(),
            advice: advice(&problem.kind),
            serious: problem.kind.is_serious(),
        }
    }
}

/// The size of the journal, and the numbers of its records.
#[derive(Clone, Debug, Serialize)]
pub struct JournalStats {
    version: u32,
    kind: &'static str,
    /// The numbers of segments.
    pub segments: SegmentCounts,
    /// The size of all files.
    pub bytes_on_disk: u64,
    /// The size of all segments before compression.
    pub bytes: u64,
    /// The size that is worth a warning.
    pub alarm_bytes: u64,
    /// True if it is exceeded.
    pub alarm: bool,
    /// The records.
    #[serde(flatten)]
    pub records: RecordCount,
    /// The number of further records with the key of an earlier one.
    pub repeated: u64,
    /// The number of problems that are damage.
    pub problems: u64,
    /// The number of records by kind.
    pub kinds: BTreeMap<String, u64>,
    /// The records by host.
    pub hosts: BTreeMap<String, RecordCount>,
}

/// Numbers of segments.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SegmentCounts {
    /// Shared by all writers of a host, and not sealed.
    pub plain: u64,
    /// Sealed.
    pub sealed: u64,
    /// Of single writers, and not sealed.
    pub spills: u64,
}

/// A number of records, and the range of their times.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RecordCount {
    /// The number.
    pub records: u64,
    /// The earliest time.
    pub first: Option<Timestamp>,
    /// The latest time.
    pub last: Option<Timestamp>,
}

impl From<Count> for RecordCount {
    fn from(count: Count) -> Self {
        Self { records: count.records, first: count.first, last: count.last }
    }
}

fn open(app: &App) -> Result<Journal> {
    // The name of the host counts only for writers.
    Ok(Journal::open(app.layout.journal(), "reader")?)
}

/// Reads the latest records, in the order of their times.
///
/// # Errors
/// Fails if the date cannot be understood, or the journal cannot be read.
pub fn records(app: &App, request: &ShowRecords, call: Call<'_>) -> Result<Vec<JournalRecord>> {
    let journal = open(app)?;
    let date = |text: &str| parse_date(text, app.clock.now(), app.zone());
    let since = request.since.as_deref().map(date).transpose()?;
    let named =
        |id: &str| named::named_session(app, &fresh::open(app, Freshness::AsItIs, call)?, id);
    let start = match request.session.as_deref() {
        Some("latest") => Some(named("latest")?.key.id.as_str().to_owned()),
        start => start.map(str::to_owned),
    };
    let wanted = |stored: &Stored| {
        let body = &stored.body;
        let is_of = |kind: &String| stored.kind == *kind || event(&stored.kind, body) == Some(kind);
        since.is_none_or(|since| stored.at >= since)
            && request.kind.as_ref().is_none_or(is_of)
            && start.as_ref().is_none_or(|start| session(body).starts_with(start))
    };
    let latest = latest(&journal, request.limit, wanted)?;
    // One of which there is no record may be known by its transcript.
    if let (true, Some(start)) = (latest.is_empty(), &start)
        && let Err(unknown) = named(start)
        && unknown.kind() == TroubleKind::NotFound
    {
        return Err(unknown);
    }
    // They were cleaned when they were recorded; the rules may be newer.
    let intake = app.intake()?;
    let clean = |mut stored: Stored| {
        let body = std::mem::take(&mut stored.body);
        let body = intake.redactor().clean_value(body, &mut Report::default());
        JournalRecord::new(stored, body)
    };
    Ok(latest.into_iter().map(clean).collect())
}

/// The latest records, in order. They do not lie in order: several segments grow at once.
fn latest(
    journal: &Journal,
    limit: usize,
    wanted: impl Fn(&Stored) -> bool,
) -> Result<Vec<Stored>> {
    let mut records = Vec::new();
    let keep_latest = |records: &mut Vec<Stored>| {
        records.sort_by_key(|stored| stored.at);
        records.drain(..records.len().saturating_sub(limit));
    };
    for item in journal.stream(Cursor::default())? {
        if let Item::Entry(stored) = item?
            && wanted(&stored)
        {
            records.push(stored);
        }
        // The journal may be far larger than what is shown of it.
        if records.len() > 2 * limit + 1_000 {
            keep_latest(&mut records);
        }
    }
    keep_latest(&mut records);
    Ok(records)
}

/// Reads every record.
///
/// # Errors
/// Fails if a file cannot be read. Damage is reported in the answer.
pub fn check(app: &App) -> Result<JournalCheck> {
    let found = open(app)?.verify()?;
    let problems: Vec<RecordProblem> = found.problems.iter().map(RecordProblem::from).collect();
    Ok(JournalCheck {
        version: answer::VERSION,
        kind: "journal-verify",
        clean: !problems.iter().any(|problem| problem.serious),
        segments: found.segments,
        records: found.entries,
        repeated: found.duplicates,
        problems,
    })
}

/// The next step, or the meaning of a problem.
const fn advice(problem: &ProblemKind) -> &'static str {
    match problem {
        ProblemKind::Damaged => {
            "The disk lost it: put the segment back from a backup. What stands around it can be read."
        }
        ProblemKind::CutShort => {
            "A writer was stopped before it acknowledged this; nothing that was acknowledged is \
             missing, unless the power failed."
        }
        ProblemKind::Unfinished => {
            "It is being written, or its writer was killed before it was acknowledged; the next \
             record closes it off."
        }
        ProblemKind::Newer(_) => "Update Throughline on this machine to read it; it is kept.",
        ProblemKind::Changed => "It is read again from its start.",
        ProblemKind::Missing(_) | ProblemKind::Shortened(_) | ProblemKind::Replaced(_) => {
            "Put the journal back from a backup; a rebuild without it makes the loss final."
        }
    }
}

/// Counts records and bytes.
///
/// # Errors
/// Fails if the journal cannot be read.
pub fn stats(app: &App) -> Result<JournalStats> {
    let Stats {
        plain,
        sealed,
        spills,
        bytes_on_disk,
        bytes,
        records,
        duplicates,
        problems,
        kinds,
        hosts,
    } = open(app)?.stats()?;
    let alarm_bytes = app.config.journal.alarm_mb.bytes();
    Ok(JournalStats {
        version: answer::VERSION,
        kind: "journal-stats",
        segments: SegmentCounts { plain, sealed, spills },
        bytes_on_disk,
        bytes,
        alarm_bytes,
        alarm: bytes_on_disk > alarm_bytes,
        records: records.into(),
        repeated: duplicates,
        problems,
        kinds,
        hosts: hosts.into_iter().map(|(host, count)| (host, count.into())).collect(),
    })
}

//! `thru sync-history`: which sessions are not remembered as they are, and bringing them in.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use thru_app::ask::named;
use thru_app::ingest::exclusions::Exclusions;

use jiff::SignedDuration;
use serde_json::{Value, json};
use thru_agents::{Cleaner, Discovery, Reader, Source, agents};
use thru_app::Result;
use thru_core::{PassageKind, SessionKey, SourceKind, Timestamp};
use thru_intake::{ImportReport, Indexed, IntakeLock, Which, identity};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{SessionRow, Store};

use super::import;
use super::of_agents::{OfAgents, tell_apart};
use super::{Outcome, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, age, one_line, plural, size};
use thru_app::ingest::catch_up::everywhere;

/// Unindexed sessions of the store that are looked at.
const LOOKED_AT: usize = 10_000;
/// How much of a new transcript is read for its first prompt.
const OPENING: u64 = 64 * 1024;
/// Bytes of a transcript for each token that a model would be given, as tokens are estimated everywhere.
const BYTES_OF_TOKEN: u64 = 4;

/// Shows which sessions are not remembered, or not as they are now: transcripts that were not read to
/// their end, and sessions that were left and are not indexed. Changes nothing without --run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru sync-history                     what is missing of the last 7 days\n  \
    thru sync-history --run               bring it in\n  \
    thru sync-history --days 0 -p rocket  all that is missing of one project\n\n\
    Exit status: 1 nothing is missing.")]
pub(crate) struct Arguments {
    /// Only this project
    #[arg(long, short)]
    project: Option<String>,
    #[command(flatten)]
    of: OfAgents,
    /// Only sessions used in the last so many days; 0 means all
    #[arg(long, default_value_t = 7)]
    days: u32,
    /// At most so many sessions, the latest
    #[arg(long, value_name = "N")]
    max_sessions: Option<usize>,
    /// Bring them in
    #[arg(long)]
    run: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// In what way a session is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lack {
    /// Nothing of it was brought in.
    New,
    /// Its transcript went on.
    Grown,
    /// It was left, and is not indexed.
    Unindexed,
}

impl Lack {
    const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grown => "grown",
            Self::Unindexed => "unindexed",
        }
    }
}

/// A session that is not remembered as it is.
struct Missing {
    key: SessionKey,
    lack: Lack,
    last: Option<Timestamp>,
    project: Option<String>,
    title: Option<String>,
    /// What belongs to it, as far as it is on the disk.
    sources: Vec<Source>,
    /// Bytes of that which were not read.
    unread: u64,
}

impl Missing {
    fn transcript(&self) -> Option<&Source> {
        self.sources.iter().find(|source| source.kind == SourceKind::Main)
    }

    fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.size).sum()
    }

    /// What a model would be given: it reads a session whole, though only a part of it is new.
    fn tokens(&self) -> u64 {
        self.bytes() / BYTES_OF_TOKEN
    }
}

/// What is missing of what was asked for.
struct Found {
    sessions: Vec<Missing>,
    /// How many are too old, or too many.
    others: usize,
}

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    if environment.layout.database().exists() {
        // A store of an older version is upgraded before anybody holds the lock.
        shared::open_store(environment)?;
    }
    let intake = environment.intake()?;
    let lock = match arguments.run {
        true => Some(shared::lock(&intake, environment)?),
        false => None,
    };
    let mut found = look(arguments, environment)?;
    if lock.is_none() {
        name_all(&mut found, intake.redactor());
    }
    let report = match lock {
        Some(lock) if !found.sessions.is_empty() => {
            Some(bring_in(environment, &lock, &found.sessions, arguments.json)?)
        }
        _ => None,
    };
    let mut page = Page::new(environment, plain);
    match (arguments.json, &report) {
        (true, _) => page.json(&as_json(arguments, &found, report.as_ref()))?,
        (false, Some(report)) => tell(&mut page, report, environment),
        (false, None) => preview(&mut page, arguments, &found, environment),
    }
    page.print()?;
    Ok(match report {
        Some(report) if report.interrupted => Outcome::Interrupted,
        _ if found.sessions.is_empty() => Outcome::Nothing,
        _ => Outcome::Done,
    })
}

/// What is missing, for programs; nothing is changed.
pub(crate) fn preview_json(
    environment: &Environment,
    project: Option<&str>,
    days: u32,
    max_sessions: Option<usize>,
) -> Result<Value> {
    let project = project.map(str::to_owned);
    let of = OfAgents::default();
    let arguments = Arguments { project, of, days, max_sessions, run: false, json: true };
    let mut found = look(&arguments, environment)?;
    name_all(&mut found, environment.intake()?.redactor());
    Ok(as_json(&arguments, &found, None))
}

/// Names sessions of which nothing was brought in by what the user first said.
fn name_all(found: &mut Found, redactor: &Redactor) {
    for session in found.sessions.iter_mut().filter(|session| session.title.is_none()) {
        session.title = first_prompt(session, redactor);
    }
}

/// Looks for what is missing.
fn look(arguments: &Arguments, environment: &Environment) -> Result<Found> {
    let exclusions = Exclusions::of(environment)?;
    let mut discovery = everywhere(environment, &exclusions);
    discovery.sources.retain(|source| arguments.of.hold(source.agent));
    // A subagent's file belongs to the session that is to be listed.
    discovery.sources.iter_mut().for_each(agents::settle);
    let mut on_disk: HashMap<SessionKey, Vec<Source>> = HashMap::new();
    for source in &discovery.sources {
        let key = SessionKey { agent: source.agent, id: source.session.clone() };
        on_disk.entry(key).or_default().push(source.clone());
    }
    let plan = import::prepare_found(environment, exclusions, discovery)?.plan;
    let store = Store::open_if_there(&environment.layout)?;
    let mut unread: HashMap<SessionKey, u64> = HashMap::new();
    // Lists of prompts belong to no session.
    for source in plan.sources.iter().filter(|source| source.kind != SourceKind::PromptHistory) {
        let key = SessionKey { agent: source.agent, id: source.session.clone() };
        *unread.entry(key).or_default() += new_bytes(store.as_ref(), source)?;
    }
    let mut sessions = Vec::new();
    for (key, unread) in unread {
        let row = session(store.as_ref(), &key)?;
        let lack = if row.is_some() { Lack::Grown } else { Lack::New };
        let sources = on_disk.remove(&key).unwrap_or_default();
        let last = sources.iter().filter_map(|source| source.modified).max();
        sessions.push(of_row(key, lack, last, row.as_ref(), sources, unread));
    }
    if let Some(store) = &store {
        let (now, limits) = (environment.clock.now(), environment.limits());
        for course in store.unindexed_sessions(None, LOOKED_AT)? {
            let is_left = course.heard.left(now, &limits).is_some();
            if !is_left
                || !arguments.of.hold(course.key.agent)
                || sessions.iter().any(|known: &Missing| known.key == course.key)
            {
                continue;
            }
            let row = store.session(course.row)?;
            let sources = on_disk.remove(&course.key).unwrap_or_default();
            let last = course.heard.last();
            sessions.push(of_row(course.key, Lack::Unindexed, last, row.as_ref(), sources, 0));
        }
    }
    sessions.sort_by(|a, b| (b.last, &a.key.id).cmp(&(a.last, &b.key.id)));
    narrow(arguments, environment, store.as_ref(), sessions)
}

fn of_row(
    key: SessionKey,
    lack: Lack,
    last: Option<Timestamp>,
    row: Option<&SessionRow>,
    sources: Vec<Source>,
    unread: u64,
) -> Missing {
    Missing {
        key,
        lack,
        last,
        project: row.and_then(|row| row.project_name.clone()),
        title: row.and_then(|row| row.title.clone()),
        sources,
        unread,
    }
}

fn session(store: Option<&Store>, key: &SessionKey) -> Result<Option<SessionRow>> {
    let Some(store) = store else { return Ok(None) };
    Ok(match store.session_by_key(key)? {
        Some(row) => store.session(row)?,
        None => None,
    })
}

/// Bytes of a file that were not read yet.
fn new_bytes(store: Option<&Store>, source: &Source) -> Result<u64> {
    let path = source.path.to_string_lossy();
    let known = store.map(|store| store.stamp(&path)).transpose()?.flatten();
    Ok(source.size.saturating_sub(known.map_or(0, |known| known.stamp.size)))
}

/// Keeps what was asked for.
fn narrow(
    arguments: &Arguments,
    environment: &Environment,
    store: Option<&Store>,
    mut sessions: Vec<Missing>,
) -> Result<Found> {
    let mut places = Places { environment, store, known: HashMap::new() };
    for session in sessions.iter_mut().filter(|session| session.project.is_none()) {
        let directory =
            session.transcript().and_then(|main| agents::directory_of(main.agent, &main.path));
        session.project = match directory {
            Some(directory) => Some(places.project_of(PathBuf::from(directory))?),
            None => None,
        };
    }
    if let Some(name) = &arguments.project {
        // What no session was brought in of has a name all the same.
        let named = store.map(|store| named::named_project(store, name));
        let wanted = match &named {
            Some(Ok(project)) => project.name.as_str(),
            _ => name,
        };
        sessions.retain(|session| {
            session.project.as_deref().is_some_and(|project| project.eq_ignore_ascii_case(wanted))
        });
        if sessions.is_empty()
            && let Some(Err(error)) = named
        {
            return Err(error);
        }
    }
    let all = sessions.len();
    if arguments.days > 0 {
        let days = SignedDuration::from_hours(24 * i64::from(arguments.days));
        // More days than the calendar has are all days.
        let since = environment.clock.now().checked_sub(days).unwrap_or(Timestamp::MIN);
        sessions.retain(|session| session.last.is_some_and(|last| last >= since));
    }
    sessions.truncate(arguments.max_sessions.unwrap_or(usize::MAX));
    Ok(Found { others: all - sessions.len(), sessions })
}

/// Which projects directories belong to.
struct Places<'a> {
    environment: &'a Environment,
    store: Option<&'a Store>,
    known: HashMap<PathBuf, String>,
}

impl Places<'_> {
    fn project_of(&mut self, directory: PathBuf) -> Result<String> {
        if let Some(known) = self.known.get(&directory) {
            return Ok(known.clone());
        }
        let home = self.environment.home.as_deref();
        let key = identity::identify(&directory, home, &named::declared_name);
        let row = self.store.map(|store| store.project_by_key(&key)).transpose()?.flatten();
        let name = match (self.store, row) {
            (Some(store), Some(row)) => store.project_name(row)?,
            _ => None,
        };
        let name = name.unwrap_or_else(|| key.default_name().to_owned());
        self.known.insert(directory, name.clone());
        Ok(name)
    }
}

/// What the user first said in a session of which nothing was brought in.
fn first_prompt(session: &Missing, redactor: &Redactor) -> Option<String> {
    let main = session.transcript()?;
    let opening = opening(&main.path)?;
    let mut cleaner = Cleaner::resume(main.agent, main.kind, None);
    let mut reader = Reader::of(main);
    for (number, line) in (1..).zip(opening.split_inclusive(|byte| *byte == b'\n')) {
        let line: Clean<Vec<u8>> = cleaner.clean(redactor, line, &mut Report::default());
        let batch = reader.read(&line, number).into_inner();
        let said = batch.passages.into_iter().find(|one| one.kind == PassageKind::Human);
        if let Some(passage) = said {
            return Some(passage.text);
        }
    }
    None
}

/// The whole lines at the beginning of a file.
fn opening(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(OPENING).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n')?;
    bytes.truncate(end + 1);
    Some(bytes)
}

fn bring_in(
    environment: &Environment,
    lock: &IntakeLock,
    sessions: &[Missing],
    quiet: bool,
) -> Result<ImportReport> {
    let sources = sessions.iter().flat_map(|session| session.sources.clone()).collect();
    let discovery = Discovery { sources, problems: Vec::new() };
    let exclusions = Exclusions::of(environment)?;
    let prepared = import::prepare_found(environment, exclusions, discovery)?;
    let asked: Vec<SessionKey> = sessions.iter().map(|session| session.key.clone()).collect();
    import::perform(environment, lock, prepared, Which::These(&asked), quiet)
}

/// Says what was done.
fn tell(page: &mut Page, report: &ImportReport, environment: &Environment) {
    import::tell(page, report, environment);
    let indexed = report.indexed.changed() as u64;
    page.line(match indexed {
        0 => "No session was to be indexed: what goes on is when it is left.".to_owned(),
        indexed => format!("Indexed {}.", plural(indexed, "session")),
    });
    let all = report.indexed.iter();
    let failed = all.filter(|(_, one)| matches!(one, Indexed::Failed(_))).count() as u64;
    if failed > 0 {
        let line = format!(
            "{} could not be indexed and will be tried again: `thru jobs` lists what failed.",
            plural(failed, "session")
        );
        page.line(page.paint(Tone::Bad, &line));
    }
}

fn preview(page: &mut Page, arguments: &Arguments, found: &Found, environment: &Environment) {
    let time = match arguments.days {
        0 => String::new(),
        1 => " of the last day".to_owned(),
        days => format!(" of the last {days} days"),
    };
    let place =
        arguments.project.as_ref().map_or_else(String::new, |name| format!(" in project {name}"));
    if found.sessions.is_empty() {
        page.line(format!("Every session{time}{place} is remembered as it is."));
    } else {
        table(page, &found.sessions, environment);
        page.gap();
        let unread = found.sessions.iter().map(|session| session.unread).sum();
        let tokens = found.sessions.iter().map(Missing::tokens).sum();
        page.line(format!(
            "{}{time}{place}, {} to read.",
            plural(found.sessions.len() as u64, "session"),
            size(unread)
        ));
        page.line(format!(
            "No model is set: nothing would be sent; with one, about {} of input.",
            plural(tokens, "token")
        ));
        page.line("`thru sync-history --run` brings them in, by the same options.");
    }
    if found.others > 0 {
        page.line(page.paint(
            Tone::Quiet,
            &format!(
                "{} not listed; `--days 0` without `--max-sessions` lists all.",
                plural(found.others as u64, "other session"),
            ),
        ));
    }
}

fn table(page: &mut Page, sessions: &[Missing], environment: &Environment) {
    let now = environment.clock.now();
    let names: Vec<String> = sessions
        .iter()
        .map(|session| one_line(session.project.as_deref().unwrap_or("-"), 20))
        .collect();
    let width = names.iter().map(|name| crate::ui::width(name)).max().unwrap_or(0).max(7);
    let by_agent = tell_apart(sessions.iter().map(|session| session.key.agent));
    let agent = |name: &str| match by_agent {
        true => format!("{name:11}  "),
        false => String::new(),
    };
    let heading = format!(
        "{:8}  {:9}  {}{:9}  {:>8}  {:width$}  TITLE",
        "SESSION",
        "LAST USED",
        agent("AGENT"),
        "LACKS",
        "SIZE",
        "PROJECT"
    );
    page.line(page.paint(Tone::Quiet, &heading));
    for (session, name) in sessions.iter().zip(&names) {
        let id = session.key.id.short();
        let padding = " ".repeat(width.saturating_sub(crate::ui::width(name)));
        let taken = 8 + 2 + 9 + 2 + agent("").len() + 9 + 2 + 8 + 2 + width + 2;
        let room = page.columns().saturating_sub(taken);
        let title = one_line(session.title.as_deref().unwrap_or("untitled"), room.max(20));
        page.line(format!(
            "{}  {:9}  {}{:9}  {:>8}  {name}{padding}  {title}",
            page.paint(Tone::Id, &format!("{id:8}")),
            age(session.last, now),
            agent(session.key.agent.as_str()),
            session.lack.as_str(),
            size(session.bytes()),
        ));
    }
}

fn as_json(arguments: &Arguments, found: &Found, report: Option<&ImportReport>) -> Value {
    let listed: Vec<Value> = found
        .sessions
        .iter()
        .map(|session| {
            let done = report.and_then(|report| report.indexed.get(&session.key));
            json!({
                "agent": session.key.agent,
                "session_id": session.key.id,
                "file_path": session.transcript().map(|source| &source.path),
                "project_namespace": session.project,
                "title": session.title.as_deref().map(|title| one_line(title, 200)),
                "state": session.lack.as_str(),
                "last_activity": session.last,
                "bytes": session.bytes(),
                "unread_bytes": session.unread,
                "estimated_tokens": session.tokens(),
                "episode_uuid": done.and_then(Indexed::episode),
            })
        })
        .collect();
    json!({
        "version": 1,
        "kind": "sync-history",
        "status": "success",
        "run": report.is_some(),
        "days": arguments.days,
        "count": listed.len(),
        "not_listed": found.others,
        "sessions": listed,
        "unread_bytes": found.sessions.iter().map(|session| session.unread).sum::<u64>(),
        "model": null,
        "cost": 0,
        "estimated_tokens": found.sessions.iter().map(Missing::tokens).sum::<u64>(),
        "import": report.map(import::as_json),
        "indexed": report.map(|report| report.indexed.changed()),
    })
}

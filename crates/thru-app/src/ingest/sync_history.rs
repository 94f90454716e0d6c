//! Sessions that are not remembered as they are, and importing them.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use serde::Serialize;
use thru_agents::{Cleaner, Discovery, Reader, Source, agents};
use thru_core::{
    Agent, Id, Micros, PassageKind, SessionId, SessionKey, SourceKind, Timestamp, one_line,
};
use thru_intake::{DistilScope, ImportReport, Indexed, IntakeLock};
use thru_redact::{Clean, Redactor, Report};
use thru_store::{SessionRow, Store};

use super::catch_up::everywhere;
use super::exclusions::Exclusions;
use super::import::{self, Imported};
use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::models::distil::Estimate;
use crate::models::{self, Models};
use crate::trouble::Result;

/// Unindexed sessions of the store that are considered.
const LOOKED_AT: usize = 10_000;
/// Bytes of a new transcript that are read for its first prompt.
const OPENING: u64 = 64 * 1024;
/// Bytes of a transcript for each token that a model would be given, as tokens are estimated everywhere.
const BYTES_OF_TOKEN: u64 = 4;
/// Characters of a title.
const LONGEST_TITLE: usize = 200;

/// The choice of sessions.
#[derive(Clone, Debug, Default)]
pub struct SyncHistory {
    /// Only this project.
    pub project: Option<String>,
    /// Only of these agents; of all where none is named.
    pub agents: Vec<Agent>,
    /// Only sessions used in the last so many days; 0 for all.
    pub days: u32,
    /// At most so many sessions, the latest.
    pub max_sessions: Option<usize>,
}

impl SyncHistory {
    fn wants(&self, agent: Agent) -> bool {
        self.agents.is_empty() || self.agents.contains(&agent)
    }
}

/// The sessions that are not remembered as they are, or were not before they were imported.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename = "sync-history")]
pub struct HistoryGap {
    version: u32,
    status: &'static str,
    /// True if the sessions were imported.
    pub run: bool,
    /// The days of the request.
    pub days: u32,
    /// The number of sessions.
    pub count: usize,
    /// The number of other sessions, which are older or beyond the number asked for.
    pub not_listed: usize,
    /// The sessions, the latest first.
    pub sessions: Vec<MissingSession>,
    /// Bytes that were not read.
    pub unread_bytes: u64,
    /// The provider whose model would be asked, by its name in the settings; `None` where none is set.
    pub provider: Option<String>,
    /// The model that would be asked.
    pub model: Option<String>,
    /// The number of these sessions that it would be asked about: those since `models.since`.
    pub asked: usize,
    /// The cost of asking it, in millionths of a dollar; `None` where its price is not known.
    pub cost: Option<Micros>,
    /// Tokens that the model would be given; where none is set, those that one would be given of all of them.
    pub estimated_tokens: u64,
    /// The import.
    pub import: Option<Imported>,
    /// The number of sessions that were indexed.
    pub indexed: Option<usize>,
}

/// A session that is not remembered as it is.
#[derive(Clone, Debug, Serialize)]
pub struct MissingSession {
    /// Its agent.
    pub agent: Agent,
    /// Its id.
    pub session_id: SessionId,
    /// Its transcript.
    pub file_path: Option<PathBuf>,
    /// The name of its project.
    pub project_namespace: Option<String>,
    /// Its title; of a new one, the first prompt.
    pub title: Option<String>,
    /// The way in which it is missing.
    pub state: Lack,
    /// The time of its last activity.
    pub last_activity: Option<Timestamp>,
    /// Bytes of its files.
    pub bytes: u64,
    /// Bytes of them that were not read.
    pub unread_bytes: u64,
    /// Tokens that a model would be given: it reads a session whole, though only a part of it is new.
    pub estimated_tokens: u64,
    /// Its episode after the import.
    pub episode_uuid: Option<Id>,
}

/// The way in which a session is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// Nothing of it was imported.
    New,
    /// Its transcript grew.
    Grown,
    /// It was left, and is not indexed.
    Unindexed,
}

impl Lack {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Grown => "grown",
            Self::Unindexed => "unindexed",
        }
    }
}

struct Missing {
    key: SessionKey,
    lack: Lack,
    last: Option<Timestamp>,
    project: Option<String>,
    title: Option<String>,
    /// Its files, as far as they are on the disk.
    sources: Vec<Source>,
    /// Bytes of them that were not read.
    unread: u64,
}

impl Missing {
    fn transcript(&self) -> Option<&Source> {
        self.sources.iter().find(|source| source.kind == SourceKind::Main)
    }

    fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.size).sum()
    }

    fn entry(&self, report: Option<&ImportReport>) -> MissingSession {
        let indexed = report.and_then(|report| report.indexed.get(&self.key));
        let title = self.title.as_deref().map(|title| one_line(title, LONGEST_TITLE));
        MissingSession {
            agent: self.key.agent,
            session_id: self.key.id.clone(),
            file_path: self.transcript().map(|source| source.path.clone()),
            project_namespace: self.project.clone(),
            title,
            state: self.lack,
            last_activity: self.last,
            bytes: self.bytes(),
            unread_bytes: self.unread,
            estimated_tokens: self.bytes() / BYTES_OF_TOKEN,
            episode_uuid: indexed.and_then(Indexed::episode),
        }
    }
}

/// The sessions that were chosen, and the number of others.
struct Found {
    sessions: Vec<Missing>,
    others: usize,
}

impl Found {
    fn answer(&self, app: &App, request: &SyncHistory, report: Option<ImportReport>) -> HistoryGap {
        let entries = self.sessions.iter().map(|session| session.entry(report.as_ref()));
        let sessions: Vec<MissingSession> = entries.collect();
        let set = &app.config.models;
        // One that cannot be asked as it is set is for `thru models test` to say.
        let models = Models::from_config(app).unwrap_or_default();
        let link = models.as_ref().and_then(Models::first);
        // Nothing earlier is sent to a model by itself.
        let since = models::since(&app.config, app.clock.now());
        let is_asked = |session: &&MissingSession| {
            since.is_none_or(|since| session.last_activity >= Some(since))
        };
        let asked: Vec<u64> =
            sessions.iter().filter(is_asked).map(|session| session.estimated_tokens).collect();
        let estimate = Estimate::of_transcripts(models.as_ref(), asked.iter().copied());
        HistoryGap {
            version: answer::VERSION,
            status: "success",
            run: report.is_some(),
            days: request.days,
            count: sessions.len(),
            not_listed: self.others,
            unread_bytes: sessions.iter().map(|session| session.unread_bytes).sum(),
            provider: set.provider().map(str::to_owned),
            model: link
                .map_or_else(|| set.model.clone(), |it| Some(it.provider.model().to_owned())),
            asked: if set.provider().is_some() { asked.len() } else { 0 },
            cost: if set.provider().is_some() { estimate.cost } else { Some(Micros(0)) },
            estimated_tokens: estimate.input_tokens,
            sessions,
            indexed: report.as_ref().map(|report| report.indexed.changed()),
            import: report.map(Imported::from),
        }
    }
}

/// Lists the sessions that are not remembered as they are. Changes nothing.
///
/// # Errors
/// Fails if there is no such project, if capture is switched off here, and if the store cannot be read.
pub fn preview(app: &App, request: &SyncHistory, call: Call<'_>) -> Result<HistoryGap> {
    upgrade(app, call)?;
    let mut found = look(app, request)?;
    let intake = app.intake()?;
    // Nothing of them was imported that could name them.
    for session in found.sessions.iter_mut().filter(|session| session.title.is_none()) {
        session.title = first_prompt(session, intake.redactor());
    }
    Ok(found.answer(app, request, None))
}

/// Imports them, and distils and indexes them. `progress` receives the report as it grows.
///
/// # Errors
/// As [`preview`], and if another process keeps writing or journal, archive or store cannot be written.
pub fn sync(
    app: &App,
    request: &SyncHistory,
    call: Call<'_>,
    progress: &mut dyn FnMut(&ImportReport),
) -> Result<HistoryGap> {
    upgrade(app, call)?;
    let lock = call.lock(&app.intake()?)?;
    let found = look(app, request)?;
    let report = match found.sessions.is_empty() {
        true => None,
        false => Some(import_missing(app, &lock, &found.sessions, call, progress)?),
    };
    Ok(found.answer(app, request, report))
}

/// Upgrades a store of an older version, and makes a lost one again, before the lock is held.
fn upgrade(app: &App, call: Call<'_>) -> Result<()> {
    fresh::make_again_if_lost(app, call)?;
    if app.layout.database().exists() {
        fresh::open(app, Freshness::Recorded, call)?;
    }
    Ok(())
}

fn import_missing(
    app: &App,
    lock: &IntakeLock,
    sessions: &[Missing],
    call: Call<'_>,
    progress: &mut dyn FnMut(&ImportReport),
) -> Result<ImportReport> {
    let sources = sessions.iter().flat_map(|session| session.sources.clone()).collect();
    let discovery = Discovery { sources, problems: Vec::new() };
    let planned = import::plan_found(app, Exclusions::from_config(app)?, discovery)?;
    let wanted: Vec<SessionKey> = sessions.iter().map(|session| session.key.clone()).collect();
    planned.carry_out(lock, DistilScope::These(&wanted), call, progress)
}

fn look(app: &App, request: &SyncHistory) -> Result<Found> {
    let exclusions = Exclusions::from_config(app)?;
    let mut discovery = everywhere(app, &exclusions);
    discovery.sources.retain(|source| request.wants(source.agent));
    // A subagent's file belongs to the session that is to be listed.
    discovery.sources.iter_mut().for_each(agents::resolve_session);
    let mut on_disk: HashMap<SessionKey, Vec<Source>> = HashMap::new();
    for source in &discovery.sources {
        let key = SessionKey { agent: source.agent, id: source.session.clone() };
        on_disk.entry(key).or_default().push(source.clone());
    }
    let plan = import::plan_found(app, exclusions, discovery)?.plan;
    let store = Store::open_if_there(&app.layout)?;
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
        let (now, limits) = (app.clock.now(), app.limits());
        for state in store.unindexed_sessions(None, LOOKED_AT)? {
            let is_left = state.lifecycle.left(now, &limits).is_some();
            if !is_left
                || !request.wants(state.key.agent)
                || sessions.iter().any(|known: &Missing| known.key == state.key)
            {
                continue;
            }
            let row = store.session(state.row)?;
            let sources = on_disk.remove(&state.key).unwrap_or_default();
            let last = state.lifecycle.last();
            sessions.push(of_row(state.key, Lack::Unindexed, last, row.as_ref(), sources, 0));
        }
    }
    sessions.sort_by(|a, b| (b.last, &a.key.id).cmp(&(a.last, &b.key.id)));
    narrow(app, request, store.as_ref(), sessions)
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

/// Keeps the sessions that were asked for.
fn narrow(
    app: &App,
    request: &SyncHistory,
    store: Option<&Store>,
    mut sessions: Vec<Missing>,
) -> Result<Found> {
    let mut directories = Directories { app, store, known: HashMap::new() };
    for session in sessions.iter_mut().filter(|session| session.project.is_none()) {
        let directory =
            session.transcript().and_then(|main| agents::directory_of(main.agent, &main.path));
        session.project = match directory {
            Some(directory) => Some(directories.project_of(PathBuf::from(directory))?),
            None => None,
        };
    }
    if let Some(name) = &request.project {
        // A project of which no session was imported has a name all the same.
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
    if request.days > 0 {
        let days = SignedDuration::from_hours(24 * i64::from(request.days));
        // More days than the calendar has are all days.
        let since = app.clock.now().checked_sub(days).unwrap_or(Timestamp::MIN);
        sessions.retain(|session| session.last.is_some_and(|last| last >= since));
    }
    sessions.truncate(request.max_sessions.unwrap_or(usize::MAX));
    Ok(Found { others: all - sessions.len(), sessions })
}

/// The projects that directories belong to.
struct Directories<'a> {
    app: &'a App,
    store: Option<&'a Store>,
    known: HashMap<PathBuf, String>,
}

impl Directories<'_> {
    fn project_of(&mut self, directory: PathBuf) -> Result<String> {
        if let Some(known) = self.known.get(&directory) {
            return Ok(known.clone());
        }
        let key = named::project_of_directory(self.app, &directory, self.store)?.project;
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

/// The first prompt of a session of which nothing was imported.
fn first_prompt(session: &Missing, redactor: &Redactor) -> Option<String> {
    let main = session.transcript()?;
    let opening = opening(&main.path)?;
    let mut cleaner = Cleaner::resume(main.agent, main.kind, None);
    let mut reader = Reader::for_source(main);
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

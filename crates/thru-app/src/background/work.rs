//! The daemon's work: brings in what hooks recorded and what transcripts say as it comes, and indexes sessions that
//! were left.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::call::{Call, Patience};
use crate::trouble::{Result, Trouble};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use thru_agents::hooks::ADAPTERS;
use thru_core::Agent;
use thru_daemon::{Log, News, Outcome, Work, WorkError};
use thru_intake::{Cleaned, Cleaning, DistilScope, Indexed, Intake, IntakeLock};
use thru_store::Store;

use super::embedding::{Chooser, EmbeddingThread};
use super::refining::Refining;
use super::vault::{self, Vaulting};
use crate::app::App;
use crate::ingest::catch_up::{Effort, Ingested, TranscriptScope, ingest};
use crate::ingest::reading::{Reading, watching};
use crate::words::{plural, printable};

/// The time to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time of one part of distilling or cleaning a whole home again, which a question may have to wait for.
const PART: Duration = Duration::from_millis(500);
/// Rows that readers look through themselves before the text index has to follow. They take up to two
/// thousand.
const BEHIND: u64 = 300;
/// The text index follows when nothing came for so long.
const QUIET: SignedDuration = SignedDuration::from_secs(10);
/// Cleaning by newer rules waits for quiet no longer than this.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_mins(10);
/// Sessions distilled in one go, after which a new process goes on: what they took of memory is returned in part only.
const MANY_SESSIONS: usize = 50;

/// The interval at which a pause of recording is looked at again.
const PAUSED: SignedDuration = SignedDuration::from_mins(1);

/// Brings in what there is, step by step.
pub struct Ingesting {
    app: App,
    /// Rows that the text index does not hold yet.
    behind: u64,
    /// True if transcripts were left alone, so that what changed is unknown.
    missed: bool,
    /// The time at which it was noticed that what is kept was cleaned by older rules.
    unclean: Option<Timestamp>,
    /// Cleaning it by newer ones, while that is under way.
    cleaning: Option<Cleaning>,
    /// The count of secrets that newer rules took out since the daemon started.
    cleaned: u64,
    /// Sessions distilled since a step last ended with nothing left to do.
    in_one_go: usize,
    /// True once the work has been that of a whole home.
    spent: bool,
    /// The time at which something last came.
    last_news: Option<Timestamp>,
    /// The outcome of the last step that brought something in.
    outcome: Option<Outcome>,
    sums: IngestedSums,
    refining: Refining,
    embedding: EmbeddingThread,
    vaulting: Vaulting,
    log: Arc<Log>,
}

/// The sums since the daemon started.
#[derive(Default)]
struct IngestedSums {
    events: u64,
    passages: u64,
    sessions: u64,
}

impl Ingesting {
    /// Makes the work of a daemon for this home.
    pub fn new(app: &App, chooser: &Arc<Chooser>, log: &Arc<Log>) -> Self {
        Self {
            embedding: EmbeddingThread::new(chooser, log),
            refining: Refining::start(app, log),
            vaulting: Vaulting::new(Arc::clone(log)),
            log: Arc::clone(log),
            app: app.clone(),
            // A process that was killed may have left it behind.
            behind: 1,
            missed: false,
            unclean: None,
            cleaning: None,
            cleaned: 0,
            in_one_go: 0,
            spent: false,
            last_news: None,
            outcome: None,
            sums: IngestedSums::default(),
        }
    }

    fn step(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome> {
        if !news.is_empty() {
            self.embedding.note_activity();
        }
        // Settings may have changed, and what must not be kept is one of them.
        self.app = self.app.again()?;
        // What a person saved waits for nothing that has to be brought in.
        self.vaulting.note_edits(&self.app, news.changed.iter());
        if let Some(outcome) = self.outcome
            && self.is_of_vault(news)
        {
            self.embedding.wake(&self.app);
            return Ok(outcome);
        }
        let app = &self.app;
        let now = app.clock.now();
        let reading = watching(app);
        // What changed meanwhile was not noted.
        let everything = news.everything || reading == Reading::All && self.missed;
        let intake = app.intake()?;
        let Some(lock) = intake.try_lock(PATIENCE)? else {
            return Err(Trouble::failed("another process writes"));
        };
        let quiet_since = self.last_news.map_or(QUIET, |last| now.duration_since(last));
        let is_quiet = news.is_empty() && quiet_since >= QUIET;
        let thorough = self.behind > BEHIND || self.behind > 0 && is_quiet || everything;
        let scope = match everything {
            true => TranscriptScope::Everywhere,
            false => TranscriptScope::Changed(news.changed.clone()),
        };
        let effort = Effort { scope: DistilScope::Finished { within: PART }, thorough };
        let ingested =
            ingest(app, &lock, scope, effort, Call::unwatched(Patience::Within(PATIENCE), stop))?;
        let has_waited = |since: Timestamp| now.duration_since(since) >= LONGEST_WAIT;
        let is_time = is_quiet || self.cleaning.is_some() || self.unclean.is_some_and(has_waited);
        let cleaning = match self.unclean.is_some() && is_time {
            true => self.clean_again(&intake, lock, stop)?,
            false => {
                drop(lock);
                self.cleaning = None;
                false
            }
        };
        self.missed = reading != Reading::All;
        let store = Store::open_if_there(&self.app.layout)?;
        self.behind = match &store {
            Some(store) => thru_store::index::rows_behind(&self.app.layout, store)?,
            None => 0,
        };
        let is_unclean = match &store {
            Some(store) => store.redactor()? != Some(intake.redactor().fingerprint()),
            None => false,
        };
        self.unclean = is_unclean.then(|| self.unclean.unwrap_or(now));
        self.note(&ingested, now);
        self.refining.wake();
        self.embedding.wake(&self.app);
        self.vaulting.note_memory(&self.app);
        let next = store.map(|store| store.next_due()).transpose()?.flatten();
        let more = ingested.report.distilled.is_unfinished() || cleaning;
        self.spent |= self.in_one_go >= MANY_SESSIONS;
        if !more {
            self.in_one_go = 0;
        }
        let quiet = (self.behind > 0 || is_unclean || self.spent).then_some(now + QUIET);
        // A pause may end by itself; a stopped import goes on by a command, which wakes us.
        let resumed = (reading == Reading::Nothing).then_some(now + PAUSED);
        let due = [next, quiet, resumed].into_iter().flatten().min();
        let renew = self.spent && is_quiet && !more && !is_unclean;
        let outcome = Outcome { due, busy: next.is_some(), more, renew };
        self.outcome = Some(outcome);
        Ok(outcome)
    }

    /// True if news tell of files in the vault, and of nothing else: no transcript is among them, and the vault's own thread
    /// brings in what people wrote.
    fn is_of_vault(&self, news: &News) -> bool {
        let Some(root) = vault::root(&self.app) else { return false };
        let News { poked, changed, everything } = news;
        let is_other = *poked || *everything || changed.is_empty();
        !is_other && changed.iter().all(|path| path.starts_with(root))
    }

    /// Takes out of a part of what is kept what newer rules match, and logs how much that was in the end. Returns true if
    /// the next part can follow at once.
    fn clean_again(
        &mut self,
        intake: &Intake,
        lock: IntakeLock,
        stop: &AtomicBool,
    ) -> Result<bool> {
        let (report, problems) = match Cleaning::part(&mut self.cleaning, intake, lock, PART, stop)?
        {
            Cleaned::Unfinished => return Ok(true),
            Cleaned::Waiting => return Ok(false),
            Cleaned::Whole { report, problems } => (report, problems),
        };
        self.spent = true;
        for (file, problem) in problems {
            let (file, problem) = (printable(&file), printable(&problem));
            self.log.warn(&format!("{file} could not be cleaned by newer rules: {problem}"));
        }
        let secrets: u64 = report.redacted.secrets.values().sum();
        self.cleaned += secrets;
        self.log.info(&format!(
            "cleaned what is kept again by newer rules: {} in {} and {}",
            plural(secrets, "secret"),
            plural(report.records, "record"),
            plural(report.rewritten as u64, "file"),
        ));
        Ok(false)
    }

    fn note(&mut self, ingested: &Ingested, now: Timestamp) {
        let report = &ingested.report;
        let rows = report.written.passages + report.written.amended + report.distilled.memories;
        // What hooks told is rows, too.
        if rows + ingested.events > 0 {
            self.last_news = Some(now);
        }
        self.sums.events += ingested.events;
        self.sums.passages += report.written.passages;
        self.sums.sessions += report.indexed.changed() as u64;
        self.in_one_go += report.distilled.sessions;
        self.tell(ingested);
    }
}

impl Ingesting {
    /// Logs the fate of sessions and what could not be read; never what was said.
    fn tell(&self, ingested: &Ingested) {
        for (session, indexed) in ingested.report.indexed.iter() {
            let id = &session.id;
            match indexed {
                Indexed::New(episode) => {
                    self.log.info(&format!("indexed session {id} as {episode}"))
                }
                Indexed::Replaced(episode) => {
                    self.log.info(&format!("indexed session {id} anew, as {episode}"));
                }
                Indexed::Unchanged(episode) => self
                    .log
                    .info(&format!("session {id} is unchanged: it stays indexed as {episode}")),
                Indexed::Empty | Indexed::Undistilled => {}
                Indexed::Failed(trouble) => self
                    .log
                    .warn(&format!("session {id} could not be indexed: {}", printable(trouble))),
            }
        }
        for problem in &ingested.report.problems {
            let path = printable(&problem.path.display().to_string());
            self.log.warn(&format!("{path}: {}", printable(&problem.message)));
        }
    }
}

impl Work for Ingesting {
    fn ingest(&mut self, news: &News, stop: &AtomicBool) -> Result<Outcome, WorkError> {
        self.step(news, stop).map_err(|error| format!("{error:#}").into())
    }

    fn due(&mut self) -> Option<Timestamp> {
        let store = Store::open_if_there(&self.app.layout).ok().flatten()?;
        store.next_due().ok().flatten()
    }

    fn watched(&mut self) -> Vec<PathBuf> {
        watched(&self.app)
    }

    fn status(&mut self) -> Value {
        let IngestedSums { events, passages, sessions } = self.sums;
        json!({ "events": events, "passages": passages, "sessions_indexed": sessions, "cleaned_again": self.cleaned })
    }
}

/// The folders in which transcripts grow.
fn watched(app: &App) -> Vec<PathBuf> {
    if !app.config.session_tracking.enabled {
        return Vec::new();
    }
    let own = app.config.session_tracking.watch_directories.iter().map(PathBuf::from);
    // One that is waited for is looked for again and again: only the first agent's, which hooks wait for. An agent
    // that is installed later is noticed by the next look at everything.
    let of_agents = Agent::ALL.into_iter().filter_map(|agent| {
        let folder = app.homes.transcripts(agent);
        (agent == ADAPTERS[0].agent || folder.is_dir()).then_some(folder)
    });
    let vault = vault::root(app).map(Path::to_owned);
    let all: BTreeSet<PathBuf> = own.chain(of_agents).chain(vault).collect();
    all.into_iter().filter(|path| path != Path::new("")).collect()
}

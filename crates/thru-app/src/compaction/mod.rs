//! Compactions: before the context of a session is compacted, a snapshot of the session is kept in journal, store and
//! files. The first process that can keeps it: the hook, the start of the session after the compaction, or the next
//! ingest.
//!
//! A note in the data directory says that files are still to be written. It is there before the work
//! begins, and goes when it is done or cannot be done.

pub mod at_hook;
pub mod compare;
pub mod summaries;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::trouble::Result;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use thru_config::Config;
use thru_core::{Id, Layout, SessionKey, Snapshot, Timestamp};
use thru_intake::{CompactionMoment, Intake, IntakeLock};
use thru_journal::files;
use thru_redact::Clean;
use thru_store::{CompactionRow, SCHEMA_VERSION, SessionFilter, SessionRow, Store};
use thru_summaries::{Excerpt, Folder, Options, SummariesError};

use crate::app::{App, settings};

/// The age up to which compactions get files unasked. Older snapshots are made on request.
const RECENT: SignedDuration = SignedDuration::from_hours(24);
/// The number of projects with unwritable files to remember, at most.
const TROUBLED: usize = 50;
/// The number of chosen summary directories to remember, at most.
const PLACES: usize = 100;

/// A note of files that are still to be written.
#[derive(Serialize, Deserialize)]
struct Pending {
    session: SessionKey,
    event: String,
    /// The project's root.
    root: Option<PathBuf>,
    since: Timestamp,
}

/// True if the store has another version, or is lost: the next writer upgrades it, or makes it again, which takes time.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn is_to_be_upgraded(app: &App) -> Result<bool> {
    match Store::open_if_there(&app.layout)? {
        Some(store) => Ok(store.schema_version()? != SCHEMA_VERSION),
        None => Ok(Intake::is_lost(&app.layout)?),
    }
}

/// True if a session's snapshot can be made while an agent waits: it takes about 10 µs for each prompt, text and tool
/// call.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn is_quick(store: &Store, session: i64) -> Result<bool> {
    const AT_ONCE: u64 = 20_000;
    Ok(store.messages_before(session, None, Timestamp::MAX)? <= AT_ONCE)
}

/// Keeps the missing snapshots of the last day's compactions, and writes the pending files.
///
/// # Errors
/// Fails if journal or store cannot be used.
pub fn complete(app: &App, lock: &IntakeLock) -> Result<()> {
    let since = app.clock.now() - RECENT;
    let intake = app.intake()?;
    for mut moment in intake.moments_without_snapshot(since)? {
        // The hook knew the project's root; the store knows where the session was begun.
        let noted = place_of_note(&app.layout, &moment.session, &moment.event);
        if let Some(noted) = read_note(&noted) {
            moment.directory = noted.root.map(|root| root.to_string_lossy().into_owned());
        }
        note(app, &moment)?;
        keep(app, &intake, lock, moment)?;
    }
    let pending = pending(&app.layout);
    if pending.is_empty() {
        return Ok(());
    }
    let Some(store) = Store::open_if_there(&app.layout)? else { return Ok(()) };
    for (note, pending) in pending {
        let row = store.session_by_key(&pending.session)?;
        let made = row.map(|row| store.snapshots(row)).transpose()?.unwrap_or_default();
        let made = made.into_iter().find(|made| made.snapshot.event == pending.event);
        match (row, made) {
            (Some(row), Some(made)) => {
                let snapshot = intake.kept_snapshot(&store, row, made.snapshot)?;
                write(app, &intake, &store, row, &snapshot, pending.root.as_deref())?;
            }
            // What it was about is gone, or another note tells of it.
            _ if pending.since < since => drop(files::remove(&note)?),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the snapshot of a compaction: as it was kept, else as far as the store knows.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn held_at(
    intake: &Intake,
    store: &Store,
    compaction: &CompactionRow,
) -> Result<Option<Clean<Snapshot>>> {
    if let Some(known) = store.snapshot_of(compaction)? {
        return Ok(Some(intake.kept_snapshot(store, compaction.session, known.snapshot)?));
    }
    let Some(moment) = CompactionMoment::from_row(store, compaction)? else { return Ok(None) };
    Ok(intake.snapshot(store, compaction.session, moment)?)
}

/// Keeps the snapshot of a session, and writes its files.
fn keep(app: &App, intake: &Intake, lock: &IntakeLock, moment: CompactionMoment) -> Result<()> {
    let root = moment.directory.clone().map(PathBuf::from);
    let session = moment.session.clone();
    let Some(snapshot) = intake.take_snapshot(lock, moment)? else { return Ok(()) };
    let store = Store::open_to_read(&app.layout)?;
    let Some(row) = store.session_by_key(&session)? else { return Ok(()) };
    write(app, intake, &store, row, &snapshot, root.as_deref())
}

/// Writes the files of a snapshot, and notes a failure for `thru doctor`.
fn write(
    app: &App,
    intake: &Intake,
    store: &Store,
    row: i64,
    snapshot: &Clean<Snapshot>,
    root: Option<&Path>,
) -> Result<()> {
    let (session, event) = (&snapshot.get().session, &snapshot.get().event);
    let done = || files::remove(&place_of_note(&app.layout, session, event)).map(drop);
    let Some(root) = root else { return Ok(done()?) };
    let (config, _) = settings(&app.config_file, root)?;
    if !config.summaries.enabled {
        return Ok(done()?);
    }
    let folder = folder(app, &config, root);
    match write_to(app, &folder, intake, store, row, snapshot, &options(&config)) {
        Ok(_) => {
            note_trouble(&app.layout, root, None)?;
            done()?;
        }
        Err(SummariesError::Removed(_)) => done()?,
        // The disk may have room again, and the other process be done.
        Err(error) if error.is_passing() => {
            note_trouble(&app.layout, root, Some(error.to_string()))?;
        }
        Err(SummariesError::NoProject(_)) => done()?,
        Err(error) => {
            note_trouble(&app.layout, root, Some(error.to_string()))?;
            done()?;
        }
    }
    Ok(())
}

/// Writes the files of a snapshot into a folder.
///
/// # Errors
/// Fails if the folder cannot be written.
pub fn write_to(
    app: &App,
    folder: &Folder,
    intake: &Intake,
    store: &Store,
    row: i64,
    snapshot: &Clean<Snapshot>,
    options: &Options,
) -> thru_summaries::Result<thru_summaries::Written> {
    let known = snapshot.get();
    // Without them, it is a summary all the same.
    let excerpts = match options.code_snippets {
        true => intake.excerpts(store, row, &known.content, known.at).unwrap_or_default(),
        false => Vec::new(),
    };
    let excerpts: Vec<Clean<Excerpt>> = excerpts
        .into_iter()
        .map(|excerpt| excerpt.map(|one| Excerpt { path: one.path, code: one.code }))
        .collect();
    if !folder.is_in_project() {
        note_place(&app.layout, folder.path())?;
    }
    folder.write(snapshot, &excerpts, options)
}

/// Rewrites the existing files of these sessions, or of all, after redaction. Returns the folders where that failed.
///
/// # Errors
/// Fails if settings or store cannot be read.
pub fn write_again(app: &App, only: Option<&[SessionKey]>) -> Result<Vec<PathBuf>> {
    let intake = app.intake()?;
    let Some(store) = Store::open_if_there(&app.layout)? else { return Ok(Vec::new()) };
    let mut left = BTreeSet::new();
    let filter = match only {
        Some(only) => {
            let rows = only.iter().map(|key| Ok(store.session_by_key(key)?));
            let rows = rows.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
            SessionFilter { rows: Some(rows), ..SessionFilter::default() }
        }
        None => SessionFilter::default(),
    };
    for session in store.sessions(&filter)? {
        let mut folders = folders(app, &store, &session)?;
        // Nearly everywhere there are none, and what sessions held need not be found out.
        folders.retain(|folder| folder.has_session(session.key.id.as_str()));
        if folders.is_empty() {
            continue;
        }
        for snapshot in held(&intake, &store, &session)? {
            let Some(root) = snapshot.get().directory.clone().map(PathBuf::from) else { continue };
            let (config, _) = settings(&app.config_file, &root)?;
            let in_project = Folder::in_project(&root);
            let is_of_it = |folder: &&Folder| !folder.is_in_project() || **folder == in_project;
            for folder in folders.iter().filter(is_of_it) {
                let options = options(&config);
                match write_to(app, folder, &intake, &store, session.row, &snapshot, &options) {
                    Ok(_) | Err(SummariesError::Removed(_)) => {}
                    Err(_) => _ = left.insert(folder.path()),
                }
            }
        }
    }
    Ok(left.into_iter().collect())
}

/// Returns the snapshots of a session, the earliest first.
///
/// # Errors
/// Fails if the store cannot be read.
pub fn held(intake: &Intake, store: &Store, session: &SessionRow) -> Result<Vec<Clean<Snapshot>>> {
    let mut all: Vec<Clean<Snapshot>> = Vec::new();
    for compaction in store.compactions(session.row)? {
        all.extend(held_at(intake, store, &compaction)?);
    }
    // One that was kept stays, even where the compaction never came.
    for kept in store.snapshots(session.row)? {
        if all.iter().all(|known| known.get().event != kept.snapshot.event) {
            all.push(intake.kept_snapshot(store, session.row, kept.snapshot)?);
        }
    }
    all.sort_by_key(|held| held.get().at);
    Ok(all)
}

/// Removes the files of a session, wherever they were written, and the notes of pending ones. Returns those that could
/// not be removed.
///
/// # Errors
/// Fails if the store cannot be read, or a note cannot be removed.
pub fn remove(app: &App, store: &Store, session: &SessionRow) -> Result<Vec<PathBuf>> {
    drop_pending(&app.layout, |one| *one == session.key)?;
    let id = session.key.id.as_str();
    let mut left = Vec::new();
    for folder in folders(app, store, session)? {
        match folder.forget(id, &options(&app.config)) {
            Ok(_) | Err(SummariesError::Unknown(_)) => {}
            // A link that leads to none of this session is nothing to speak of.
            Err(SummariesError::Refused(_)) if !folder.has_session(id) => {}
            Err(_) => left.push(folder.path().join(id)),
        }
    }
    Ok(left)
}

/// Removes the notes of files of these sessions that are still to be written.
fn drop_pending(layout: &Layout, is_meant: impl Fn(&SessionKey) -> bool) -> Result<()> {
    for (note, _) in pending(layout).iter().filter(|(_, one)| is_meant(&one.session)) {
        files::remove(note)?;
    }
    Ok(())
}

/// Returns the folders that may hold summaries of a session, by today's settings and earlier ones.
fn folders(app: &App, store: &Store, session: &SessionRow) -> Result<Vec<Folder>> {
    let kept = store.snapshots(session.row)?.into_iter();
    let roots = kept.filter_map(|kept| kept.snapshot.directory);
    let roots: BTreeSet<PathBuf> =
        roots.chain(session.facts.directory.clone()).map(PathBuf::from).collect();
    let mut places = places(&app.layout);
    // Earlier versions did not note it.
    places.extend(own_place(app, &app.config));
    places.sort();
    places.dedup();
    let in_projects = roots.into_iter().map(Folder::in_project);
    Ok(in_projects.chain(places.into_iter().map(Folder::elsewhere)).collect())
}

/// The options of summaries in these settings.
pub fn options(config: &Config) -> Options {
    let summaries = &config.summaries;
    Options { max: summaries.max, code_snippets: summaries.code_snippets, restores: false }
}

/// The folder for the summaries of a project.
pub fn folder(app: &App, config: &Config, root: &Path) -> Folder {
    match own_place(app, config) {
        None => Folder::in_project(root),
        Some(elsewhere) => Folder::elsewhere(elsewhere),
    }
}

/// The directory that the user chose for the summaries of all projects. Links on the way there are followed, none
/// below it.
fn own_place(app: &App, config: &Config) -> Option<PathBuf> {
    let chosen = config.summaries.location.as_deref()?;
    let home = app.home.as_deref();
    let path = chosen.strip_prefix("~/").zip(home).map(|(rest, home)| home.join(rest));
    let path = path.unwrap_or_else(|| PathBuf::from(chosen));
    // It may not be there yet.
    Some(path.canonicalize().unwrap_or(path))
}

/// The directories that the user chose for summaries at some time: their files are still ours.
fn places(layout: &Layout) -> Vec<PathBuf> {
    let text = fs::read(places_file(layout)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn places_file(layout: &Layout) -> PathBuf {
    layout.run().join("summaries-places.json")
}

/// Notes a directory before anything is written there; the latest ones last.
fn note_place(layout: &Layout, place: PathBuf) -> thru_summaries::Result<()> {
    let mut known = places(layout);
    if known.contains(&place) {
        return Ok(());
    }
    known.push(place);
    let surplus = known.len().saturating_sub(PLACES);
    let text = serde_json::to_vec(&known[surplus..]).unwrap_or_default();
    Ok(files::replace(&places_file(layout), &text)?)
}

/// Notes that files are to be written.
fn note(app: &App, moment: &CompactionMoment) -> Result<()> {
    let pending = Pending {
        session: moment.session.clone(),
        event: moment.event.clone(),
        root: moment.directory.clone().map(PathBuf::from),
        since: app.clock.now(),
    };
    let path = place_of_note(&app.layout, &moment.session, &moment.event);
    files::create_dir_private(&app.layout.summaries())?;
    Ok(files::replace(&path, &serde_json::to_vec(&pending)?)?)
}

fn place_of_note(layout: &Layout, session: &SessionKey, event: &str) -> PathBuf {
    let (agent, id) = (session.agent.as_str().as_bytes(), session.id.as_str().as_bytes());
    let name = Id::derive(&[agent, id, event.as_bytes()]);
    layout.summaries().join(format!("{name}.json"))
}

/// The files that are still to be written.
fn pending(layout: &Layout) -> Vec<(PathBuf, Pending)> {
    let entries = fs::read_dir(layout.summaries()).into_iter().flatten().flatten();
    let mut notes: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    // A killed process left half a note beside the place of the whole one.
    let is_note = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    for half in notes.iter().filter(|path| !is_note(path)) {
        let age = fs::metadata(half).and_then(|half| half.modified());
        if age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > Duration::from_secs(3_600))) {
            let _ = fs::remove_file(half);
        }
    }
    notes.retain(is_note);
    notes.sort();
    notes.into_iter().filter_map(|path| Some((path.clone(), read_note(&path)?))).collect()
}

fn read_note(path: &Path) -> Option<Pending> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The projects into which summaries could not be written, and why.
pub fn troubles(layout: &Layout) -> BTreeMap<PathBuf, String> {
    let text = fs::read(trouble_file(layout)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn trouble_file(layout: &Layout) -> PathBuf {
    layout.run().join("summaries-not-written.json")
}

fn note_trouble(layout: &Layout, root: &Path, trouble: Option<String>) -> Result<()> {
    let mut known = troubles(layout);
    let is_news = match trouble {
        None => known.remove(root).is_some(),
        Some(trouble) if known.contains_key(root) || known.len() < TROUBLED => {
            known.insert(root.to_owned(), trouble.clone()).as_ref() != Some(&trouble)
        }
        Some(_) => false,
    };
    if !is_news {
        return Ok(());
    }
    Ok(files::replace(&trouble_file(layout), &serde_json::to_vec(&known)?)?)
}

#[cfg(test)]
mod tests {
    use thru_core::{Agent, SessionId};

    use super::*;

    #[test]
    fn what_was_still_to_be_written_of_a_session_can_be_dropped() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        fs::create_dir_all(layout.summaries()).unwrap();
        for id in ["one", "two"] {
            let session = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(id) };
            let path = place_of_note(&layout, &session, "event");
            let event = "event".to_owned();
            let note = Pending { session, event, root: None, since: Timestamp::UNIX_EPOCH };
            fs::write(path, serde_json::to_vec(&note).unwrap()).unwrap();
        }
        drop_pending(&layout, |session| session.id.as_str() == "one").unwrap();
        let left: Vec<_> = pending(&layout).into_iter().map(|(_, one)| one.session.id).collect();
        assert_eq!(left, [SessionId::new("two")]);
    }
}

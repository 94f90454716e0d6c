//! The files that compactions leave in projects: listing, writing again, removing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::{file_name, first_names};
use thru_store::{SessionFilter, SessionRow, Store};
use thru_summaries::{Folder, Metadata, Options, SummariesError};

use super::{drop_pending, folder, held, options, write_to};
use crate::answer;
use crate::app::{App, settings};
use crate::ask::named;
use crate::call::Call;
use crate::fresh::{self, Freshness};
use crate::setup::surroundings::project_root;
use crate::trouble::{Listing, Remedy, Result, Trouble};

/// The summaries of the caller's project.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryList {
    version: u32,
    kind: &'static str,
    /// The folder that they lie in.
    pub folder: PathBuf,
    /// The summaries, the newest first.
    pub summaries: Vec<Metadata>,
    /// The session whose summary was last asked for.
    pub last_loaded: Option<String>,
    /// Parts of the folder's own settings that have no effect.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Returns the topics of a summary and the files that were changed, in one line; `None` if it names none.
pub fn about(one: &Metadata) -> Option<String> {
    const NAMED: usize = 5;
    let files: Vec<&str> = one.files_modified.iter().map(|path| file_name(path)).collect();
    let topics: Vec<&str> = one.topics.iter().map(String::as_str).collect();
    let [topics, files] = [topics, files]
        .map(|names| Some(first_names(&names, NAMED)).filter(|names| !names.is_empty()));
    let parts = [topics, files.map(|files| format!("changed: {files}"))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// The request to write files again.
#[derive(Clone, Debug, Default)]
pub struct RebuildSummaries {
    /// All sessions of this project; of the caller's where nothing is named.
    pub project: Option<String>,
    /// The start of a session's id: only this session.
    pub session: Option<String>,
}

/// Files that were written again.
#[derive(Clone, Debug, Serialize)]
pub struct SummariesRebuilt {
    version: u32,
    kind: &'static str,
    /// The number of summaries.
    pub written: u64,
    /// The number of those that were removed before, and stay so.
    pub removed: u64,
    /// The folders that they lie in.
    pub folders: BTreeSet<PathBuf>,
    /// Directories where some could not be written.
    pub failed: BTreeSet<NotWritten>,
    /// The number of sessions that were looked at.
    #[serde(skip)]
    pub sessions: usize,
}

/// A directory where a summary could not be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotWritten {
    /// The directory.
    pub directory: PathBuf,
    /// The reason.
    pub error: String,
}

/// The files of a session that can be removed.
#[derive(Clone, Debug)]
pub struct SummaryDeletion {
    folder: Folder,
    session: String,
    /// The number of summaries.
    pub summaries: u64,
}

/// Files that were removed.
#[derive(Clone, Debug, Serialize)]
pub struct SummariesDeleted {
    version: u32,
    kind: &'static str,
    /// The session.
    pub session_id: String,
    /// The number of summaries.
    pub summaries: usize,
}

/// Lists the summaries of the caller's project.
///
/// # Errors
/// Fails if the folder is a link or cannot be read.
pub fn list(app: &App) -> Result<SummaryList> {
    let folder = folder_here(app);
    let index = folder.list()?;
    Ok(SummaryList {
        version: answer::VERSION,
        kind: "summaries",
        folder: folder.path(),
        summaries: index.summaries,
        last_loaded: index.last_loaded,
        notes: folder.project_config().1,
    })
}

/// Writes files again from what is remembered.
///
/// # Errors
/// Fails if there is no such session or project, or store, archive or journal cannot be read. A file that cannot be
/// written is reported in the answer.
pub fn rebuild(app: &App, request: &RebuildSummaries, call: Call<'_>) -> Result<SummariesRebuilt> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let intake = app.intake()?;
    let sessions = wanted(app, request, &store)?;
    let mut rebuilt = SummariesRebuilt {
        version: answer::VERSION,
        kind: "summaries-rebuilt",
        written: 0,
        removed: 0,
        folders: BTreeSet::new(),
        failed: BTreeSet::new(),
        sessions: sessions.len(),
    };
    for session in &sessions {
        for held in held(&intake, &store, session)? {
            let Some(directory) = held.get().directory.clone().map(PathBuf::from) else { continue };
            let (config, _) = settings(&app.config_file, &directory)?;
            if !config.summaries.enabled {
                let error = "`summaries.enabled` is off there".to_owned();
                rebuilt.failed.insert(NotWritten { directory, error });
                continue;
            }
            let folder = folder(app, &config, &directory);
            // A session that is named is wanted.
            let options = Options { restores: request.session.is_some(), ..options(&config) };
            match write_to(app, &folder, &intake, &store, session.row, &held, &options) {
                Ok(_) => {
                    rebuilt.written += 1;
                    rebuilt.folders.insert(folder.path());
                }
                Err(SummariesError::Removed(_)) => rebuilt.removed += 1,
                Err(error) => {
                    rebuilt.failed.insert(NotWritten { directory, error: error.to_string() });
                }
            }
        }
    }
    Ok(rebuilt)
}

fn wanted(app: &App, request: &RebuildSummaries, store: &Store) -> Result<Vec<SessionRow>> {
    if let Some(id) = &request.session {
        return Ok(vec![named::named_session(app, store, id)?]);
    }
    let project = match &request.project {
        Some(name) => named::named_project(store, name)?,
        None => named::current_project(app, store)?.ok_or_else(named::unknown_here)?,
    };
    let projects = Some(store.project_rows(project.row)?);
    Ok(store.sessions(&SessionFilter { projects, ..SessionFilter::default() })?)
}

/// Finds the files of the session of the caller's project whose id begins so.
///
/// # Errors
/// Fails if there are none, several sessions begin so, or the folder cannot be read.
pub fn deletion(app: &App, session: &str) -> Result<SummaryDeletion> {
    let folder = folder_here(app);
    let index = folder.list()?;
    let latest = index.summaries.iter().max_by_key(|one| one.timestamp);
    let start = match (session, latest) {
        ("latest", Some(latest)) => latest.session_id.as_str(),
        _ => session,
    };
    let ids: BTreeSet<&str> = index
        .summaries
        .iter()
        .map(|one| one.session_id.as_str())
        .filter(|id| id.starts_with(start))
        .collect();
    let id = match ids.iter().collect::<Vec<_>>()[..] {
        [id] => *id,
        [] => {
            let message = format!("there is no summary of a session `{session}` here");
            return Err(Trouble::not_found(message).with(Remedy::See(Listing::Summaries)));
        }
        _ => {
            let message = format!("several sessions start with `{session}`");
            let ids = ids.into_iter().map(str::to_owned).collect();
            return Err(Trouble::ambiguous(message).with(Remedy::WriteMore(ids)));
        }
    };
    let summaries = index.summaries.iter().filter(|one| one.session_id == id).count() as u64;
    Ok(SummaryDeletion { session: id.to_owned(), folder, summaries })
}

impl SummaryDeletion {
    /// The folder of the files.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.session)
    }

    /// Removes the files. Journal and store keep what they hold.
    ///
    /// # Errors
    /// Fails if a file cannot be removed, or another process is writing there.
    pub fn carry_out(&self, app: &App) -> Result<SummariesDeleted> {
        // What was still to be written would bring them back.
        drop_pending(&app.layout, |session| session.id.as_str() == self.session)?;
        let deleted = self.folder.delete(&self.session, &options(&app.config))?;
        Ok(SummariesDeleted {
            version: answer::VERSION,
            kind: "summaries-deleted",
            session_id: self.session.clone(),
            summaries: deleted.summaries,
        })
    }
}

/// The folder of the caller's project: in the nearest directory that has one.
fn folder_here(app: &App) -> Folder {
    let folder = |root: &Path| folder(app, &app.config, root);
    let above = app.directory.ancestors();
    above
        .take_while(|directory| Some(*directory) != app.home.as_deref())
        .map(folder)
        .find(Folder::is_there)
        .unwrap_or_else(|| folder(&project_root(app)))
}

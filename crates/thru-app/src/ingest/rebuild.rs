//! Making store and index again, checking them, and putting transcripts back: what the archive is for.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use thru_agents::agents;
use thru_core::SessionId;
use thru_intake::{Depth, IntakeError, OnLoss, Restored, Verification};

use crate::answer;
use crate::app::App;
use crate::ask::named;
use crate::call::{Call, Unit};
use crate::fresh::{self, Freshness};
use crate::keep::redact::UnreadPlace;
use crate::trouble::{Result, Trouble};

/// A store and an index that were made again.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "rebuild")]
pub struct Rebuilt {
    version: u32,
    /// The number of archived files.
    pub files: usize,
    /// The number of passages.
    pub passages: u64,
    /// Parts of the old store that the new one lacks, in words.
    pub lost: Option<String>,
    /// Archived files that could not be read.
    pub unread: Vec<UnreadPlace>,
    /// The time that it took, in milliseconds.
    pub milliseconds: u128,
}

/// Makes store and index again from journal and archive, with the same ids. The old ones stay in use until the new ones
/// are complete, and after a call that was cancelled, which returns `None`.
///
/// # Errors
/// Fails if another process keeps writing, if the new store cannot be written, and if it would lack something of the old
/// one and that is to be refused.
pub fn rebuild(app: &App, on_loss: OnLoss, call: Call<'_>) -> Result<Option<Rebuilt>> {
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    let rebuilt = intake.rebuild(&lock, on_loss, call.cancelled(), &mut |report| {
        call.progress().step("Rebuilding", report.done as u64, report.sources as u64, Unit::Files);
    });
    let report = match rebuilt {
        Err(IntakeError::Interrupted) => return Ok(None),
        rebuilt => rebuilt?,
    };
    let unread = report.problems.into_iter();
    drop(lock);
    // Those of hooks are in no archived file.
    let memory = super::import::memory(app, call)?;
    Ok(Some(Rebuilt {
        version: answer::VERSION,
        files: report.sources,
        passages: memory.map_or(report.passages, |memory| memory.passages),
        lost: (!report.lost.is_none()).then(|| report.lost.to_string()),
        unread: unread.map(|(place, message)| UnreadPlace { place, message }).collect(),
        milliseconds: report.elapsed.as_millis(),
    }))
}

/// The result of a verification.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "verify")]
pub struct Verified {
    version: u32,
    /// True if nothing is damaged or missing.
    pub clean: bool,
    /// Counts and findings.
    #[serde(flatten)]
    pub verification: Verification,
}

/// Reads journal and archive to their ends, checks every checksum, and compares store and index with them.
///
/// # Errors
/// Fails if another process keeps writing, and if a file cannot be read at all. Damage is a finding.
pub fn verify(app: &App, call: Call<'_>) -> Result<Verified> {
    let intake = app.intake()?;
    // While another process writes, the parts may well differ. Where nothing can be written, none does.
    let _lock = match call.lock(&intake) {
        Ok(lock) => {
            // A damaged store cannot be upgraded, which is found next.
            let _ = intake.upgrade_if_older(&lock, &mut call.upgrading());
            Some(lock)
        }
        Err(error) if error.is_read_only() => None,
        Err(error) => return Err(error),
    };
    let verification = intake.verify(Depth::Whole, &mut |done, total| {
        call.progress().step("Checking", done, total, Unit::Files);
    })?;
    Ok(Verified { version: answer::VERSION, clean: verification.is_clean(), verification })
}

/// A session that was put back.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename = "restore")]
pub struct RestoredSession {
    version: u32,
    /// The session.
    pub session: SessionId,
    /// Its files.
    #[serde(flatten)]
    pub restored: Restored,
    /// The command line that resumes it.
    #[serde(skip)]
    pub resume_command: String,
}

/// Writes the transcript of a session back to where its agent can resume it, never over an existing file.
///
/// # Errors
/// Fails if there is no such session, if its transcript is not in the archive or exists at the agent already, and if the
/// files cannot be written.
pub fn restore(app: &App, session: &str, call: Call<'_>) -> Result<RestoredSession> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let session = named::named_session(app, &store, session)?.key;
    drop(store);
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    let restored = intake.restore(&lock, &session, app.homes.home(session.agent))?;
    Ok(RestoredSession {
        version: answer::VERSION,
        resume_command: agents::resume_command(&session).join(" "),
        session: session.id,
        restored,
    })
}

/// A session that its agent can resume.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "resume")]
pub struct ResumableSession {
    version: u32,
    /// The session.
    pub session: SessionId,
    /// The words of the command line that resumes it.
    pub command: Vec<String>,
    /// The directory to run it in.
    pub directory: PathBuf,
    /// Files that were put back, because the agent had deleted them.
    pub restored: Vec<PathBuf>,
}

impl ResumableSession {
    /// The line for a POSIX shell that resumes it.
    pub fn shell_line(&self) -> String {
        let directory = self.directory.to_string_lossy().replace('\'', r"'\''");
        format!("cd '{directory}' && {}", self.command.join(" "))
    }
}

/// Makes sure that an agent can resume a session: puts its transcript back where the agent deleted it.
///
/// # Errors
/// Fails if there is no such session, if its directory is gone, and if its transcript is neither at the agent nor in the
/// archive.
pub fn resumable(app: &App, session: &str, call: Call<'_>) -> Result<ResumableSession> {
    let store = fresh::open(app, Freshness::Recorded, call)?;
    let session = named::named_session(app, &store, session)?;
    drop(store);
    let id = session.key.id.as_str();
    // It becomes a word of a command line.
    if id.starts_with('-') {
        return Err(Trouble::refused(format!("the id `{id}` would be taken for an option")));
    }
    let directory =
        session.facts.directory.as_ref().map(PathBuf::from).ok_or_else(|| {
            Trouble::not_found(format!("the directory of session {id} is not known"))
        })?;
    if !directory.is_dir() {
        return Err(Trouble::not_found(format!("the directory {} is gone", directory.display()))
            .run(
                format!("session load {id}"),
                "prints what the session held, so that you can continue elsewhere",
            ));
    }
    let intake = app.intake()?;
    let lock = call.lock(&intake)?;
    let restored = match intake.restore(&lock, &session.key, app.homes.home(session.key.agent)) {
        // The agent still has it.
        Err(IntakeError::Exists(_)) => Vec::new(),
        restored => restored?.files,
    };
    Ok(ResumableSession {
        version: answer::VERSION,
        command: agents::resume_command(&session.key).map(str::to_owned).to_vec(),
        session: session.key.id,
        directory,
        restored,
    })
}

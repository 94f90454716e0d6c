//! Packs: the memories that a session is given, for a project and an occasion.

use std::collections::HashSet;

use thru_core::{Id, MemoryKind, Snapshot, Timestamp};
use thru_intake::identity::{self, Refused, Settled};
use thru_intake::{CompactionMoment, Intake};
use thru_recall::{Limits, Occasion, Pack, PackRequest, PendingEmbedding, pack};
use thru_redact::{Clean, Redactor};
use thru_store::{ProjectName, Store};

use super::named;
use crate::app::App;
use crate::disk::RealDisk;
use crate::trouble::Result;

/// The project that a pack is about.
pub struct PackProject {
    /// Its rows, with those of all that was merged into it; empty where the store has none of it.
    pub rows: Vec<i64>,
    /// Its name.
    pub name: String,
    /// A claim of the caller's directory that waits for a person.
    pub refused: Option<Refused>,
}

impl PackProject {
    /// The caller's project, known to the store or not.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn here(app: &App, store: &Store) -> Result<Self> {
        let Settled { project: key, refused, .. } =
            named::project_of_directory(app, &app.directory, Some(store))?;
        let row = store.project_by_key(&key)?;
        let name = row.map(|row| store.project_name(row)).transpose()?.flatten();
        let rows = row.map(|row| store.project_rows(row)).transpose()?.unwrap_or_default();
        let name = name.unwrap_or_else(|| key.default_name().to_owned());
        Ok(Self { rows, name, refused })
    }

    /// A project of the store.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn known(store: &Store, project: ProjectName) -> Result<Self> {
        Ok(Self { rows: store.project_rows(project.row)?, name: project.name, refused: None })
    }
}

/// The session that is given a pack.
#[derive(Default)]
pub struct Recipient {
    /// Its row, where the store has one.
    pub session: Option<i64>,
    /// The memories that it was given before.
    pub told: HashSet<Id>,
    /// Its content when its context was compacted.
    pub snapshot: Option<Snapshot>,
}

/// Makes a snapshot of a session as it is now, for a session that was never compacted.
///
/// # Errors
/// Fails if the store, the archive or the journal cannot be read.
pub fn snapshot_now(
    intake: &Intake,
    store: &Store,
    session: i64,
    now: Timestamp,
) -> Result<Option<Clean<Snapshot>>> {
    let Some(row) = store.session(session)? else { return Ok(None) };
    let moment = CompactionMoment {
        session: row.key,
        event: String::new(),
        at: now,
        trigger: String::new(),
        custom_instructions: None,
        directory: row.facts.directory,
        place: None,
    };
    Ok(intake.snapshot(store, session, moment)?)
}

/// Makes a pack by the user's settings.
///
/// # Errors
/// Fails if a setting about packs cannot be understood, or the store cannot be read.
pub fn make_pack(
    app: &App,
    store: &Store,
    redactor: &Redactor,
    project: PackProject,
    occasion: Occasion,
    recipient: Recipient,
    embedding: PendingEmbedding<'_>,
) -> Result<Pack> {
    let request = PackRequest {
        projects: project.rows,
        project: Some(project.name),
        occasion,
        session: recipient.session,
        told: recipient.told,
        snapshot: recipient.snapshot.as_ref(),
        branch: identity::branch(&app.directory),
        now: app.clock.now(),
        zone: app.zone().clone(),
        disk: &RealDisk,
        limits: limits(app),
    };
    // One lock instead of one for each of hundreds of small reads.
    let _reading = store.snapshot()?;
    Ok(pack(&app.layout, store, redactor, &request, embedding)?)
}

fn limits(app: &App) -> Limits {
    let config = &app.config;
    let kinds = config.context.types.iter().copied().map(MemoryKind::Observation).collect();
    Limits {
        start_tokens: config.context.tokens,
        prompt_tokens: config.context.prompt_tokens,
        observations: config.context.observations,
        sessions: config.context.sessions,
        kinds,
        concepts: config.context.concepts.clone(),
        last_summary: config.context.last_summary,
        idle_timeout: config.session.idle_timeout_minutes.duration(),
    }
}

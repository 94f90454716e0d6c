//! The packs that a session is given at a boundary: the store holds the transcript up to it and no more.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jiff::tz::TimeZone;
use thru_core::{Agent, Clock, Id, SessionId, SessionKey, Snapshot, SystemClock};
use thru_intake::SnapshotEnd;
use thru_recall::{Disk, Limits, Occasion, PackRequest, Presence, pack, without_embedding};

use super::boundary::Boundary;
use crate::home::{Home, temporary_directory};
use crate::process::thread_time;

/// The texts a session could continue with.
pub(super) struct Packs {
    /// With a snapshot.
    pub(super) now: String,
    /// Without one: from memories alone.
    pub(super) without: String,
    /// The time to make the content of the snapshot: processor time if known.
    pub(super) took: Duration,
}

/// A disk of which nothing is known.
struct NoDisk;

impl Disk for NoDisk {
    fn look(&self, _path: &str, _root: Option<&str>) -> Presence {
        Presence::Unknown
    }

    fn content(&self, _path: &str, _root: Option<&str>) -> Option<Id> {
        None
    }
}

/// Imports the transcript up to the boundary into a home of its own, and makes them.
pub(super) fn make(boundary: &Boundary, tokens: u64) -> Result<Packs> {
    let folder = temporary_directory()?;
    let name = boundary.path.file_name().context("a transcript without a name")?;
    let path = folder.path().join(name);
    fs::write(&path, &boundary.prefix)?;
    let home = Home::temporary()?;
    home.import_paths(&[path])?;
    let store = home.store()?;
    let key =
        SessionKey { agent: Agent::ClaudeCode, id: SessionId::new(boundary.session.as_str()) };
    let Some(row) = store.session_by_key(&key)? else {
        return Ok(Packs { now: String::new(), without: String::new(), took: Duration::default() });
    };
    let now = SystemClock.now();
    let (started, before) = (Instant::now(), thread_time());
    let content = home.intake().snapshot_content(&store, row, SnapshotEnd::Time(now))?;
    let took = match (before, thread_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => started.elapsed(),
    };
    let snapshot = Snapshot {
        session: key,
        event: "bench".to_owned(),
        at: now,
        trigger: "auto".to_owned(),
        custom_instructions: None,
        directory: store.places_of_sessions(&[row])?.remove(&row).and_then(|it| it.directory),
        messages: 0,
        content: content.into_inner(),
    };
    let project = store.session(row)?.and_then(|session| session.project);
    let made = |snapshot: Option<&Snapshot>| -> Result<String> {
        let request = PackRequest {
            projects: project.into_iter().collect(),
            project: Some("project".to_owned()),
            occasion: Occasion::Compact,
            session: Some(row),
            told: HashSet::new(),
            snapshot,
            branch: None,
            now,
            zone: TimeZone::UTC,
            disk: &NoDisk,
            limits: Limits { start_tokens: tokens, ..Limits::default() },
        };
        let intake = home.intake();
        let embedding = without_embedding("no prompt");
        Ok(pack(intake.layout(), &store, intake.redactor(), &request, embedding)?.text.into_inner())
    };
    Ok(Packs { now: made(Some(&snapshot))?, without: made(None)?, took })
}

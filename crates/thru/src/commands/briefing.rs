//! What `thru context` and the hooks do alike: making a pack for a place and an occasion.

use std::collections::HashSet;
use thru_app::App;
use thru_app::ask::named;

use thru_app::Result;
use thru_core::{Concept, Id, MemoryKind, Snapshot, Timestamp};
use thru_intake::{Before, Intake, identity};
use thru_recall::{Awaited, Limits, Occasion, Pack, PackRequest, pack};
use thru_redact::Redactor;
use thru_store::{ProjectName, Store};

use crate::failure::advised;
use thru_app::disk::RealDisk;

/// The project that a pack is about.
pub(crate) struct Place {
    /// Its rows, with those of all that was merged into it; none where nothing is known of it.
    pub(crate) projects: Vec<i64>,
    /// What it is called.
    pub(crate) name: String,
}

impl Place {
    /// The project that one stands in, whether anything is known of it or not.
    pub(crate) fn here(environment: &App, store: &Store) -> Result<Self> {
        let key = named::key_of_directory(environment);
        let row = store.project_by_key(&key)?;
        let name = row.map(|row| store.project_name(row)).transpose()?.flatten();
        let projects = row.map(|row| store.project_rows(row)).transpose()?.unwrap_or_default();
        Ok(Self { projects, name: name.unwrap_or_else(|| key.default_name().to_owned()) })
    }

    /// A project that somebody named.
    pub(crate) fn of(store: &Store, project: ProjectName) -> Result<Self> {
        Ok(Self { projects: store.project_rows(project.row)?, name: project.name })
    }
}

/// Who is given a pack.
pub(crate) struct Recipient {
    /// The row of the session, where it is known already.
    pub(crate) session: Option<i64>,
    /// The memories that it was given before.
    pub(crate) told: HashSet<Id>,
    /// What it held when its context was compacted.
    pub(crate) snapshot: Option<Snapshot>,
}

/// What a session holds now, where nobody made a snapshot of it.
pub(crate) fn snapshot_now(
    intake: &Intake,
    store: &Store,
    session: i64,
    now: Timestamp,
) -> Result<Option<Snapshot>> {
    let Some(row) = store.session(session)? else { return Ok(None) };
    let content = intake.snapshot_content(store, session, Before::Time(now))?;
    Ok(Some(Snapshot {
        session: row.key,
        event: String::new(),
        at: now,
        trigger: String::new(),
        custom_instructions: None,
        directory: row.facts.directory,
        messages: row.passages,
        content: content.into_inner(),
    }))
}

/// Makes a pack by the user's settings.
pub(crate) fn make_pack(
    environment: &App,
    store: &Store,
    redactor: &Redactor,
    place: Place,
    occasion: Occasion,
    recipient: Recipient,
    meaning: Awaited<'_>,
) -> Result<Pack> {
    let request = PackRequest {
        projects: place.projects,
        project: Some(place.name),
        occasion,
        session: recipient.session,
        told: recipient.told,
        snapshot: recipient.snapshot.as_ref(),
        branch: identity::branch(&environment.directory),
        now: environment.clock.now(),
        zone: environment.zone().clone(),
        disk: &RealDisk,
        limits: limits(environment)?,
    };
    Ok(pack(&environment.layout, store, redactor, &request, meaning)?)
}

fn limits(environment: &App) -> Result<Limits> {
    let config = &environment.config;
    let advice = "correct it with `thru config set`";
    let kinds = config
        .context_types()
        .iter()
        .map(|name| name.parse().map(MemoryKind::Observation))
        .collect::<Result<_, _>>()
        .map_err(|error| advised(format!("context.types: {error}"), advice))?;
    let concepts = config
        .context_concepts()
        .iter()
        .map(|name| name.parse::<Concept>())
        .collect::<Result<_, _>>()
        .map_err(|error| advised(format!("context.concepts: {error}"), advice))?;
    Ok(Limits {
        start_tokens: config.context_tokens(),
        prompt_tokens: config.context_prompt_tokens(),
        observations: config.context_observations(),
        sessions: config.context_sessions(),
        kinds,
        concepts,
        last_summary: config.context_last_summary(),
        idle_timeout: config.idle_timeout(),
        hot: config.max_hot_entries(),
    })
}

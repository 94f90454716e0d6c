//! The content of a session, for another one to go on with.

use std::path::Path;

use serde::Serialize;
use thru_core::{SessionId, Snapshot, Timestamp};
use thru_recall::Occasion;
use thru_redact::Clean;

use crate::answer;
use crate::app::App;
use crate::ask::pack::{PackProject, Recipient, make_pack, snapshot_now};
use crate::ask::{Opened, cleaned, named};
use crate::call::Call;
use crate::compaction;
use crate::embedding;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// A request for the content of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The start of its id, or `latest`: the latest session of the caller's project whose context was compacted, else
    /// the latest one other than the caller's own.
    pub id: String,
    /// The freshness of the answer.
    pub freshness: Freshness,
}

/// The content of a session as far as it has come.
#[derive(Clone, Debug, Serialize)]
pub struct HeldContext {
    /// The version of this form.
    pub version: u32,
    /// `session-load`.
    pub kind: &'static str,
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: Option<Clean<String>>,
    /// The name of its project.
    pub project: Option<Clean<String>>,
    /// The content as another session is given it, fenced; empty where nothing is known.
    pub text: Clean<String>,
    /// Estimated tokens of the text.
    pub tokens: u64,
    /// The time of its last compaction that left a snapshot.
    pub compacted: Option<Timestamp>,
    /// The content itself.
    pub snapshot: Option<Clean<Snapshot>>,
    /// True if nothing is known of it.
    #[serde(skip)]
    pub is_silent: bool,
    #[serde(skip)]
    directory: Option<String>,
}

/// Reads the content of a session.
///
/// # Errors
/// Fails if there is no such session, or store, archive or journal cannot be read.
pub fn load(app: &App, request: &Load, call: Call<'_>) -> Result<HeldContext> {
    let Opened { store, intake, .. } = Opened::new(app, request.freshness, call)?;
    let redactor = intake.redactor();
    let session = match request.id.as_str() {
        "latest" => named::latest_compacted_session(app, &store)?,
        id => named::named_session(app, &store, id)?,
    };
    let known = store.newest_snapshot(session.row)?.map(|known| known.snapshot);
    let compacted = known.as_ref().map(|known| known.at);
    let now = app.clock.now();
    let messages = store.messages_before(session.row, None, now)?;
    let snapshot = match known.filter(|known| known.messages >= messages) {
        Some(known) => Some(intake.kept_snapshot(&store, session.row, known)?),
        // It went on after its compaction, or there was none.
        None => snapshot_now(&intake, &store, session.row, now)?,
    };
    let project = match &session.project_name {
        Some(name) => PackProject {
            rows: session
                .project
                .map(|row| store.project_rows(row))
                .transpose()?
                .unwrap_or_default(),
            name: name.clone(),
            refused: None,
        },
        None => PackProject::here(app, &store)?,
    };
    let recipient = Recipient {
        session: Some(session.row),
        snapshot: snapshot.clone().map(Clean::into_inner),
        ..Recipient::default()
    };
    let embedding = embedding::pending(None);
    let pack = make_pack(app, &store, redactor, project, Occasion::Compact, recipient, embedding)?;
    Ok(HeldContext {
        version: answer::VERSION,
        kind: "session-load",
        session_id: session.key.id.clone(),
        title: session.title.as_deref().map(|title| cleaned(redactor, title)),
        project: session.project_name.as_deref().map(|name| cleaned(redactor, name)),
        text: pack.text,
        tokens: pack.tokens,
        compacted,
        is_silent: pack.lines.is_empty(),
        directory: snapshot
            .as_ref()
            .and_then(|snapshot| snapshot.get().directory.clone())
            .or(session.facts.directory),
        snapshot,
    })
}

impl HeldContext {
    /// Notes in the project's index of summaries that this session was loaded. The index is for people only, so that
    /// failing to write it changes nothing.
    pub fn note_loaded(&self, app: &App) {
        if let Some(root) = &self.directory {
            let folder = compaction::folder(app, &app.config, Path::new(root));
            let options = compaction::options(&app.config);
            let _ = folder.note_loaded(self.session_id.as_str(), &options);
        }
    }
}

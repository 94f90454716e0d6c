//! Making the vectors that are missing, and removing those of other models.

use std::time::{Duration, Instant};

use serde::Serialize;
use thru_agents::Discovery;
use thru_config::EmbeddingProvider;
use thru_embed::LoadMode;
use thru_intake::{DistilScope, Embedded, Embedding, Intake, IntakeError};
use thru_store::vectors::ModelFolder;

use super::chosen::{Chosen, may_see};
use super::lazy::Lazy;
use super::query::embed_question;
use crate::answer;
use crate::app::App;
use crate::call::{Call, Unit};
use crate::fresh;
use crate::ingest::catch_up::{Effort, TranscriptScope, ingest};
use crate::keep::settings;
use crate::trouble::{Remedy, Result, Trouble};

/// The interval at which a caller that waits for the daemon to end its turn looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The vectors that were made.
#[derive(Clone, Debug, Serialize)]
pub struct EmbedReport {
    version: u32,
    kind: &'static str,
    /// The model.
    pub model: String,
    /// The host that is sent all texts, where that is not this machine.
    pub remote_host: Option<String>,
    /// Texts that were embedded.
    pub texts: u64,
    /// Vectors that were made of them.
    pub vectors: u64,
    /// Texts that the server refused.
    pub left_out: u64,
    /// Files of vectors that were damaged and made again.
    pub damaged_files: u64,
    /// Texts that have vectors now.
    pub embedded: u64,
    /// Texts that may have them.
    pub of: u64,
    /// Bytes on the disk.
    pub bytes: u64,
    /// True if it was stopped.
    pub interrupted: bool,
    /// The seconds that it took.
    pub seconds: f64,
    /// The embedder in few words.
    #[serde(skip)]
    pub embedder: String,
}

/// Vectors that were removed.
#[derive(Clone, Debug, Serialize)]
pub struct PrunedVectors {
    version: u32,
    kind: &'static str,
    /// The models that they were of.
    pub removed: Vec<PrunedModel>,
}

/// A model whose vectors were removed.
#[derive(Clone, Debug, Serialize)]
pub struct PrunedModel {
    /// Its name.
    pub model: String,
    /// The bytes that its vectors took.
    pub bytes: u64,
}

/// The vector of a query.
#[derive(Clone, Debug, Serialize)]
pub struct QueryVector {
    version: u32,
    kind: &'static str,
    /// The model.
    pub model: String,
    /// The vector.
    pub vector: Vec<f32>,
}

/// Chooses who embeds: `bundled`, or `ollama/MODEL` or `openai/MODEL` of a server. The settings are written once the model
/// gave a vector. Returns the application with them.
///
/// # Errors
/// Fails if no provider has that name, the model gives no vector, or the settings cannot be written.
pub fn choose(app: &App, name: &str) -> Result<App> {
    let (named, model) = match name.split_once('/') {
        Some((named, model)) => (named, Some(model)),
        None => (name, None),
    };
    let provider = match (named, model) {
        ("bundled", None) => EmbeddingProvider::Bundled,
        ("ollama", Some(_)) => EmbeddingProvider::Ollama,
        ("openai", Some(_)) => EmbeddingProvider::OpenAi,
        ("none", None) => {
            return Err(Trouble::invalid("`none` names no model")
                .run("config set embedding.provider none", "turns embedding off"));
        }
        _ => {
            return Err(Trouble::invalid(format!("`{name}` names no model"))
                .advise("say `bundled`, `ollama/MODEL` or `openai/MODEL`"));
        }
    };
    let mut app = app.clone();
    app.config.embedding.provider = provider;
    app.config.embedding.model = model.map(str::to_owned);
    let vector = chosen(&app)?.load(LoadMode::Verified, 1).and_then(|model| model.vector("a text"));
    vector.map_err(|error| {
        let trouble = Trouble::failed(format!("`{name}` gives no vector: {error}"));
        match provider {
            EmbeddingProvider::Bundled => trouble.with(Remedy::Doctor),
            _ => trouble.advise(
                "start its server and see that it has the model; `thru config set embedding.url URL` says where it answers",
            ),
        }
    })?;
    let mut values = vec![("embedding.provider", named)];
    values.extend(model.map(|model| ("embedding.model", model)));
    settings::set(&app, &values)?;
    Ok(app)
}

/// Embeds the texts that have no vectors yet, at most `limit` of them: memories first, then the newest.
///
/// # Errors
/// Fails if embedding is off, the model fails, or store or vectors cannot be used.
pub fn embed(app: &App, limit: Option<usize>, call: Call<'_>) -> Result<EmbedReport> {
    let chosen = chosen(app)?;
    fresh::make_again_if_lost(app, call)?;
    let intake = app.intake()?;
    let embedder = Lazy::new(chosen.clone(), app.threads());
    let run = Embedding {
        embedder: &embedder,
        most: limit,
        may_see: &may_see(app, &chosen),
        stop: call.cancelled(),
    };
    call.progress().step("Looking for texts", 0, 0, Unit::Texts);
    // What was remembered since the last question is not in the index, which says what has no vector. Another process that
    // writes now brings it there.
    if let Some(lock) = intake.try_lock(LOOK_AGAIN)? {
        let effort = Effort { scope: DistilScope::These(&[]), thorough: true };
        ingest(app, &lock, TranscriptScope::Found(Discovery::default()), effort, call)?;
    }
    let started = Instant::now();
    let damaged_files = intake.mend_vectors(&chosen.model())?;
    let done = embed_in_turn(&intake, &run, call)?;
    let took = started.elapsed();
    let coverage = intake.coverage(&chosen.model())?;
    Ok(EmbedReport {
        version: answer::VERSION,
        kind: "embed",
        model: chosen.model(),
        remote_host: chosen.remote_host().map(str::to_owned),
        texts: done.texts,
        vectors: done.vectors,
        left_out: done.left_out,
        damaged_files,
        embedded: coverage.embedded,
        of: coverage.texts,
        bytes: coverage.bytes,
        interrupted: done.stopped,
        seconds: took.as_secs_f64(),
        embedder: chosen.described(),
    })
}

/// Embeds as soon as no other process does.
fn embed_in_turn(intake: &Intake, run: &Embedding<'_>, call: Call<'_>) -> Result<Embedded> {
    let progress = call.progress();
    loop {
        let done = intake.embed(run, &mut |done| {
            let all = done.texts + done.left_out + done.waiting;
            let wanted = run.most.map_or(all, |most| all.min(most as u64));
            progress.step("Embedding", done.texts + done.left_out, wanted, Unit::Texts);
        });
        match done {
            Err(IntakeError::Embedding) if !call.is_cancelled() => {
                progress.step("Waiting for another `thru` to finish embedding", 0, 0, Unit::Texts);
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(IntakeError::Embedding) => {
                return Ok(Embedded { stopped: true, ..Embedded::default() });
            }
            done => return Ok(done?),
        }
    }
}

/// Removes the vectors of all models but the one that is set.
///
/// # Errors
/// Fails if the settings cannot be used, or vectors cannot be removed.
pub fn prune(app: &App) -> Result<PrunedVectors> {
    let in_use = Chosen::from_config(app)?.map(|chosen| chosen.model());
    let mut removed = Vec::new();
    for folder in ModelFolder::all(&app.layout.vectors())? {
        if Some(&folder.model) != in_use.as_ref() {
            removed.push(PrunedModel { model: folder.model.clone(), bytes: folder.bytes });
            folder.remove()?;
        }
    }
    Ok(PrunedVectors { version: answer::VERSION, kind: "embed-pruned", removed })
}

/// Embeds a query, as a search does.
///
/// # Errors
/// Fails if embedding is off, nothing is embedded yet, or the model fails.
pub fn query_vector(app: &App, text: &str) -> Result<QueryVector> {
    chosen(app)?;
    match embed_question(app, text).wait() {
        Ok((model, vector)) => {
            Ok(QueryVector { version: answer::VERSION, kind: "vector", model, vector })
        }
        Err(reason) => Err(Trouble::failed(format!("there is no vector: {reason}"))),
    }
}

fn chosen(app: &App) -> Result<Chosen> {
    Chosen::from_config(app)?.ok_or_else(|| {
        Trouble::refused("embedding is off, by `embedding.provider`").run(
            "config set embedding.provider bundled",
            "uses the model that comes with the program",
        )
    })
}

//! The query embedding: the vector of a question, computed while other work goes on.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use thru_daemon::{CallError, Client};
use thru_embed::LoadMode;
use thru_recall::{PendingEmbedding, QueryEmbedding, without_embedding};
use thru_store::vectors::ModelFolder;

use super::chosen::Chosen;
use super::state::who_embeds;
use crate::app::App;
use crate::background;
use crate::models;

/// The time for the daemon to embed a query. A model of this process is ready not much later.
const DAEMON: Duration = Duration::from_millis(15);
/// Characters of a prompt whose meaning is asked for: a longer one takes the model longer than a hook waits, and
/// meanwhile a core that others need.
const LONGEST_PROMPT: usize = 240;
/// The time for a server to embed a query that is waited for.
const QUESTION: Duration = Duration::from_secs(3);

/// Threads of a model of our own: it is waited for.
const THREADS: usize = 2;

/// The answer of the daemon's tool `embed`.
#[derive(Serialize, Deserialize)]
pub struct EmbeddedQuery {
    /// The model's name.
    pub model: String,
    /// The vector, of unit length.
    pub vector: Vec<f32>,
}

/// A query embedding that may still be under way.
#[must_use]
pub enum EmbeddingTask {
    /// It is there already.
    Done(QueryEmbedding),
    /// A thread computes it.
    Running(JoinHandle<QueryEmbedding>),
}

impl EmbeddingTask {
    /// Waits for it.
    ///
    /// # Errors
    /// Fails if no model could embed it; the text says why.
    pub fn wait(self) -> QueryEmbedding {
        match self {
            Self::Done(found) => found,
            Self::Running(thread) => {
                thread.join().unwrap_or_else(|_| Err("the embedding model failed".to_owned()))
            }
        }
    }
}

/// Begins to embed a question: asks the daemon, whose model may be loaded, and else loads
/// one. Does neither where there are no vectors to compare with.
pub fn embed_question(app: &App, text: &str) -> EmbeddingTask {
    let request = match EmbeddingRequest::new(app, text) {
        Ok(request) => request,
        Err(reason) => return EmbeddingTask::Done(Err(reason)),
    };
    request.begin(|request| match &request.app.model.daemon {
        Some(model) if request.is_bundled() => model.embed(&request.app, &request.text),
        _ => request.daemon().or_else(|_| request.own_model()),
    })
}

/// The same for a hook, which has no time to load a model: only the daemon is asked.
pub fn embed_prompt(app: &App, text: &str) -> EmbeddingTask {
    if text.trim().chars().nth(LONGEST_PROMPT).is_some() {
        return EmbeddingTask::Done(Err("the prompt is too long for a hook to wait".to_owned()));
    }
    let request = match EmbeddingRequest::new(app, text) {
        Ok(request) => request,
        Err(reason) => return EmbeddingTask::Done(Err(reason)),
    };
    request.begin(|request| request.daemon())
}

/// Returns the embedding of a task, or says that there is no task.
pub fn pending<'a>(task: Option<EmbeddingTask>) -> PendingEmbedding<'a> {
    match task {
        Some(task) => Box::new(|| task.wait()),
        None => without_embedding("no embedding was asked for"),
    }
}

/// A question with all that is needed to embed it.
struct EmbeddingRequest {
    app: App,
    chosen: Chosen,
    model: String,
    text: String,
}

impl EmbeddingRequest {
    fn new(app: &App, text: &str) -> Result<Self, String> {
        let chosen = match Chosen::from_config(app) {
            Ok(Some(chosen)) => chosen,
            Ok(None) => return Err("switched off by `embedding.provider`".to_owned()),
            Err(error) => return Err(format!("{error:#}")),
        };
        let is_off = || models::settings_of(app, &app.directory).is_none();
        if matches!(chosen, Chosen::Served(..)) && is_off() {
            return Err("off here, by `models.off`".to_owned());
        }
        let model = chosen.model();
        let folder = ModelFolder::at(&app.layout.vectors(), &model);
        if folder.map_err(|error| error.to_string())?.dimensions.is_none() {
            let who = who_embeds(app);
            return Err(format!("nothing is embedded yet: {who}"));
        }
        let text = chosen.cleaned(app, text).map_err(|error| format!("{error:#}"))?;
        if text.is_empty() {
            return Err("there are no words to embed".to_owned());
        }
        Ok(Self { app: app.clone(), chosen, model, text })
    }

    const fn is_bundled(&self) -> bool {
        matches!(self.chosen, Chosen::Bundled(_))
    }

    fn begin(self, find: impl FnOnce(&Self) -> QueryEmbedding + Send + 'static) -> EmbeddingTask {
        let builder = std::thread::Builder::new().name("meaning".to_owned());
        match builder.spawn(move || find(&self)) {
            Ok(thread) => EmbeddingTask::Running(thread),
            Err(error) => EmbeddingTask::Done(Err(error.to_string())),
        }
    }

    fn daemon(&self) -> QueryEmbedding {
        const NONE: &str = "the daemon did not answer in time";
        let deadline = Instant::now() + DAEMON;
        let left = || deadline.saturating_duration_since(Instant::now());
        let socket = background::paths(&self.app).socket;
        let mut client = Client::connect(&socket, left()).map_err(|_| NONE.to_owned())?;
        let answer = client.call_tool("embed", &json!({ "text": self.text }), left());
        let answer = answer.map_err(|error| match error {
            CallError::Refused { message, .. } => message,
            _ => NONE.to_owned(),
        })?;
        let answer: EmbeddedQuery = serde_json::from_str(&answer).map_err(|_| NONE.to_owned())?;
        match answer.model == self.model {
            true => Ok((answer.model, answer.vector)),
            // Its settings are older than ours.
            false => Err("the daemon has another model".to_owned()),
        }
    }

    fn own_model(&self) -> QueryEmbedding {
        let mut chosen = self.chosen.clone();
        if let Chosen::Served(settings, _) = &mut chosen {
            settings.timeout = settings.timeout.min(QUESTION);
        }
        let load = || chosen.load(LoadMode::Quick, THREADS);
        let model = match &chosen {
            Chosen::Bundled(files) => self.app.model.bundled(files, load),
            Chosen::Served(..) => load().map(Arc::new),
        };
        let vector = model.and_then(|model| model.vector(&self.text));
        Ok((self.model.clone(), vector.map_err(|error| error.to_string())?))
    }
}

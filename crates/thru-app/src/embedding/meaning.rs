//! The query embedding: the vector of a question, computed while other work goes on.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use thru_daemon::{CallError, Client};
use thru_embed::{EmbedError, ModelFiles, Use};
use thru_recall::{Awaited, words_only};
use thru_store::vectors::ModelFolder;

use super::lazy::Model;
use super::{Chosen, who_embeds};
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

/// The bundled model as this process uses it for its own questions. Files of a folder stay mapped once they are, so
/// that there is one of it; a server is asked anew each time.
#[derive(Clone, Default)]
pub struct OwnModel(Arc<Mutex<Option<Mapped>>>);

/// The files, and the model that was loaded from them.
type Mapped = (ModelFiles, Arc<Model>);

impl OwnModel {
    fn of(&self, chosen: &Chosen) -> Result<Arc<Model>, EmbedError> {
        let load = || Ok(Arc::new(chosen.load(Use::Seldom, THREADS)?));
        let Chosen::Bundled(files) = chosen else { return load() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref().filter(|(from, _)| from == files) {
            Some((_, model)) => Ok(Arc::clone(model)),
            None => Ok(Arc::clone(&known.insert((files.clone(), load()?)).1)),
        }
    }
}

/// The answer of the daemon's tool `embed`.
#[derive(Serialize, Deserialize)]
pub struct Answer {
    /// The model's name.
    pub model: String,
    /// The vector, of unit length.
    pub vector: Vec<f32>,
}

/// The vector of a question with the name of its model; or why there is none, for people.
pub(super) type Found = Result<(String, Vec<f32>), String>;

/// A query embedding that may still be under way.
#[must_use]
pub enum Meaning {
    /// It was clear at once.
    Clear(Found),
    /// A thread computes it.
    UnderWay(JoinHandle<Found>),
}

impl Meaning {
    /// Waits for it.
    ///
    /// # Errors
    /// Fails if no model could embed it; the text says why.
    pub fn wait(self) -> Found {
        match self {
            Self::Clear(found) => found,
            Self::UnderWay(thread) => {
                thread.join().unwrap_or_else(|_| Err("the embedding model failed".to_owned()))
            }
        }
    }
}

/// Begins to find out what a question means: asks the daemon, whose model may be loaded, and else loads
/// one. Does neither where there are no vectors to compare with.
pub fn of_question(app: &App, text: &str) -> Meaning {
    let asked = match Asked::new(app, text) {
        Ok(asked) => asked,
        Err(reason) => return Meaning::Clear(Err(reason)),
    };
    asked.begin(|asked| asked.daemon().or_else(|_| asked.own_model()))
}

/// The same for a hook, which has no time to load a model: only the daemon is asked.
pub fn of_prompt(app: &App, text: &str) -> Meaning {
    if text.trim().chars().nth(LONGEST_PROMPT).is_some() {
        return Meaning::Clear(Err("the prompt is too long for a hook to wait".to_owned()));
    }
    let asked = match Asked::new(app, text) {
        Ok(asked) => asked,
        Err(reason) => return Meaning::Clear(Err(reason)),
    };
    asked.begin(|asked| asked.daemon())
}

/// Returns the pending embedding, or words alone where none was begun.
pub fn awaited<'a>(meaning: Option<Meaning>) -> Awaited<'a> {
    match meaning {
        Some(meaning) => Box::new(|| meaning.wait()),
        None => words_only("no embedding was asked for"),
    }
}

/// A question with all that is needed to find out what it means.
struct Asked {
    chosen: Chosen,
    model: String,
    text: String,
    socket: PathBuf,
    own: OwnModel,
}

impl Asked {
    fn new(app: &App, text: &str) -> Result<Self, String> {
        let chosen = match Chosen::of(app) {
            Ok(Some(chosen)) => chosen,
            Ok(None) => return Err("off, by `embedding.provider`".to_owned()),
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
        let socket = background::paths(app).socket;
        Ok(Self { chosen, model, text, socket, own: app.model.clone() })
    }

    fn begin(self, find: impl FnOnce(&Self) -> Found + Send + 'static) -> Meaning {
        let builder = std::thread::Builder::new().name("meaning".to_owned());
        match builder.spawn(move || find(&self)) {
            Ok(thread) => Meaning::UnderWay(thread),
            Err(error) => Meaning::Clear(Err(error.to_string())),
        }
    }

    fn daemon(&self) -> Found {
        const NONE: &str = "the daemon did not answer in time";
        let deadline = Instant::now() + DAEMON;
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut client = Client::connect(&self.socket, left()).map_err(|_| NONE.to_owned())?;
        let answer = client.call_tool("embed", &json!({ "text": self.text }), left());
        let answer = answer.map_err(|error| match error {
            CallError::Refused { message, .. } => message,
            _ => NONE.to_owned(),
        })?;
        let answer: Answer = serde_json::from_str(&answer).map_err(|_| NONE.to_owned())?;
        match answer.model == self.model {
            true => Ok((answer.model, answer.vector)),
            // Its settings are older than ours.
            false => Err("the daemon has another model".to_owned()),
        }
    }

    fn own_model(&self) -> Found {
        let mut chosen = self.chosen.clone();
        if let Chosen::Served(settings, _) = &mut chosen {
            settings.timeout = settings.timeout.min(QUESTION);
        }
        let vector = self.own.of(&chosen).and_then(|model| model.vector(&self.text));
        Ok((self.model.clone(), vector.map_err(|error| error.to_string())?))
    }
}

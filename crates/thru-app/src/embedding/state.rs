//! The state of the vectors: for `thru status`, `thru doctor`, and the end of an import.

use crate::trouble::Result;
use schemars::JsonSchema;
use serde::Serialize;
use thru_intake::{Coverage, Intake};
use thru_store::vectors::ModelFolder;

use super::chosen::Chosen;
use crate::app::App;
use crate::background;
use crate::ingest::reading::wants_daemon;
use crate::words::{count, plural, printable, size};

/// The state of the vectors.
pub struct State {
    /// The model and its coverage; `None` where embedding is off; or the reason why it cannot be used.
    pub current: Result<Option<(Chosen, Coverage)>, String>,
    /// The vectors of models that are not in use.
    pub others: Vec<ModelFolder>,
}

impl State {
    /// Looks at settings and disk; loads nothing.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn look(app: &App, intake: &Intake) -> Result<Self> {
        let mut others = ModelFolder::all(&app.layout.vectors())?;
        let current = match Chosen::from_config(app) {
            Ok(None) => Ok(None),
            Ok(Some(chosen)) => {
                others.retain(|folder| folder.model != chosen.model());
                let coverage = intake.coverage(&chosen.model())?;
                Ok(Some((chosen, coverage)))
            }
            Err(error) => Err(format!("{error:#}")),
        };
        Ok(Self { current, others })
    }

    /// The number of texts without vectors.
    pub fn waiting(&self) -> u64 {
        let current = self.current.as_ref().ok().and_then(Option::as_ref);
        current.map_or(0, |(_, coverage)| coverage.texts - coverage.embedded)
    }

    /// In a line.
    pub fn line(&self) -> String {
        match &self.current {
            Err(reason) => format!("texts cannot be embedded: {}", printable(reason)),
            Ok(None) => "switched off by `embedding.provider`: search uses words only".to_owned(),
            Ok(Some((chosen, coverage))) => {
                let who = printable(&chosen.described());
                if coverage.texts == 0 {
                    return format!("nothing to embed yet ({who})");
                }
                let embedded = match coverage.embedded == coverage.texts {
                    true => "all".to_owned(),
                    false => format!("{} of", count(coverage.embedded)),
                };
                let texts = plural(coverage.texts, "text");
                let have = if coverage.texts == 1 { "has" } else { "have" };
                format!("{embedded} {texts} {have} vectors ({who}, {})", size(coverage.bytes))
            }
        }
    }

    /// The vectors of other models in a line, if there are any.
    pub fn others_line(&self) -> Option<String> {
        let names: Vec<&str> = self.others.iter().map(|folder| folder.model.as_str()).collect();
        let bytes = self.others.iter().map(|folder| folder.bytes).sum();
        (!names.is_empty()).then(|| {
            format!(
                "{} of models that are not in use: {}",
                size(bytes),
                printable(&names.join(", "))
            )
        })
    }
}

/// The state of the vectors for programs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StateForm<'a> {
    model: Option<String>,
    remote_host: Option<&'a str>,
    trouble: Option<&'a str>,
    texts: Option<u64>,
    embedded: Option<u64>,
    bytes: Option<u64>,
    other_models: Vec<&'a str>,
    other_bytes: u64,
}

impl Serialize for State {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let current = self.current.as_ref().ok().and_then(Option::as_ref);
        let form = StateForm {
            model: current.map(|(chosen, _)| chosen.model()),
            remote_host: current.and_then(|(chosen, _)| chosen.remote_host()),
            trouble: self.current.as_ref().err().map(String::as_str),
            texts: current.map(|(_, coverage)| coverage.texts),
            embedded: current.map(|(_, coverage)| coverage.embedded),
            bytes: current.map(|(_, coverage)| coverage.bytes),
            other_models: self.others.iter().map(|folder| folder.model.as_str()).collect(),
            other_bytes: self.others.iter().map(|folder| folder.bytes).sum(),
        };
        form.serialize(serializer)
    }
}

/// The process that embeds pending texts, in words.
pub fn who_embeds(app: &App) -> &'static str {
    let has_daemon = background::is_running(app)
        || app.machine.daemon_switched_off(&app.config).is_none() && wants_daemon(app);
    match has_daemon {
        true => "the daemon or `thru embed` does it",
        false => "`thru embed` does it",
    }
}

//! The providers that can be set, with what is set.

use serde::Serialize;

use super::{KNOWN, Known, Models, SessionModel};
use crate::answer;
use crate::app::App;
use crate::trouble::Result;
use crate::words::printable;

/// Providers, with the models and keys that the settings name.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderList {
    version: u32,
    kind: &'static str,
    /// The provider that is set.
    pub provider: Option<String>,
    /// The model that it is asked about sessions with, where one is named for them.
    pub session_model: Option<SessionModel>,
    /// The provider that is asked where that one does not answer.
    pub fallback: Option<String>,
    /// The reason why none can be asked.
    pub trouble: Option<String>,
    /// False if the price of the model is unknown, so that limits in cents are checked only after answers that tell their cost.
    pub price_known: bool,
    /// All that can be set.
    pub providers: Vec<ProviderEntry>,
}

/// A provider in a list.
#[derive(Clone, Debug, Serialize)]
pub struct ProviderEntry {
    /// Its name in the settings.
    pub name: &'static str,
    /// The model that is or would be asked; `-` where one must be named.
    pub model: String,
    /// The place of its key, or that there is or needs to be none.
    pub key: String,
    /// True if it runs on this machine.
    pub local: bool,
    /// Its role in the settings.
    pub role: Option<ProviderRole>,
    /// The reason why its key cannot be used.
    #[serde(skip)]
    pub key_trouble: Option<String>,
    /// A description of it, with the place where it runs.
    #[serde(skip)]
    pub about: String,
}

/// The role of a provider in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderRole {
    /// It is asked.
    Set,
    /// It is asked where the other does not answer.
    Fallback,
}

/// Lists providers. Asks none of them.
pub fn list(app: &App) -> ProviderList {
    let set = &app.config.models;
    let models = Models::from_config(app);
    ProviderList {
        version: answer::VERSION,
        kind: "models",
        provider: set.provider().map(str::to_owned),
        session_model: set.provider().and_then(|_| SessionModel::of(app)),
        fallback: set.fallback().map(str::to_owned),
        price_known: !matches!(&models, Ok(Some(models)) if models.chain().has_no_price()),
        trouble: models.err().map(|error| printable(&error.message())),
        providers: KNOWN.into_iter().map(|known| entry(app, known)).collect(),
    }
}

fn entry(app: &App, known: Known) -> ProviderEntry {
    let models = &app.config.models;
    let role = match known.name {
        name if models.provider() == Some(name) => Some(ProviderRole::Set),
        name if models.fallback() == Some(name) => Some(ProviderRole::Fallback),
        _ => None,
    };
    let (model, url) = match role {
        Some(ProviderRole::Set) => (models.model.as_deref(), models.url.as_deref()),
        Some(ProviderRole::Fallback) => {
            (models.fallback_model.as_deref(), models.fallback_url.as_deref())
        }
        None => (None, None),
    };
    let key = key(app, known);
    ProviderEntry {
        name: known.name,
        model: model.or(known.model).unwrap_or("-").to_owned(),
        key_trouble: key.as_ref().err().map(|error| printable(&error.message())),
        key: key.unwrap_or_else(|_| "unusable".to_owned()),
        local: known.is_local(app, url),
        role,
        about: printable(&known.description(app, url)),
    }
}

fn key(app: &App, known: Known) -> Result<String> {
    Ok(match known.wants_key(app) {
        false => "none needed".to_owned(),
        true => known.key_source(app)?.map_or("missing".to_owned(), |source| source.to_string()),
    })
}

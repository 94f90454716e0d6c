//! Choosing the model that is asked from now on, and its key.

use serde::Serialize;
use thru_config::Limits;
use thru_models::{ConnectError, Key, KeySource, KeyStorage, Keys, connect};

use super::{key_folder, provider_named};
use crate::answer;
use crate::app::App;
use crate::background;
use crate::keep::settings;
use crate::trouble::{Result, Trouble};

/// The request to have a model asked. What is left open stays as it is set, where the provider stays.
#[derive(Clone, Debug, Default)]
pub struct SetModel {
    /// The provider's name.
    pub provider: String,
    /// The model.
    pub model: Option<String>,
    /// Another model for the summaries of sessions.
    pub session_model: Option<String>,
    /// The provider's address, if not the usual one.
    pub url: Option<String>,
    /// A provider on this machine that is asked when that one does not answer.
    pub fallback: Option<String>,
    /// The model of that one.
    pub fallback_model: Option<String>,
}

/// The characters of the shortest key that is taken for one. Those of vendors have 30 and more.
const SHORTEST_KEY: usize = 8;

/// The model that is asked from now on.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSet {
    version: u32,
    kind: &'static str,
    /// The provider.
    pub provider: &'static str,
    /// Its model.
    pub model: String,
    /// True if it runs on this machine.
    pub local: bool,
    /// The time from which on turns and sessions are sent, as the settings have it.
    pub since: String,
    /// The limits of what it may cost.
    #[serde(skip)]
    pub limits: Limits,
    /// The program that it runs, if that is missing.
    #[serde(skip)]
    pub lacks: Option<&'static str>,
}

/// The end of asking models.
#[derive(Clone, Debug, Serialize)]
pub struct ModelsOff {
    version: u32,
    kind: &'static str,
    /// Always `None`.
    pub provider: Option<String>,
    /// The provider that was asked.
    pub was: Option<String>,
    /// The places that its key was removed from.
    pub keys_removed: Vec<String>,
}

/// Returns true if the provider of a request wants a key and none is kept for it.
///
/// # Errors
/// Fails if there is no such provider, or the kept key cannot be read.
pub fn lacks_key(app: &App, request: &SetModel) -> Result<bool> {
    let known = provider_named(&request.provider)?;
    Ok(known.wants_key(app) && request.url.is_none() && known.key_source(app)?.is_none())
}

/// Keeps a key for a provider, and returns the place where it lies.
///
/// # Errors
/// Fails if there is no such provider, the text cannot be a key, or the place cannot be written.
pub fn keep_key(app: &App, provider: &str, text: &str, place: KeyStorage) -> Result<KeySource> {
    let known = provider_named(provider)?;
    let is_long = |key: &Key| key.reveal().len() >= SHORTEST_KEY;
    let key = Key::new(text).filter(is_long).ok_or_else(|| {
        let command = format!("models set {} --key", known.name);
        let form =
            format!("that is no key: one has {SHORTEST_KEY} characters or more, and no blanks");
        Trouble::invalid(form).run(command, "reads one line")
    })?;
    let folder = key_folder(app);
    let variable = |name: &str| app.machine.variable(name);
    Ok(Keys::new(&variable, &folder).store(known.name, &key, place)?)
}

/// Has a model asked from now on. Nothing earlier is sent to it by itself.
///
/// # Errors
/// Fails if there is no such provider or it cannot be asked like this, and nothing is changed then; or where the
/// settings cannot be written.
pub fn set(app: &App, request: &SetModel) -> Result<ModelSet> {
    let known = provider_named(&request.provider)?;
    let models = &app.config.models;
    let is_same = models.provider() == Some(known.name);
    let kept = Some(models).filter(|_| is_same);
    let model = request.model.as_deref().or_else(|| kept?.model.as_deref());
    let url = match (request.url.as_deref(), models.url.as_deref()) {
        (Some(url), _) => Some(url).filter(|url| !url.is_empty()),
        (None, Some(url)) if is_same => Some(url),
        // After `models off` it may be a gateway, which must not give way to the vendor unasked, or the server of
        // another provider, which must not be sent this one's key.
        (None, Some(url)) if models.provider().is_none() => {
            let unclear = format!("`models.url` is {url}, from earlier settings");
            return Err(Trouble::invalid(unclear)
                .advise("`--url URL` asks there, `--url ''` at the provider's usual address"));
        }
        (None, _) => None,
    };
    let session_model = request.session_model.as_deref().or_else(|| kept?.session_model.as_deref());
    // What is wrong is said before anything is changed.
    let provider = connect(&known.settings(app, model, url)?).map_err(|error| {
        let trouble = Trouble::invalid(format!("{}: {error}", known.name));
        let lacks_key = matches!(error, ConnectError::NoKey { .. });
        match lacks_key && known.wants_key(app) {
            true => trouble
                .run(format!("models set {} --key", known.name), "reads one from standard input"),
            false => trouble.run("models set --help", "says what can be given"),
        }
    })?;
    // What was meant for this machine is not sent anywhere else.
    let was_local = models
        .provider()
        .and_then(super::known)
        .is_some_and(|known| known.is_local(app, models.url.as_deref()));
    let since = models.since.as_deref().filter(|_| provider.is_local() || !was_local);
    let since = since
        .map_or_else(|| app.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), str::to_owned);
    let mut values = vec![
        ("models.provider", known.name),
        ("models.model", model.unwrap_or("")),
        ("models.session_model", session_model.unwrap_or("")),
        ("models.url", url.unwrap_or("")),
        ("models.since", &since),
    ];
    if let Some(fallback) = &request.fallback {
        let model = request.fallback_model.as_deref();
        provider_named(fallback)?.settings(app, model, None)?;
        values.push(("models.fallback", fallback));
        values.push(("models.fallback_model", model.unwrap_or("")));
    }
    settings::set(app, &values)?;
    background::poke(app);
    Ok(ModelSet {
        version: answer::VERSION,
        kind: "models",
        provider: known.name,
        model: provider.model().to_owned(),
        local: provider.is_local(),
        since,
        limits: app.config.budget.limits(),
        lacks: known.lacks(app),
    })
}

/// Has no model asked any more; removes the key of the one that was asked where `forget_key` is true.
///
/// # Errors
/// Fails if the settings cannot be written or the key cannot be removed.
pub fn off(app: &App, forget_key: bool) -> Result<ModelsOff> {
    let was = app.config.models.provider();
    settings::set(app, &[("models.provider", "none"), ("models.since", "")])?;
    background::poke(app);
    let mut keys_removed = Vec::new();
    if let Some(name) = was.filter(|_| forget_key) {
        let folder = key_folder(app);
        let variable = |name: &str| app.machine.variable(name);
        let removed = Keys::new(&variable, &folder).remove(name)?;
        keys_removed.extend(removed.iter().map(ToString::to_string));
    }
    Ok(ModelsOff {
        version: answer::VERSION,
        kind: "models",
        provider: None,
        was: was.map(str::to_owned),
        keys_removed,
    })
}

//! Models, as the settings have them: the provider to ask, its key, and the consent of projects.

pub mod catalog;
pub mod distil;
pub mod meters;
pub mod setting;
pub mod trial;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use thru_config::Config;
use thru_core::{Micros, SessionKey, Timestamp};
use thru_distil::refine::Limits;
use thru_models::{KeySource, Keys, Kind, Price, Prices, Provider, Rates, Throttled, connect};
use thru_refine::{
    Chain, ChainLink, Permission, RefineError, RefineEvent, Refiner, Report, Settings,
};

use crate::app::{App, settings};
use crate::compaction;
use crate::trouble::{Listing, Remedy, Result, Trouble};

/// A provider that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name in the settings.
    pub name: &'static str,
    /// The protocol that it speaks.
    kind: Kind,
    /// Its usual address, where that is not the one of its kind.
    url: Option<&'static str>,
    /// The model that is asked where none is named.
    pub model: Option<&'static str>,
    /// A description of it, without the place where it runs.
    about: &'static str,
}

/// Every provider that can be set.
pub const KNOWN: [Known; 8] = [
    Known {
        name: "anthropic",
        kind: Kind::Anthropic,
        url: None,
        model: Some("claude-haiku-4-5"),
        about: "Anthropic's API",
    },
    Known {
        name: "openai",
        kind: Kind::OpenAi,
        url: None,
        model: None,
        about: "OpenAI's or a compatible API",
    },
    Known {
        name: "openrouter",
        kind: Kind::OpenAi,
        url: Some("https://openrouter.ai/api/v1"),
        model: None,
        about: "OpenRouter",
    },
    Known {
        name: "claude-cli",
        kind: Kind::ClaudeCli,
        url: None,
        model: Some("haiku"),
        about: "your own `claude`",
    },
    Known { name: "ollama", kind: Kind::Ollama, url: None, model: None, about: "Ollama" },
    Known {
        name: "lmstudio",
        kind: Kind::OpenAi,
        url: Some("http://localhost:1234/v1"),
        model: None,
        about: "LM Studio",
    },
    Known {
        name: "llamacpp",
        kind: Kind::OpenAi,
        url: Some("http://localhost:8080/v1"),
        model: Some("default"),
        about: "llama.cpp",
    },
    Known {
        name: "vllm",
        kind: Kind::OpenAi,
        url: Some("http://localhost:8000/v1"),
        model: None,
        about: "vLLM",
    },
];

/// Returns the provider with this name, where there is one.
pub fn known(name: &str) -> Option<Known> {
    KNOWN.into_iter().find(|known| known.name == name)
}

/// Returns the provider with this name.
fn provider_named(name: &str) -> Result<Known> {
    known(name).ok_or_else(|| {
        let names = KNOWN.iter().map(|known| known.name.to_owned()).collect();
        Trouble::not_found(format!("there is no provider `{name}`")).with(Remedy::Choose(names))
    })
}

/// The refusal to ask where no model is set.
fn no_model() -> Trouble {
    Trouble::refused("no model is set").with(Remedy::See(Listing::Providers))
}

/// The folder of the keys that are kept in files.
pub fn key_folder(app: &App) -> PathBuf {
    app.config_file.with_file_name("keys")
}

impl Known {
    /// The program that it runs, if that is not on the PATH.
    pub(crate) fn lacks(self, app: &App) -> Option<&'static str> {
        (self.kind == Kind::ClaudeCli && claude(app).is_none()).then_some("claude")
    }

    /// The way to ask it by the settings, with its key.
    ///
    /// # Errors
    /// Fails if it has no usual model and none is given, or its key cannot be read.
    pub fn settings(
        self,
        app: &App,
        model: Option<&str>,
        url: Option<&str>,
    ) -> Result<thru_models::Settings> {
        let models = &app.config.models;
        let model = model.or(self.model).ok_or_else(|| {
            Trouble::invalid(format!("{} has no usual model", self.name))
                .run(format!("models set {} --model NAME", self.name), "names one")
        })?;
        let mut settings = thru_models::Settings::new(self.kind, model);
        settings.url = self.place(app, url);
        settings.timeout = models.timeout_seconds.duration();
        settings.num_ctx = Some(models.context_tokens);
        if self.kind == Kind::ClaudeCli {
            settings.environment = app.machine.child_variables().collect();
            settings.scratch = Some(app.machine.temp_dir.clone());
            settings.program = claude(app).unwrap_or(settings.program);
        }
        let wants_key = self.kind != Kind::ClaudeCli || models.claude_api_key;
        if wants_key {
            settings.key = self.key(app, &settings)?.map(|(key, _)| key);
        }
        Ok(settings)
    }

    /// Its key, and the place where that is kept.
    ///
    /// # Errors
    /// Fails if a kept key cannot be read.
    pub fn key(
        self,
        app: &App,
        settings: &thru_models::Settings,
    ) -> Result<Option<(thru_models::Key, KeySource)>> {
        let folder = key_folder(app);
        let variable = match self.kind {
            Kind::ClaudeCli => Some("ANTHROPIC_API_KEY"),
            _ => settings.key_variable(),
        };
        Ok(Keys::new(&|name| app.machine.variable(name), &folder).find(self.name, variable)?)
    }

    /// The place where its key is kept, whatever the model.
    ///
    /// # Errors
    /// Fails if a kept key cannot be read.
    pub fn key_source(self, app: &App) -> Result<Option<KeySource>> {
        let mut settings = thru_models::Settings::new(self.kind, self.model.unwrap_or("any"));
        settings.url = self.url.map(str::to_owned);
        Ok(self.key(app, &settings)?.map(|(_, source)| source))
    }

    /// Its address, if not the one of its kind.
    fn place(self, app: &App, url: Option<&str>) -> Option<String> {
        let host = || app.machine.variable("OLLAMA_HOST").filter(|_| self.kind == Kind::Ollama);
        let known = url.or(self.url).map(str::to_owned);
        known.or_else(|| host().map(|host| with_scheme(&host)))
    }

    /// True if it runs on this machine.
    pub fn is_local(self, app: &App, url: Option<&str>) -> bool {
        let mut settings = thru_models::Settings::new(self.kind, self.model.unwrap_or("any"));
        settings.url = self.place(app, url);
        settings.is_local()
    }

    /// Describes it, with the place where it runs if that is not the vendor's own.
    pub fn description(self, app: &App, url: Option<&str>) -> String {
        let about = self.about;
        match self.place(app, url).filter(|place| Some(place.as_str()) != self.url) {
            _ if self.is_local(app, url) => format!("{about} on this machine"),
            Some(place) => format!("{about} at {place}"),
            None => about.to_owned(),
        }
    }

    /// True if it is asked with a key at its usual address.
    pub fn wants_key(self, app: &App) -> bool {
        !matches!(self.kind, Kind::ClaudeCli | Kind::Ollama) && !self.is_local(app, None)
    }
}

/// `OLLAMA_HOST` is often a host alone.
fn with_scheme(host: &str) -> String {
    match host.contains("://") {
        true => host.to_owned(),
        false => format!("http://{}", host.replacen("0.0.0.0", "127.0.0.1", 1)),
    }
}

/// The model that is named for summaries of sessions.
#[derive(Clone, Debug, Serialize)]
pub struct SessionModel {
    /// Its name.
    pub model: String,
    /// The setting that names it, or the variable of the environment.
    pub named_by: &'static str,
}

impl SessionModel {
    /// Returns the model that the setting names, else the one of `SUMMARY_MODEL`, the name that it has elsewhere.
    fn of(app: &App) -> Option<Self> {
        let named = |by| move |model| Self { model, named_by: by };
        let set = app.config.models.session_model.clone().map(named("models.session_model"));
        set.or_else(|| app.machine.variable("SUMMARY_MODEL").map(named("SUMMARY_MODEL")))
    }
}

/// The models that the settings say to ask.
pub struct Models {
    turns: Chain,
    /// The chain for sessions, where that is another model.
    sessions: Option<Chain>,
    settings: Settings,
}

impl Models {
    /// Puts it together; nothing where no provider is set.
    ///
    /// # Errors
    /// Fails if a provider is set that cannot be asked like this.
    pub fn from_config(app: &App) -> Result<Option<Self>> {
        let models = &app.config.models;
        let Some(provider) = models.provider() else { return Ok(None) };
        let model = models.model.as_deref();
        let session_model = SessionModel::of(app);
        let for_sessions = session_model.as_ref().map(|named| named.model.as_str()).or(model);
        let limits = |tokens: u64, usual: Limits| Limits {
            record: usual.record.min(tokens),
            request: tokens,
        };
        Ok(Some(Self {
            turns: chain(app, provider, model)?,
            // One chain has one throttle.
            sessions: match for_sessions == model {
                true => None,
                false => Some(chain(app, provider, for_sessions)?),
            },
            settings: Settings {
                turn: limits(models.turn_tokens, Limits::TURN),
                session: limits(models.session_tokens, Limits::SESSION),
                answer_tokens: models.answer_tokens,
                concurrency: models.concurrency,
            },
        }))
    }

    /// The provider that is asked first about turns.
    pub fn first(&self) -> Option<&ChainLink> {
        self.turns.links.first()
    }

    /// The providers that are asked, in order, by their names in the settings.
    pub const fn chain(&self) -> &Chain {
        &self.turns
    }

    /// The sizes and the number of questions.
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    /// Asks the questions that wait; `only` these jobs, where some are named.
    ///
    /// # Errors
    /// Fails if another process is asking, or journal or store cannot be used. A provider that does not answer is
    /// in the report.
    pub fn run(
        &self,
        app: &App,
        only: Option<&HashSet<i64>>,
        stop: &AtomicBool,
        on_event: &(dyn Fn(&RefineEvent<'_>) + Sync),
    ) -> Result<Report, RefineError> {
        let make = || app.intake().map_err(|error| RefineError::Settings(format!("{error:#}")));
        let permission = |directory: Option<&str>| permission(app, directory);
        let told: Mutex<Vec<SessionKey>> = Mutex::default();
        let noted = |event: &RefineEvent<'_>| {
            if let RefineEvent::Refined { session, turn: None, .. } = event {
                told.lock().unwrap_or_else(PoisonError::into_inner).push((*session).clone());
            }
            on_event(event);
        };
        let refiner = Refiner {
            intake: &make,
            turns: &self.turns,
            sessions: self.sessions.as_ref().unwrap_or(&self.turns),
            settings: self.settings,
            permission: &permission,
            clock: app.clock.as_ref(),
            on_event: &noted,
        };
        let report = refiner.run(only, stop);
        let told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The files that a compaction left say it, too. `thru summaries rebuild` makes up for those that cannot be
        // written now.
        if !told.is_empty() {
            compaction::write_again(app, Some(&told))
                .map_err(|error| RefineError::Settings(format!("{error:#}")))?;
        }
        report
    }
}

fn chain(app: &App, provider: &str, model: Option<&str>) -> Result<Chain> {
    let config = &app.config;
    let models = &config.models;
    let mut links = vec![link(app, provider, model, models.url.as_deref())?];
    if let Some(fallback) = models.fallback() {
        let (model, url) = (models.fallback_model.as_deref(), models.fallback_url.as_deref());
        let link = link(app, fallback, model, url)?;
        if !link.provider.is_local() {
            return Err(Trouble::refused(
                "the fallback (models.fallback_url) is not on this machine",
            )
            .run(
                "config set models.fallback none",
                "unsets it; an address on this machine is fine",
            ));
        }
        links.push(link);
    }
    let own = models.prices().zip(links.first()).map(|((input, output), link)| {
        let million = Micros::from_cents;
        let price =
            Price { input: million(input), output: million(output), cached_input: million(input) };
        (link.provider.model().to_owned(), price)
    });
    Ok(Chain { links, prices: Prices::new(own) })
}

fn link(app: &App, name: &str, model: Option<&str>, url: Option<&str>) -> Result<ChainLink> {
    let settings = provider_named(name)?.settings(app, model, url)?;
    let provider = connect(&settings).map_err(|error| {
        Trouble::invalid(format!("{name}: {error}"))
            .run(format!("models set {name}"), "asks for what is missing")
    })?;
    let models = &app.config.models;
    let rates = Rates {
        at_once: models.concurrency,
        // This machine may ask itself as often as it likes.
        per_minute: match provider.is_local() {
            true => usize::MAX,
            false => models.requests_per_minute,
        },
    };
    let started = Instant::now();
    let throttled = Throttled::new(provider, rates, Arc::new(move || started.elapsed()));
    let provider: Box<dyn Provider> = Box::new(throttled);
    Ok(ChainLink { name: name.to_owned(), provider })
}

/// The permission of a session's directory: its own file may allow less than the user does.
fn permission(app: &App, directory: Option<&str>) -> Permission {
    let own = directory.map(Path::new).filter(|directory| directory.is_absolute());
    let Some(directory) = own else {
        return Permission::Within(app.config.budget.limits());
    };
    match settings_of(app, directory) {
        Some(config) => Permission::Within(config.budget.limits()),
        None => Permission::Off,
    }
}

/// The settings in the directory of a session, if what was said there may be sent anywhere. Where its own file
/// cannot be read as it is meant, nothing may.
pub fn settings_of(app: &App, directory: &Path) -> Option<Config> {
    let (config, notes) = settings(&app.config_file, directory).ok()?;
    let is_unclear = notes.iter().any(|note| note.is_about_what_is_sent());
    let is_off = config.models.off || config.capture.off;
    (!is_unclear && !is_off).then_some(config)
}

/// The time from which on models are asked; `None` where none is set.
pub fn since(config: &Config, now: Timestamp) -> Option<Timestamp> {
    let models = &config.models;
    models.provider()?;
    let hour_ago = now.checked_sub(jiff::SignedDuration::from_hours(1)).unwrap_or(now);
    Some(models.since.as_deref().and_then(|since| since.parse().ok()).unwrap_or(hour_ago))
}

/// Claude Code's program, where the PATH has it.
fn claude(app: &App) -> Option<PathBuf> {
    let mut found = app.machine.search_path().into_iter().map(|folder| folder.join("claude"));
    found.find(|path| path.is_file())
}

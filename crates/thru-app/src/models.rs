//! Models, as the settings have them: whom to ask, with which key, and what a project allows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use std::collections::HashSet;

use crate::trouble::{Context, Result, Trouble};
use thru_config::Config;
use thru_core::{Micros, Timestamp};
use thru_distil::refine::Limits;
use thru_models::{KeySource, Keys, Kind, Price, Prices, Provider, Rates, Throttled, connect};
use thru_refine::{Chain, Link, Permission, RefineError, Refiner, Report, Settings, Told};

use crate::app::{App, settings};

/// What is known of a provider that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What settings call it.
    pub name: &'static str,
    /// How it is spoken to.
    kind: Kind,
    /// Where it usually answers, where that is not the kind's own place.
    url: Option<&'static str>,
    /// The model that is asked where none is named.
    pub model: Option<&'static str>,
    /// What it is.
    pub about: &'static str,
}

/// Every provider that can be set.
pub const KNOWN: [Known; 8] = [
    Known {
        name: "anthropic",
        kind: Kind::Anthropic,
        url: None,
        model: Some("claude-haiku-4-5"),
        about: "Anthropic's API, with a key of yours",
    },
    Known {
        name: "openai",
        kind: Kind::OpenAi,
        url: None,
        model: None,
        about: "OpenAI's API, or whatever speaks like it (models.url)",
    },
    Known {
        name: "openrouter",
        kind: Kind::OpenAi,
        url: Some("https://openrouter.ai/api/v1"),
        model: None,
        about: "OpenRouter, with a key of yours",
    },
    Known {
        name: "claude-cli",
        kind: Kind::ClaudeCli,
        url: None,
        model: Some("haiku"),
        about: "your own `claude`, with the account it is signed in to",
    },
    Known {
        name: "ollama",
        kind: Kind::Ollama,
        url: None,
        model: None,
        about: "Ollama on this machine",
    },
    Known {
        name: "lmstudio",
        kind: Kind::OpenAi,
        url: Some("http://localhost:1234/v1"),
        model: None,
        about: "LM Studio on this machine",
    },
    Known {
        name: "llamacpp",
        kind: Kind::OpenAi,
        url: Some("http://localhost:8080/v1"),
        model: Some("default"),
        about: "the llama.cpp server on this machine",
    },
    Known {
        name: "vllm",
        kind: Kind::OpenAi,
        url: Some("http://localhost:8000/v1"),
        model: None,
        about: "vLLM on this machine",
    },
];

/// What is known of the provider of this name.
pub fn known(name: &str) -> Option<Known> {
    KNOWN.into_iter().find(|known| known.name == name)
}

/// Where keys lie that are kept in files.
pub fn key_folder(app: &App) -> PathBuf {
    app.config_file.with_file_name("keys")
}

impl Known {
    /// How it is spoken to, as the settings have it, with its key.
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
            let mut found =
                app.machine.search_path().into_iter().map(|folder| folder.join("claude"));
            if let Some(program) = found.find(|path| path.is_file()) {
                settings.program = program;
            }
        }
        let wants_key = self.kind != Kind::ClaudeCli || models.claude_api_key;
        if wants_key {
            settings.key = self.key(app, &settings)?.map(|(key, _)| key);
        }
        Ok(settings)
    }

    /// Its key, and where that is kept.
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

    /// Where its key is kept, without asking for a model.
    pub fn key_source(self, app: &App) -> Result<Option<KeySource>> {
        let mut settings = thru_models::Settings::new(self.kind, self.model.unwrap_or("any"));
        settings.url = self.url.map(str::to_owned);
        Ok(self.key(app, &settings)?.map(|(_, source)| source))
    }

    /// Where it answers, if not at its kind's own place.
    fn place(self, app: &App, url: Option<&str>) -> Option<String> {
        let host = || app.machine.variable("OLLAMA_HOST").filter(|_| self.kind == Kind::Ollama);
        let known = url.or(self.url).map(str::to_owned);
        known.or_else(|| host().map(|host| with_scheme(&host)))
    }

    /// Whether it runs on this machine.
    pub fn is_local(self, app: &App, url: Option<&str>) -> bool {
        let mut settings = thru_models::Settings::new(self.kind, self.model.unwrap_or("any"));
        settings.url = self.place(app, url);
        settings.is_local()
    }

    /// Whether it is asked for a key, wherever it runs.
    pub fn wants_key(self, app: &App) -> bool {
        self.kind != Kind::ClaudeCli && !self.is_local(app, None)
    }
}

/// `OLLAMA_HOST` is often a host alone.
fn with_scheme(host: &str) -> String {
    match host.contains("://") {
        true => host.to_owned(),
        false => format!("http://{}", host.replacen("0.0.0.0", "127.0.0.1", 1)),
    }
}

/// Whom the settings say to ask.
pub struct Models {
    turns: Chain,
    /// Who is asked about sessions, where that is another model.
    sessions: Option<Chain>,
    settings: Settings,
}

impl Models {
    /// Puts it together; nothing where no provider is set.
    ///
    /// # Errors
    /// Where a provider is set that cannot be asked like this.
    pub fn of(app: &App) -> Result<Option<Self>> {
        let models = &app.config.models;
        let Some(provider) = models.provider() else { return Ok(None) };
        let model = models.model.as_deref();
        let for_sessions = models.session_model.clone();
        let for_sessions = for_sessions.or_else(|| app.machine.variable("SUMMARY_MODEL"));
        let for_sessions = for_sessions.as_deref().or(model);
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

    /// Who is asked first about turns.
    pub fn first(&self) -> Option<&Link> {
        self.turns.links.first()
    }

    /// Who is asked, in order, by the names that settings have for them.
    pub const fn chain(&self) -> &Chain {
        &self.turns
    }

    /// How questions are asked.
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    /// Asks what waits.
    pub fn run(
        &self,
        app: &App,
        only: Option<&HashSet<i64>>,
        stop: &AtomicBool,
        told: &(dyn Fn(&Told<'_>) + Sync),
    ) -> Result<Report, RefineError> {
        let make = || app.intake().map_err(|error| RefineError::Settings(format!("{error:#}")));
        let permission = |directory: Option<&str>| permission(app, directory);
        let refiner = Refiner {
            intake: &make,
            turns: &self.turns,
            sessions: self.sessions.as_ref().unwrap_or(&self.turns),
            settings: self.settings,
            permission: &permission,
            clock: app.clock.as_ref(),
            told,
        };
        refiner.run(only, stop)
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

fn link(app: &App, name: &str, model: Option<&str>, url: Option<&str>) -> Result<Link> {
    let known = known(name).with_context(|| format!("there is no provider `{name}`"))?;
    let settings = known.settings(app, model, url)?;
    let provider = connect(&settings).map_err(|error| {
        Trouble::invalid(format!("{name}: {error}"))
            .run(format!("models set {name}"), "asks for what is missing")
    })?;
    let models = &app.config.models;
    let rates = Rates {
        at_once: models.concurrency,
        // Nobody counts how often this machine asks itself.
        per_minute: match provider.is_local() {
            true => usize::MAX,
            false => models.requests_per_minute,
        },
    };
    let started = Instant::now();
    let throttled = Throttled::new(provider, rates, Arc::new(move || started.elapsed()));
    let provider: Box<dyn Provider> = Box::new(throttled);
    Ok(Link { name: name.to_owned(), provider })
}

/// What the directory of a session allows: its own file may say less than the user does.
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

/// The settings in the directory of a session, if what was said there may be sent to anybody. Where its own file
/// cannot be read as it is meant, nobody can say what must not be.
pub fn settings_of(app: &App, directory: &Path) -> Option<Config> {
    let (config, notes) = settings(&app.config_file, directory).ok()?;
    let is_unclear = notes.iter().any(|note| note.is_about_what_is_sent());
    let is_off = config.models.off || config.capture.off;
    (!is_unclear && !is_off).then_some(config)
}

/// Since when models are asked; never where none is set.
pub fn since(config: &Config, now: Timestamp) -> Option<Timestamp> {
    let models = &config.models;
    models.provider()?;
    let hour_ago = now.checked_sub(jiff::SignedDuration::from_hours(1)).unwrap_or(now);
    Some(models.since.as_deref().and_then(|since| since.parse().ok()).unwrap_or(hour_ago))
}

//! The model that turns texts into vectors, as the settings have it: whose it is, and where its files lie.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thru_config::EmbeddingProvider;
use thru_core::chunks;
use thru_embed::{
    BUNDLED, Dialect, EmbedError, LoadMode, MiniLm, ModelFiles, Served, ServedSettings,
};
use thru_models::{Key, Keys};
use thru_outside::ServiceUrl;
use thru_redact::Report;

use super::own::Model;
use crate::app::App;
use crate::machine::Machine;
use crate::models;
use crate::trouble::{Result, Trouble};

/// OpenAI's address.
const OPENAI: &str = "https://api.openai.com";
/// Ollama's usual address.
const OLLAMA: &str = "http://localhost:11434";

/// The model that turns texts into vectors. Nothing is loaded or asked before there is a text.
#[derive(Clone)]
pub enum Chosen {
    /// The model that comes with the program.
    Bundled(ModelFiles),
    /// A server, and where its key is, if it wants one: the keyring may take its time, and is not looked
    /// into before there is something to ask.
    Served(ServedSettings, Option<KeyAt>),
}

/// The place of a key.
#[derive(Clone)]
pub struct KeyAt {
    name: &'static str,
    variable: Option<&'static str>,
    folder: PathBuf,
    machine: Arc<Machine>,
}

impl Chosen {
    /// The model that the settings name; `None` where embedding is off.
    ///
    /// # Errors
    /// Fails if the settings name a server that cannot be asked like this.
    pub fn from_config(app: &App) -> Result<Option<Self>> {
        let settings = &app.config.embedding;
        let (dialect, usual) = match settings.provider {
            EmbeddingProvider::None => return Ok(None),
            EmbeddingProvider::Bundled => return Ok(Some(Self::Bundled(bundled(app)))),
            EmbeddingProvider::Ollama => (Dialect::Ollama, OLLAMA),
            EmbeddingProvider::OpenAi => (Dialect::OpenAi, OPENAI),
        };
        let url = settings.url.as_deref().unwrap_or(usual).trim_end_matches('/');
        // Others want it in their addresses, and it is easily typed.
        let service =
            ServiceUrl::parse(url.strip_suffix("/v1").unwrap_or(url)).map_err(|error| {
                Trouble::invalid(format!("`embedding.url` cannot be used: {error}"))
                    .run("config set embedding.url http://localhost:11434", "sets it")
            })?;
        if !service.is_encrypted() && !service.is_nearby() {
            let message = format!("what is sent to {} would not be encrypted", service.host());
            return Err(
                Trouble::refused(message).advise("give an https:// address as `embedding.url`")
            );
        }
        let model = settings.model.clone().ok_or_else(|| {
            Trouble::invalid("the embedding server has no default model")
                .run("config set embedding.model NAME", "names one")
        })?;
        let key = match dialect {
            Dialect::Ollama => None,
            Dialect::OpenAi => Some(KeyAt::for_service(
                &service,
                models::key_folder(app),
                Arc::clone(&app.machine),
            )),
        };
        let timeout = settings.timeout_seconds.duration();
        Ok(Some(Self::Served(ServedSettings { dialect, service, model, key: None, timeout }, key)))
    }

    /// The name of its model: vectors of two models are kept apart by it.
    pub fn model(&self) -> String {
        match self {
            Self::Bundled(_) => BUNDLED.to_owned(),
            Self::Served(settings, _) => settings.name(),
        }
    }

    /// The model in a few words.
    pub fn described(&self) -> String {
        match self {
            Self::Bundled(_) => format!("bundled {BUNDLED}"),
            Self::Served(settings, _) => {
                let at = format!("{} at {}", settings.model, settings.service.host());
                match self.remote_host() {
                    Some(_) => format!("{at}, which is sent every text"),
                    None => at,
                }
            }
        }
    }

    /// The host that sees all texts, where that is not this machine.
    pub fn remote_host(&self) -> Option<&str> {
        match self {
            Self::Served(settings, _) if !settings.service.is_loopback() => {
                Some(settings.service.host())
            }
            _ => None,
        }
    }

    /// The folder that the settings name for the files of the bundled model.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Bundled(ModelFiles::Folder(folder)) => Some(folder),
            Self::Bundled(ModelFiles::BuiltIn) | Self::Served(..) => None,
        }
    }

    pub(super) fn load(&self, mode: LoadMode, threads: usize) -> Result<Model, EmbedError> {
        Ok(match self {
            Self::Bundled(files) => Model::Bundled(MiniLm::load(files, threads, mode)?),
            Self::Served(settings, key) => {
                let mut settings = settings.clone();
                settings.key = key.as_ref().map(KeyAt::find).transpose()?.flatten();
                Model::Served(Arc::new(Served::new(settings)))
            }
        })
    }

    /// The text as it may be given to the model: what leaves this process was cleaned.
    pub(super) fn cleaned(&self, app: &App, text: &str) -> Result<String> {
        let first = |text: &str| chunks(text).first().copied().unwrap_or_default().to_owned();
        match self {
            Self::Bundled(_) => Ok(first(text)),
            Self::Served(..) => {
                // Before it is cut: no rule knows the half of a secret.
                let intake = app.intake()?;
                let clean = intake.redactor().clean_text(text, &mut Report::default());
                Ok(first(clean.get()))
            }
        }
    }
}

/// The files of the bundled model: in the program, unless the settings name a folder.
fn bundled(app: &App) -> ModelFiles {
    let Some(folder) = &app.config.embedding.folder else { return ModelFiles::BuiltIn };
    let beside = app.config_file.parent();
    ModelFiles::Folder(beside.map_or_else(|| PathBuf::from(folder), |beside| beside.join(folder)))
}

impl KeyAt {
    /// The place of the key for this server. OpenAI's goes to OpenAI alone.
    fn for_service(service: &ServiceUrl, folder: PathBuf, machine: Arc<Machine>) -> Self {
        let (name, variable) = match service.join("") == OPENAI {
            true => ("openai", Some("OPENAI_API_KEY")),
            false => ("embedding", None),
        };
        Self { name, variable, folder, machine }
    }

    fn find(&self) -> Result<Option<Key>, EmbedError> {
        let found = Keys::new(&|name| self.machine.variable(name), &self.folder)
            .find(self.name, self.variable);
        let found = found.map_err(|error| EmbedError::Failed(error.to_string()))?;
        Ok(found.map(|(key, _)| key))
    }
}

/// Returns a predicate: true if sessions of a directory may be given to the chosen model. The bundled model sees all of
/// them. So does every model where the directory is unknown.
pub fn may_see<'e>(app: &'e App, chosen: &Chosen) -> impl Fn(Option<&str>) -> bool + use<'e> {
    let is_served = matches!(chosen, Chosen::Served(..));
    let known: RefCell<HashMap<String, bool>> = RefCell::default();
    move |directory| match directory.filter(|_| is_served) {
        Some(directory) if Path::new(directory).is_absolute() => *known
            .borrow_mut()
            .entry(directory.to_owned())
            .or_insert_with(|| models::settings_of(app, Path::new(directory)).is_some()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_openai_goes_to_openai_alone() {
        let name = |url: &str| {
            KeyAt::for_service(&ServiceUrl::parse(url).unwrap(), PathBuf::new(), Arc::default())
                .name
        };
        assert_eq!(name(OPENAI), "openai");
        assert_eq!(name("https://api.openai.com/"), "openai");
        for other in
            ["http://api.openai.com", "https://api.openai.com.example.net", "http://localhost:1234"]
        {
            assert_eq!(name(other), "embedding", "{other}");
        }
    }

    #[test]
    fn keys_of_other_servers_lie_in_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let at = KeyAt::for_service(
            &ServiceUrl::parse("http://localhost:1").unwrap(),
            folder.path().to_owned(),
            Arc::default(),
        );
        let file = folder.path().join("embedding");
        std::fs::write(&file, "sk-test\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        }
        assert_eq!(at.find().unwrap().unwrap().reveal(), "sk-test");
    }
}

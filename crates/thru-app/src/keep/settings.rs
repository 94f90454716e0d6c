//! Reading and changing settings.

use schemars::JsonSchema;
use serde::Serialize;
use thru_config::{Layer, Origin, Owner, find, load, set_value};
use thru_intake::identity::PROJECT_FILE;
use thru_redact::Redactor;

use crate::answer;
use crate::app::App;
use crate::trouble::{Context, Result, Trouble};

/// The settings as they hold in the caller's directory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "settings")]
pub struct Settings {
    version: u32,
    /// The settings, in the order of their documentation.
    pub settings: Vec<Setting>,
}

/// A setting with its value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Setting {
    /// Its key.
    pub key: &'static str,
    /// Its value, as the file writes it.
    pub value: String,
    /// The place where it is set, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// Returns every setting, with its origin if `with_origin`.
pub fn settings(app: &App, with_origin: bool) -> Settings {
    let setting = |resolved: thru_config::Resolved| Setting {
        key: resolved.key,
        value: resolved.value.to_string(),
        origin: with_origin.then(|| resolved.origin.to_string()),
    };
    Settings { version: answer::VERSION, settings: app.config.all().map(setting).collect() }
}

/// Writes settings into the user's configuration file, all or none.
///
/// # Errors
/// Fails if a key is unknown or names one project, if a value does not fit its setting or is no regular expression where
/// one is wanted, and if the file cannot be read or written.
pub fn set(app: &App, values: &[(&str, &str)]) -> Result<()> {
    let file = &app.config_file;
    let old = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", file.display()));
        }
    };
    let mut new = old;
    for (key, value) in values {
        if find(key).is_some_and(|setting| setting.owner == Owner::Project) {
            let message = format!("`{key}` has no effect in settings that apply to every project");
            let advice = format!("write `{key} = \"{value}\"` in the project's `{PROJECT_FILE}`");
            return Err(Trouble::invalid(message).advise(advice));
        }
        new = set_value(&new, key, value)?;
    }
    if values.iter().any(|(key, _)| *key == "redact.allow") {
        // A list that cannot be used would have every later command refused.
        let origin = Origin::User(file.display().to_string());
        let allow = load(&[Layer { origin, text: &new }]).config.redact.allow;
        Redactor::new(&[], &allow)?;
    }
    let directory = file.parent().ok_or_else(|| {
        Trouble::invalid("the configuration file has no parent folder")
            .advise("check THROUGHLINE_CONFIG")
    })?;
    std::fs::create_dir_all(directory)
        .with_context(|| format!("{} cannot be made", directory.display()))?;
    // Beside it and renamed, so that a full disk cannot leave half a file.
    let temporary = file.with_extension("toml.new");
    std::fs::write(&temporary, new)
        .and_then(|()| std::fs::rename(&temporary, file))
        .with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(())
}

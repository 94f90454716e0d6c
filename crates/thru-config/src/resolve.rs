//! Putting the layers together: defaults, the user's file, the project's file.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::embedding::EmbeddingSettings;
use crate::models::{McpSink, Models};
use crate::settings::{SETTINGS, Setting, find};
use crate::value::Value;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The user's configuration file.
    User(String),
    /// The project's own file.
    Project(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path) | Self::Project(path) => f.write_str(path),
        }
    }
}

/// One file to read settings from.
#[derive(Clone, Debug)]
pub struct Layer<'a> {
    /// Where it lies and whose it is.
    pub origin: Origin,
    /// Its text.
    pub text: &'a str,
}

/// Something in a file that has no effect. The CLI makes an error of it, hooks only note it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    /// The file is not TOML.
    #[error("{origin} cannot be read: {message}")]
    Syntax {
        /// The file.
        origin: Origin,
        /// What is wrong, with its place.
        message: String,
    },
    /// There is no such setting.
    #[error("{origin}: there is no setting `{key}`{}", did_you_mean(.suggestion))]
    UnknownKey {
        /// The file.
        origin: Origin,
        /// The key as written.
        key: String,
        /// The nearest key that exists.
        suggestion: Option<&'static str>,
    },
    /// The value is of the wrong kind.
    #[error("{origin}: `{key}` takes {expected}")]
    WrongValue {
        /// The file.
        origin: Origin,
        /// The key.
        key: &'static str,
        /// What it takes.
        expected: String,
    },
    /// A project's file may not set it.
    #[error("{origin}: a project may not set `{key}`; only your own configuration may")]
    NotForProjects {
        /// The file.
        origin: Origin,
        /// The key.
        key: &'static str,
    },
}

impl Note {
    /// Whether the file is a project's own rather than the user's.
    pub const fn is_of_project(&self) -> bool {
        let (Self::Syntax { origin, .. }
        | Self::UnknownKey { origin, .. }
        | Self::WrongValue { origin, .. }
        | Self::NotForProjects { origin, .. }) = self;
        matches!(origin, Origin::Project(_))
    }
}

impl Note {
    /// Whether it may leave out what was said of what must not be sent to anybody.
    pub fn is_about_what_is_sent(&self) -> bool {
        match self {
            Self::Syntax { .. } => true,
            Self::WrongValue { key, .. } => {
                ["models.", "budget.", "capture."].iter().any(|part| key.starts_with(part))
            }
            Self::UnknownKey { key, .. } => key.starts_with("models."),
            Self::NotForProjects { .. } => false,
        }
    }

    /// Whether it may leave out what the user said of what must not be kept. Who records has to stop.
    pub fn is_about_what_is_kept(&self) -> bool {
        match self {
            Self::Syntax { .. } => !self.is_of_project(),
            Self::WrongValue { key, .. } => {
                key.starts_with("capture.") || key.starts_with("redact.")
            }
            Self::UnknownKey { .. } | Self::NotForProjects { .. } => false,
        }
    }
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |key| format!("; did you mean `{key}`?"))
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The setting.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
    /// Where that came from.
    pub origin: Origin,
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    values: BTreeMap<&'static str, Resolved>,
}

/// What loading gave: always a usable configuration, and what was left out of it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings in force.
    pub config: Config,
    /// What had no effect.
    pub notes: Vec<Note>,
}

/// Puts layers together; later ones win. Never fails: what cannot be used is noted and left out.
pub fn load(layers: &[Layer<'_>]) -> Loaded {
    let mut config = Config::default();
    let mut notes = Vec::new();
    for layer in layers {
        match layer.text.parse::<toml::Table>() {
            Ok(table) => {
                for (key, value) in flatten(&table) {
                    if let Err(note) = config.apply(&layer.origin, &key, value) {
                        notes.push(note);
                    }
                }
            }
            Err(error) => notes.push(Note::Syntax {
                origin: layer.origin.clone(),
                message: error.to_string().trim_end().to_owned(),
            }),
        }
    }
    Loaded { config, notes }
}

impl Default for Config {
    fn default() -> Self {
        let values = SETTINGS
            .iter()
            .map(|setting| {
                let resolved = Resolved {
                    key: setting.key,
                    value: (setting.default)(),
                    origin: Origin::Default,
                };
                (setting.key, resolved)
            })
            .collect();
        Self { values }
    }
}

impl Config {
    fn apply(&mut self, origin: &Origin, key: &str, value: &toml::Value) -> Result<(), Note> {
        let Some(setting) = find(key) else {
            return Err(Note::UnknownKey {
                origin: origin.clone(),
                key: key.to_owned(),
                suggestion: nearest(key),
            });
        };
        if matches!(origin, Origin::Project(_)) && !setting.project {
            return Err(Note::NotForProjects { origin: origin.clone(), key: setting.key });
        }
        let mut value = setting.kind.read(value).map_err(|expected| Note::WrongValue {
            origin: origin.clone(),
            key: setting.key,
            expected,
        })?;
        // A project adds to the user's lists of what is left out; it takes nothing off them.
        if matches!(origin, Origin::Project(_))
            && let Value::List(items) = &mut value
        {
            let known = self.list(setting.key);
            let more: Vec<String> = items.drain(..).filter(|item| !known.contains(item)).collect();
            *items = [known, &more].concat();
        }
        // It makes numbers smaller, and none larger.
        if let (Origin::Project(_), Value::Integer(number)) = (origin, &value)
            && self.signed(setting.key) <= *number
        {
            return Ok(());
        }
        // Of what is written into it, a project may have less than the user wants, never more.
        if matches!(origin, Origin::Project(_))
            && setting.key.starts_with("summaries.")
            && value == Value::Bool(true)
        {
            return Ok(());
        }
        let resolved = Resolved { key: setting.key, value, origin: origin.clone() };
        self.values.insert(setting.key, resolved);
        Ok(())
    }

    /// Every setting with its value and where that came from, by name.
    pub fn all(&self) -> impl Iterator<Item = &Resolved> {
        self.values.values()
    }

    /// One setting, by its name.
    pub fn get(&self, key: &str) -> Option<&Resolved> {
        self.values.get(key)
    }

    fn list(&self, key: &str) -> &[String] {
        match self.get(key).map(|resolved| &resolved.value) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        matches!(self.get(key).map(|resolved| &resolved.value), Some(Value::Bool(true)))
    }

    pub(crate) fn integer(&self, key: &str) -> u64 {
        match self.get(key).map(|resolved| &resolved.value) {
            Some(Value::Integer(value)) => u64::try_from(*value).unwrap_or(0),
            _ => 0,
        }
    }

    pub(crate) fn signed(&self, key: &str) -> i64 {
        match self.get(key).map(|resolved| &resolved.value) {
            Some(Value::Integer(value)) => *value,
            _ => 0,
        }
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        match self.get(key).map(|resolved| &resolved.value) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// `project.name`, where it is set.
    pub fn project_name(&self) -> Option<&str> {
        Some(self.text("project.name")).filter(|name| !name.trim().is_empty())
    }

    /// `capture.ignore`.
    pub fn capture_ignore(&self) -> &[String] {
        self.list("capture.ignore")
    }

    /// `capture.off`.
    pub fn capture_off(&self) -> bool {
        self.flag("capture.off")
    }

    /// `capture.skip_tools`.
    pub fn capture_skip_tools(&self) -> &[String] {
        self.list("capture.skip_tools")
    }

    /// `session_tracking.enabled`.
    pub fn tracking_enabled(&self) -> bool {
        self.flag("session_tracking.enabled")
    }

    /// `session_tracking.inactivity_timeout`.
    pub fn inactivity_timeout(&self) -> Duration {
        Duration::from_secs(self.integer("session_tracking.inactivity_timeout"))
    }

    /// `session_tracking.check_interval`.
    pub fn check_interval(&self) -> Duration {
        Duration::from_secs(self.integer("session_tracking.check_interval"))
    }

    /// `session_tracking.watch_directories`.
    pub fn watch_directories(&self) -> &[String] {
        self.list("session_tracking.watch_directories")
    }

    /// `session.idle_timeout_minutes`.
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.integer("session.idle_timeout_minutes") * 60)
    }

    /// `session.max_session_duration_hours`.
    pub fn max_session_duration(&self) -> Duration {
        Duration::from_secs(self.integer("session.max_session_duration_hours") * 3_600)
    }

    /// `session.max_hot_entries`.
    pub fn max_hot_entries(&self) -> usize {
        usize::try_from(self.integer("session.max_hot_entries")).unwrap_or(usize::MAX)
    }

    /// `session.auto_archive_on_end`.
    pub fn archives_on_end(&self) -> bool {
        self.flag("session.auto_archive_on_end")
    }

    /// `hooks.enabled`.
    pub fn hooks_enabled(&self) -> bool {
        self.flag("hooks.enabled")
    }

    /// `hooks.socket_enabled`.
    pub fn socket_enabled(&self) -> bool {
        self.flag("hooks.socket_enabled")
    }

    /// `hooks.socket_path`, where it is set.
    pub fn socket_path(&self) -> Option<&str> {
        Some(self.text("hooks.socket_path")).filter(|path| !path.trim().is_empty())
    }

    /// `hooks.hook_timeout`, in seconds.
    pub fn hook_timeout(&self) -> u64 {
        self.integer("hooks.hook_timeout")
    }

    /// `hooks.async_indexing`.
    pub fn async_indexing(&self) -> bool {
        self.flag("hooks.async_indexing")
    }

    /// `daemon.enabled`.
    pub fn daemon_enabled(&self) -> bool {
        self.flag("daemon.enabled")
    }

    /// `daemon.idle_exit_minutes`.
    pub fn daemon_idle_exit(&self) -> Duration {
        Duration::from_secs(self.integer("daemon.idle_exit_minutes") * 60)
    }

    /// `search.index_deadline_ms`.
    pub fn index_deadline(&self) -> Duration {
        Duration::from_millis(self.integer("search.index_deadline_ms"))
    }

    /// `journal.alarm_mb`, in bytes.
    pub fn journal_alarm(&self) -> u64 {
        self.integer("journal.alarm_mb").saturating_mul(1_000_000)
    }

    /// `context.message`.
    pub fn context_message(&self) -> bool {
        self.flag("context.message")
    }

    /// `archive.verbatim`.
    pub fn archive_verbatim(&self) -> bool {
        self.flag("archive.verbatim")
    }

    /// `redact.allow`.
    pub fn redact_allow(&self) -> &[String] {
        self.list("redact.allow")
    }

    /// `search.limit`.
    pub fn search_limit(&self) -> usize {
        usize::try_from(self.integer("search.limit")).unwrap_or(usize::MAX)
    }

    /// `distil.enabled`.
    pub fn distil_enabled(&self) -> bool {
        self.flag("distil.enabled")
    }

    /// What is said of models.
    pub fn models(&self) -> Models<'_> {
        Models(self)
    }

    /// What is said of embeddings.
    pub const fn embedding(&self) -> EmbeddingSettings<'_> {
        EmbeddingSettings(self)
    }

    /// What is said of the server that insights are delivered to; nothing where there is none.
    pub fn mcp_sink(&self) -> Option<McpSink<'_>> {
        let target = self.text("sinks.mcp").trim();
        (!target.is_empty()).then(|| McpSink {
            target,
            allow_remote: self.flag("sinks.mcp_allow_remote"),
            summary_tool: self.text("sinks.mcp_summary_tool"),
            memory_tool: self.text("sinks.mcp_memory_tool"),
        })
    }

    /// `context.off`.
    pub fn context_off(&self) -> bool {
        self.flag("context.off")
    }

    /// `context.tokens`.
    pub fn context_tokens(&self) -> u64 {
        self.integer("context.tokens")
    }

    /// `context.prompt_tokens`.
    pub fn context_prompt_tokens(&self) -> u64 {
        self.integer("context.prompt_tokens")
    }

    /// `context.observations`.
    pub fn context_observations(&self) -> usize {
        usize::try_from(self.integer("context.observations")).unwrap_or(usize::MAX)
    }

    /// `context.sessions`.
    pub fn context_sessions(&self) -> usize {
        usize::try_from(self.integer("context.sessions")).unwrap_or(usize::MAX)
    }

    /// `context.types`, as written.
    pub fn context_types(&self) -> &[String] {
        self.list("context.types")
    }

    /// `context.concepts`, as written.
    pub fn context_concepts(&self) -> &[String] {
        self.list("context.concepts")
    }

    /// `context.last_summary`.
    pub fn context_last_summary(&self) -> bool {
        self.flag("context.last_summary")
    }

    /// `summaries.enabled`.
    pub fn summaries_enabled(&self) -> bool {
        self.flag("summaries.enabled")
    }

    /// `summaries.location`, where it is set.
    pub fn summaries_location(&self) -> Option<&str> {
        Some(self.text("summaries.location")).filter(|path| !path.trim().is_empty())
    }

    /// `summaries.max`.
    pub fn summaries_max(&self) -> usize {
        usize::try_from(self.integer("summaries.max")).unwrap_or(usize::MAX)
    }

    /// `summaries.auto_reload`.
    pub fn summaries_auto_reload(&self) -> bool {
        self.flag("summaries.auto_reload")
    }

    /// `summaries.code_snippets`.
    pub fn summaries_code_snippets(&self) -> bool {
        self.flag("summaries.code_snippets")
    }

    /// `output.color`: `auto`, `always` or `never`.
    pub fn output_color(&self) -> &str {
        self.text("output.color")
    }

    /// `output.pager`.
    pub fn output_pager(&self) -> bool {
        self.flag("output.pager")
    }
}

/// The keys of a file with their values: tables become dotted names.
fn flatten(table: &toml::Table) -> Vec<(String, &toml::Value)> {
    fn walk<'a>(prefix: &str, table: &'a toml::Table, found: &mut Vec<(String, &'a toml::Value)>) {
        for (key, value) in table {
            let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            match value {
                toml::Value::Table(inner) => walk(&name, inner, found),
                value => found.push((name, value)),
            }
        }
    }
    let mut found = Vec::new();
    walk("", table, &mut found);
    found
}

/// What settings were called before, and what they are called now.
const RENAMED: [(&str, &str); 1] = [("capture.background", "daemon.enabled")];

/// The setting whose name is nearest to what was typed, if any is near.
pub(crate) fn nearest(key: &str) -> Option<&'static str> {
    if let Some((_, now)) = RENAMED.iter().find(|(before, _)| *before == key) {
        return Some(now);
    }
    SETTINGS
        .iter()
        .map(|setting: &Setting| {
            let last = setting.key.rsplit('.').next().unwrap_or(setting.key);
            let whole = strsim::damerau_levenshtein(key, setting.key);
            // The right name in the wrong section, or without one.
            let alone =
                strsim::damerau_levenshtein(key.rsplit('.').next().unwrap_or(key), last) + 1;
            (whole.min(alone), setting.key)
        })
        .min()
        .filter(|(distance, _)| *distance <= 1 + key.len() / 4)
        .map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Loaded {
        load(&[Layer { origin: Origin::User("config.toml".to_owned()), text }])
    }

    #[test]
    fn a_project_adds_to_lists_and_takes_nothing_off_them() {
        let user = Layer { origin: Origin::User("u".into()), text: "capture.skip_tools = ['A']" };
        let project =
            Layer { origin: Origin::Project("p".into()), text: "capture.skip_tools = ['B', 'A']" };
        let config = load(&[user, project]).config;
        assert_eq!(config.capture_skip_tools(), ["A", "B"]);
    }

    #[test]
    fn later_layers_win_and_say_so() {
        let loaded = load(&[
            Layer {
                origin: Origin::User("config.toml".to_owned()),
                text: "[search]\nlimit = 5\n[project]\nname = \"mine\"",
            },
            Layer {
                origin: Origin::Project(".throughline.toml".to_owned()),
                text: "project.name = \"rocket\"",
            },
        ]);
        assert_eq!(loaded.notes, []);
        assert_eq!(loaded.config.search_limit(), 5);
        assert_eq!(loaded.config.project_name(), Some("rocket"));
        let origin = &loaded.config.get("project.name").unwrap().origin;
        assert_eq!(origin.to_string(), ".throughline.toml");
    }

    #[test]
    fn a_project_cannot_make_us_keep_or_read_more() {
        let loaded = load(&[Layer {
            origin: Origin::Project(".throughline.toml".to_owned()),
            text: "archive.verbatim = true\nredact.allow = [\".*\"]\ncapture.off = true",
        }]);
        assert!(!loaded.config.archive_verbatim());
        assert!(loaded.config.redact_allow().is_empty());
        assert!(loaded.config.capture_off());
        insta::assert_snapshot!(loaded.notes[0], @".throughline.toml: a project may not set `archive.verbatim`; only your own configuration may");
    }

    #[test]
    fn a_project_can_have_less_of_summaries_and_never_more() {
        let of = |user: &str, project: &str| {
            load(&[
                Layer { origin: Origin::User("u".into()), text: user },
                Layer { origin: Origin::Project("p".into()), text: project },
            ])
            .config
        };
        let text = "[summaries]\nenabled = false\nmax = 5\nlocation = '/tmp'";
        let less = of("", text);
        assert_eq!((less.summaries_enabled(), less.summaries_max()), (false, 5));
        assert_eq!(less.summaries_location(), None);
        let more = of(text, "[summaries]\nenabled = true\nmax = 50");
        assert_eq!((more.summaries_enabled(), more.summaries_max()), (false, 5));
        assert_eq!(more.summaries_location(), Some("/tmp"));
    }

    #[test]
    fn what_cannot_be_used_is_noted_and_the_rest_holds() {
        let loaded = user(
            "archive.verbatm = true\nsearch.limit = 0\noutput.color = \"never\"\nverbatim = true",
        );
        assert_eq!(loaded.config.output_color(), "never");
        let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(notes.join("\n"), @"
        config.toml: there is no setting `archive.verbatm`; did you mean `archive.verbatim`?
        config.toml: `search.limit` takes a whole number from 1 to 1000
        config.toml: there is no setting `verbatim`; did you mean `archive.verbatim`?
        ");
        let loaded = user("search = [[[");
        assert!(matches!(loaded.notes[..], [Note::Syntax { .. }]));
        assert_eq!(loaded.config.search_limit(), 10);
    }

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        for setting in SETTINGS {
            let written = (setting.default)().to_string();
            let value: toml::Value =
                format!("v = {written}").parse::<toml::Table>().unwrap()["v"].clone();
            assert_eq!(setting.kind.read(&value), Ok((setting.default)()), "{}", setting.key);
        }
    }
}

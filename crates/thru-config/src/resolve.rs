//! Merging of the layers: defaults, the user's file, the project's file.

use std::borrow::Cow;
use std::fmt;

use crate::settings::{Config, Owner, SETTINGS, Setting, find};
use crate::value::Value;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// No file sets it.
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
    /// Its path and owner.
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
        /// The error, with its place.
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
        /// The values that it takes.
        expected: String,
    },
    /// Another program's name for a setting, which counts.
    #[error("{origin}: `{key}` is read as `{now}`")]
    OtherName {
        /// The file.
        origin: Origin,
        /// The key as written.
        key: &'static str,
        /// The name here.
        now: &'static str,
    },
    /// Another program's way to write a setting, which counts.
    #[error("{origin}: `{written}` is read as `{now}`")]
    OtherForm {
        /// The file.
        origin: Origin,
        /// The setting as written.
        written: String,
        /// The setting as it is written here.
        now: String,
    },
    /// Another program's setting, which needs one more here.
    #[error("{origin}: `{key}` has no effect until `{needed}` is set")]
    Needs {
        /// The file.
        origin: Origin,
        /// The key as written.
        key: &'static str,
        /// The setting that is missing.
        needed: &'static str,
    },
    /// A project's file may not set it.
    #[error("{origin}: a project may not set `{key}`; only your own configuration may")]
    NotForProjects {
        /// The file.
        origin: Origin,
        /// The key.
        key: &'static str,
    },
    /// Only a project's own file may set it.
    #[error("{origin}: `{key}` has an effect only in a project's own `.throughline.toml`")]
    OnlyForProjects {
        /// The file.
        origin: Origin,
        /// The key.
        key: &'static str,
    },
}

impl Note {
    /// True if the file is a project's own rather than the user's.
    pub const fn is_of_project(&self) -> bool {
        let (Self::Syntax { origin, .. }
        | Self::UnknownKey { origin, .. }
        | Self::OtherName { origin, .. }
        | Self::OtherForm { origin, .. }
        | Self::Needs { origin, .. }
        | Self::WrongValue { origin, .. }
        | Self::NotForProjects { origin, .. }
        | Self::OnlyForProjects { origin, .. }) = self;
        matches!(origin, Origin::Project(_))
    }

    /// True if it is told, and stops nothing: another program's way to write a setting.
    pub const fn is_only_a_word(&self) -> bool {
        matches!(self, Self::OtherName { .. } | Self::OtherForm { .. } | Self::Needs { .. })
    }
}

impl Note {
    /// True if a restriction on what may be sent may be lost with it.
    pub fn is_about_what_is_sent(&self) -> bool {
        match self {
            Self::Syntax { .. } => true,
            Self::WrongValue { key, .. } => {
                ["models.", "budget.", "capture."].iter().any(|part| key.starts_with(part))
            }
            Self::UnknownKey { key, .. } => key.starts_with("models."),
            _ => false,
        }
    }

    /// True if a restriction on what may be kept may be lost with it. Recording has to stop.
    pub fn is_about_what_is_kept(&self) -> bool {
        match self {
            Self::Syntax { .. } => true,
            Self::WrongValue { key, .. } => {
                key.starts_with("capture.") || key.starts_with("redact.")
            }
            _ => false,
        }
    }
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |key| format!("; did you mean `{key}`?"))
}

/// A value and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The setting.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
    /// The origin of the value.
    pub origin: Origin,
}

/// The result of loading: always a usable configuration, and notes on what was left out of it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings in force.
    pub config: Config,
    /// Parts of the files that have no effect.
    pub notes: Vec<Note>,
}

/// A syntax error with its place, on one line: hooks and tables pass it on.
fn syntax_error(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let before = error.span().and_then(|span| text.get(..span.start));
    before.map_or(message.clone(), |before| {
        let line = before.matches('\n').count() + 1;
        format!("line {line}: {message}")
    })
}

/// Merges layers; later ones win. Never fails: what cannot be used is noted and left out.
pub fn load(layers: &[Layer<'_>]) -> Loaded {
    let mut config = Config::default();
    let mut notes = Vec::new();
    for layer in layers {
        match layer.text.parse::<toml::Table>() {
            Ok(table) => {
                for (key, value) in flatten(&table) {
                    let written = translated(&key, value, &layer.origin, &mut notes);
                    let Some((key, value)) = written else { continue };
                    if let Err(note) = config.apply(&layer.origin, key, &value) {
                        notes.push(note);
                    }
                }
                // It names no model, and none is on every machine.
                if table.contains_key(FALLBACK)
                    && config.models.fallback == "ollama"
                    && config.models.fallback_model.is_none()
                {
                    config.assign("models.fallback", &Value::Text("none".to_owned()));
                    let (origin, key) = (layer.origin.clone(), FALLBACK);
                    notes.push(Note::Needs { origin, key, needed: "models.fallback_model" });
                }
            }
            Err(error) => notes.push(Note::Syntax {
                origin: layer.origin.clone(),
                message: syntax_error(&error, layer.text),
            }),
        }
    }
    Loaded { config, notes }
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
        let key = setting.key;
        match (origin, setting.owner) {
            (Origin::Project(_), Owner::User) => {
                return Err(Note::NotForProjects { origin: origin.clone(), key });
            }
            (Origin::User(_), Owner::Project) => {
                return Err(Note::OnlyForProjects { origin: origin.clone(), key });
            }
            _ => {}
        }
        let wrong = |expected| Note::WrongValue { origin: origin.clone(), key, expected };
        let mut value = setting.kind.read(value).map_err(wrong)?;
        if let (Origin::Project(_), Some(known)) = (origin, self.value(setting.key)) {
            match (known, &mut value) {
                // A project adds to the user's lists of exclusions; it removes nothing from them.
                (Value::List(known), Value::List(items)) => {
                    items.retain(|item| !known.contains(item));
                    *items = [known.as_slice(), items].concat();
                }
                // It makes numbers smaller, and none larger.
                (Value::Integer(known), Value::Integer(number)) if known <= *number => {
                    return Ok(());
                }
                // It switches off what the user has on, and nothing on.
                (_, Value::Bool(value)) if *value != setting.key.ends_with(".off") => return Ok(()),
                _ => {}
            }
        }
        if !self.assign(setting.key, &value) {
            return Err(wrong(setting.kind.expected()));
        }
        self.origins.insert(setting.key, origin.clone());
        Ok(())
    }

    /// Returns every setting with its value and the origin of that, by name.
    pub fn all(&self) -> impl Iterator<Item = Resolved> {
        let mut keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
        keys.sort_unstable();
        keys.into_iter().filter_map(|key| self.get(key))
    }

    /// Returns one setting, by its name.
    pub fn get(&self, key: &str) -> Option<Resolved> {
        let (key, value) = (find(key)?.key, self.value(key)?);
        let origin = self.origins.get(key).cloned().unwrap_or(Origin::Default);
        Some(Resolved { key, value, origin })
    }
}

/// Returns the keys of a file with their values: tables become dotted names.
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

/// Returns a setting as it is written here; `None` for a remark on one.
fn translated<'v>(
    key: &'v str,
    value: &'v toml::Value,
    origin: &Origin,
    notes: &mut Vec<Note>,
) -> Option<(&'v str, Cow<'v, toml::Value>)> {
    let last = key.rsplit('.').next().unwrap_or(key);
    if last.starts_with('_') && last.ends_with("_help") {
        return None;
    }
    let alone = key.strip_prefix("SESSION_CONFIG.").unwrap_or(key);
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == alone);
    let now = other.map_or(key, |(_, now)| *now);
    let converted = match (now, value) {
        // Seconds here, milliseconds elsewhere.
        ("hooks.hook_timeout", toml::Value::Integer(milliseconds @ 1_000..)) => {
            Some(toml::Value::Integer(milliseconds.saturating_add(999) / 1_000))
        }
        ("models.fallback", toml::Value::Boolean(wanted)) if alone == FALLBACK => {
            Some(toml::Value::String(if *wanted { "ollama" } else { "none" }.to_owned()))
        }
        _ => None,
    };
    let origin = origin.clone();
    if let Some(converted) = &converted {
        let (written, now) = (format!("{key} = {value}"), format!("{now} = {converted}"));
        notes.push(Note::OtherForm { origin, written, now });
    } else if let Some(&(key, now)) = other {
        notes.push(Note::OtherName { origin, key, now });
    }
    Some((now, converted.map_or(Cow::Borrowed(value), Cow::Owned)))
}

/// A setting of another program that has a model on this machine asked where the first does not answer.
const FALLBACK: &str = "fallback_to_ollama";

/// Names that settings have in other programs, and their names here.
const OTHER_NAMES: [(&str, &str); 14] = [
    ("session_tracking.hooks.enabled", "hooks.enabled"),
    ("session_tracking.hooks.socket_enabled", "hooks.socket_enabled"),
    ("session_tracking.hooks.socket_path", "hooks.socket_path"),
    ("session_tracking.hooks.hook_timeout", "hooks.hook_timeout"),
    ("session_tracking.hooks.async_indexing", "hooks.async_indexing"),
    ("max_session_duration_hours", "session.max_session_duration_hours"),
    ("idle_timeout_minutes", "session.idle_timeout_minutes"),
    ("max_hot_entries", "session.max_hot_entries"),
    ("auto_archive_on_end", "session.auto_archive_on_end"),
    ("max_summaries", "summaries.max"),
    ("include_code_snippets", "summaries.code_snippets"),
    ("auto_reload", "summaries.auto_reload"),
    ("summary_model", "models.session_model"),
    (FALLBACK, "models.fallback"),
];

/// Former names of settings, and their names now.
const RENAMED: [(&str, &str); 1] = [("capture.background", "daemon.enabled")];

/// Returns the setting whose name is nearest to what was typed, if any is near.
pub(crate) fn nearest(key: &str) -> Option<&'static str> {
    let mut other_names = RENAMED.iter().chain(&OTHER_NAMES);
    if let Some((_, now)) = other_names.find(|(other, _)| *other == key) {
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
    use crate::types::{Color, Minutes};
    use crate::value::Kind;

    fn user(text: &str) -> Loaded {
        load(&[Layer { origin: Origin::User("config.toml".to_owned()), text }])
    }

    #[test]
    fn a_project_adds_to_lists_and_takes_nothing_off_them() {
        let user = Layer { origin: Origin::User("u".into()), text: "capture.skip_tools = ['A']" };
        let project =
            Layer { origin: Origin::Project("p".into()), text: "capture.skip_tools = ['B', 'A']" };
        let config = load(&[user, project]).config;
        assert_eq!(config.capture.skip_tools, ["A", "B"]);
    }

    #[test]
    fn later_layers_win_and_say_so() {
        let loaded = load(&[
            Layer {
                origin: Origin::User("config.toml".to_owned()),
                text: "[search]\nlimit = 5\n[summaries]\nmax = 9",
            },
            Layer {
                origin: Origin::Project(".throughline.toml".to_owned()),
                text: "project.name = \"rocket\"\nsummaries.max = 3",
            },
        ]);
        assert_eq!(loaded.notes, []);
        assert_eq!(loaded.config.search.limit, 5);
        assert_eq!(loaded.config.project.name.as_deref(), Some("rocket"));
        assert_eq!(loaded.config.summaries.max, 3);
        let origin = &loaded.config.get("summaries.max").unwrap().origin;
        assert_eq!(origin.to_string(), ".throughline.toml");
    }

    #[test]
    fn a_project_cannot_make_us_keep_or_read_more() {
        let loaded = load(&[Layer {
            origin: Origin::Project(".throughline.toml".to_owned()),
            text: "archive.verbatim = true\nredact.allow = [\".*\"]\ncapture.off = true",
        }]);
        assert!(!loaded.config.archive.verbatim);
        assert!(loaded.config.redact.allow.is_empty());
        assert!(loaded.config.capture.off);
        insta::assert_snapshot!(loaded.notes[0], @".throughline.toml: a project may not set `archive.verbatim`; only your own configuration may");
    }

    #[test]
    fn a_project_switches_nothing_on_that_the_user_has_off() {
        for key in ["capture.off", "context.off", "models.off"] {
            let of = |user: bool, project: bool| {
                let (user, project) = (format!("{key} = {user}"), format!("{key} = {project}"));
                let loaded = load(&[
                    Layer { origin: Origin::User("u".into()), text: &user },
                    Layer { origin: Origin::Project("p".into()), text: &project },
                ]);
                loaded.config.value(key).unwrap()
            };
            assert_eq!(of(true, false), Value::Bool(true), "{key}");
            assert_eq!(of(false, true), Value::Bool(true), "{key}");
        }
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
        assert_eq!((less.summaries.enabled, less.summaries.max), (false, 5));
        assert_eq!(less.summaries.location, None);
        let more = of(text, "[summaries]\nenabled = true\nmax = 50");
        assert_eq!((more.summaries.enabled, more.summaries.max), (false, 5));
        assert_eq!(more.summaries.location.as_deref(), Some("/tmp"));
    }

    #[test]
    fn names_of_other_programs_count_and_are_noted() {
        let text = "idle_timeout_minutes = 7\n[session_tracking.hooks]\nasync_indexing = false";
        let loaded = load(&[Layer { origin: Origin::User("u".into()), text }]);
        assert_eq!(loaded.config.session.idle_timeout_minutes, Minutes(7));
        assert!(!loaded.config.hooks.async_indexing);
        let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes[0], "u: `idle_timeout_minutes` is read as `session.idle_timeout_minutes`");
        assert!(notes.len() == 2 && loaded.notes.iter().all(Note::is_only_a_word), "{notes:?}");
        for (other, now) in OTHER_NAMES {
            assert!(find(now).is_some() && nearest(other) == Some(now), "{now}");
        }
    }

    #[test]
    fn values_of_other_programs_count_and_are_noted() {
        let notes = |loaded: &Loaded| -> String {
            assert!(loaded.notes.iter().all(Note::is_only_a_word), "{:?}", loaded.notes);
            loaded.notes.iter().map(|note| format!("{note}\n")).collect()
        };
        let all = user(
            "fallback_to_ollama = true\nmodels.fallback_model = 'qwen3'\n\
             SESSION_CONFIG.max_hot_entries = 7\n[session_tracking.hooks]\nhook_timeout = 30000\n\
             _hook_timeout_help = 'in milliseconds'",
        );
        assert_eq!(all.config.hooks.hook_timeout.0, 30);
        assert_eq!(all.config.models.fallback, "ollama");
        assert_eq!(all.config.session.max_hot_entries, 7);
        insta::assert_snapshot!(notes(&all), @r#"
        config.toml: `max_hot_entries` is read as `session.max_hot_entries`
        config.toml: `fallback_to_ollama = true` is read as `models.fallback = "ollama"`
        config.toml: `session_tracking.hooks.hook_timeout = 30000` is read as `hooks.hook_timeout = 30`
        "#);
        // Without a model there is none to ask, and every question to a model would fail.
        let without = user("fallback_to_ollama = true");
        assert_eq!(without.config.models.fallback, "none");
        insta::assert_snapshot!(notes(&without), @r#"
        config.toml: `fallback_to_ollama = true` is read as `models.fallback = "ollama"`
        config.toml: `fallback_to_ollama` has no effect until `models.fallback_model` is set
        "#);
        let far = user("hooks.hook_timeout = 99000").notes[1].to_string();
        insta::assert_snapshot!(far, @"config.toml: `hooks.hook_timeout` takes a whole number from 1 to 60");
    }

    #[test]
    fn what_cannot_be_used_is_noted_and_the_rest_holds() {
        let loaded = user(
            "archive.verbatm = true\nsearch.limit = 0\noutput.color = \"never\"\nverbatim = true\n\
             context.types = ['decision', 'rule']\nproject.name = 'rocket'",
        );
        assert_eq!(loaded.config.output.color, Color::Never);
        let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(notes.join("\n"), @"
        config.toml: there is no setting `archive.verbatm`; did you mean `archive.verbatim`?
        config.toml: `context.types` takes a list of any of `bugfix`, `feature`, `refactor`, `change`, `discovery`, `decision`
        config.toml: `project.name` has an effect only in a project's own `.throughline.toml`
        config.toml: `search.limit` takes a whole number from 1 to 1000
        config.toml: there is no setting `verbatim`; did you mean `archive.verbatim`?
        ");
        let loaded = user("search = [[[");
        assert!(matches!(loaded.notes[..], [Note::Syntax { .. }]));
        let unclosed = user("[search]\nlimit = 5\n[capture\n").notes[0].to_string();
        assert_eq!(unclosed, "config.toml cannot be read: line 3: unclosed table, expected `]`");
        assert_eq!(loaded.config.search.limit, 10);
    }

    #[test]
    fn every_default_is_a_value_of_its_kind() {
        for setting in SETTINGS {
            let written = (setting.default)().to_string();
            let value: toml::Value =
                format!("v = {written}").parse::<toml::Table>().unwrap()["v"].clone();
            assert_eq!(setting.kind.read(&value), Ok((setting.default)()), "{}", setting.key);
            // And the type takes it, at both ends of what the kind allows.
            let mut values = vec![(setting.default)()];
            match setting.kind {
                Kind::Integer { min, max } => values.extend([min, max].map(Value::Integer)),
                Kind::Choice(names) => {
                    values.extend(names.iter().map(|name| Value::Text((*name).into())))
                }
                Kind::Bool => values.extend([true, false].map(Value::Bool)),
                Kind::Text => values.push(Value::Text("a".to_owned())),
                Kind::List => values.push(Value::List(vec!["a".to_owned()])),
                Kind::Words(words) => {
                    values.push(Value::List(words.iter().map(|word| (*word).to_owned()).collect()));
                }
            }
            for value in values {
                let mut config = Config::default();
                assert!(config.assign(setting.key, &value), "{}", setting.key);
                assert_eq!(config.value(setting.key), Some(value));
            }
        }
    }
}

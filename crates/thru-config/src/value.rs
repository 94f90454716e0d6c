//! Values of settings and their form in files.

use std::fmt;

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number from `min` to `max`.
    Integer {
        /// The smallest value allowed.
        min: i64,
        /// The largest value allowed.
        max: i64,
    },
    /// A list of texts.
    List,
    /// A list of some of these words.
    Words(&'static [&'static str]),
    /// Any text; empty means not set.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Integer`].
    Integer(i64),
    /// Of [`Kind::List`] and [`Kind::Words`].
    List(Vec<String>),
    /// Of [`Kind::Text`] and [`Kind::Choice`].
    Text(String),
}

impl Kind {
    /// Reads a value as it stands in a TOML file.
    ///
    /// # Errors
    /// Fails with a description of the values that the setting takes.
    pub fn read(self, value: &toml::Value) -> Result<Value, String> {
        match (self, value) {
            (Self::Bool, toml::Value::Boolean(value)) => Ok(Value::Bool(*value)),
            (Self::Integer { min, max }, toml::Value::Integer(value))
                if (min..=max).contains(value) =>
            {
                Ok(Value::Integer(*value))
            }
            (Self::List | Self::Words(_), toml::Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().filter(|item| self.lists(item)).map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .map(Value::List)
                .ok_or_else(|| self.expected()),
            (Self::Text, toml::Value::String(text)) => Ok(Value::Text(text.clone())),
            (Self::Choice(words), toml::Value::String(text)) if words.contains(&text.as_str()) => {
                Ok(Value::Text(text.clone()))
            }
            _ => Err(self.expected()),
        }
    }

    /// Reads a value as a person types it on the command line: lists with commas between.
    ///
    /// # Errors
    /// Fails with a description of the values that the setting takes.
    pub fn read_typed(self, text: &str) -> Result<Value, String> {
        let value = match self {
            Self::Bool => text.parse().map(toml::Value::Boolean).map_err(|_| self.expected())?,
            Self::Integer { .. } => {
                text.parse().map(toml::Value::Integer).map_err(|_| self.expected())?
            }
            Self::List | Self::Words(_) => toml::Value::Array(
                text.split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty())
                    .map(|item| toml::Value::String(item.to_owned()))
                    .collect(),
            ),
            Self::Text | Self::Choice(_) => toml::Value::String(text.to_owned()),
        };
        self.read(&value)
    }

    /// Returns true if a list of this kind may hold the text.
    fn lists(self, item: &str) -> bool {
        match self {
            Self::Words(words) => words.iter().any(|word| word.eq_ignore_ascii_case(item)),
            _ => true,
        }
    }

    pub(crate) fn expected(self) -> String {
        let quoted = |words: &[&str]| {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::List => "a list of texts, such as `[\"a\", \"b\"]`".to_owned(),
            Self::Text => "a text in quotes".to_owned(),
            Self::Words(words) => format!("a list of any of {}", quoted(words)),
            Self::Choice(words) => format!("one of {}", quoted(words)),
        }
    }
}

impl fmt::Display for Value {
    /// As TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            Self::List(items) => {
                let items = items.iter().cloned().map(toml::Value::String).collect();
                write!(f, "{}", toml::Value::Array(items))
            }
        }
    }
}

//! Types of settings: units, words of a choice, and how each is written in a file.

use std::time::Duration;

use thru_core::{Concept, ObservationType};

use crate::value::Value;

/// A type that a setting may have.
pub(crate) trait Typed: Sized {
    /// Returns the value as it is written.
    fn to_value(&self) -> Value;

    /// Reads a value; `None` if the type does not take it.
    fn from_value(value: &Value) -> Option<Self>;
}

impl Typed for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Bool(value) = value { Some(*value) } else { None }
    }
}

impl Typed for String {
    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.clone()) } else { None }
    }
}

/// A text that need not be set: empty, or blank, is not set.
impl Typed for Option<String> {
    fn to_value(&self) -> Value {
        Value::Text(self.clone().unwrap_or_default())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let text = String::from_value(value)?;
        Some(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
    }
}

impl Typed for Vec<String> {
    fn to_value(&self) -> Value {
        Value::List(self.clone())
    }

    fn from_value(value: &Value) -> Option<Self> {
        if let Value::List(items) = value { Some(items.clone()) } else { None }
    }
}

macro_rules! lists_of_words {
    ($($Type:ty)*) => {
        $(impl Typed for Vec<$Type> {
            fn to_value(&self) -> Value {
                Value::List(self.iter().map(|one| one.as_str().to_owned()).collect())
            }

            fn from_value(value: &Value) -> Option<Self> {
                let Value::List(words) = value else { return None };
                words.iter().map(|word| word.parse().ok()).collect()
            }
        })*
    };
}

lists_of_words! { ObservationType Concept }

macro_rules! numbers {
    ($($Type:ty)*) => {
        $(impl Typed for $Type {
            fn to_value(&self) -> Value {
                Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn from_value(value: &Value) -> Option<Self> {
                if let Value::Integer(number) = value { Self::try_from(*number).ok() } else { None }
            }
        })*
    };
}

numbers! { i64 u16 u32 u64 usize }

macro_rules! units {
    ($($(#[$about:meta])* $Unit:ident: $inner:ty, $method:ident -> $Result:ty, $convert:expr;)*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $Unit(pub $inner);

            impl $Unit {
                /// Converts the number to its size.
                pub fn $method(self) -> $Result {
                    $convert(self.0)
                }
            }

            impl Typed for $Unit {
                fn to_value(&self) -> Value {
                    self.0.to_value()
                }

                fn from_value(value: &Value) -> Option<Self> {
                    Typed::from_value(value).map(Self)
                }
            }
        )*
    };
}

units! {
    /// A time in milliseconds.
    Milliseconds: u64, duration -> Duration, Duration::from_millis;
    /// A time in seconds.
    Seconds: u64, duration -> Duration, Duration::from_secs;
    /// A time in minutes.
    Minutes: u64, duration -> Duration, |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
    /// A time in hours.
    Hours: u64, duration -> Duration, |hours: u64| Duration::from_secs(hours.saturating_mul(3_600));
    /// A size in millions of bytes.
    Megabytes: u64, bytes -> u64, |megabytes: u64| megabytes.saturating_mul(1_000_000);
}

macro_rules! choices {
    ($($(#[$about:meta])* $Choice:ident { $($(#[$what:meta])* $Variant:ident = $name:literal,)* })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $Choice {
                $($(#[$what])* $Variant,)*
            }

            impl $Choice {
                /// The words for it in a file.
                pub(crate) const NAMES: &'static [&'static str] = &[$($name),*];
            }

            impl Typed for $Choice {
                fn to_value(&self) -> Value {
                    Value::Text(match self { $(Self::$Variant => $name,)* }.to_owned())
                }

                fn from_value(value: &Value) -> Option<Self> {
                    match String::from_value(value)?.as_str() {
                        $($name => Some(Self::$Variant),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}

choices! {
    /// The source of embeddings.
    EmbeddingProvider {
        /// The model that comes with the program.
        Bundled = "bundled",
        /// Ollama.
        Ollama = "ollama",
        /// OpenAI, or another server with its API.
        OpenAi = "openai",
        /// No embeddings.
        None = "none",
    }
    /// The routes of claude-mem's worker that are served.
    WorkerApi {
        /// None of them.
        Off = "off",
        /// Those that only read.
        Read = "read",
        /// Those that record and remember, too.
        Full = "full",
    }
    /// Use of colour in the terminal.
    Color {
        /// On a terminal only.
        Auto = "auto",
        /// Also in a pipe.
        Always = "always",
        /// Nowhere.
        Never = "never",
    }
}

//! Changing one setting in a file and leaving the rest of it as it is, comments included.

use toml_edit::{DocumentMut, Item, Table};

use crate::resolve::nearest;
use crate::settings::find;
use crate::value::Value;

/// The reason why a setting could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// There is no such setting.
    #[error("there is no setting `{key}`")]
    UnknownKey {
        /// The key as typed.
        key: String,
        /// The nearest key that exists.
        suggestion: Option<&'static str>,
    },
    /// The value is of the wrong kind.
    #[error("`{key}` takes {expected}")]
    WrongValue {
        /// The key.
        key: &'static str,
        /// The values that it takes.
        expected: String,
    },
    /// The file is not TOML, so it is left alone.
    #[error("the configuration file is not valid TOML: {0}")]
    Syntax(String),
}

/// Returns the text of the file with one setting changed.
///
/// # Errors
/// Fails if there is no such key, the value is of another kind, or the file is not TOML.
pub fn set_value(file: &str, key: &str, typed: &str) -> Result<String, EditError> {
    let setting = find(key)
        .ok_or_else(|| EditError::UnknownKey { key: key.to_owned(), suggestion: nearest(key) })?;
    let value = setting
        .kind
        .read_typed(typed)
        .map_err(|expected| EditError::WrongValue { key: setting.key, expected })?;
    let mut document: DocumentMut =
        file.parse().map_err(|error: toml_edit::TomlError| EditError::Syntax(error.to_string()))?;
    let mut table: &mut Table = document.as_table_mut();
    let mut parts: Vec<&str> = setting.key.split('.').collect();
    let last = parts.pop().unwrap_or(setting.key);
    for part in parts {
        let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
        table = item
            .as_table_mut()
            .ok_or_else(|| EditError::Syntax(format!("`{part}` is not a table")))?;
    }
    let mut new = match value {
        Value::Bool(value) => toml_edit::value(value),
        Value::Integer(value) => toml_edit::value(value),
        Value::Text(value) => toml_edit::value(value),
        Value::List(items) => toml_edit::value(items.into_iter().collect::<toml_edit::Array>()),
    };
    // The comment behind the value stays.
    if let (Some(old), Some(new)) = (table.get(last).and_then(Item::as_value), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    table[last] = new;
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_file_stays_as_it_is() {
        let file = "# mine\n[search] # how I like it\nlimit = 5 # five\n";
        let edited = set_value(file, "search.limit", "7").unwrap();
        let edited = set_value(&edited, "capture.ignore", "/a/**, /b").unwrap();
        insta::assert_snapshot!(edited, @r#"
        # mine
        [search] # how I like it
        limit = 7 # five

        [capture]
        ignore = ["/a/**", "/b"]
        "#);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (key, value, message) in [
            ("serch.limit", "7", "there is no setting `serch.limit`"),
            ("search.limit", "many", "`search.limit` takes a whole number from 1 to 1000"),
            ("output.color", "red", "`output.color` takes one of `auto`, `always`, `never`"),
        ] {
            assert_eq!(set_value("", key, value).unwrap_err().to_string(), message);
        }
    }
}

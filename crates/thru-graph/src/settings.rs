//! Settings: the keys that configuration files set, each by its path from the top of its file.
//!
//! A whole file is parsed. Of a part of one, only keys count whose path the part itself shows: in YAML those below a key at
//! the margin, in TOML those below a header, in the environment all, in JSON those below keys that stand one step from the
//! margin.

use std::collections::BTreeMap;

use serde_json::Value;
use thru_core::{file_name, is_made_by_tools};

use crate::edit::Extent;

/// Most keys of one file: with more it is data, not configuration.
const MOST: usize = 100;

/// The usual indentation in YAML.
const STEP: usize = 2;

/// Longest path of a key and longest value, in bytes.
const KEY: usize = 160;
const VALUE: usize = 120;

/// The form of a file of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    Env,
    Json,
    Toml,
    Yaml,
}

impl Syntax {
    /// Returns the form of the settings at a path, if it holds some: not data, fixtures or what a tool wrote.
    pub(crate) fn of(path: &str) -> Option<Self> {
        const FOREIGN: [&str; 11] = [
            "fixtures",
            "__fixtures__",
            "testdata",
            "test",
            "tests",
            "__tests__",
            "__snapshots__",
            "locales",
            "i18n",
            "data",
            "migrations",
        ];
        let name = file_name(path).to_lowercase();
        let is_written =
            name.contains("lock") || name.contains("swagger") || name.contains("openapi");
        let is_foreign =
            is_made_by_tools(path) || path.split(['/', '\\']).any(|part| FOREIGN.contains(&part));
        if is_written || is_foreign {
            return None;
        }
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" if is_of_settings(stem) => Some(Self::Json),
            "example" | "sample" | "template" => None,
            _ if name == ".env" || stem == ".env" => Some(Self::Env),
            _ => None,
        }
    }

    /// Returns the keys that a file, or a part of one, sets.
    pub(crate) fn read(self, part: &str, extent: Extent) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        match self {
            Self::Env => env(part, &mut found),
            Self::Yaml => yaml(part, extent, &mut found),
            Self::Json if extent == Extent::Whole => {
                let parsed = serde_json::from_str(part).unwrap_or(Value::Null);
                values(&parsed, "", &mut found);
            }
            Self::Json => json_lines(part, extent, &mut found),
            Self::Toml if extent == Extent::Whole => {
                if let Ok(parsed) = toml::from_str::<Value>(part) {
                    values(&parsed, "", &mut found);
                }
            }
            Self::Toml => toml_below_headers(part, &mut found),
        }
        found.retain(|key, value| !value.is_empty() && key.len() <= KEY && value.len() <= VALUE);
        if found.len() > MOST { BTreeMap::new() } else { found }
    }
}

/// True for a JSON file that tools are set up with: most others are data.
fn is_of_settings(stem: &str) -> bool {
    const NAMES: [&str; 10] = [
        "biome", "turbo", "vercel", "nx", "deno", "renovate", "lerna", "launch", "firebase",
        "wrangler",
    ];
    stem.contains("config")
        || stem.contains("settings")
        || stem.ends_with("rc")
        || NAMES.contains(&stem)
}

/// Adds every value that is no table, by the path of its keys.
fn values(value: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    let is_plain = |item: &Value| !item.is_object() && !item.is_array();
    match value {
        Value::Object(table) => {
            for (key, value) in table {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                values(value, &path, found);
            }
        }
        _ if found.len() > MOST || path.is_empty() || value.is_null() => {}
        Value::String(text) => _ = found.insert(path.to_owned(), text.trim().to_owned()),
        Value::Array(items) if !items.iter().all(is_plain) => {}
        plain => _ = found.insert(path.to_owned(), plain.to_string()),
    }
}

/// Reads `"key": value` by indentation, as tools and people write it. What stands in lists is left out.
fn json_lines(part: &str, extent: Extent, found: &mut BTreeMap<String, String>) {
    let lines = || part.lines().filter(|line| !line.trim().is_empty()).enumerate();
    // The first line of a part may be cut off at its beginning.
    let placed = || lines().filter(|(number, _)| *number > 0 || extent == Extent::Lines);
    let is_step = |unit: &str| {
        placed().any(|(_, line)| line.strip_prefix(unit).is_some_and(|text| text.starts_with('"')))
    };
    // No line of a file that is indented by more is indented by so little.
    let Some(unit) = ["\t", "  "].into_iter().find(|unit| is_step(unit)) else { return };
    let mut above: Vec<String> = Vec::new();
    for (_, line) in placed() {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / unit.len();
        above.truncate(depth.saturating_sub(1));
        // A list, or a key whose place is not known.
        if depth == 0 || above.len() + 1 != depth {
            continue;
        }
        let Some((key, value)) = text.strip_prefix('"').and_then(|rest| rest.split_once("\":"))
        else {
            continue;
        };
        let value = value.trim().trim_end_matches(',');
        if value == "{" {
            above.push(key.to_owned());
        } else if let Ok(value) = serde_json::from_str::<Value>(value) {
            let path = above.iter().map(String::as_str).chain([key]).collect::<Vec<_>>().join(".");
            values(&value, &path, found);
        }
    }
}

/// Reads `KEY=value`.
fn env(part: &str, found: &mut BTreeMap<String, String>) {
    for line in part.lines() {
        let line = line.trim().trim_start_matches("export ");
        let Some((key, value)) = line.split_once('=') else { continue };
        let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if !key.is_empty() && key.bytes().all(is_part) {
            found.insert(key.to_owned(), unquoted(value));
        }
    }
}

/// Reads the lines of TOML below a header that the part shows.
fn toml_below_headers(part: &str, found: &mut BTreeMap<String, String>) {
    let mut section: Option<&str> = None;
    for line in part.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            // A table among several of one name has no path of its own.
            section = header.strip_suffix(']').filter(|name| !name.starts_with('['));
        } else if let Some(section) = section
            && let Ok(parsed) = toml::from_str::<Value>(line)
        {
            values(&parsed, section, found);
        }
    }
}

/// Reads `key: value` by indentation. What stands in lists and in blocks of text is left out.
fn yaml(part: &str, extent: Extent, found: &mut BTreeMap<String, String>) {
    // The keys above a line, with their indentation: from the margin on.
    let mut above: Vec<(usize, &str)> = Vec::new();
    // The indentation below which lines belong to a list, a text, or a key of unknown place.
    let mut hidden: Option<usize> = None;
    let below = part.lines().nth(1).map(|line| line.len() - line.trim_start().len());
    for (number, line) in part.lines().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if text.is_empty() || text.starts_with('#') || text.starts_with("---") {
            continue;
        }
        if hidden.is_some_and(|hidden| indent > hidden) {
            continue;
        }
        hidden = None;
        above.retain(|(other, _)| *other < indent);
        // The beginning of a part may be cut off, unless what stands below it is one step from the margin.
        let is_cut = number == 0 && extent == Extent::Part && below != Some(STEP);
        let key = text.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        let (Some((key, value)), false) = (key, is_cut || indent > 0 && above.is_empty()) else {
            hidden = Some(indent);
            continue;
        };
        let is_name = |c: char| c.is_alphanumeric() || "_-./@".contains(c);
        let key = key.trim_matches(['"', '\'']);
        if text.starts_with("- ") || key.is_empty() || !key.chars().all(is_name) {
            hidden = Some(indent);
            continue;
        }
        let value = value.trim();
        match value.chars().next() {
            None | Some('#') => above.push((indent, key)),
            Some('|' | '>' | '&' | '*' | '{' | '!') => hidden = Some(indent),
            Some(_) => {
                let keys = above.iter().map(|(_, key)| *key).chain([key]);
                let path = keys.collect::<Vec<_>>().join(".");
                found.insert(path, unquoted(value));
                hidden = Some(indent);
            }
        }
    }
}

/// Returns a value without its quotes and without a remark behind it.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or(rest).to_owned();
        }
    }
    value.split(" #").next().unwrap_or(value).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(path: &str, part: &str, extent: Extent) -> Vec<String> {
        let found = Syntax::of(path).unwrap().read(part, extent);
        found.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
    }

    #[test]
    fn a_whole_file_shows_all_its_keys() {
        for (path, text, expected) in [
            (
                "kiln.toml",
                "top = 1\n[fire]\nheat = 1200\ncones = [5, 6]",
                &["fire.cones=[5,6]", "fire.heat=1200", "top=1"][..],
            ),
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"strict\": true, \"paths\": null}}",
                &["compilerOptions.strict=true"],
            ),
            (
                ".env.production",
                "# x\nexport PORT=8080\nNAME='kiln one' # y\nlower=1",
                &["NAME=kiln one", "PORT=8080"],
            ),
            (
                ".github/workflows/ci.yml",
                "name: CI\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-24.04 # long\n    steps:\n      - uses: a/b@v1\n        with:\n          x: 1\n    env:\n      HEAT: \"9: 9\"\n  note: |\n    a: b\n",
                &[
                    "jobs.test.env.HEAT=9: 9",
                    "jobs.test.runs-on=ubuntu-24.04",
                    "name=CI",
                    "on=[push]",
                ],
            ),
        ] {
            assert_eq!(read(path, text, Extent::Whole), expected, "{path}");
        }
    }

    #[test]
    fn a_part_shows_keys_whose_path_it_shows() {
        for (path, text, expected) in [
            ("kiln.toml", "heat = 1\n[fire]\nheat = 2\n[[cone]]\nheat = 3", &["fire.heat=2"][..]),
            ("app/settings.json", "\"heat\": 1", &[]),
            (
                "app/settings.json",
                "{\n  \"fire\": {\n    \"heat\": 1,\n    \"cones\": [\n      \"a\"\n    ],\n    \"glaze\": { \"a\": true }\n  }\n}",
                &["fire.glaze.a=true", "fire.heat=1"],
            ),
            ("app/settings.json", "\"x\": 0,\n\t\"heat\": 1\n", &["heat=1"]),
            ("app/settings.json", "x\n    \"heat\": 1\n", &[]),
            ("app/settings.json", "  \"a\": [\n    {\n      \"heat\": 1\n", &[]),
            (".env", "PORT=1", &["PORT=1"]),
            ("kiln.yaml", "  heat: 1\n  cone: 2", &[]),
            ("kiln.yaml", "old: 1\nfire:\n  heat: 2\n  cone: 6", &["fire.cone=6", "fire.heat=2"]),
        ] {
            assert_eq!(read(path, text, Extent::Part), expected, "{path}");
        }
    }

    #[test]
    fn data_is_no_configuration() {
        for path in [
            "tests/a.toml",
            "package-lock.json",
            "pnpm-lock.yaml",
            "users.json",
            "openapi.yaml",
            ".env.example",
            "a/locales/de.yml",
            "src/a.rs",
            "toml",
        ] {
            assert_eq!(Syntax::of(path), None, "{path}");
        }
        let many: String = (0..200).map(|number| format!("key{number} = 1\n")).collect();
        assert_eq!(read("kiln.toml", &many, Extent::Whole), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([a-zA-Z.]{1,3}|[:= \n#\\-|\"'\\[\\]{},]|\n  )*", extent in prop::sample::select(vec![Extent::Whole, Extent::Lines, Extent::Part])) {
            for syntax in [Syntax::Env, Syntax::Json, Syntax::Toml, Syntax::Yaml] {
                prop_assert!(syntax.read(&text, extent).len() <= MOST);
            }
        }
    }
}

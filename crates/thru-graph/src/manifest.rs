//! Manifests: the packages that a project depends on, the languages that it is built with, and the settings of its
//! configuration, as an edit leaves them.
//!
//! An edit shows a few lines of a file, seldom the whole: its lines are read one by one, and count only where they cannot mean
//! anything else.

use std::collections::BTreeMap;

use thru_core::file_name;

use crate::edit::{Extent, Fragment};
use crate::settings::Syntax;

/// Most packages of one edit: a lock file is none of these, and a manifest names fewer.
const MOST: usize = 300;

/// Longest line that is looked at, in bytes.
const LONGEST: usize = 400;

/// A thing that a manifest asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thing {
    Package,
    Toolchain,
    Setting,
}

/// The form of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Cargo,
    Npm,
    Pyproject,
    Requirements,
    GoMod,
    RustToolchain,
    /// A file that holds the version of one language: `.nvmrc`.
    Version(&'static str),
    /// Configuration of any program.
    Settings(Syntax),
}

impl Form {
    /// Returns the form of the manifest at a path, if there is one.
    pub(crate) fn of(path: &str) -> Option<Self> {
        Some(match file_name(path) {
            "Cargo.toml" => Self::Cargo,
            "package.json" => Self::Npm,
            "pyproject.toml" => Self::Pyproject,
            "go.mod" => Self::GoMod,
            "rust-toolchain" | "rust-toolchain.toml" => Self::RustToolchain,
            ".nvmrc" | ".node-version" => Self::Version("node"),
            ".python-version" => Self::Version("python"),
            name if name.starts_with("requirements") && name.ends_with(".txt") => {
                Self::Requirements
            }
            _ => return Syntax::of(path).map(Self::Settings),
        })
    }

    /// Returns the name of the ecosystem of its packages.
    pub(crate) const fn ecosystem(self) -> &'static str {
        match self {
            Self::Cargo | Self::RustToolchain => "cargo",
            Self::Npm => "npm",
            Self::Pyproject | Self::Requirements => "pypi",
            Self::GoMod => "go",
            Self::Version(language) => language,
            Self::Settings(_) => "settings",
        }
    }
}

/// Returns what an edit changes in a manifest of this form.
pub(crate) fn changes(
    form: Form,
    fragments: &[Fragment],
) -> BTreeMap<(Thing, String), Option<String>> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    for fragment in fragments {
        // What was there before is never the whole of it.
        let old = if fragment.extent == Extent::Whole { Extent::Part } else { fragment.extent };
        before.append(&mut read(form, &fragment.old, old));
        after.append(&mut read(form, &fragment.new, fragment.extent));
    }
    let mut changes: BTreeMap<_, _> =
        before.keys().map(|thing: &(Thing, String)| (thing.clone(), None)).collect();
    for (thing, version) in &after {
        changes.insert(thing.clone(), Some(version.clone()));
    }
    changes.retain(|thing, _| before.get(thing) != after.get(thing));
    changes
}

/// Returns the packages, languages and settings that a part of a manifest names.
fn read(form: Form, part: &str, extent: Extent) -> BTreeMap<(Thing, String), String> {
    let mut found = BTreeMap::new();
    if let Form::Settings(syntax) = form {
        let settings = syntax.read(part, extent).into_iter();
        return settings.map(|(key, value)| ((Thing::Setting, key), value)).collect();
    }
    // The section that a line stands in, once the part shows one.
    let mut section: Option<String> = None;
    for line in part.lines().filter(|line| line.len() <= LONGEST).take(5_000) {
        let line = line.trim();
        let named = match form {
            Form::Npm => npm(line, &mut section),
            Form::Cargo => cargo(line, &mut section),
            Form::RustToolchain => cargo(line, &mut section).or_else(|| channel(line)),
            Form::Pyproject => pyproject(line, &mut section),
            Form::Requirements => {
                requirement(line).map(|(name, version)| (Thing::Package, name, version))
            }
            Form::GoMod => go(line),
            Form::Version(language) => Some((
                Thing::Toolchain,
                language.to_owned(),
                line.trim_start_matches('v').to_owned(),
            ))
            .filter(|(.., version)| is_version(version)),
            Form::Settings(_) => None,
        };
        if let Some((thing, name, version)) = named
            && found.len() < MOST
        {
            found.insert((thing, name), version);
        }
    }
    found
}

type Named = Option<(Thing, String, String)>;

/// Reads `"zod": "^3.22.0",`.
fn npm(line: &str, section: &mut Option<String>) -> Named {
    let (name, rest) = line.strip_prefix('"')?.split_once('"')?;
    let rest = rest.trim_start().strip_prefix(':')?.trim();
    if rest.starts_with('{') {
        *section = Some(name.to_owned());
        return None;
    }
    let version = rest.trim_end_matches(',').strip_prefix('"')?.strip_suffix('"')?;
    let is_version = is_version(version)
        || ["workspace:", "catalog:", "npm:"].iter().any(|start| version.starts_with(start));
    let is_engine = matches!(name, "node" | "npm" | "pnpm" | "yarn" | "bun");
    let in_section = section.as_deref().map(|section| section.ends_with("ependencies"));
    match section.as_deref() {
        Some("engines") if is_engine && is_version => {
            Some((Thing::Toolchain, name.to_owned(), version.to_owned()))
        }
        _ if in_section == Some(false) || !is_version || is_engine || name == "version" => None,
        _ => Some((Thing::Package, name.to_owned(), version.to_owned())),
    }
}

/// Reads `serde = "1"` and `serde = { version = "1", … }`.
fn cargo(line: &str, section: &mut Option<String>) -> Named {
    if let Some(name) = line.strip_prefix('[') {
        *section = Some(name.trim_matches(['[', ']']).to_owned());
        return None;
    }
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim().trim_matches('"'), value.trim());
    let text = |value: &str| Some(value.strip_prefix('"')?.split('"').next()?.to_owned());
    if matches!(name, "rust-version" | "channel") {
        return Some((Thing::Toolchain, "rust".to_owned(), text(value)?));
    }
    let version = match value.strip_prefix('{') {
        Some(table) => {
            let (_, rest) = table.split_once("version")?;
            text(rest.trim_start().strip_prefix('=')?.trim())?
        }
        None => text(value)?,
    };
    let in_section = section.as_deref().is_none_or(|section| section.contains("ependencies"));
    let is_own =
        matches!(name, "version" | "edition" | "resolver" | "name" | "license" | "path" | "readme");
    let is_package = in_section && !is_own && is_version(&version) && is_name(name);
    is_package.then(|| (Thing::Package, name.replace('_', "-"), version))
}

/// Reads a line that is a version or a channel alone: the older form of a `rust-toolchain`.
fn channel(line: &str) -> Named {
    let name = line.split('-').next().unwrap_or_default();
    let is_channel = matches!(name, "stable" | "beta" | "nightly") || is_version(line);
    is_channel.then(|| (Thing::Toolchain, "rust".to_owned(), line.to_owned()))
}

/// Reads `"requests>=2.31",` in a list, and `requires-python = ">=3.10"`.
fn pyproject(line: &str, section: &mut Option<String>) -> Named {
    if line.starts_with('[') && !line.contains('"') {
        *section = Some(line.trim_matches(['[', ']']).to_owned());
        return None;
    }
    if let Some((name, value)) =
        line.split_once('=').filter(|(name, _)| name.trim() == "requires-python")
        && !name.is_empty()
    {
        let version = value.trim().trim_matches(['"', '\'']).to_owned();
        return is_version(&version).then(|| (Thing::Toolchain, "python".to_owned(), version));
    }
    if section
        .as_deref()
        .is_some_and(|section| section.contains("poetry") && section.contains("dependencies"))
    {
        let (name, value) = line.split_once('=')?;
        let version = value.trim().trim_matches(['"', '\'']);
        let thing = if name.trim() == "python" { Thing::Toolchain } else { Thing::Package };
        return is_version(version).then(|| (thing, python_name(name.trim()), version.to_owned()));
    }
    let item = line.trim_end_matches(',').strip_prefix('"')?.strip_suffix('"')?;
    requirement(item).map(|(name, version)| (Thing::Package, name, version))
}

/// Reads `requests[socks]>=2.31 ; python_version > "3.8"`.
fn requirement(line: &str) -> Option<(String, String)> {
    let line = line.split([';', '#']).next().unwrap_or_default().trim();
    let at = line.find(['=', '<', '>', '~', '!'])?;
    let (name, version) = line.split_at(at);
    let name = name.split('[').next().unwrap_or_default().trim();
    let version = version.replace(' ', "");
    (is_name(name) && is_version(&version)).then(|| (python_name(name), version))
}

/// Reads `require example.com/kiln v1.2.3` and `go 1.22`.
fn go(line: &str) -> Named {
    let line = line.split("//").next().unwrap_or_default();
    let mut words = line.split_whitespace().skip_while(|word| *word == "require");
    match (words.next()?, words.next()?, words.next()) {
        ("go", version, None) if is_version(version) => {
            Some((Thing::Toolchain, "go".to_owned(), version.to_owned()))
        }
        (name, version, None) if name.contains('/') && version.starts_with('v') => {
            is_version(&version[1..]).then(|| (Thing::Package, name.to_owned(), version.to_owned()))
        }
        _ => None,
    }
}

/// Returns the name of a Python package in its normal form.
fn python_name(name: &str) -> String {
    name.trim_matches('"').to_lowercase().replace(['_', '.'], "-")
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '/');
    !name.is_empty() && name.len() < 120 && name.chars().all(is_part)
}

/// Returns true for `1`, `^1.2.3`, `>=3.10,<4`, `~=2.0`, `*`.
fn is_version(text: &str) -> bool {
    let rest = text.trim_start_matches(['^', '~', '>', '<', '=', '!', ' ', 'v']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-+*,<>=~! |^".contains(c);
    text == "*"
        || text == "latest"
        || rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.len() < 60
            && rest.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use thru_core::Id;

    use super::*;
    use crate::edit::{Changes, file_edit};

    /// Renders what an edit changes as `name version`.
    fn changed(path: &str, text: &str) -> Vec<String> {
        let edit = file_edit(Id::derive(&[b"x"]), path, text);
        let Some(Changes::Manifest(changes)) = edit.map(|edit| edit.changes) else {
            return Vec::new();
        };
        changes
            .into_iter()
            .map(|((thing, name), version)| {
                let mark = if thing == Thing::Toolchain { "built with " } else { "" };
                format!("{mark}{name} {}", version.as_deref().unwrap_or("-"))
            })
            .collect()
    }

    fn edit(old: &str, new: &str) -> String {
        format!(
            "Edit\nfile_path: /p/x\nold_string: {old}\nnew_string: {new}\nreplace_all: false\nThe file was updated."
        )
    }

    #[test]
    fn an_edit_shows_what_a_project_depends_on_now() {
        let bump = edit(
            "    \"zod\": \"^3.22.0\",\n    \"knip\": \"5\",",
            "    \"zod\": \"^4.0.0\",\n    \"@kiln/cone\": \"workspace:*\",",
        );
        assert_eq!(
            changed("web/package.json", &bump),
            ["@kiln/cone workspace:*", "knip -", "zod ^4.0.0"]
        );
        let scripts = edit(
            "\"scripts\": {\n \"a\": \"1\"",
            "\"version\": \"2.0.0\",\n\"scripts\": {\n \"a\": \"2\"\n},\n\"engines\": {\n\"node\": \">=20\"",
        );
        assert_eq!(changed("package.json", &scripts), ["built with node >=20"]);
        let cargo = edit(
            "serde = \"1\"",
            "serde = { version = \"1.0.200\", features = [\"derive\"] }\nversion = \"0.2.0\"\nrust-version = \"1.95\"\nkiln_core = \"0.1\"",
        );
        assert_eq!(
            changed("Cargo.toml", &cargo),
            ["kiln-core 0.1", "serde 1.0.200", "built with rust 1.95"]
        );
        let python = "Write\nfile_path: pyproject.toml\ncontent: [project]\nrequires-python = \">=3.10\"\ndependencies = [\n  \"Requests[socks]>=2.31\",\n  \"numpy\",\n]\nFile created successfully";
        assert_eq!(
            changed("pyproject.toml", python),
            ["requests >=2.31", "built with python >=3.10"]
        );
        assert_eq!(
            changed("requirements-dev.txt", &edit("", "pytest==8.1.0 # tests")),
            ["pytest ==8.1.0"]
        );
        let patch = "*** Begin Patch\n*** Update File: go.mod\n@@\n-go 1.21\n+go 1.22\n \texample.com/kiln v1.0.0\n+\texample.com/cone v1.2.3 // indirect\n*** Update File: other\n+go 1.9\n*** End Patch";
        assert_eq!(changed("go.mod", patch), ["example.com/cone v1.2.3", "built with go 1.22"]);
        assert_eq!(changed(".nvmrc", &edit("18", "v20.1.0")), ["built with node 20.1.0"]);
        assert_eq!(
            changed("rust-toolchain.toml", &edit("", "channel = \"1.96\"")),
            ["built with rust 1.96"]
        );
        assert_eq!(
            changed("rust-toolchain", &edit("stable", "1.96.0")),
            ["built with rust 1.96.0"]
        );
        assert_eq!(changed("package.json", &edit("\"zod\": \"1\"", "\"zod\": \"1\"")), [""; 0]);
        let swapped = "Edit\nfile_path: /p/go.mod\nnew_string: go 1.22\nold_string: go 1.21\nThe file was updated.";
        assert_eq!(changed("go.mod", swapped), ["built with go 1.22"]);
        assert!(Form::of("package-lock.json").is_none());
        let fire = edit("fire:\n  heat: 1\n  cone: 6", "fire:\n  heat: 2");
        assert_eq!(changed("app/kiln.yaml", &fire), ["fire.cone -", "fire.heat 2"]);
        let patch = "*** Begin Patch\n*** Update File: kiln.yaml\n@@\n fire:\n-  heat: 1\n+  heat: 2\n@@\n   cone: 6\n+  glaze: 7\n*** End Patch";
        assert_eq!(changed("kiln.yaml", patch), ["fire.heat 2"]);
        let whole = "Write\nfile_path: kiln.toml\ncontent: heat = 1\n[fire]\ncone = 6\nFile created successfully";
        assert_eq!(changed("kiln.toml", whole), ["fire.cone 6", "heat 1"]);
    }

    #[test]
    fn lock_files_are_not_read_and_long_lists_are_cut() {
        for path in ["package-lock.json", "Cargo.lock", "pnpm-lock.yaml", "uv.lock", "go.sum"] {
            assert!(Form::of(path).is_none(), "{path}");
        }
        let many = (0..100_000).map(|number| format!("glaze-{number} = \"1.{number}\"\n"));
        let many = format!("[dependencies]\n{}", many.collect::<String>());
        let text = format!("Write\nfile_path: Cargo.toml\ncontent: {many}");
        assert_eq!(changed("Cargo.toml", &text).len(), MOST);
    }

    proptest! {
        #[test]
        fn any_edit_is_read(text in "(\nold_string: |\nnew_string: |\ncontent: |\\*\\*\\* Begin Patch|\\*\\*\\* |[\"a-z0-9:=.\\[{ \n@+-])*") {
            for path in ["Cargo.toml", "package.json", "pyproject.toml", "requirements.txt", "go.mod", ".nvmrc"] {
                prop_assert!(changed(path, &text).len() <= 100 * MOST);
            }
        }
    }
}

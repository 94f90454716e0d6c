//! Files in play: those that the work touched or mentioned, the latest weighing most.

use std::collections::HashMap;

use thru_core::{Access, FileInPlay, Observation, Outcome, PassageKind, file_name};

use super::recency;
use crate::moment::Moment;
use crate::text::one_line;

/// Most files in a snapshot.
const MOST: usize = 80;

/// Most files that are tracked.
const FOLLOWED: usize = 20_000;

/// Passages after which a touch counts half.
const HALF_LIFE: f64 = 80.0;

/// Lowest weight of a file that was ever touched, however long ago.
const EVER: f64 = 0.1;

/// Weights of a change, a look and a mention.
const CHANGED: f64 = 2.0;
const READ: f64 = 1.0;
const NAMED: f64 = 1.0;

/// Characters of the description of a file's last use.
const WHAT: usize = 100;

/// Longest path that is kept, in bytes.
const LONGEST: usize = 300;

/// Extensions of file names: other dotted names are treated as code.
#[rustfmt::skip]
const ENDS: [&str; 61] = [
    "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "json", "jsonl", "md", "mdx", "py", "pyi", "go",
    "java", "kt", "kts", "rb", "php", "c", "h", "cc", "cpp", "hpp", "cs", "swift", "sh", "bash", "zsh",
    "ps1", "example", "sql", "css", "scss", "html", "vue", "svelte", "astro", "yml", "yaml", "toml", "ini", "cfg",
    "conf", "lock", "txt", "csv", "xml", "svg", "png", "proto", "graphql", "prisma", "tf", "env", "snap",
    "pen", "pdf", "ipynb", "ex",
];

/// Files and their uses.
#[derive(Debug, Default)]
pub(super) struct Files {
    touched: HashMap<String, Touched>,
    /// Names and parts of paths in prose, with the places.
    named: HashMap<String, Vec<usize>>,
}

#[derive(Debug, Default)]
struct Touched {
    uses: Vec<(usize, f64)>,
    is_modified: bool,
    turn: u32,
}

impl Files {
    /// Adds the files that a call named.
    pub(super) fn touched(&mut self, place: usize, moment: &Moment) {
        for file in &moment.files {
            if file.path.len() > LONGEST || self.touched.len() >= FOLLOWED {
                continue;
            }
            // A refused or failed edit changed nothing.
            let is_modified =
                file.access == Access::Modified && moment.outcome != Some(Outcome::Failed);
            let touched = self.touched.entry(file.path.clone()).or_default();
            touched.uses.push((place, if is_modified { CHANGED } else { READ }));
            touched.is_modified |= is_modified;
            touched.turn = touched.turn.max(moment.turn);
        }
    }

    /// Adds the files that prose mentions.
    pub(super) fn named(&mut self, place: usize, moment: &Moment, text: &str) {
        let text = match (moment.kind, &moment.command) {
            (PassageKind::Tool, Some(command)) => command.as_str(),
            (PassageKind::Tool, None) => return,
            (PassageKind::Human | PassageKind::Assistant, _) => text,
        };
        for name in names(text) {
            if self.named.len() < FOLLOWED {
                self.named.entry(name.to_owned()).or_default().push(place);
            }
        }
    }

    /// Returns the files most likely to be needed again.
    pub(super) fn in_play(mut self, end: usize, observations: &[Observation]) -> Vec<FileInPlay> {
        let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
        for path in self.touched.keys() {
            by_name.entry(file_name(path).to_owned()).or_default().push(path.clone());
        }
        for (name, places) in std::mem::take(&mut self.named) {
            let same = by_name.get(file_name(&name)).map(Vec::as_slice).unwrap_or_default();
            let mut meant = same.iter().filter(|path| is_end_of(&name, path));
            let path = match (meant.next(), meant.next()) {
                (Some(path), None) => path.clone(),
                (Some(_), Some(_)) => continue,
                (None, _) => name,
            };
            let touched = self.touched.entry(path).or_default();
            touched.uses.extend(places.into_iter().map(|place| (place, NAMED)));
        }
        let mut ranked: Vec<(f64, String, Touched)> = self
            .touched
            .into_iter()
            .map(|(path, touched)| (value(&touched, end), path, touched))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        ranked.truncate(MOST);
        ranked
            .into_iter()
            .map(|(_, path, touched)| FileInPlay {
                what: what(&path, observations),
                modified: touched.is_modified,
                turn: touched.turn,
                path,
            })
            .collect()
    }
}

fn value(touched: &Touched, end: usize) -> f64 {
    let uses = touched.uses.iter();
    uses.map(|(place, weight)| weight * (EVER + recency(*place, end, HALF_LIFE))).sum()
}

/// Returns a description of the last use of a file.
fn what(path: &str, observations: &[Observation]) -> Option<String> {
    let holds = |files: &[String]| files.iter().any(|file| file == path);
    let last = observations.iter().rev().find(|one| holds(&one.files_modified))?;
    Some(one_line(&last.title, WHAT))
}

/// Returns true if a path ends in these parts.
fn is_end_of(end: &str, path: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

/// Returns file names and parts of paths in a text. A call is no file: `response.json()`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().filter(|word| !word.contains("://"));
    // `*.test.ts` is no name, and neither is `x@example.rs`.
    let words = words.filter(|word| !word.contains('*'));
    words.flat_map(|word| word.split_inclusive(|c: char| !is_inside(c))).filter_map(|token| {
        let name = token.trim_end_matches(|c| !is_inside(c));
        let name = name.split(':').next().unwrap_or(name);
        let name = name.trim_start_matches('@').trim_start_matches("./");
        let name = name.trim_end_matches(['.', '/']);
        let is_address = file_name(name).contains('@');
        let is_named = !token.ends_with('(') && !is_address && name.len() <= LONGEST;
        (is_named && is_file(name)).then_some(name)
    })
}

fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '[' | ']' | '+' | '~')
}

/// Returns true if it looks like a file name.
pub(super) fn is_file(token: &str) -> bool {
    const PRODUCTS: [&str; 4] = ["Node.js", "Next.js", "Vue.js", "Express.js"];
    let Some((stem, end)) = file_name(token).rsplit_once('.') else { return false };
    ENDS.contains(&end)
        && !PRODUCTS.contains(&token)
        && !stem.starts_with('-')
        && (end == "env" || stem.contains(|c: char| c.is_alphabetic() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_end() {
        let text = "See `src/lock.rs:12`, ./a/b.test.ts. Not 1.2.rs, x.parse, response.json() or \
            https://x.org/y.md, *.snap.rs, a@b.rs, Node.js; \"/p/[id]/page.tsx\"";
        assert_eq!(
            names(text).collect::<Vec<_>>(),
            ["src/lock.rs", "a/b.test.ts", "/p/[id]/page.tsx"]
        );
    }
}

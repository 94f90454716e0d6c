//! Names from the code at hand that are likely to be needed again.

use std::collections::HashMap;

use thru_core::{FileInPlay, PassageKind};

use super::recency;
use crate::moment::Moment;

/// Most names in a snapshot.
const MOST: usize = 160;

/// Most names that are tracked, so that a session of any length fits into memory.
const FOLLOWED: usize = 50_000;

/// The shortest and the longest name, in bytes.
const SHORTEST: usize = 5;
const LONGEST: usize = 80;

/// Passages after which a use counts half.
const HALF_LIFE: f64 = 40.0;

/// Lowest weight of a name that was ever used, however long ago.
const EVER: f64 = 0.15;

/// Length from which a name tells something by itself, in bytes.
const TELLING: usize = 9;

/// Weight of a use in an edit. Edits are full of names copied from their surroundings.
const EDITED: f64 = 0.25;

/// Weight of an option in a command.
const OPTION: f64 = 0.8;

/// Names known to everyone, and words of the client and its tools.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "GitHub", "GitLab", "TypeScript", "JavaScript", "NodeJS", "NestJS", "NextJS", "VSCode", "PostgreSQL",
    "MySQL", "MongoDB", "SQLite", "GraphQL", "OpenAI", "OpenAPI", "OAuth", "WebSocket", "WebSockets",
    "YouTube", "LinkedIn", "ChatGPT", "DevOps", "PowerShell", "macOS", "README", "CLAUDE", "useState",
    "useEffect", "useCallback", "useMemo", "useRef", "className", "toString", "onClick", "onChange",
    "console.log", "JSON.stringify", "JSON.parse", "setTimeout", "in_progress", "TodoWrite", "WebFetch",
    "AskUserQuestion", "Promise.all", "Date.now", "console.error", "console.warn", "Array.from",
    "Object.keys", "json.load", "sys.stdin", "process.cwd", "file_path", "old_string", "new_string",
    "replace_all", "notebook_path", "subagent_type", "activeForm", "taskId", "run_in_background",
    "output_mode", "head_limit", "TaskCreate", "TaskUpdate", "TaskOutput", "TaskList", "BashOutput",
    "WebSearch", "ExitPlanMode", "EnterPlanMode", "SlashCommand", "KillShell", "multiSelect",
    "camelCase", "tool_use", "tool_use_id", "tool_use_error", "tool_result",
];

impl Use {
    /// Returns true if it is more than a short name that was written once.
    fn is_spoken_of(&self, name: &str) -> bool {
        self.uses.len() > 1
            || name.len() >= TELLING
            || self.uses.iter().any(|(_, weight)| *weight > EDITED)
    }
}

/// Names with the frequency and recency of their uses.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: HashMap<String, Use>,
    /// The current passage.
    passage: usize,
}

#[derive(Debug, Default)]
struct Use {
    /// Place and weight of each use.
    uses: Vec<(usize, f64)>,
    last: usize,
}

impl Names {
    /// Adds the prompts and prose of a passage.
    pub(super) fn add(&mut self, place: usize, moment: &Moment, text: &str) {
        self.passage += 1;
        let tool = moment.tool.as_deref().unwrap_or_default();
        match moment.kind {
            PassageKind::Human => self.text(place, text, 3.0),
            PassageKind::Assistant => self.text(place, text, 1.5),
            PassageKind::Tool => {
                if let Some(command) = &moment.command {
                    for name in names(without_documents(command)) {
                        // An option stands with its command: it is a name of this work if it is used again and again.
                        let weight = if name.starts_with("--") { OPTION } else { 1.0 };
                        self.name(place, name, weight);
                    }
                    self.text(place, member(text, "description: "), 1.0);
                }
                match tool {
                    "Grep" | "Glob" => {
                        self.text(place, member(text, "pattern: "), 1.5);
                        self.text(place, member(text, "glob: "), 1.0);
                    }
                    "Task" | "Agent" | "AskUserQuestion" | "ExitPlanMode" => {
                        self.text(place, text, 0.7);
                    }
                    "TodoWrite" | "TaskCreate" | "TaskUpdate" => self.text(place, text, 0.7),
                    "Edit" | "MultiEdit" => self.text(place, text, EDITED),
                    _ => {}
                }
            }
        }
    }

    fn text(&mut self, place: usize, text: &str, weight: f64) {
        for name in names(text) {
            // Qualified names in code are endless; only plain ones count here.
            if weight == EDITED && name.contains(['.', ':', '-']) {
                continue;
            }
            self.name(place, name, weight);
        }
    }

    fn name(&mut self, place: usize, name: &str, weight: f64) {
        if self.known.len() >= FOLLOWED && !self.known.contains_key(name) {
            return;
        }
        let known = self.known.entry(name.to_owned()).or_default();
        // Once per passage, however often it occurs there.
        if known.last != self.passage {
            known.last = self.passage;
            known.uses.push((place, weight));
        }
    }

    /// Returns the names most likely to be needed again. File names are left to the files.
    pub(super) fn in_play(self, end: usize, files: &[FileInPlay]) -> Vec<String> {
        let is_file = |name: &str| files.iter().any(|file| file.path.ends_with(name));
        let mut ranked: Vec<(f64, String)> = self
            .known
            .into_iter()
            .filter(|(name, known)| known.is_spoken_of(name))
            .map(|(name, known)| (value(&known, end), name))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let names = ranked.into_iter().map(|(_, name)| name);
        names.filter(|name| !is_file(name)).take(MOST).collect()
    }
}

fn value(known: &Use, end: usize) -> f64 {
    let uses = known.uses.iter();
    uses.map(|(place, weight)| weight * (EVER + recency(*place, end, HALF_LIFE))).sum()
}

/// Returns the value of a one-line member of a tool's input, near its beginning.
fn member<'t>(text: &'t str, name: &str) -> &'t str {
    text.lines().take(12).find_map(|line| line.strip_prefix(name)).unwrap_or_default()
}

/// Returns a command line up to its first here-document: the body of a file follows.
fn without_documents(command: &str) -> &str {
    command.split("<<").next().unwrap_or(command)
}

/// Returns the names in a text: `snake_case`, `camelCase`, `a::b`, `a.b`, `--flags`.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |word: &str| word.matches('/').count() > 1;
    let words = text.split_whitespace().filter(move |word| !is_path(word));
    words
        .flat_map(|word| word.split(|c: char| !is_inside(c)))
        .map(|token| {
            let flag = token.trim_end_matches(['-', '.', ':']);
            if flag.starts_with("--") { flag } else { flag.trim_start_matches(['-', '.', ':']) }
        })
        .filter(|token| is_name(token))
}

const fn is_inside(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-' | '$')
}

fn is_name(token: &str) -> bool {
    if !(SHORTEST..=LONGEST).contains(&token.len()) || COMMON.contains(&token) {
        return false;
    }
    if let Some(flag) = token.strip_prefix("--") {
        return flag.starts_with(|c: char| c.is_ascii_lowercase())
            && flag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    }
    let begins = token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let letters = token.chars().filter(char::is_ascii_alphabetic).count();
    if !begins
        || letters < 3
        || token.contains("REDACTED")
        || token.contains('-')
        || super::files::is_file(token)
    {
        return false;
    }
    if token.replace("::", "").contains(':') || token.contains("..") {
        return false;
    }
    let is_joined = token.trim_matches('_').contains('_');
    let mut pairs = token.chars().zip(token.chars().skip(1));
    let has_humps = pairs.any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    let mut parts = token.split(['.', ':']).filter(|part| !part.is_empty());
    let is_path = token.contains(['.', ':'])
        && parts.all(|part| part.len() > 1 && part.starts_with(|c: char| c.is_ascii_alphabetic()));
    is_joined || has_humps || is_path && !is_domain(token)
}

fn is_domain(token: &str) -> bool {
    const ENDS: [&str; 8] = [".com", ".org", ".io", ".net", ".dev", ".ai", ".app", ".co"];
    ENDS.iter().any(|end| token.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_shape() {
        let text = "Use `RetryBudget::next_pause()` with --max-time, see src/lock.rs:12 and \
            https://x.org/y_z /tmp/a_b/c; GitHub's api.example.com e.g. v1.2.3 takeLock. Well-known a--b __init__";
        assert_eq!(
            names(text).collect::<Vec<_>>(),
            ["RetryBudget::next_pause", "--max-time", "takeLock"]
        );
    }
}

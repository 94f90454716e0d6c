//! The rows that hooks made of a session against those of its transcript.

use std::collections::{BTreeMap, HashMap, HashSet};

use thru_core::{Outcome, PassageKind};

use super::calls::Silent;
use super::rows::Row;

/// Tools that hooks do not record by default.
const SKIPPED: [&str; 4] = ["ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite"];

/// Counts, and unexplained differences.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By kind of row: how many were compared.
    pub(super) compared: BTreeMap<&'static str, usize>,
    /// Differences that follow from how the two ways are, by reason.
    pub(super) explained: BTreeMap<String, usize>,
    /// All others.
    pub(super) unexplained: Vec<String>,
}

impl Tally {
    pub(super) fn explain(&mut self, reason: impl Into<String>) {
        *self.explained.entry(reason.into()).or_default() += 1;
    }

    fn count(&mut self, what: &'static str) {
        *self.compared.entry(what).or_default() += 1;
    }
}

/// Facts about a session beside its rows.
pub(super) struct Known<'k> {
    pub(super) session: &'k str,
    /// Tool calls that hooks heard nothing of, by what their rows are known by.
    pub(super) silent: &'k HashMap<i64, Silent>,
    /// Input that no hook heard.
    pub(super) unheard: &'k HashSet<String>,
    /// The agent's last texts as hooks received them, in order.
    pub(super) last_words: &'k [String],
}

/// Compares the rows of a session.
pub(super) fn compare(hooks: &[Row], import: &[Row], known: &Known<'_>, tally: &mut Tally) {
    tools(hooks, import, known, tally);
    prompts(hooks, import, known, tally);
    last_words(hooks, import, known, tally);
}

fn tools(hooks: &[Row], import: &[Row], known: &Known<'_>, tally: &mut Tally) {
    let mut by_call: HashMap<i64, Vec<&Row>> = HashMap::new();
    for row in hooks.iter().filter(|row| row.kind == PassageKind::Tool) {
        match row.fingerprint {
            Some(call) => by_call.entry(call).or_default().push(row),
            None => tally.unexplained.push(at(known, "a tool use without an id", row)),
        }
    }
    for (call, rows) in &by_call {
        if rows.len() > 1 {
            tally.unexplained.push(at(known, &format!("{} rows of {call}", rows.len()), rows[0]));
        }
    }
    for row in import.iter().filter(|row| row.kind == PassageKind::Tool) {
        let found = row.fingerprint.and_then(|call| by_call.remove(&call));
        if let Some(found) = found.as_deref().and_then(<[&Row]>::first) {
            tally.count("tool uses");
            same_use(found, row, known, tally);
            continue;
        }
        let tool = row.tool.as_deref().unwrap_or_default();
        let silent = row.fingerprint.and_then(|call| known.silent.get(&call));
        match silent {
            _ if SKIPPED.contains(&tool) => tally.explain(format!("skip list: {tool}")),
            Some(silent) => tally.explain(format!("not in hooks: {}", silent.reason())),
            None if row.fingerprint.is_none() => tally.explain("not in hooks: no id"),
            None => tally.unexplained.push(at(known, "hooks lost a tool use", row)),
        }
    }
    for row in by_call.into_values().flatten() {
        tally.unexplained.push(at(known, "the transcript has no such tool use", row));
    }
}

fn same_use(hooks: &Row, import: &Row, known: &Known<'_>, tally: &mut Tally) {
    if hooks.tool != import.tool {
        tally.unexplained.push(at(known, &format!("tool {:?} not", hooks.tool), import));
    }
    if hooks.command != import.command {
        tally.unexplained.push(at(known, &format!("command {:?} not", hooks.command), import));
    }
    if hooks.outcome != import.outcome {
        match import.outcome {
            // A transcript may end before the result, or hold it where the reader does not look.
            Some(Outcome::Pending) => tally.explain("the transcript has no result"),
            _ => tally.unexplained.push(at(known, &format!("{:?} not", hooks.outcome), import)),
        }
    }
    if hooks.files != import.files {
        // The client makes paths absolute before it calls a hook.
        let is_absolute = hooks.files.len() == import.files.len()
            && hooks.files.iter().zip(&import.files).all(|(hook, told)| ends_alike(hook, told));
        match is_absolute {
            true => tally.explain("path made absolute"),
            false => {
                tally.unexplained.push(at(known, &format!("files {:?} not", hooks.files), import));
            }
        }
    }
    if hooks.is_of_subagent != import.is_of_subagent {
        tally.explain("inline subagent of an old version has no id");
    }
    if hooks.turn != import.turn {
        tally.explain("turn is counted otherwise");
    }
}

/// Returns true if one is the other with a prefix before its path. Both are in `{:?}` form.
fn ends_alike(absolute: &str, relative: &str) -> bool {
    let path = |text: &str| text.split('"').nth(1).map(str::to_owned);
    match (path(absolute), path(relative)) {
        (Some(absolute), Some(relative)) => absolute.ends_with(relative.trim_start_matches("./")),
        _ => false,
    }
}

fn prompts(hooks: &[Row], import: &[Row], known: &Known<'_>, tally: &mut Tally) {
    let texts = |rows: &[Row]| -> Vec<String> {
        rows.iter()
            .filter(|row| row.kind == PassageKind::Human)
            .map(|row| row.text.clone())
            .collect()
    };
    let told = texts(hooks);
    let mut wanted = Vec::new();
    for text in texts(import) {
        match known.unheard.contains(&text) {
            true => tally.explain("prompt: a command of the client itself"),
            false => wanted.push(text),
        }
    }
    for n in 0..told.len().max(wanted.len()) {
        match (told.get(n), wanted.get(n)) {
            (Some(a), Some(b)) if a == b => tally.count("prompts"),
            (Some(a), Some(b)) if a.split_whitespace().eq(b.split_whitespace()) => {
                tally.count("prompts");
                tally.explain("prompt: white space");
            }
            (a, b) => {
                let shown = |text: Option<&String>| text.map(|text| head(text));
                tally.unexplained.push(format!(
                    "{}: prompt {} is {:?} for hooks, {:?} in the transcript",
                    known.session,
                    n + 1,
                    shown(a),
                    shown(b)
                ));
            }
        }
    }
}

fn last_words(hooks: &[Row], import: &[Row], known: &Known<'_>, tally: &mut Tally) {
    let told: Vec<&Row> = hooks.iter().filter(|row| row.kind == PassageKind::Assistant).collect();
    let mut in_transcript: HashMap<Option<i64>, usize> = HashMap::new();
    for row in import.iter().filter(|row| row.kind == PassageKind::Assistant) {
        *in_transcript.entry(row.fingerprint).or_default() += 1;
    }
    for row in &told {
        match in_transcript.get_mut(&row.fingerprint) {
            Some(left) if *left > 0 => {
                *left -= 1;
                tally.count("last words");
            }
            _ => tally.unexplained.push(at(known, "the transcript has no such last words", row)),
        }
    }
    if told.len() != known.last_words.len() {
        let have: HashSet<&str> = told.iter().map(|row| row.text.as_str()).collect();
        let missing: Vec<String> = known
            .last_words
            .iter()
            .filter(|said| !have.contains(said.as_str()))
            .map(|said| head(said))
            .collect();
        tally.unexplained.push(format!(
            "{}: {} last words of {} are kept; missing {missing:?}",
            known.session,
            told.len(),
            known.last_words.len()
        ));
    }
}

fn at(known: &Known<'_>, what: &str, row: &Row) -> String {
    format!(
        "{}: {what}: {} {:?} {:?} files {:?} text {:?}",
        known.session,
        row.tool.as_deref().unwrap_or("-"),
        row.outcome,
        row.command.as_deref().map(head),
        row.files,
        head(&row.text)
    )
}

fn head(text: &str) -> String {
    text.chars().take(70).collect()
}

//! The report for an issue: versions, findings and counts, and nothing that is the user's own.
//! Counts, versions and shapes; of settings that hold paths or lists only whether they are set.

use std::fmt::Write as _;

use thru_capture::{failures, timings};
use thru_config::Origin;
use thru_core::Agent;
use thru_redact::{Redactor, Report};

use super::data::{self, sizes};
use super::finding::Finding;
use super::runs::{latencies, milliseconds};
use super::seen::Seen;
use crate::words::size;

/// Failures that are shown whole.
const FAILURES: usize = 5;

/// The report, as Markdown.
pub fn report(seen: &Seen<'_>, findings: &[Finding]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, seen, findings);
    let text = shortened(&anonymous(&text, seen));
    Redactor::builtin().clean_text(&text, &mut Report::default()).into_inner()
}

fn write(text: &mut String, seen: &Seen<'_>, findings: &[Finding]) -> std::fmt::Result {
    let layout = &seen.app.layout;
    writeln!(text, "## Throughline report\n")?;
    writeln!(text, "- thru {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(text, "- {} {}", std::env::consts::OS, std::env::consts::ARCH)?;
    if let Some((agent, version)) = data::agent_version(seen) {
        writeln!(text, "- {agent} {version} (last session)")?;
    }
    if let Ok(Some(store)) = &seen.store {
        let schema = store.schema_version().unwrap_or_default();
        writeln!(text, "- schema {schema} of {}", thru_store::SCHEMA_VERSION)?;
    }
    writeln!(text, "\n### Checks\n\n| check | | |\n|---|---|---|")?;
    for finding in findings {
        let line = finding.line.replace('|', "\\|").replace('\n', " ");
        writeln!(text, "| {} | {} | {line} |", finding.check, finding.level.as_str())?;
    }
    let sizes = sizes(layout);
    writeln!(text, "\n### Size\n")?;
    for (part, bytes) in [
        ("journal", sizes.journal),
        ("archive", sizes.archive),
        ("store", sizes.store),
        ("index", sizes.index),
        ("vectors", sizes.vectors),
    ] {
        writeln!(text, "- {part} {}", size(bytes))?;
    }
    write_counts(text, seen)?;
    write_settings(text, seen)?;
    let latencies = latencies(&timings::list(layout));
    if !latencies.is_empty() {
        writeln!(text, "\n### The last hundred hooks\n\n| event | runs | p50 | p99 | longest |")?;
        writeln!(text, "|---|---|---|---|---|")?;
        for of in latencies {
            let times = [of.median, of.p99, of.longest].map(milliseconds).join(" | ");
            writeln!(text, "| {} | {} | {times} |", of.event, of.runs)?;
        }
    }
    let failures = failures::list(layout);
    if !failures.is_empty() {
        writeln!(text, "\n### The last failures\n")?;
        for failure in failures.iter().rev().take(FAILURES) {
            writeln!(
                text,
                "- {} `{}` (thru {}): {}; input: {}",
                failure.at, failure.event, failure.version, failure.reason, failure.shape
            )?;
        }
    }
    Ok(())
}

fn write_counts(text: &mut String, seen: &Seen<'_>) -> std::fmt::Result {
    let Ok(Some(store)) = &seen.store else { return Ok(()) };
    let Ok(counts) = store.counts() else { return Ok(()) };
    writeln!(text, "\n### Counts\n")?;
    for (what, number) in [
        ("sessions", counts.sessions),
        ("passages", counts.passages),
        ("projects", counts.projects),
        ("files of agents", counts.sources),
        ("records", counts.records),
        ("lines that are no records", counts.diagnostics),
    ] {
        writeln!(text, "- {what} {number}")?;
    }
    for (kind, number) in store.diagnostics().unwrap_or_default() {
        writeln!(text, "- {kind} {number}")?;
    }
    Ok(())
}

/// Settings that were changed. Numbers, switches and choices are not personal; a list or a text
/// may.
fn write_settings(text: &mut String, seen: &Seen<'_>) -> std::fmt::Result {
    writeln!(text, "\n### Settings that were changed\n")?;
    let mut none = true;
    for setting in seen.app.config.all().filter(|s| s.origin != Origin::Default) {
        none = false;
        let is_choice = matches!(thru_config::find(setting.key), Some(found) if matches!(found.kind, thru_config::Kind::Choice(_)));
        let value = match &setting.value {
            thru_config::Value::Bool(_) | thru_config::Value::Integer(_) => {
                setting.value.to_string()
            }
            _ if is_choice => setting.value.to_string(),
            _ => "(set)".to_owned(),
        };
        let place =
            if matches!(setting.origin, Origin::Project(_)) { ", by the project" } else { "" };
        writeln!(text, "- `{}` = {value}{place}", setting.key)?;
    }
    if none {
        writeln!(text, "none")?;
    }
    Ok(())
}

/// The text without what names the user: the home directory, our folders, the names of user
/// and machine.
fn anonymous(text: &str, seen: &Seen<'_>) -> String {
    let app = seen.app;
    let home = app.home.as_deref();
    let mut names: Vec<(String, String)> = [
        (Some(app.layout.root()), "[data]"),
        (Some(app.directory.as_path()), "[here]"),
        (home, "~"),
    ]
    .into_iter()
    .chain(Agent::ALL.map(|agent| (Some(app.homes.home(agent)), agent.as_str())))
    .filter_map(|(path, name)| {
        let name = if name.starts_with(['[', '~']) { name.to_owned() } else { format!("[{name}]") };
        Some((path?.to_str()?.to_owned(), name))
    })
    .filter(|(path, _)| path.len() > 1)
    .collect();
    // Longer ones first: what lies in the home directory has a name of its own.
    names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    let mut text = text.to_owned();
    for (path, name) in names {
        text = text.replace(&app.shown(path.as_ref()), &name).replace(&path, &name);
    }
    let host = seen.app.host();
    let user = home.and_then(|home| home.file_name()?.to_str());
    // Segments of the journal are called by the machine.
    for (name, shown) in [(user, "[user]"), (Some(host), "[host]")] {
        // Shorter ones are words.
        if let Some(name) = name.filter(|name| name.len() >= 3) {
            text = without_word(&text, name, shown);
        }
    }
    text
}

/// The text with the middle of longer paths left out: folders are called as their projects are.
fn shortened(text: &str) -> String {
    let shorten = |token: &str| match token.split_once('/') {
        Some((first, rest)) if rest.contains('/') => {
            let last = rest.rsplit('/').next().unwrap_or_default();
            format!("{first}/…/{last}")
        }
        _ => token.to_owned(),
    };
    text.split_inclusive(char::is_whitespace).map(shorten).collect()
}

/// The text with a word replaced, wherever it stands alone.
fn without_word(text: &str, word: &str, shown: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for (at, found) in text.match_indices(word) {
        let stands_alone =
            !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part);
        kept.push_str(&text[done..at]);
        kept.push_str(if stands_alone { shown } else { found });
        done = at + word.len();
    }
    kept.push_str(&text[done..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_keep_their_ends() {
        let text = "archive/claude-code/-work-secret/x.jsonl: damaged,\n~/a/b/thru 1/2 /etc/x\n";
        assert_eq!(shortened(text), "archive/…/x.jsonl: damaged,\n~/…/thru 1/2 /…/x\n");
    }

    #[test]
    fn only_whole_words_are_names() {
        assert_eq!(
            without_word("ada: /x/ada/adapter, nada", "ada", "[user]"),
            "[user]: /x/[user]/adapter, nada"
        );
    }
}

//! `thru compaction`: what compactions of a session's context left out.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_app::ask::named;
use thru_core::{SnapshotContent, Statement};
use thru_store::{CompactionRow, SessionRow};

use super::search::session_heading;
use super::{Outcome, memories, shared};
use crate::environment::Environment;
use crate::ui::{Page, Tone, count, day_and_time, one_line};
use thru_app::compaction;

/// Compares, for each time that the context of a session was compacted, what the agent's own summary says
/// with what is known of the session: files, names, commands, decisions and rulings that it dropped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru compaction 4f1c          each compaction of this session\n  \
    thru compaction 4f1c --json\n\n\
    Exit status: 1 its context was never compacted.")]
pub(crate) struct Arguments {
    /// The session's id, or the start of it
    session: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// One compaction, with what its summary dropped.
struct Compared {
    row: CompactionRow,
    /// Where there is a summary to compare with, and anything to compare.
    dropped: Option<Dropped>,
}

/// What of our own the agent's summary does not say, and the reverse.
#[derive(Default)]
struct Dropped {
    /// Things of ours in all.
    of: usize,
    kinds: Vec<(&'static str, Vec<String>)>,
    /// Files and names in the agent's summary, and how many of them are not among ours.
    theirs: usize,
    ours_lacks: Vec<String>,
}

/// Things listed of a kind before the rest is only counted.
const SHOWN: usize = 8;
/// Columns that the label of a kind takes.
const LABEL: usize = 13;

pub(crate) fn run(
    arguments: &Arguments,
    environment: &Environment,
    plain: bool,
) -> Result<Outcome> {
    let store = shared::open_store(environment)?;
    let intake = environment.intake()?;
    let session = named::named_session(&store, &arguments.session)?;
    let mut all = Vec::new();
    for row in store.compactions(session.row)? {
        let held = compaction::held_at(&intake, &store, &row)?;
        let dropped = held
            .zip(row.summary.as_deref())
            .map(|(held, summary)| Dropped::of(&held.get().content, summary));
        all.push(Compared { row, dropped });
    }
    let mut page = Page::new(environment, plain);
    if arguments.json {
        page.json(&json!({
            "version": 1,
            "kind": "compactions",
            "session_id": session.key.id,
            "compactions": all.iter().map(Compared::as_json).collect::<Vec<_>>(),
        }))?;
    } else {
        page.line(session_heading(&page, &session, environment));
        if all.is_empty() {
            page.line("Its context was never compacted.");
        }
        for (number, compared) in all.iter().enumerate() {
            show(&mut page, number + 1, compared, &session, environment);
        }
    }
    page.print()?;
    Ok(if all.is_empty() { Outcome::Nothing } else { Outcome::Done })
}

fn show(
    page: &mut Page,
    number: usize,
    compared: &Compared,
    session: &SessionRow,
    environment: &App,
) {
    let Compared { row, dropped } = compared;
    page.gap();
    let when = day_and_time(row.at, environment.zone());
    let heading = page.paint(Tone::Heading, &format!("{number}. {when}  {}", row.trigger));
    page.line(format!("{heading}  {}", page.paint(Tone::Quiet, &tokens(row))));
    let room = page.columns().saturating_sub(3);
    if let Some(asked) = &row.asked {
        page.line(format!("   {}", one_line(&format!("To be kept: {asked}"), room)));
    }
    let Some(dropped) = dropped else {
        let why = match row.summary {
            Some(_) => "Nothing is known of what the session held.",
            None => "The agent's own summary is not known.",
        };
        return page.line(format!("   {why}"));
    };
    let missing = dropped.count();
    page.line(format!(
        "   {}",
        match (missing, dropped.of) {
            (0, of) => format!("The agent's summary says all {of} things that ours holds."),
            (missing, of) => {
                format!("The agent's summary dropped {missing} of {of} things that ours holds:")
            }
        }
    ));
    let room = page.columns().saturating_sub(3 + LABEL);
    for (kind, texts) in dropped.kinds.iter().filter(|(_, texts)| !texts.is_empty()) {
        let is_list = matches!(*kind, "files" | "names");
        let label = |first: bool| if first { *kind } else { "" };
        let shown = &texts[..texts.len().min(SHOWN)];
        let more = texts.len() - shown.len();
        let lines = match is_list {
            true => {
                let names = shown.iter().map(|name| memories::relative(name, Some(session)));
                vec![names.collect::<Vec<_>>().join(", ")]
            }
            false => shown.to_vec(),
        };
        for (place, line) in lines.iter().enumerate() {
            let label = page.paint(Tone::Quiet, &format!("   {:LABEL$}", label(place == 0)));
            page.line(format!("{label}{}", one_line(line, room)));
        }
        if more > 0 {
            let more = format!("   {:LABEL$}and {more} more", "");
            page.line(page.paint(Tone::Quiet, &more));
        }
    }
    let lacks = dropped.ours_lacks.len();
    if dropped.theirs > 0 {
        page.line(format!(
            "   Ours lacks {lacks} of {} files and names that it has.",
            dropped.theirs
        ));
    }
}

fn tokens(row: &CompactionRow) -> String {
    match (row.before, row.after) {
        (Some(before), Some(after)) => {
            format!("{} tokens before, {} after", count(before), count(after))
        }
        (Some(before), None) => format!("{} tokens before", count(before)),
        _ if row.place.is_none() => "the transcript does not tell of it".to_owned(),
        _ => "tokens unknown".to_owned(),
    }
}

impl Compared {
    fn as_json(&self) -> Value {
        let Self { row, dropped } = self;
        json!({
            "at": row.at,
            "trigger": row.trigger,
            "tokens_before": row.before,
            "tokens_after": row.after,
            "custom_instructions": row.asked,
            "summary": row.summary,
            "dropped": dropped.as_ref().map(|dropped| {
                let kinds: serde_json::Map<String, Value> = dropped
                    .kinds
                    .iter()
                    .map(|(kind, texts)| ((*kind).to_owned(), json!(texts)))
                    .collect();
                json!({ "count": dropped.count(), "of": dropped.of, "things": kinds })
            }),
            "not_in_ours": dropped.as_ref().map(|dropped| {
                json!({ "count": dropped.ours_lacks.len(), "of": dropped.theirs,
                    "things": dropped.ours_lacks })
            }),
        })
    }
}

impl Dropped {
    fn of(content: &SnapshotContent, summary: &str) -> Self {
        let said = Said::new(summary);
        let files = content.files.iter().map(|file| file.path.as_str());
        let texts = |list: &[Statement]| -> Vec<String> {
            list.iter().map(|statement| statement.text.clone()).collect()
        };
        let lists = [
            ("files", files.map(str::to_owned).collect::<Vec<_>>()),
            ("names", content.names.clone()),
            ("commands", texts(&content.commands)),
            ("decisions", texts(&content.decisions)),
            ("rulings", texts(&content.rulings)),
        ];
        let of = lists.iter().map(|(_, list)| list.len()).sum();
        let kinds = lists
            .into_iter()
            .map(|(kind, mut list)| {
                list.retain(|text| match kind {
                    "files" => !said.has_file(text),
                    "names" => !said.has(text),
                    "commands" => !said.has(text),
                    _ => !said.tells(text),
                });
                (kind, list)
            })
            .collect();
        let ours = Said::new(&serde_json::to_string(content).unwrap_or_default());
        let theirs = things(summary);
        let ours_lacks: Vec<String> =
            theirs.iter().filter(|thing| !ours.has_file(thing)).cloned().collect();
        Self { of, kinds, theirs: theirs.len(), ours_lacks }
    }

    fn count(&self) -> usize {
        self.kinds.iter().map(|(_, texts)| texts.len()).sum()
    }
}

/// A text, to look for things in it.
struct Said {
    /// In lower case, with single spaces.
    text: String,
}

impl Said {
    fn new(text: &str) -> Self {
        Self { text: normal(text) }
    }

    fn has(&self, thing: &str) -> bool {
        self.text.contains(&normal(thing))
    }

    /// A file is named by its path or by its name alone.
    fn has_file(&self, path: &str) -> bool {
        self.has(path) || self.has(thru_core::file_name(path))
    }

    /// Whether it says most of a statement, in whatever words stand between.
    fn tells(&self, statement: &str) -> bool {
        let statement = normal(statement);
        let words: Vec<&str> = statement
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.chars().count() >= 4)
            .collect();
        let known = words.iter().filter(|word| self.text.contains(**word)).count();
        words.is_empty() || known * 3 >= words.len() * 2
    }
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The files and names that a text puts between backticks or writes as paths, each once.
fn things(text: &str) -> Vec<String> {
    /// More than any summary names.
    const MOST: usize = 500;
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = text.split(|c: char| c.is_whitespace() || "`\"'()[],;".contains(c));
    let mut found: Vec<String> = Vec::new();
    let is_path = |word: &&str| {
        let word = word.trim_end_matches(['.', ':']);
        word.contains('/') && !word.contains("://") && word.contains('.') && word.len() >= 5
    };
    for thing in quoted.filter(|quoted| is_name(quoted)).chain(paths.filter(is_path)) {
        let thing = thing.trim_end_matches(['.', ':']).to_owned();
        if found.len() < MOST && !found.contains(&thing) {
            found.push(thing);
        }
    }
    found
}

fn is_name(quoted: &str) -> bool {
    (3..=120).contains(&quoted.len())
        && !quoted.contains(char::is_whitespace)
        && quoted.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_in_other_words_is_said() {
        let said = Said::new("The user wants   rubber GASKETS, never glue. See `src/hatch.rs`.");
        assert!(said.tells("Never use glue; rubber gaskets only"));
        assert!(!said.tells("Paint the antenna yellow before Friday"));
        assert!(said.has_file("/home/ada/rocket/src/hatch.rs") && !said.has_file("src/pump.rs"));
    }

    #[test]
    fn things_are_names_and_paths() {
        assert_eq!(
            things("`Hatch::seal` in src/hatch.rs: `cargo test` and https://a.b/c.d, (lib/x.py)."),
            ["Hatch::seal", "src/hatch.rs", "lib/x.py"]
        );
    }
}

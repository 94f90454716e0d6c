//! `thru compaction`: what compactions of a session's context left out.

use thru_app::Result;
use thru_app::ask::memory::relative;
use thru_app::ask::session::SessionEntry;
use thru_app::compaction::compare::{self, ComparedCompaction};
use thru_core::Agent;
use thru_store::SessionRow;

use super::entries::session_heading;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, day_and_time, one_line, plural};

/// Compares, for each time that the context of a session was compacted, what the agent's own summary says
/// with what is known of the session: files, names, commands, decisions and rulings that it dropped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru compaction 4f1c          each compaction of this session\n  \
    thru compaction 4f1c --json\n\n\
    Exit status: 1 its context was never compacted.")]
pub(crate) struct CompactionArguments {
    /// The session's id, or the start of it; or `latest`
    #[arg(default_value = "latest")]
    session: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Things listed of a kind before the rest is only counted.
const SHOWN: usize = 8;
/// Columns that the label of a kind takes.
const LABEL: usize = 13;

pub(crate) fn run(arguments: &CompactionArguments, environment: &Environment) -> Result<Outcome> {
    let compared =
        compare::compare(environment, &arguments.session, environment.progress().call())?;
    let session = &compared.session;
    environment.answer(arguments.json, &compared, |page| {
        let entry = SessionEntry::new(environment, &environment.redactor(), session);
        session_heading(page, &entry, environment);
        if compared.compactions.is_empty() {
            page.line("Its context was never compacted.");
        }
        for (number, one) in (1..).zip(&compared.compactions) {
            show(page, number, one, session, environment);
        }
    })?;
    Ok(Outcome::found(!compared.compactions.is_empty()))
}

fn show(
    page: &mut Page,
    number: usize,
    compared: &ComparedCompaction,
    session: &SessionRow,
    environment: &Environment,
) {
    page.gap();
    let when = day_and_time(compared.at, environment.zone());
    let mut heading = page.paint(Tone::Heading, &format!("{number}. {when}"));
    if compared.trigger != "unknown" {
        heading.push_str(&page.paint(Tone::Heading, &format!("  {}", compared.trigger)));
    }
    let is_told = session.key.agent != Agent::Codex || compared.summary.is_some();
    if is_told {
        heading.push_str(&format!("  {}", page.paint(Tone::Quiet, &tokens(compared))));
    }
    page.line(heading);
    let room = page.columns().saturating_sub(3);
    if let Some(asked) = &compared.custom_instructions {
        page.line(format!("   {}", one_line(&format!("To be kept: {asked}"), room)));
    }
    let Some(dropped) = &compared.dropped else {
        let why = match compared.summary {
            Some(_) => "Nothing is known about what the session held.",
            None if !is_told => {
                "Codex does not record its own summary: there is nothing to compare."
            }
            None => "The agent's own summary is not known.",
        };
        return page.line(format!("   {why}"));
    };
    page.line(format!(
        "   {}",
        match (dropped.count, dropped.of) {
            (_, 0) => "Nothing is known about what the session held.".to_owned(),
            (0, of) => format!(
                "The agent's summary says all that Throughline's holds ({}).",
                plural(of as u64, "thing")
            ),
            (missing, of) if missing == of => format!(
                "The agent's summary dropped all that Throughline's holds ({}):",
                plural(of as u64, "thing")
            ),
            (missing, of) => {
                format!(
                    "The agent's summary dropped {missing} of {of} things that Throughline's holds:"
                )
            }
        }
    ));
    let room = page.columns().saturating_sub(3 + LABEL);
    for (kind, texts) in dropped.things.kinds().into_iter().filter(|(_, texts)| !texts.is_empty()) {
        let is_list = matches!(kind, "files" | "names");
        let label = |first: bool| if first { kind } else { "" };
        let shown = &texts[..texts.len().min(SHOWN)];
        let more = texts.len() - shown.len();
        let lines = match is_list {
            true => {
                let names =
                    shown.iter().map(|name| relative(name, session.facts.directory.as_deref()));
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
            page.toned(Tone::Quiet, &more);
        }
    }
    if let Some(theirs) = compared.not_in_ours.as_ref().filter(|theirs| theirs.of > 0) {
        page.line(format!(
            "   Throughline's lacks {} of {} files and names that it has.",
            theirs.count, theirs.of
        ));
    }
}

fn tokens(compared: &ComparedCompaction) -> String {
    match (compared.tokens_before, compared.tokens_after) {
        (Some(before), Some(after)) => {
            format!("{} tokens before, {} after", count(before), count(after))
        }
        (Some(before), None) => format!("{} tokens before", count(before)),
        _ if !compared.is_in_transcript => "not in the transcript".to_owned(),
        _ => "tokens unknown".to_owned(),
    }
}

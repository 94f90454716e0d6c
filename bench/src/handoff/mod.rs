//! `handoff`: how much of a pack the session that gets it uses.
//!
//! For each session that follows another in a project of the transcripts, the history up to its start is
//! imported, with its directories and remotes in place and the clock at that moment. The pack of the start and
//! those of its prompts are then held against what the session does:
//!
//! - A line *names something used* if it has a file, an identifier (names of code, numbers of issues, branches,
//!   commits, single words between backticks) or a command that is typed or said later in the session, or a decision that is spoken of, and the
//!   first prompt did not give it already; for the packs of prompts, nothing typed or said so far did. A list of
//!   files counts as one line. What tools print is no use: see `compaction`.
//! - A line *speaks of* something used if it has two telling words that the session uses later, that were not
//!   given, and that no more than one session in six uses.
//! - The *first reads* are the first eight files that the session reads and that were not given either.
//!
//! Packs are made from words alone. Prompts are answered from the history before their session, without what the
//! session was given before.

mod score;
pub(crate) mod sessions;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use jiff::tz::TimeZone;
use thru_core::Id;
use thru_recall::{Limits, Occasion, Pack, PackRequest, pack, without_embedding};

use self::score::{Common, Names, Tally, Used};
use self::sessions::{LeftDisk, Machine, Session, sessions};
use crate::metrics::{percent, quantile};
use crate::uses::By;

/// Prompts of one session that are asked about.
const PROMPTS: usize = 12;

/// The arguments of `handoff`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder with transcripts
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// Only projects whose name holds this
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,
    /// Only packs of the session whose id starts so
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only packs of starts
    #[arg(long)]
    starts: bool,
    /// Keep the histories in this folder, and use those that lie there instead of importing them
    #[arg(long, value_name = "DIR")]
    homes: Option<PathBuf>,
    /// Print the packs, with what is used of each line: this prints words of the transcripts
    #[arg(long)]
    show: bool,
}

/// Measures every handoff and prints tables.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.transcripts;
    if !folder.is_dir() {
        eprintln!("SKIPPED: there is no folder {}; nothing was measured", folder.display());
        return Ok(());
    }
    let mut tallies: BTreeMap<String, (Tally, Tally)> = BTreeMap::new();
    let projects = sessions(folder)?;
    let common = Common::of(projects.values().flatten().map(|session| session.uses.as_slice()));
    for (project, sessions) in projects {
        if sessions.len() < 2 || !arguments.project.iter().all(|part| project.contains(part)) {
            continue;
        }
        let tally = measure(arguments, &project, &sessions, &common)?;
        tallies.insert(project, tally);
    }
    print(&tallies);
    Ok(())
}

/// Lets the sessions of a project follow each other.
fn measure(
    arguments: &Arguments,
    project: &str,
    sessions: &[Session],
    common: &Common,
) -> Result<(Tally, Tally)> {
    let mut machine = Machine::of(sessions, arguments.homes.as_deref(), project)?;
    let (mut starts, mut prompts) = (Tally::default(), Tally::default());
    for session in sessions.iter().skip(1) {
        let first = session.uses.iter().position(|one| one.by == By::Person);
        let Some(first) = first else { continue };
        let is_wanted = arguments.session.iter().all(|prefix| session.id.starts_with(prefix));
        // A session that only answers uses nothing.
        if !is_wanted || !session.uses.iter().any(|one| matches!(one.by, By::Command | By::Read)) {
            continue;
        }
        machine.advance(sessions, session)?;
        let made = packed(&machine, project, session, Occasion::Start, &HashSet::new())?;
        let mut told = ids(&made);
        let (given, later) = session.uses.split_at(first + 1);
        let shown = starts.add(&made, later, &Names::of(given), common);
        if arguments.show {
            show(&machine, &format!("start of {} ({})", session.id, session.start), &made, &shown);
        }
        if arguments.starts {
            continue;
        }
        let asked = session.uses.iter().enumerate().filter(|(_, one)| one.by == By::Person);
        for (at, prompt) in asked.take(PROMPTS) {
            let occasion = Occasion::Prompt(prompt.text.clone());
            let made = packed(&machine, project, session, occasion, &told)?;
            told.extend(ids(&made));
            let (given, later) = session.uses.split_at(at + 1);
            let shown = prompts.add(&made, later, &Names::of(given), common);
            if arguments.show {
                let beginning: String = prompt.text.chars().take(300).collect();
                let of = format!("prompt of {}: {}", session.id, beginning.replace('\n', " "));
                show(&machine, &of, &made, &shown);
            }
        }
    }
    Ok((starts, prompts))
}

/// The memories of a pack, which the session is not given again.
fn ids(pack: &Pack) -> HashSet<Id> {
    pack.lines.iter().filter_map(|line| line.memory.as_ref()).map(|memory| memory.id).collect()
}

fn packed(
    machine: &Machine,
    project: &str,
    session: &Session,
    occasion: Occasion,
    told: &HashSet<Id>,
) -> Result<Pack> {
    let store = machine.home.store()?;
    let rows = store.projects()?.into_iter().map(|row| row.row).collect();
    let disk = LeftDisk::of(&store)?;
    let name = project.rsplit('/').next().unwrap_or(project);
    let request = PackRequest {
        projects: rows,
        project: Some(name.to_owned()),
        occasion,
        session: None,
        told: told.clone(),
        snapshot: None,
        branch: session.branch.clone(),
        now: session.start,
        zone: TimeZone::UTC,
        disk: &disk,
        limits: Limits::default(),
    };
    let intake = machine.home.intake();
    Ok(pack(
        intake.layout(),
        &store,
        intake.redactor(),
        &request,
        without_embedding("measured by words"),
    )?)
}

fn show(machine: &Machine, of: &str, pack: &Pack, shown: &[(String, Option<Used>)]) {
    println!("\n# {of}: {} tokens; {}\n", pack.tokens, pack.note);
    for (line, used) in shown {
        let (mark, used) = match used {
            Some(Used::Name(name)) => ("+", format!("   [{name}]")),
            Some(Used::Words(words)) => ("~", format!("   [{words}]")),
            None => (" ", String::new()),
        };
        println!("{mark} {}{used}", machine.back(line));
    }
    if !shown.is_empty() {
        println!("\n{}", machine.back(pack.text.get()));
    }
    for line in &pack.lines {
        let session = line.session.as_ref().map_or("–", |session| session.as_str());
        println!("{{{session}}} {}", line.reason);
    }
}

/// Prints a table for starts, and one for prompts.
fn print(tallies: &BTreeMap<String, (Tally, Tally)>) {
    for (name, of) in [
        ("Start packs", (|both: &(Tally, Tally)| both.0.clone()) as fn(&(Tally, Tally)) -> Tally),
        ("Prompt packs", |both| both.1.clone()),
    ] {
        println!(
            "\n{name}\n\n| project | occasions | packs | tokens, median | lines | naming something used, % | or speaking of it, % | characters of both, % | first reads named, % |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        let mut all = Tally::default();
        for (project, both) in tallies {
            let tally = of(both);
            all.merge(&tally);
            row(project, &tally);
        }
        row("all", &all);
    }
}

fn row(name: &str, tally: &Tally) {
    let share =
        |part: usize, whole: usize| percent((whole > 0).then(|| part as f64 / whole as f64));
    let median =
        quantile(&tally.tokens, 0.5).map_or_else(|| "–".to_owned(), |it| format!("{it:.0}"));
    println!(
        "| {name} | {} | {} | {median} | {} | {} | {} | {} | {} ({} of {}) |",
        tally.occasions,
        tally.tokens.len(),
        tally.lines,
        share(tally.used.0, tally.lines),
        share(tally.used.0 + tally.used.1, tally.lines),
        share(tally.characters.1, tally.characters.0),
        share(tally.reads.1, tally.reads.0),
        tally.reads.1,
        tally.reads.0,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = Arguments {
            transcripts: folder.path().join("none"),
            project: None,
            session: None,
            starts: false,
            homes: None,
            show: false,
        };
        assert!(run(&arguments).is_ok());
    }
}

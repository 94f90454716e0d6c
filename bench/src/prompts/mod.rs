//! `prompts`: whether the packs of real prompts hold what a reader found that the prompts needed of earlier
//! sessions, and whether the others are answered with silence.
//!
//! Each label has a prompt, its need (`needs`, `helps`, `none`), what would have helped, and the records that tell
//! it. The pack is made as a hook would: from all that the sessions of the project had written by then, without what
//! the session was told before. A pack is *right* if it shares the turn of a labelled record or holds the telling
//! words of it beyond those of the prompt.

mod labels;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use jiff::tz::TimeZone;
use thru_core::{Id, Timestamp};
use thru_recall::{Limits, Occasion, Pack, PackRequest, pack, without_embedding};
use thru_store::{MemoryBody, MemoryFilter, SessionFilter, Store};

use self::labels::{Label, Need, labels};
use crate::handoff::sessions::{LeftDisk, Machine, Session, sessions};
use crate::metrics::percent;
use crate::uses::By;
use crate::words::telling;

/// The share of its telling words from which a text holds what a label tells.
const HELD: f64 = 0.4;

/// The arguments of `prompts`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A file with one label a line
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    /// The folder with the transcripts that the labels name
    #[arg(long, value_name = "DIR")]
    transcripts: PathBuf,
    /// Keep the histories in this folder, and use those that lie there instead of importing them
    #[arg(long, value_name = "DIR")]
    homes: Option<PathBuf>,
    /// Print prompts and packs: this prints words of the transcripts
    #[arg(long)]
    show: bool,
}

/// A moment at which a labelled prompt is asked about.
struct Moment<'a> {
    machine: &'a Machine,
    project: &'a str,
    session: &'a Session,
    now: Timestamp,
    told: &'a HashSet<Id>,
}

/// A pack against its label.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    is_given: bool,
    is_of_session: bool,
    is_of_turn: bool,
    holds: bool,
}

impl Score {
    const fn is_right(self) -> bool {
        self.is_of_turn || self.holds
    }
}

/// Measures every labelled prompt and prints tables.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.transcripts;
    if !folder.is_dir() {
        eprintln!("SKIPPED: there is no folder {}; nothing was measured", folder.display());
        return Ok(());
    }
    let labels = labels(&arguments.labels)?;
    let mut scores: Vec<(Need, Score)> = Vec::new();
    let mut lost: BTreeMap<String, usize> = BTreeMap::new();
    for (project, sessions) in sessions(folder)? {
        let known: BTreeMap<String, &Session> =
            sessions.iter().map(|it| (it.name.to_string_lossy().into_owned(), it)).collect();
        let mut asked: Vec<(&Label, &Session)> =
            labels.iter().filter_map(|label| Some((label, *known.get(&label.session)?))).collect();
        if asked.is_empty() {
            continue;
        }
        asked.sort_by_key(|(label, _)| label.time);
        let mut machine = Machine::of(&sessions, arguments.homes.as_deref(), &project)?;
        let mut told: BTreeMap<&str, HashSet<Id>> = BTreeMap::new();
        for (label, session) in asked {
            let name = format!("{}-{}", session.id, label.n);
            machine.advance_to(&sessions, label.time, &name)?;
            // Before the first session nothing is remembered, and every prompt is answered with silence.
            if !machine.home.intake().layout().database().is_file() {
                scores.push((label.need, Score::default()));
                continue;
            }
            let store = machine.home.store()?;
            let mut moment = Moment {
                machine: &machine,
                project: &project,
                session,
                now: label.time,
                told: &HashSet::new(),
            };
            if !told.contains_key(session.id.as_str()) {
                told.insert(&session.id, ids(&moment.pack(&store, Occasion::Start)?));
            }
            let told = told.entry(&session.id).or_default();
            moment.told = told;
            let made = moment.pack(&store, Occasion::Prompt(prompt(label, session)))?;
            let score = score(label, &made, &store, &known)?;
            let why = match label.need {
                Need::None => String::new(),
                _ if score.is_right() => "right".to_owned(),
                _ => reason(label, &made, &store, &known, told)?,
            };
            if label.need != Need::None {
                *lost.entry(why.clone()).or_default() += 1;
            }
            if arguments.show {
                show(&moment, label, &made, score, &why);
            }
            told.extend(ids(&made));
            scores.push((label.need, score));
        }
    }
    print(&scores, &lost);
    Ok(())
}

/// The whole prompt, of which a label has the beginning.
fn prompt(label: &Label, session: &Session) -> String {
    let beginning = label.prompt.trim();
    let mut typed = session.uses.iter().filter(|one| one.by == By::Person);
    let whole = typed.find(|one| one.text.trim().starts_with(beginning));
    whole.map_or(beginning, |one| one.text.as_str()).to_owned()
}

/// The memories of a pack, which the session is not given again.
fn ids(pack: &Pack) -> HashSet<Id> {
    pack.lines.iter().filter_map(|line| line.memory.as_ref()).map(|memory| memory.id).collect()
}

impl Moment<'_> {
    fn pack(&self, store: &Store, occasion: Occasion) -> Result<Pack> {
        let disk = LeftDisk::of(store)?;
        let request = PackRequest {
            projects: store.projects()?.into_iter().map(|row| row.row).collect(),
            project: self.project.rsplit('/').next().map(str::to_owned),
            occasion,
            session: row(store, &self.session.id)?,
            told: self.told.clone(),
            snapshot: None,
            branch: self.session.branch.clone(),
            now: self.now,
            zone: TimeZone::UTC,
            disk: &disk,
            limits: Limits::default(),
        };
        let intake = self.machine.home.intake();
        let embedding = without_embedding("measured by words");
        Ok(pack(intake.layout(), store, intake.redactor(), &request, embedding)?)
    }
}

fn row(store: &Store, session: &str) -> Result<Option<i64>> {
    let filter = SessionFilter { id_prefix: Some(session.to_owned()), ..SessionFilter::default() };
    Ok(store.sessions(&filter)?.first().map(|session| session.row))
}

/// The rows and turns of the labelled records.
fn places(
    label: &Label,
    store: &Store,
    known: &BTreeMap<String, &Session>,
) -> Result<Vec<(i64, u32)>> {
    let mut places = Vec::new();
    for record in &label.records {
        let Some(session) = known.get(&record.session) else { continue };
        let Some(row) = row(store, &session.id)? else { continue };
        let passages = store.passages(thru_store::PassageFilter::Session(row))?;
        let before = passages.iter().filter(|it| it.at.is_some_and(|at| at <= record.time));
        if let Some(passage) = before.max_by_key(|it| (it.at, it.ordinal)) {
            places.push((row, passage.turn));
        }
    }
    Ok(places)
}

fn score(
    label: &Label,
    pack: &Pack,
    store: &Store,
    known: &BTreeMap<String, &Session>,
) -> Result<Score> {
    let places = places(label, store, known)?;
    let of = |line: &thru_recall::PackLine| {
        line.memory.as_ref().and_then(|memory| Some((memory.session?, memory.turn)))
    };
    let shown: Vec<(i64, u32)> = pack.lines.iter().filter_map(of).collect();
    let text: String = pack.lines.iter().map(|line| format!("{}\n", line.text.get())).collect();
    Ok(Score {
        is_given: !pack.lines.is_empty(),
        is_of_session: shown.iter().any(|(row, _)| places.iter().any(|(it, _)| it == row)),
        is_of_turn: shown.iter().any(|place| places.contains(place)),
        holds: holds(label, &text),
    })
}

/// True if a text holds the telling words of a labelled record, or of what it says, that the prompt does not.
fn holds(label: &Label, text: &str) -> bool {
    let given = telling(&label.prompt);
    let held = telling(text);
    let texts = label.records.iter().map(|record| &record.quote).chain([&label.what]);
    texts.map(|text| telling(text)).any(|wanted| {
        let wanted: BTreeSet<&String> = wanted.difference(&given).collect();
        let shared = wanted.iter().filter(|word| held.contains(**word)).count();
        shared > 2 && shared as f64 >= HELD * wanted.len() as f64
    })
}

/// The reason why a pack does not hold what a prompt needed.
fn reason(
    label: &Label,
    pack: &Pack,
    store: &Store,
    known: &BTreeMap<String, &Session>,
    told: &HashSet<Id>,
) -> Result<String> {
    let places = places(label, store, known)?;
    let mut holding = HashSet::new();
    for memory in store.memories(&MemoryFilter::default())? {
        let texts = match store.body_of(&memory)? {
            MemoryBody::Observation(body) => {
                body.narrative.iter().chain(&body.report).map(|it| it.text.clone()).collect()
            }
            MemoryBody::Summary(_) => Vec::new(),
        };
        let is_there = memory.session.is_some_and(|row| places.contains(&(row, memory.turn)));
        if is_there || holds(label, &format!("{}\n{}", memory.title, texts.join("\n"))) {
            holding.insert(memory.id);
        }
    }
    let first = pack.weighed.iter().position(|(id, _)| holding.contains(id));
    Ok(match first {
        _ if !pack.lines.is_empty() => "another memory was given".to_owned(),
        _ if pack.weighed.is_empty() => pack.note.clone(),
        _ if holding.is_empty() => "no memory holds it".to_owned(),
        _ if holding.iter().any(|id| told.contains(id)) => "told before".to_owned(),
        Some(at) if at < 3 => "weighed among the first three, below the limit".to_owned(),
        Some(_) => "weighed further behind, below the limit".to_owned(),
        None => "not found".to_owned(),
    })
}

fn show(moment: &Moment<'_>, label: &Label, pack: &Pack, score: Score, why: &str) {
    println!(
        "\n# {:?} {} {}: {}",
        label.need,
        label.session,
        label.n,
        label.prompt.replace('\n', " ")
    );
    println!("what: {}\n{why}; {score:?}; {}", label.what, pack.note);
    for line in &pack.lines {
        let session = line.session.as_ref().map_or("–", |session| session.as_str());
        println!("+ {{{session}}} {}", moment.machine.back(line.text.get()));
        println!("    {}", line.reason);
    }
}

fn print(scores: &[(Need, Score)], lost: &BTreeMap<String, usize>) {
    println!(
        "| need | prompts | packs | of the session | of the turn | holding it | right, % |\n|---|---|---|---|---|---|---|"
    );
    for need in [Need::Needs, Need::Helps, Need::None] {
        let of: Vec<Score> =
            scores.iter().filter(|(it, _)| *it == need).map(|(_, score)| *score).collect();
        let count = |is: fn(&Score) -> bool| of.iter().filter(|score| is(score)).count();
        println!(
            "| {need:?} | {} | {} | {} | {} | {} | {} |",
            of.len(),
            count(|it| it.is_given),
            count(|it| it.is_of_session),
            count(|it| it.is_of_turn),
            count(|it| it.holds),
            percent((!of.is_empty()).then(|| count(|it| it.is_right()) as f64 / of.len() as f64)),
        );
    }
    println!("\n| of those that need or are helped | prompts |\n|---|---|");
    for (why, prompts) in lost {
        println!("| {why} | {prompts} |");
    }
}

#[cfg(test)]
mod tests {
    use super::labels::Record;
    use super::*;

    #[test]
    fn a_text_that_repeats_the_prompt_holds_nothing() {
        let label = Label {
            session: "a".to_owned(),
            time: Timestamp::UNIX_EPOCH,
            n: 0,
            prompt: "why does the kiln cool so slowly".to_owned(),
            need: Need::Needs,
            what: "The damper was widened for the white glaze".to_owned(),
            records: Vec::<Record>::new(),
        };
        assert!(holds(&label, "Widened the damper, since white glaze needs it"));
        assert!(!holds(&label, "The kiln cools slowly"));
    }
}

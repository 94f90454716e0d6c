//! `corpus`: a Claude Code history of any size, the same for the same seed.

mod queries;
mod records;
mod session;
mod words;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use clap::Args;

use queries::Queries;
use records::Recorder;
use words::{Project, Words, Writer};

use crate::rng::Rng;

/// Messages of a session, on average.
const MESSAGES_PER_SESSION: usize = 50;

/// Projects, where there are sessions enough for so many.
const PROJECTS: usize = 100;

/// The history begins on 1 March 2023 and takes three years, in milliseconds.
const BEGINNING: i64 = 1_677_628_800_000;
const SPAN: i64 = 3 * 365 * 24 * 3600 * 1000;

/// The arguments of `corpus`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// User and assistant records in all
    #[arg(long)]
    messages: usize,
    /// Output folder, which gets `projects/` and `queries.txt`
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Another seed gives another history
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Files in all [default: one for 50 messages]
    #[arg(long, value_name = "N")]
    files: Option<usize>,
}

/// The amount that was written.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    files: usize,
    records: usize,
    bytes: u64,
}

/// Writes the history.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let files =
        arguments.files.unwrap_or_else(|| arguments.messages.div_ceil(MESSAGES_PER_SESSION));
    let totals = write(&arguments.out, arguments.messages, files, arguments.seed)?;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} messages, {} records in {} files, {:.1} MB, {:.1} s ({:.0} MB/s)",
        arguments.messages,
        totals.records,
        totals.files,
        totals.bytes as f64 / 1e6,
        seconds,
        totals.bytes as f64 / 1e6 / seconds,
    );
    Ok(())
}

fn write(out: &Path, messages: usize, files: usize, seed: u64) -> Result<Totals> {
    ensure!(messages > 0 && files > 0, "a history has at least one message in one file");
    let words = Words::new(seed);
    let count = PROJECTS.min(files.div_ceil(2));
    let projects: Vec<Project> =
        (0..count).map(|number| Project::new(&words, seed, number)).collect();
    let mut folders: HashMap<usize, PathBuf> = HashMap::new();
    let mut queries = Queries::new(files);
    let mut totals = Totals::default();
    for (number, messages) in shares(messages, files, seed).into_iter().enumerate() {
        let mut rng = Rng::part(seed, number as u64 + 1);
        // A few projects see most of the work.
        let project = ((count as f64 + 1.0).powf(rng.unit()) as usize).clamp(1, count) - 1;
        let folder = match folders.get(&project) {
            Some(folder) => folder,
            None => {
                let folder = out.join("projects").join(projects[project].slug());
                fs::create_dir_all(&folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                folders.entry(project).or_insert(folder)
            }
        };
        let mut texts = Writer::new(&words, &projects[project]);
        let started = BEGINNING + SPAN / files as i64 * number as i64;
        let mut recorder = recorder(&mut rng, &projects[project], started);
        session::write(&mut recorder, &mut rng, &mut texts, messages);
        queries.offer(number, &mut rng, &texts);
        totals.files += 1;
        totals.records += recorder.text.lines().count();
        totals.bytes += recorder.text.len() as u64;
        save(folder, &recorder)?;
    }
    let mut list = queries.finish().join("\n");
    list.push('\n');
    fs::write(out.join("queries.txt"), list)?;
    Ok(totals)
}

/// Writes sessions of one project that was worked in yesterday, each of so many bytes or a little
/// more. Returns their ids, with the files of their transcripts.
pub(crate) fn recent(
    out: &Path,
    sessions: usize,
    bytes: usize,
    seed: u64,
) -> Result<Vec<(String, PathBuf)>> {
    let words = Words::new(seed);
    let project = Project::new(&words, seed, 0);
    let folder = out.join("projects").join(project.slug());
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let yesterday = SystemTime::now() - Duration::from_hours(24);
    let since = yesterday.duration_since(SystemTime::UNIX_EPOCH)?;
    let mut written = Vec::new();
    for number in 0..sessions {
        let mut rng = Rng::part(seed, number as u64 + 1);
        let mut texts = Writer::new(&words, &project);
        let mut recorder = recorder(&mut rng, &project, since.as_millis() as i64);
        while recorder.text.len() < bytes {
            session::write(&mut recorder, &mut rng, &mut texts, 10);
        }
        save(&folder, &recorder)?;
        let id = recorder.session().to_owned();
        let path = folder.join(format!("{id}.jsonl"));
        written.push((id, path));
    }
    Ok(written)
}

/// Splits the messages: many short sessions, a few long ones.
fn shares(messages: usize, files: usize, seed: u64) -> Vec<usize> {
    let mut rng = Rng::part(seed, 0);
    let weights: Vec<f64> = (0..files).map(|_| 0.15 + rng.exponential(0.85)).collect();
    let all: f64 = weights.iter().sum();
    let (mut sum, mut given) = (0.0, 0);
    let mut shares: Vec<usize> = weights
        .iter()
        .map(|weight| {
            sum += weight;
            let until = (messages as f64 * sum / all).round() as usize;
            let share = until.min(messages) - given;
            given += share;
            share
        })
        .collect();
    if let Some(last) = shares.last_mut() {
        *last += messages - given;
    }
    shares
}

fn recorder(rng: &mut Rng, project: &Project, started: i64) -> Recorder {
    let version = format!("2.{}.{}", rng.below(2), rng.between(1, 80));
    let branch = rng.pick(&["main", "main", "develop", "feature/import", "fix/crash"]);
    Recorder::new(
        records::uuid(rng),
        project.directory(),
        version,
        branch.to_owned(),
        started + rng.below(3_600_000) as i64,
    )
}

fn save(folder: &Path, recorder: &Recorder) -> Result<()> {
    let path = folder.join(format!("{}.jsonl", recorder.session()));
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&path)?;
        file.write_all(recorder.text.as_bytes())?;
        // The order of import is by the time of the last change.
        let ended = Duration::from_millis(recorder.now().unsigned_abs());
        file.set_modified(SystemTime::UNIX_EPOCH + ended)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use thru_agents::claude_code::{Reader, discover};
    use thru_redact::{Redactor, Report};

    use super::*;

    fn files(root: &Path) -> Vec<(String, String)> {
        let found = discover(root, &|_| false);
        assert!(found.problems.is_empty());
        let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
        found.sources.iter().map(|s| (s.archive_name.clone(), read(&s.path))).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_history() {
        let [a, b, c] = [1, 1, 2].map(|seed| {
            let out = tempfile::tempdir().unwrap();
            write(out.path(), 300, 9, seed).unwrap();
            let queries = fs::read_to_string(out.path().join("queries.txt")).unwrap();
            (files(out.path()), queries)
        });
        assert_eq!(a, b);
        assert_ne!(a, c);
    }

    #[test]
    fn it_has_the_messages_that_were_asked_for_and_is_read_without_trouble() {
        let out = tempfile::tempdir().unwrap();
        let totals = write(out.path(), 1_003, 17, 3).unwrap();
        let found = discover(out.path(), &|_| false);
        assert_eq!((found.sources.len(), totals.files), (17, 17));
        let redactor = Redactor::builtin();
        let (mut messages, mut passages) = (0, 0);
        for source in &found.sources {
            let text = fs::read_to_string(&source.path).unwrap();
            for line in text.lines() {
                let record: Value = serde_json::from_str(line).unwrap();
                let kind = record["type"].as_str().unwrap();
                messages += usize::from(matches!(kind, "user" | "assistant"));
            }
            let clean = redactor.clean_bytes(text.as_bytes(), &mut Report::default());
            assert_eq!(
                clean.get().as_slice(),
                text.as_bytes(),
                "nothing in it looks like a secret"
            );
            let batch = Reader::for_source(source).read(&clean, 1).into_inner();
            assert_eq!(batch.diagnostics, []);
            assert_eq!(batch.amendments, []);
            assert_eq!(batch.facts.directory.as_deref().unwrap().split('/').count(), 5);
            passages += batch.passages.len();
        }
        assert_eq!(messages, 1_003);
        assert!(passages > 400, "{passages}");
        let queries = fs::read_to_string(out.path().join("queries.txt")).unwrap();
        assert!(queries.lines().count() > 40 && queries.lines().all(|query| !query.is_empty()));
    }
}

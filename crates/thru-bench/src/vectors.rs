//! `vectors`: how long it takes to find near vectors, and what is missed.
//!
//! The vectors are synthetic: directions around centres, as texts about one thing lie near each other.
//! What is found is held against what an exact look at all of them in floats finds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use thru_core::Layout;
use thru_store::Store;
use thru_store::index::{Collection, TextIndex};
use thru_store::vectors::{Among, ModelFolder, Query, VectorWriter, Vectors};

use crate::home::temporary_directory;
use crate::metrics::median;
use crate::process::{machine, size};
use crate::rng::Rng;

const MODEL: &str = "synthetic";
/// As many as a batch of texts that is embedded at a time; larger only makes the folder sooner.
const BATCH: usize = 10_000;
/// How many are found.
const RESULTS: usize = 100;
/// Of the vectors that floats find nearest, this many are looked for.
const NEAREST: usize = 10;
/// Vectors to a centre.
const CLUSTER: usize = 100;
/// One in so many is among those that a filter lets through.
const ONE_IN: usize = 20;

/// How many vectors of which kind.
#[derive(Clone, Args)]
pub(crate) struct Arguments {
    /// How many vectors; may be given several times [default: 99999, 360000 and 1000000]
    #[arg(long, value_name = "N")]
    count: Vec<usize>,
    /// How many dimensions they have
    #[arg(long, default_value_t = 384)]
    dimensions: usize,
    /// How many questions are asked
    #[arg(long, default_value_t = 40)]
    queries: usize,
    /// What the vectors are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Give every text of this home a synthetic vector of the bundled model's form instead, to time searches with as
    /// many vectors as it would have
    #[arg(long, value_name = "HOME")]
    fill: Option<PathBuf>,
}

/// Measures and prints a table.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(home) = &arguments.fill {
        return fill(arguments, home);
    }
    println!("{}. {} dimensions.\n", machine(), arguments.dimensions);
    println!(
        "Medians in milliseconds; `of 10` is the share of the ten that floats find nearest.\n"
    );
    println!(
        "| vectors | files | MB | add 10,000 | open cold | open | all | of 10 | one in {ONE_IN} | of 10 |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let counts = match arguments.count.as_slice() {
        [] => &[99_999, 360_000, 1_000_000],
        given => given,
    };
    for count in counts {
        let row = measure(arguments, *count)?;
        println!("| {} |", row.join(" | "));
    }
    Ok(())
}

fn fill(arguments: &Arguments, home: &Path) -> Result<()> {
    let layout = Layout::new(home);
    let store = Store::open_to_read(&layout)?;
    let mut keys = Vec::new();
    for collection in Collection::ALL {
        keys.extend(TextIndex::open_collection(&layout, &store, collection)?.text_keys(&store)?);
    }
    keys.sort_unstable();
    keys.dedup();
    let folder = ModelFolder::at(&layout.vectors(), thru_embed::BUNDLED)?;
    let dimensions = thru_embed::BUNDLED_DIMENSIONS;
    let mut writer = VectorWriter::open(&folder.path, dimensions, thru_embed::BUNDLED)?;
    let mut synthetic = Synthetic::new(&Arguments { dimensions, ..arguments.clone() }, keys.len());
    for batch in keys.chunks(BATCH) {
        writer.add(batch.iter().map(|key| (*key, vec![synthetic.next()])).collect())?;
    }
    println!("{} texts have a vector.", keys.len());
    Ok(())
}

/// A question, and the ten nearest by floats among all vectors and among those that a filter lets
/// through, so far.
struct Question {
    vector: Vec<f32>,
    among_all: Vec<(f32, u64)>,
    among_some: Vec<(f32, u64)>,
}

fn measure(arguments: &Arguments, count: usize) -> Result<Vec<String>> {
    let directory = temporary_directory()?;
    let folder = directory.path();
    let mut synthetic = Synthetic::new(arguments, count);
    let mut questions: Vec<Question> = (0..arguments.queries)
        .map(|_| Question {
            vector: synthetic.next(),
            among_all: Vec::new(),
            among_some: Vec::new(),
        })
        .collect();
    let (mut filter, mut adding) = (Vec::new(), Vec::new());
    let mut writer = VectorWriter::open(folder, arguments.dimensions, MODEL)?;
    for start in (0..count).step_by(BATCH) {
        eprint!("\r{start} of {count} vectors …");
        let batch: Vec<(u64, Vec<f32>)> = (start..count.min(start + BATCH))
            .map(|_| (synthetic.key(), synthetic.next()))
            .collect();
        for (at, (key, vector)) in batch.iter().enumerate() {
            let is_let_through = at % ONE_IN == 0;
            if is_let_through {
                filter.push(*key);
            }
            for question in &mut questions {
                let similarity = dot(&question.vector, vector);
                keep_nearest(&mut question.among_all, similarity, *key);
                if is_let_through {
                    keep_nearest(&mut question.among_some, similarity, *key);
                }
            }
        }
        let texts = batch.into_iter().map(|(key, vector)| (key, vec![vector])).collect();
        adding.push(milliseconds(|| writer.add(texts))?);
    }
    eprint!("\r{}\r", " ".repeat(40));
    drop(writer);
    filter.sort_unstable();

    let open = || Vectors::open(folder, arguments.dimensions, MODEL);
    let mut cold = Vec::new();
    for _ in 0..5 {
        forget_pages(folder)?;
        cold.push(milliseconds(open)?);
    }
    let warm = (0..20).map(|_| milliseconds(open)).collect::<Result<Vec<f64>, _>>()?;
    let vectors = open()?;
    anyhow::ensure!(vectors.verify().is_empty(), "the vectors are damaged");
    let all = ask(&vectors, &questions, Among::All, |question| &question.among_all)?;
    let some = ask(&vectors, &questions, Among::Keys(&filter), |question| &question.among_some)?;
    let time = |values: &[f64]| format!("{:.2}", median(values).unwrap_or(0.0));
    Ok(vec![
        vectors.len().to_string(),
        vectors.segments().to_string(),
        format!("{:.1}", size(folder) as f64 / 1e6),
        time(&adding),
        time(&cold),
        time(&warm),
        time(&all.0),
        format!("{:.3}", all.1),
        time(&some.0),
        format!("{:.3}", some.1),
    ])
}

/// How long each question took, and the share of the nearest that were among the first found.
fn ask(
    vectors: &Vectors,
    questions: &[Question],
    among: Among<'_>,
    nearest: impl Fn(&Question) -> &Vec<(f32, u64)>,
) -> Result<(Vec<f64>, f64)> {
    let (mut times, mut found, mut wanted) = (Vec::new(), 0, 0);
    for question in questions {
        let start = Instant::now();
        let query = Query::new(&question.vector)?;
        let answer = vectors.nearest(&query, among, RESULTS);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let first: Vec<u64> = answer.iter().take(NEAREST).map(|(key, _)| *key).collect();
        found += nearest(question).iter().filter(|(_, key)| first.contains(key)).count();
        wanted += nearest(question).len();
    }
    Ok((times, found as f64 / wanted.max(1) as f64))
}

fn milliseconds<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<f64, E> {
    let start = Instant::now();
    let done = work()?;
    let taken = start.elapsed().as_secs_f64() * 1e3;
    drop(done);
    Ok(taken)
}

fn keep_nearest(nearest: &mut Vec<(f32, u64)>, similarity: f32, key: u64) {
    if nearest.len() == NEAREST && nearest.last().is_some_and(|last| last.0 >= similarity) {
        return;
    }
    let place = nearest.partition_point(|other| other.0 >= similarity);
    nearest.insert(place, (similarity, key));
    nearest.truncate(NEAREST);
}

/// Asks the system to keep nothing of the files in memory, as after a start.
fn forget_pages(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let file = File::open(entry?.path())?;
        file.sync_all()?;
        #[cfg(target_os = "linux")]
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
            .context("cannot let go of a file's pages")?;
    }
    Ok(())
}

/// Vectors of unit length around centres, and keys.
struct Synthetic {
    rng: Rng,
    centres: Vec<Vec<f32>>,
}

impl Synthetic {
    fn new(arguments: &Arguments, count: usize) -> Self {
        let mut rng = Rng::part(arguments.seed, count as u64);
        let centres = (0..count.div_ceil(CLUSTER).max(1))
            .map(|_| direction(&mut rng, arguments.dimensions))
            .collect();
        Self { rng, centres }
    }

    fn key(&mut self) -> u64 {
        self.rng.next()
    }

    fn next(&mut self) -> Vec<f32> {
        let centre = self.rng.below(self.centres.len());
        let mut vector = direction(&mut self.rng, self.centres[centre].len());
        for (component, centre) in vector.iter_mut().zip(&self.centres[centre]) {
            *component += centre;
        }
        unit(vector)
    }
}

fn direction(rng: &mut Rng, dimensions: usize) -> Vec<f32> {
    unit((0..dimensions).map(|_| (rng.unit() * 2.0 - 1.0) as f32).collect())
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|component| *component /= length);
    vector
}

/// In eight sums at a time: floats are not added in another order than they are written.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left, right) = (left.as_chunks::<8>(), right.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (left, right) in left.0.iter().zip(right.0) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest = left.1.iter().zip(right.1).map(|(left, right)| left * right);
    sums.iter().sum::<f32>() + rest.sum::<f32>()
}

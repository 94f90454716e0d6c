//! `vectors`: gives every text of a home a synthetic vector of the bundled model's form, to time searches with as
//! many vectors as the home would have, without embedding for hours.
//!
//! The vectors are directions around centres, as texts about one thing lie near each other.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use thru_core::Layout;
use thru_embed::{BUNDLED, BUNDLED_DIMENSIONS};
use thru_store::Store;
use thru_store::index::{Collection, TextIndex};
use thru_store::vectors::{ModelFolder, VectorWriter};

use crate::rng::Rng;

/// Vectors to a segment.
const BATCH: usize = 10_000;
/// Vectors to a centre.
const CLUSTER: usize = 100;

/// The home to fill.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The home whose texts get vectors; it is changed
    #[arg(long, value_name = "HOME")]
    fill: PathBuf,
    /// The seed of the vectors
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Writes the vectors and prints their number.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let layout = Layout::new(&arguments.fill);
    let store = Store::open_to_read(&layout)?;
    let mut keys = Vec::new();
    for collection in Collection::ALL {
        keys.extend(TextIndex::open_collection(&layout, &store, collection)?.text_keys(&store)?);
    }
    keys.sort_unstable();
    keys.dedup();
    let folder = ModelFolder::at(&layout.vectors(), BUNDLED)?;
    let mut writer = VectorWriter::open(&folder.path, BUNDLED_DIMENSIONS, BUNDLED)?;
    let mut rng = Rng::part(arguments.seed, keys.len() as u64);
    let centres: Vec<Vec<f32>> =
        (0..keys.len().div_ceil(CLUSTER).max(1)).map(|_| direction(&mut rng)).collect();
    for batch in keys.chunks(BATCH) {
        writer.add(batch.iter().map(|key| (*key, vec![near_one(&centres, &mut rng)])).collect())?;
    }
    println!("{} texts have a vector.", keys.len());
    Ok(())
}

fn near_one(centres: &[Vec<f32>], rng: &mut Rng) -> Vec<f32> {
    let centre = &centres[rng.below(centres.len())];
    let mut vector = direction(rng);
    vector.iter_mut().zip(centre).for_each(|(component, centre)| *component += centre);
    unit(vector)
}

fn direction(rng: &mut Rng) -> Vec<f32> {
    unit((0..BUNDLED_DIMENSIONS).map(|_| (rng.unit() * 2.0 - 1.0) as f32).collect())
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|component| *component /= length);
    vector
}

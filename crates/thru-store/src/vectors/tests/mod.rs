//! The vectors as their users see them: on a disk, with concurrent writers, and damaged.

mod damage;
mod models;
mod searching;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const MODEL: &str = "a model";

/// A generator of the same numbers in every run: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from -1 to 1.
    fn component(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn unit_vector(&mut self, dimensions: usize) -> Vec<f32> {
        unit((0..dimensions).map(|_| self.component()).collect())
    }

    /// Returns a vector in about the same direction as another one.
    fn near(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
        let noise = self.unit_vector(centre.len());
        unit(centre.iter().zip(&noise).map(|(centre, noise)| centre + spread * noise).collect())
    }
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|component| *component /= length);
    vector
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Returns a text with one vector, which only depends on the key.
fn text(key: u64, dimensions: usize) -> (u64, Vec<Vec<f32>>) {
    (key, vec![Numbers(key).unit_vector(dimensions)])
}

fn texts(keys: impl IntoIterator<Item = u64>, dimensions: usize) -> Vec<(u64, Vec<Vec<f32>>)> {
    keys.into_iter().map(|key| text(key, dimensions)).collect()
}

fn writer(folder: &Path, dimensions: usize) -> VectorWriter {
    VectorWriter::open(folder, dimensions, MODEL).unwrap()
}

fn reader(folder: &Path, dimensions: usize) -> Vectors {
    Vectors::open(folder, dimensions, MODEL).unwrap()
}

/// Returns the sorted names of the files, without the lock.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "writer.lock")
        .collect();
    names.sort();
    names
}

fn only_segment(folder: &Path) -> PathBuf {
    let names = names(folder);
    assert_eq!(names.len(), 1, "{names:?}");
    folder.join(&names[0])
}

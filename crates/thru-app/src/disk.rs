//! The files of this machine, as recall asks about them.

use std::path::{Path, PathBuf};

use thru_core::{Id, Timestamp, content_hash};
use thru_recall::{Disk, Presence};

/// A larger file is judged by its time alone.
const LARGEST_HASHED: u64 = 1024 * 1024;

/// The real disk.
pub struct RealDisk;

impl Disk for RealDisk {
    fn look(&self, path: &str, root: Option<&str>) -> Presence {
        match std::fs::metadata(full(path, root)) {
            Ok(metadata) => Presence::There {
                modified: metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok()),
            },
            // Where the whole project is not here, its history came from another machine.
            Err(_) => match root.is_some_and(|root| Path::new(root).is_dir()) {
                true => Presence::Gone,
                false => Presence::Unknown,
            },
        }
    }

    fn content(&self, path: &str, root: Option<&str>) -> Option<Id> {
        let path = full(path, root);
        let metadata = std::fs::metadata(&path).ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST_HASHED {
            return None;
        }
        std::fs::read(path).ok().map(|content| content_hash(&content))
    }
}

/// A path as the agent wrote it, which may start from where its session worked.
fn full(path: &str, root: Option<&str>) -> PathBuf {
    match root {
        Some(root) => Path::new(root).join(path),
        None => PathBuf::from(path),
    }
}

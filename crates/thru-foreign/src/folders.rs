//! Folders of notes.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use thru_core::{ForeignSource, Timestamp, is_made_by_tools};
use walkdir::{DirEntry, WalkDir};

use crate::{ForeignMemories, markdown};

/// Bytes of a note. A longer file is no note.
const LARGEST_NOTE: u64 = 1024 * 1024;

/// Reads a note, or every note below a folder. Links are not followed.
pub fn read(source: ForeignSource, path: &Path) -> ForeignMemories {
    let mut found = ForeignMemories::default();
    let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    for entry in WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(is_wanted) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let at = error.path().unwrap_or(path).to_owned();
                found.problems.push((at, error.to_string()));
                continue;
            }
        };
        let is_note =
            entry.path().extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        if !entry.file_type().is_file() || !is_note {
            continue;
        }
        match note(source, folder, &entry) {
            Ok(memories) if memories.is_empty() => found.empty += 1,
            Ok(memories) => found.memories.extend(memories),
            Err(problem) => found.problems.push((entry.into_path(), problem)),
        }
    }
    found
}

fn is_wanted(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || !name.starts_with('.') && !is_made_by_tools(&name)
}

fn note(
    source: ForeignSource,
    folder: &Path,
    entry: &DirEntry,
) -> Result<Vec<crate::ForeignMemory>, String> {
    let metadata = entry.metadata().map_err(|error| error.to_string())?;
    if metadata.len() > LARGEST_NOTE {
        return Err(format!("longer than {} kB", LARGEST_NOTE / 1024));
    }
    let bytes = std::fs::read(entry.path()).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let relative = entry.path().strip_prefix(folder).unwrap_or(entry.path());
    let name = relative.to_string_lossy().replace('\\', "/");
    let place = folder.to_string_lossy().into_owned();
    let written = metadata.modified().ok().and_then(timestamp);
    let mut memories = markdown::memories(source, &name, &text);
    for memory in &mut memories {
        memory.identity = format!("{place}/{}", memory.identity);
        memory.at = memory.at.or(written);
    }
    Ok(memories)
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_millisecond(i64::try_from(since.as_millis()).ok()?).ok()
}

/// Returns the folders in which basic-memory keeps its notes, by its configuration in a home directory.
pub fn basic_memory_folders(home: &Path) -> Vec<PathBuf> {
    let usual = || vec![home.join("basic-memory")];
    let Ok(text) = std::fs::read_to_string(home.join(".basic-memory").join("config.json")) else {
        return usual();
    };
    let config: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(projects) = config["projects"].as_object() else { return usual() };
    let path = |project: &Value| {
        let path = project.as_str().or_else(|| project["path"].as_str())?;
        Some(match path.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(path),
        })
    };
    projects.values().filter_map(path).collect()
}

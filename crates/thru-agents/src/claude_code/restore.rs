//! The path to which an archived file is restored, so that Claude Code can resume it. Pure functions of
//! paths: code that writes to one must handle links itself.

use std::path::{Component, Path, PathBuf};

use thru_core::Agent;

use super::names::HISTORY;
use crate::RestoreError;
use crate::names::safe_parts;

/// Returns the path to which an archived file is restored: below `<config_dir>/projects`, in its
/// original folder and under its original name.
///
/// `source_path` is where the file was found. If that was in a `projects` folder, the path below that
/// folder is kept exactly; else the archive name decides.
///
/// # Errors
/// Fails if the name is not one that discovery produces, or leads out of the `projects` folder.
pub fn restore_path(
    config_dir: &Path,
    source_path: &Path,
    archive_name: &str,
) -> Result<PathBuf, RestoreError> {
    let archived = archive_name
        .strip_prefix(Agent::ClaudeCode.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
        .ok_or_else(|| RestoreError::NotAnArchiveName(archive_name.to_owned()))?;
    if archived == HISTORY {
        return Ok(config_dir.join(HISTORY));
    }
    let archived = safe_parts(Path::new(archived))
        .filter(|parts| parts.len() >= 2)
        .ok_or_else(|| RestoreError::Escapes(archive_name.to_owned()))?;
    let found = below_projects(source_path, archived.len());
    let parts = match &found {
        None => archived,
        Some(found) => safe_parts(found)
            .ok_or_else(|| RestoreError::Escapes(source_path.display().to_string()))?,
    };
    let projects = config_dir.join("projects");
    Ok(parts.iter().fold(projects, |path, part| path.join(part)))
}

/// Returns the path of a transcript by which Claude Code finds a session of a directory, where the file was read from
/// elsewhere: there it may have any name.
pub fn path_by_id(
    config_dir: &Path,
    source_path: &Path,
    directory: &str,
    id: &str,
) -> Option<PathBuf> {
    let is_elsewhere = below_projects(source_path, 2).is_none();
    let is_name = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let folder: String =
        directory.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    (is_elsewhere && is_name && !folder.is_empty())
        .then(|| config_dir.join("projects").join(folder).join(format!("{id}.jsonl")))
}

/// Returns the path below the `projects` folder in which the file was found, if it was found exactly
/// `depth` levels below it.
fn below_projects(source_path: &Path, depth: usize) -> Option<PathBuf> {
    let components: Vec<Component<'_>> = source_path.components().collect();
    let at = components.len().checked_sub(depth + 1)?;
    let is_projects = components[at] == Component::Normal("projects".as_ref());
    is_projects.then(|| components[at + 1..].iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_from_elsewhere_is_called_by_its_session() {
        let config = Path::new("/home/u/.claude");
        let found = |source: &str| path_by_id(config, Path::new(source), "/work/a.b", "03a2-fe8d");
        let named = config.join("projects/-work-a-b/03a2-fe8d.jsonl");
        assert_eq!(found("/tmp/imp/c.jsonl"), Some(named));
        assert_eq!(found("/home/u/.claude/projects/-work-a-b/03a2-fe8d.jsonl"), None);
        assert_eq!(path_by_id(config, Path::new("/tmp/c.jsonl"), "/work", "../x"), None);
    }

    #[test]
    fn files_go_back_to_where_they_were() {
        let config = Path::new("/home/u/.claude");
        let back = |source: &str, archived: &str| restore_path(config, Path::new(source), archived);
        assert_eq!(
            back("/home/u/.claude/projects/-home-u-p/s.jsonl", "claude-code/-home-u-p/s.jsonl"),
            Ok(config.join("projects/-home-u-p/s.jsonl"))
        );
        // Found elsewhere: the archive name decides.
        assert_eq!(
            back(
                "/mnt/backup/p/s/subagents/agent-a.jsonl",
                "claude-code/p/s/subagents/agent-a.jsonl"
            ),
            Ok(config.join("projects/p/s/subagents/agent-a.jsonl"))
        );
        assert_eq!(
            back("/home/u/.claude/history.jsonl", "claude-code/history.jsonl"),
            Ok(config.join("history.jsonl"))
        );
    }

    #[test]
    fn nothing_goes_anywhere_else() {
        let config = Path::new("/c");
        for archived in [
            "claude-code/../x",
            "claude-code/a/../../x",
            "claude-code//etc/x",
            "claude-code/x",
            "claude-code/a/b:c",
            "claude-code/a\\..\\..\\b/c",
            "claude-code",
            "codex/a/b",
            "/claude-code/a/b",
            "",
        ] {
            // `//` is one separator: the rest stays below the folder.
            let path = restore_path(config, Path::new("/x"), archived);
            assert!(
                path.as_ref().is_err() || path.unwrap().starts_with("/c/projects"),
                "{archived}"
            );
        }
        assert!(
            restore_path(config, Path::new("/p/projects/../s.jsonl"), "claude-code/p/s.jsonl")
                .is_err()
        );
    }
}

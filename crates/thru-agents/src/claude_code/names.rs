//! The information in the names of Claude Code's files: session, subagent and archive name. Pure
//! functions of names; nothing here touches the disk.

use std::path::{Component, Path};

use thru_core::{Agent, SourceKind};

use crate::names::{harmless, is_uuid};

/// The folders that a session may have beside its transcript.
pub(super) const SESSION_FOLDERS: [&str; 3] = ["subagents", "tool-results", "workflows"];

/// The file with the agent's prompt history.
pub(super) const HISTORY: &str = "history.jsonl";

/// A file in a session's own folder, classified by its path.
pub(super) struct InSessionFolder<'p> {
    pub(super) kind: SourceKind,
    pub(super) session: &'p str,
    pub(super) agent_id: Option<&'p str>,
    /// The project folder and the path parts below it.
    pub(super) parts: Vec<&'p str>,
}

/// Returns the session id from the name of a transcript.
pub(super) fn session_of_file(name: &str) -> Option<&str> {
    name.strip_suffix(".jsonl").filter(|stem| is_uuid(stem))
}

/// Returns the subagent id from the name of a subagent's transcript.
pub(super) fn subagent_of_file(name: &str) -> Option<&str> {
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
    (!id.is_empty()).then_some(id)
}

/// Classifies a file by its path; `None` if it is not in a session's own folder.
pub(super) fn in_session_folder(path: &Path) -> Option<InSessionFolder<'_>> {
    let parts = normal_parts(path)?;
    let at = (0..parts.len().saturating_sub(2))
        .rev()
        .find(|&at| is_uuid(parts[at]) && SESSION_FOLDERS.contains(&parts[at + 1]))?;
    let agent_id = match parts[at + 1] {
        "subagents" => parts.last().and_then(|name| subagent_of_file(name)),
        _ => None,
    };
    Some(InSessionFolder {
        kind: if agent_id.is_some() { SourceKind::Subagent } else { SourceKind::Attachment },
        session: parts[at],
        agent_id,
        parts: parts[at.saturating_sub(1)..].to_vec(),
    })
}

/// Returns the names of a file's folder (`files` if it has none) and of the file.
pub(super) fn folder_and_file(path: &Path) -> Option<[&str; 2]> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    Some([folder.unwrap_or("files"), name])
}

/// Returns the archive name of the file at `parts`, below the folder with all projects.
pub(super) fn archive_name<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut name = Agent::ClaudeCode.as_str().to_owned();
    for part in parts {
        name.push('/');
        name.push_str(&harmless(part));
    }
    name
}

/// Returns the named parts of a path; `None` if one of them is not Unicode. `..` drops all parts before
/// it, as its target is unknown.
fn normal_parts(path: &Path) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => parts.clear(),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    #[test]
    fn archive_names_lead_nowhere_else() {
        assert_eq!(archive_name(["..", "a/../b", "c:d", ""]), "claude-code/_/a_.._b/c_d/_");
    }

    #[test]
    fn files_in_a_session_folder_are_known_by_their_place() {
        let path = format!("/x/-home-u-p/{SESSION}/subagents/workflows/run-1/agent-a1.jsonl");
        let found = in_session_folder(Path::new(&path)).unwrap();
        assert_eq!((found.kind, found.session), (SourceKind::Subagent, SESSION));
        assert_eq!(found.agent_id, Some("a1"));
        assert_eq!(found.parts[0], "-home-u-p");

        let path = format!("{SESSION}/tool-results/agent-a1.jsonl");
        let found = in_session_folder(Path::new(&path)).unwrap();
        assert_eq!((found.kind, found.parts.len()), (SourceKind::Attachment, 3));
        for other in
            [format!("/x/{SESSION}/agent-a1.jsonl"), format!("/x/{SESSION}/../subagents/f")]
        {
            assert!(in_session_folder(Path::new(&other)).is_none(), "{other}");
        }
    }
}

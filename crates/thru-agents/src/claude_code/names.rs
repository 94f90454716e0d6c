//! Names of Claude Code's files: their session, their subagent, their place in the
//! archive. Pure functions of names; nothing here touches the disk.

use std::path::{Component, Path};

use thru_core::{Agent, SourceKind};

use crate::names::{harmless, is_uuid};

/// The folders that a session may have beside its transcript.
pub(super) const SESSION_FOLDERS: [&str; 3] = ["subagents", "tool-results", "workflows"];

/// The agent's list of prompts.
pub(super) const HISTORY: &str = "history.jsonl";

/// The part of a session that a file of its own folder is.
pub(super) struct InSessionFolder<'p> {
    pub(super) kind: SourceKind,
    pub(super) session: &'p str,
    pub(super) agent_id: Option<&'p str>,
    /// The folder of the project and what is below it.
    pub(super) parts: Vec<&'p str>,
}

/// The session's id in the name of its transcript.
pub(super) fn session_of_file(name: &str) -> Option<&str> {
    name.strip_suffix(".jsonl").filter(|stem| is_uuid(stem))
}

/// The subagent's id in the name of its transcript.
pub(super) fn subagent_of_file(name: &str) -> Option<&str> {
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
    (!id.is_empty()).then_some(id)
}

/// Returns the part of a session that a file in the session's own folder is, if it lies in one.
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

/// The folder that a file lies in and its name, or what stands for them.
pub(super) fn folder_and_file(path: &Path) -> Option<[&str; 2]> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    Some([folder.unwrap_or("files"), name])
}

/// The name in the archive of what lies at `parts`, below the folder that all projects are in.
pub(super) fn archive_name<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut name = Agent::ClaudeCode.as_str().to_owned();
    for part in parts {
        name.push('/');
        name.push_str(&harmless(part));
    }
    name
}

/// The named parts of a path; none if one of them is not Unicode. `..` empties what is before it, as
/// nothing is known of where it leads.
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

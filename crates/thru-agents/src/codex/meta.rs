//! The metadata of threads in a rollout. The first record describes the rollout's own thread, later ones
//! describe threads whose history it inherited.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::value::RawValue;

use super::record::{Payload, Record};
use crate::facts::short;
use crate::names::is_session_id;
use crate::{json, opening};

/// The metadata of a thread, as `session_meta` states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) thread: String,
    /// The time the thread was begun, as the record writes it.
    pub(super) begun: Option<String>,
    pub(super) directory: Option<String>,
    /// True if another thread started this one to do a part of its work.
    pub(super) is_subagent: bool,
    /// The id of that other thread.
    pub(super) parent: Option<String>,
}

impl Meta {
    /// Reads a record's payload; `None` if it names no thread.
    pub(super) fn of(payload: &Payload<'_>) -> Option<Self> {
        let id = |id: &str| is_session_id(id).then(|| id.to_owned());
        let spawned = payload.source.map(RawValue::get).unwrap_or_default();
        let subagent = member(spawned, "subagent");
        let parent = subagent
            .and_then(|subagent| member(subagent, "thread_spawn"))
            .and_then(|spawn| member(spawn, "parent_thread_id"))
            .and_then(json::string)
            .or_else(|| payload.parent_thread_id.clone());
        Some(Self {
            thread: id(payload.id.as_deref()?)?,
            begun: short(&payload.timestamp).map(str::to_owned),
            directory: short(&payload.cwd).map(str::to_owned),
            is_subagent: subagent.is_some(),
            parent: parent.as_deref().filter(|_| subagent.is_some()).and_then(id),
        })
    }
}

fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let members = json::members(object);
    members.into_iter().find(|(key, _)| key == name).map(|(_, value)| value.get())
}

/// Reads the metadata of the rollout at `path`; `None` if the file is not a rollout.
pub(super) fn read(path: &Path) -> io::Result<Option<Meta>> {
    opening::search(path, |line| match Record::parse(line) {
        Ok(Record { kind: Some(kind), payload: Some(payload), .. }) if kind == "session_meta" => {
            Meta::of(&payload)
                .map_or(ControlFlow::Continue(()), |meta| ControlFlow::Break(Some(meta)))
        }
        // Every record of a rollout that has a type has a payload.
        Ok(Record { kind: Some(_), payload: None, .. }) => ControlFlow::Break(None),
        _ => ControlFlow::Continue(()),
    })
}

/// Returns the directory in which the thread of the rollout at `path` started.
pub(crate) fn directory_of(path: &Path) -> Option<String> {
    read(path).ok()??.directory
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(payload: &str) -> Option<Meta> {
        let line = format!(r#"{{"type":"session_meta","payload":{payload}}}"#);
        Meta::of(&Record::parse(&line).unwrap().payload.unwrap())
    }

    #[test]
    fn who_started_a_thread_is_known() {
        let parent = |payload: &str| {
            let meta = meta(payload).unwrap();
            (meta.is_subagent, meta.parent)
        };
        assert_eq!(parent(r#"{"id":"t","source":"cli"}"#), (false, None));
        assert_eq!(
            parent(r#"{"id":"t","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}}"#),
            (true, Some("p".to_owned()))
        );
        assert_eq!(
            parent(r#"{"id":"t","parent_thread_id":"p","source":{"subagent":"review"}}"#),
            (true, Some("p".to_owned()))
        );
        assert_eq!(parent(r#"{"id":"t","source":{"subagent":"review"}}"#), (true, None));
        // Not a subagent, even if it was forked from another thread.
        assert_eq!(parent(r#"{"id":"t","parent_thread_id":"p","source":"exec"}"#), (false, None));
    }

    #[test]
    fn what_is_no_id_names_no_thread() {
        assert_eq!(meta(r#"{"id":"../../x"}"#), None);
        assert_eq!(meta(r#"{"cwd":"/x"}"#), None);
    }
}

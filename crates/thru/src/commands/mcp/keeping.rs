//! What changes something, and how things are: the same that the commands of these names do.

use std::time::Duration;

use serde_json::Value;
use thru_app::ask::ProjectScope;
use thru_app::ingest::sync_history;
use thru_app::keep::{close, forget, remember};
use thru_app::{Call, Patience, Remedy, Result, Trouble};
use thru_intake::Intake;
use thru_mcp::{
    Close, Forget, Forgotten, ListUnindexed, Place, Remember, Remembered, Row, SyncHistory,
    WantedKind,
};
use thru_redact::{Clean, Redactor, Report};

use super::own::cleaned;
use crate::commands::of_agents::OfAgents;
use crate::commands::{status, unindexed};
use crate::environment::Environment;
use crate::failure;
use thru_app::background;

/// How long another process that writes is waited for: nobody sees that an agent's tool waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sessions that are listed one by one.
const LISTED: usize = 50;

/// Keeps what an agent tells.
pub(super) fn remember(environment: &Environment, asked: &Remember) -> Result<Remembered> {
    let request = remember::Remember {
        text: asked.text.clone(),
        title: asked.title.clone(),
        kind: asked.kind,
        // Only what a person says is a rule.
        is_rule: false,
        files: asked.files.clone(),
        scope: match &asked.place {
            Place::Here => ProjectScope::Here,
            Place::Named(name) => ProjectScope::Named(name.clone()),
            Place::Everywhere => ProjectScope::Everywhere,
        },
        by_agent: true,
    };
    let call = Call::unattended(Patience::Within(PATIENCE));
    let kept = remember::remember(environment, &request, call)?;
    background::poke(environment);
    Ok(Remembered { id: kept.short_id, project: kept.project, is_redacted: kept.is_redacted })
}

/// Shows what would be forgotten, or forgets it.
pub(super) fn forget(
    environment: &Environment,
    intake: &Intake,
    asked: &Forget,
) -> Result<Forgotten> {
    let call = Call::unattended(Patience::Within(PATIENCE));
    let targets = forget::find(environment, &forget::Forget::Memories(asked.ids.clone()), call)?;
    let row = |target: &forget::MemoryTarget| Row {
        id: target.entry.id.clone(),
        at: target.entry.at,
        kind: WantedKind::Memory(target.entry.kind),
        title: cleaned(intake.redactor(), target.entry.title.get()),
        tokens: target.entry.tokens,
        is_stale: target.files.is_stale(),
    };
    let unknown = targets.unknown.iter();
    let mut told = Forgotten {
        rows: targets.memories.iter().map(row).collect(),
        unknown: unknown.map(|(id, error)| (id.clone(), failure::whole(error))).collect(),
        is_done: false,
    };
    if asked.confirm && !targets.is_empty() {
        if forget::forget(environment, &targets, call)?.is_unswept {
            return Err(Trouble::failed("it is forgotten, but its vectors were not swept")
                .with(Remedy::Rebuild));
        }
        told.is_done = true;
    }
    Ok(told)
}

/// Closes a session. What did not work is told in the same form.
pub(super) fn close(
    environment: &Environment,
    asked: &Close,
) -> Result<Clean<Value>, Clean<Value>> {
    let named = asked.session_id.as_deref();
    let request = close::Close {
        session: asked.session_id.clone(),
        reason: asked.reason.clone(),
        closer: close::Closer::Server,
    };
    let closed = environment.again().and_then(|environment| {
        let call = Call::unattended(Patience::Within(PATIENCE));
        let closed = close::close(&environment, &request, call)?;
        background::poke(&environment);
        clean(&environment.intake()?, serde_json::to_value(closed)?)
    });
    // Words of our own, and the id that was given: the built-in rules are enough for them.
    let failed = |error| {
        let answer = close::Closed::failed(named, failure::whole(&error));
        let answer = serde_json::to_value(answer).unwrap_or_default();
        Redactor::builtin().clean_value(answer, &mut Report::default())
    };
    closed.map_err(failed)
}

/// Sessions that are not indexed as they are.
pub(super) fn list_unindexed(
    environment: &Environment,
    intake: &Intake,
    asked: &ListUnindexed,
) -> Result<Clean<Value>> {
    let wanted = unindexed::Wanted {
        project: asked.project_namespace.as_deref(),
        active: true,
        inactive: asked.include_inactive,
        of: &OfAgents::default(),
    };
    clean(intake, shortened(unindexed::as_json(&unindexed::list(environment, &wanted)?)))
}

/// What is not remembered yet.
pub(super) fn sync_history(
    environment: &Environment,
    intake: &Intake,
    asked: &SyncHistory,
) -> Result<Clean<Value>> {
    let request = sync_history::SyncHistory {
        project: asked.project.clone(),
        agents: Vec::new(),
        days: asked.days,
        max_sessions: asked.max_sessions,
    };
    let call = Call::unattended(Patience::Within(PATIENCE));
    let preview = sync_history::preview(environment, &request, call)?;
    clean(intake, shortened(serde_json::to_value(preview)?))
}

/// How things are.
pub(super) fn status(environment: &Environment, intake: &Intake) -> Result<Clean<Value>> {
    clean(intake, status::json(environment)?)
}

/// A list of sessions that an agent can read: what is counted and not listed is said.
fn shortened(mut list: Value) -> Value {
    let Some(sessions) = list.get_mut("sessions").and_then(Value::as_array_mut) else {
        return list;
    };
    let hidden = sessions.len().saturating_sub(LISTED);
    sessions.truncate(LISTED);
    let before = list["not_listed"].as_u64().unwrap_or_default();
    list["not_listed"] = (before + hidden as u64).into();
    list
}

fn clean(intake: &Intake, value: Value) -> Result<Clean<Value>> {
    Ok(intake.redactor().clean_value(value, &mut Report::default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_list_is_cut_and_its_length_said() {
        let sessions: Vec<Value> = (0..60).map(|number| json!({ "session_id": number })).collect();
        let list = shortened(json!({ "count": 60, "sessions": sessions, "not_listed": 5 }));
        assert_eq!(list["sessions"].as_array().unwrap().len(), LISTED);
        assert_eq!((&list["count"], &list["not_listed"]), (&json!(60), &json!(15)));
        assert_eq!(shortened(json!({ "status": "error" })), json!({ "status": "error" }));
    }
}

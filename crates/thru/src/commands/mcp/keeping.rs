//! What changes something, and how things are: the same that the commands of these names do.

use std::time::Duration;

use serde_json::Value;
use thru_app::{Call, Patience, Result};
use thru_intake::Intake;
use thru_mcp::{Close, Forget, Forgotten, ListUnindexed, Place, Remember, Remembered, SyncHistory};
use thru_redact::{Clean, Redactor, Report};

use super::own::cleaned;
use super::searching::row_of_memory;
use crate::commands::of_agents::OfAgents;
use crate::commands::remember::{Telling, Whose, keep};
use crate::commands::{close, forget, shared, status, sync_history, unindexed};
use crate::environment::Environment;
use crate::failure;
use thru_app::background;

/// How long another process that writes is waited for: nobody sees that an agent's tool waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sessions that are listed one by one.
const LISTED: usize = 50;

/// Keeps what an agent tells.
pub(super) fn remember(
    environment: &Environment,
    intake: &Intake,
    asked: &Remember,
) -> Result<Remembered> {
    let telling = Telling {
        text: &asked.text,
        title: asked.title.as_deref(),
        kind: asked.kind,
        // Only what a person says is a rule.
        is_rule: false,
        files: &asked.files,
        whose: match &asked.place {
            Place::Here => Whose::Here,
            Place::Named(name) => Whose::Named(name),
            Place::Everywhere => Whose::Everyone,
        },
        by_agent: true,
    };
    let kept = keep(&telling, environment, |intake| {
        Call::unattended(Patience::Within(PATIENCE)).lock(intake)
    })?;
    background::poke(environment);
    Ok(Remembered {
        id: kept.short_id,
        project: kept.project.map(|name| cleaned(intake.redactor(), &name)),
        is_redacted: kept.is_redacted,
    })
}

/// Shows what would be forgotten, or forgets it.
pub(super) fn forget(
    environment: &Environment,
    intake: &Intake,
    asked: &Forget,
) -> Result<Forgotten> {
    let store = shared::open_store(environment)?;
    let mut targets: Vec<forget::Target> = Vec::new();
    let mut told = Forgotten { rows: Vec::new(), unknown: Vec::new(), is_done: false };
    for id in &asked.ids {
        match forget::target(&store, id) {
            Ok(target) if targets.iter().any(|known| known.0.id == target.0.id) => {}
            Ok(target) => {
                told.rows.push(row_of_memory(&store, intake.redactor(), &target.0)?);
                targets.push(target);
            }
            Err(error) => told.unknown.push((id.clone(), failure::whole(&error))),
        }
    }
    drop(store);
    if asked.confirm && !targets.is_empty() {
        let lock = Call::unattended(Patience::Within(PATIENCE)).lock(intake)?;
        if forget::forget_memories(&targets, environment, intake, &lock)? {
            return Err(failure::advised(
                "it is forgotten, but its vectors were not swept",
                "run `thru rebuild`",
            ));
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
    let (named, reason) = (asked.session_id.as_deref(), asked.reason.as_deref());
    let closed = environment.again().and_then(|environment| {
        let closed = close::close(&environment, named, reason, close::Asker::Server)?;
        background::poke(&environment);
        clean(&environment.intake()?, closed.as_json())
    });
    // Words of our own, and the id that was given: the built-in rules are enough for them.
    let failed = |error| {
        Redactor::builtin().clean_value(close::failed(named, &error), &mut Report::default())
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
    let project = asked.project.as_deref();
    let preview = sync_history::preview_json(environment, project, asked.days, asked.max_sessions)?;
    clean(intake, shortened(preview))
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

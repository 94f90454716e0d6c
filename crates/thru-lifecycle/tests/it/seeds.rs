//! The tables and diagrams of other designs for the same thing, row by row: the rule in each of them,
//! and the result here. `≠` marks deliberate differences.

use thru_lifecycle::Indexing;
use thru_lifecycle::indexing::{Effect, Event};

use crate::story::play;

/// The rule of the other design, our story, and its result.
type Row = (&'static str, &'static str, &'static str);

fn check(rows: &[Row]) {
    for (theirs, story, told) in rows {
        assert_eq!(play(story), *told, "{theirs}: {story}");
    }
}

/// `initialized`, `active`, `completed` of a database of sessions.
#[test]
fn three_states_of_a_session() {
    check(&[
        ("SessionStart → initialized", "start", "initialized (not listed)"),
        ("initialized → active: first prompt", "start prompt", "active (turn)"),
        ("active → active: next prompt", "start prompt +1m prompt", "active (turn), turn ended"),
        // ≠ Observations are made later; waiting for them is not a state of the session.
        ("active → observation queued: tool", "start prompt tool", "active (turn)"),
        // ≠ Summarising is our work, not the session's: Stop ends a turn.
        ("active → summarizing: Stop", "start prompt stop", "active, turn ended"),
        ("summarizing → active: prompt", "start prompt stop +1m prompt", "active (turn)"),
        (
            "summarizing → completed: SessionEnd",
            "start prompt stop end",
            "ended (agent:other), close: agent:other",
        ),
        (
            "active → completed: SessionEnd",
            "start prompt end",
            "ended (agent:other), turn ended, close: agent:other",
        ),
    ]);
}

/// `active`, `idle`, `suspended`, `ended` of a session manager.
#[test]
fn four_states_of_a_session() {
    check(&[
        // ≠ Before its first prompt a session is initialized.
        ("start → active", "start", "initialized (not listed)"),
        (
            "active → idle: idle_timeout",
            "start prompt stop +30m",
            "idle, close: inactivity_timeout",
        ),
        (
            "idle → active: user returns",
            "start prompt stop +31m prompt",
            "active (turn), resumed after 1860 s",
        ),
        (
            "active → ended: explicit end",
            "start prompt stop end",
            "ended (agent:other), close: agent:other",
        ),
        // ≠ Stop ends a turn, never a session.
        ("active → ended: Stop event", "start prompt stop", "active, turn ended"),
        (
            "idle → ended: 2 × idle_timeout",
            "start prompt stop +30m +30m",
            "ended (inactivity_timeout)",
        ),
        // ≠ Eight hours since the last start or resume, not since the first start.
        (
            "active → ended: max_session_duration",
            "start prompt +7h resume +20m tool",
            "active (turn)",
        ),
        (
            "suspended: a state without a transition",
            "start prompt leave",
            "suspended, turn ended, close: left",
        ),
        // ≠ A new session ends no other one: several go on side by side.
    ]);
}

/// `active`, `inactive`, `indexing`, `indexed`, `failed` of one machine for both; here the first two
/// belong to the conversation, the others to the indexing.
#[test]
fn one_machine_for_both() {
    check(&[
        // ≠ A file without a prompt is a session without messages.
        ("(new) → active: file detected", "start", "initialized (not listed)"),
        ("active → active: file modified", "start prompt +1m tool", "active (turn)"),
        // ≠ Idle after idle_timeout; check_interval is the daemon's concern.
        (
            "active → inactive: not modified",
            "start prompt +30m",
            "idle, turn ended, close: inactivity_timeout",
        ),
        (
            "inactive → active: file modified",
            "start prompt +31m tool",
            "active (turn), resumed after 1860 s",
        ),
        (
            "active → indexing: explicit_close()",
            "start prompt close",
            "ended (asked:task_complete), turn ended, close: asked:task_complete",
        ),
        (
            "inactive → indexing: timeout",
            "start prompt +30m",
            "idle, turn ended, close: inactivity_timeout",
        ),
        (
            "indexed → active: session resumed",
            "start prompt close +1h tool",
            "active (turn), resumed after 3600 s",
        ),
        (
            "/clear → SessionEnd → close",
            "start prompt stop end",
            "ended (agent:other), close: agent:other",
        ),
        // ≠ /compact closed a session; it is a checkpoint.
        ("/compact → close", "start prompt compact", "active (turn)"),
    ]);

    use Indexing::{Failed, Indexed, Running, Unindexed};
    const RUNNING: Indexing = Running { grew: false };
    const GREW: Indexing = Running { grew: true };
    let rows = [
        ("explicit close, query, timeout", Unindexed, Event::Asked, RUNNING, Some(Effect::Index)),
        ("indexing → indexed: success", RUNNING, Event::Succeeded, Indexed, Some(Effect::Replace)),
        ("indexing → failed: error", RUNNING, Event::Failed, Failed, Some(Effect::Retry)),
        ("failed → (retry)", Failed, Event::Asked, RUNNING, Some(Effect::Index)),
        // ≠ Being active belongs to the conversation: the indexing only knows that it is out of date.
        ("indexed → active: file modified", Indexed, Event::Grew, Unindexed, None),
        ("re-index, hash unchanged: skip", Indexed, Event::Asked, Indexed, Some(Effect::Skip)),
        ("modified, hash unchanged: skip", RUNNING, Event::Unchanged, Indexed, Some(Effect::Skip)),
        ("re-index, hash changed: replace", Unindexed, Event::Asked, RUNNING, Some(Effect::Index)),
        // Cases that they leave open.
        ("new content after a failure", Failed, Event::Grew, Unindexed, None),
        ("grew meanwhile", RUNNING, Event::Grew, GREW, None),
        ("grew twice", GREW, Event::Grew, GREW, None),
        ("succeeded, and grew", GREW, Event::Succeeded, Unindexed, Some(Effect::Replace)),
        ("unchanged, and grew", GREW, Event::Unchanged, Unindexed, Some(Effect::Skip)),
        ("failed, and grew", GREW, Event::Failed, Failed, Some(Effect::Retry)),
        ("two ask at once", RUNNING, Event::Asked, RUNNING, None),
        ("the process died", RUNNING, Event::Abandoned, Unindexed, Some(Effect::Retry)),
        ("success of work given up", Unindexed, Event::Succeeded, Unindexed, None),
        ("grew before any index", Unindexed, Event::Grew, Unindexed, None),
    ];
    for (theirs, from, event, to, effect) in rows {
        assert_eq!(from.step(event), (to, effect), "{theirs}");
    }
}

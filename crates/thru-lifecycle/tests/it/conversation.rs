//! Transitions of a conversation, one per row: the story, then the resulting phase and the effects of
//! its last word.

use thru_core::Timestamp;
use thru_lifecycle::conversation::{Event, MessageState, Phase};
use thru_lifecycle::{CloseReason, Conversation, Limits};

use crate::story::play;

fn check(rows: &[(&str, &str)]) {
    for (story, told) in rows {
        assert_eq!(play(story), *told, "{story}");
    }
}

#[test]
fn turns_begin_and_end() {
    check(&[
        ("start", "initialized (not listed)"),
        ("start prompt", "active (turn)"),
        ("start prompt tool", "active (turn)"),
        ("start prompt tool stop", "active, turn ended"),
        ("start prompt stop stop", "active"),
        ("start prompt +1m prompt", "active (turn), turn ended"),
        ("start prompt prompt", "active (turn)"),
        // A subagent that continues in the background is work.
        ("start prompt stop +1m tool", "active (turn)"),
        ("start prompt +1m compact", "active (turn)"),
        ("start prompt stop +1m compact", "active"),
    ]);
}

#[test]
fn time_alone_makes_it_idle_and_ends_it() {
    check(&[
        ("start prompt stop +29m", "active"),
        ("start prompt stop +30m", "idle, close: inactivity_timeout"),
        ("start prompt +30m", "idle, turn ended, close: inactivity_timeout"),
        ("start prompt stop +30m +29m", "idle"),
        ("start prompt stop +30m +30m", "ended (inactivity_timeout)"),
        ("start prompt stop +9h", "ended (inactivity_timeout), close: inactivity_timeout"),
        ("start prompt stop +1h +1d", "ended (inactivity_timeout)"),
        // There are no messages, so there is nothing to index.
        ("start +59m", "initialized (not listed)"),
        ("start +1h", "ended (inactivity_timeout) (not listed)"),
        ("start prompt stop leave +59m", "suspended"),
        ("start prompt stop leave +1h", "ended (inactivity_timeout)"),
    ]);
}

#[test]
fn an_explicit_close_keeps_its_reason_whatever_time_assumed() {
    check(&[
        ("start prompt stop +30m close", "ended (asked:task_complete)"),
        ("start prompt stop +30m +1m close", "ended (asked:task_complete)"),
        ("start prompt stop leave +1m close", "ended (asked:task_complete)"),
        ("start prompt stop +1d +1d close", "ended (asked:task_complete)"),
        // The agent said that it is over.
        ("start prompt stop end +1m close", "ended (agent:other)"),
    ]);
}

#[test]
fn eight_hours_are_enough() {
    let day = "start prompt ".to_owned() + &"+20m tool ".repeat(23);
    check(&[
        (&day, "active (turn)"),
        (
            &format!("{day} +20m"),
            "ended (max_session_duration), turn ended, close: max_session_duration",
        ),
        // Any later event resumes it, and the hours count anew.
        (&format!("{day} +20m tool"), "active (turn), resumed after 1200 s"),
        (&format!("{day} +20m {}", "tool +20m ".repeat(23)), "active (turn)"),
        (&format!("{day} +1m resume +18m tool +2m"), "active (turn)"),
    ]);
}

#[test]
fn it_ends_when_an_end_is_reported() {
    check(&[
        ("start prompt stop end", "ended (agent:other), close: agent:other"),
        ("start prompt end", "ended (agent:other), turn ended, close: agent:other"),
        ("start prompt end end", "ended (agent:other)"),
        (
            "start prompt close",
            "ended (asked:task_complete), turn ended, close: asked:task_complete",
        ),
        ("start prompt close close", "ended (asked:task_complete)"),
        ("start prompt close end", "ended (agent:other)"),
        ("start prompt end close", "ended (agent:other)"),
        ("start prompt stop +30m end", "ended (agent:other)"),
        ("start prompt stop +2h end", "ended (agent:other)"),
        ("start prompt stop +30m close", "ended (asked:task_complete)"),
        ("start end", "ended (agent:other) (not listed)"),
        ("start prompt stop leave", "suspended, close: left"),
        ("start prompt leave", "suspended, turn ended, close: left"),
        ("start prompt leave leave", "suspended"),
        ("start prompt leave end", "ended (agent:other)"),
        ("start prompt leave close", "ended (asked:task_complete)"),
        ("start prompt stop +1h leave", "ended (left)"),
        // Recording began in the middle.
        ("end", "ended (agent:other), turn ended, close: agent:other"),
        ("leave", "suspended, turn ended, close: left"),
        ("stop", "active, turn ended"),
        ("tool", "active (turn)"),
        ("compact", "active"),
        ("resume", "active"),
        ("prompt", "active (turn)"),
    ]);
}

#[test]
fn later_events_resume_it() {
    check(&[
        ("start prompt stop +40m prompt", "active (turn), resumed after 2400 s"),
        ("start prompt stop +40m tool", "active (turn), resumed after 2400 s"),
        ("start prompt stop +40m compact", "active, resumed after 2400 s"),
        ("start prompt stop +40m resume", "active, resumed after 2400 s"),
        ("start prompt stop +40m resume resume", "active"),
        // A command that ran for forty minutes.
        ("start prompt +40m stop", "active, resumed after 2400 s, turn ended"),
        ("start prompt leave +1m prompt", "active (turn), resumed after 60 s"),
        ("start prompt end resume", "active, resumed after 0 s"),
        ("start prompt end start", "active, resumed after 0 s"),
        ("start prompt end prompt", "active (turn), resumed after 0 s"),
        ("start prompt end +1m tool", "active (turn), resumed after 60 s"),
        ("start prompt close +1m stop", "active, resumed after 60 s, turn ended"),
        // The agent was killed and started anew.
        ("start prompt +1m resume", "active, turn ended, resumed after 60 s"),
        ("start prompt +1m start", "active, turn ended, resumed after 60 s"),
        ("start +1m start", "initialized (not listed)"),
        ("start end start", "initialized (not listed)"),
        ("start end resume", "active"),
        // Resumed and not used: nothing new. Used: a close of its own.
        ("start prompt end resume +30m", "idle"),
        ("start prompt end resume end", "ended (agent:other)"),
        (
            "start prompt end resume prompt end",
            "ended (agent:other), turn ended, close: agent:other",
        ),
    ]);
}

#[test]
fn echoes_of_an_end_do_not_resume_it() {
    check(&[
        ("start prompt end +1ms stop", "ended (agent:other)"),
        ("start prompt end +5s tool", "ended (agent:other)"),
        ("start prompt end +6s tool", "active (turn), resumed after 6 s"),
        ("start prompt +1m end -1ms stop", "ended (agent:other)"),
        ("start prompt close +1s tool", "ended (asked:task_complete)"),
        ("start prompt leave +1ms stop", "suspended"),
        ("start prompt +2h end +1ms stop", "ended (agent:other)"),
        // An end caused by time only has no echo.
        ("start prompt +1h stop", "active, resumed after 3600 s, turn ended"),
    ]);
}

#[test]
fn clocks_jump() {
    check(&[
        ("start prompt +1d", "ended (inactivity_timeout), turn ended, close: inactivity_timeout"),
        ("start prompt +1d -1d tool", "active (turn), resumed after 0 s"),
        ("start prompt -1d", "active (turn)"),
        ("start prompt -1d prompt", "active (turn), turn ended"),
        ("start prompt -1d tool +30m", "idle, turn ended, close: inactivity_timeout"),
        ("start prompt end -1d stop", "active, resumed after 0 s, turn ended"),
        // A little back is out of order only.
        ("start prompt +4m tool -4m stop +30m", "active"),
        ("start prompt +4m tool -4m stop +34m", "idle, close: inactivity_timeout"),
    ]);
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let wrong_day = [
        (Event::Started, at("2031-01-01T00:00:00Z")),
        (Event::Prompt, at("2031-01-01T00:00:01Z")),
        (Event::Stopped, at("2026-08-20T09:00:00Z")),
    ];
    let known = Conversation::fold(wrong_day, &Limits::default()).unwrap();
    assert_eq!(known.started(), at("2026-08-20T09:00:00Z"));
    assert_eq!((known.since(), known.last()), (known.started(), known.started()));
}

#[test]
fn the_ends_of_time_are_survived() {
    let longest = std::time::Duration::MAX;
    let endless =
        Limits { inactivity_timeout: longest, idle_timeout: longest, max_duration: longest };
    for limits in [Limits::default(), endless] {
        for (first, second) in [(Timestamp::MIN, Timestamp::MAX), (Timestamp::MAX, Timestamp::MIN)]
        {
            let events = [(Event::Prompt, first), (Event::Stopped, second)];
            let known = Conversation::fold(events, &limits).unwrap();
            assert_eq!(*known.phase(), Phase::Active { turn: None });
            known.at(Timestamp::MAX, &limits);
        }
    }
}

#[test]
fn shortened_limits_end_nothing_before_its_last_activity() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let (started, last) = (at("2026-08-20T09:00:00Z"), at("2026-08-20T09:20:00Z"));
    let events = [(Event::Prompt, started), (Event::Activity, last)];
    let known = Conversation::fold(events, &Limits::default()).unwrap();
    let shorter = Limits { max_duration: std::time::Duration::from_secs(60), ..Limits::default() };
    assert_eq!(known.due(&shorter), Some(last));
    assert_eq!(known.clone().at(at("2026-08-20T09:19:59Z"), &shorter).conversation, known);
    assert_eq!(known.at(last, &shorter).conversation.ended().unwrap().at, last);
}

#[test]
fn a_record_tells_of_a_conversation() {
    let (started, last): (Timestamp, Timestamp) =
        ("2026-08-19T09:00:00Z".parse().unwrap(), "2026-08-20T09:00:00Z".parse().unwrap());
    let limits = Limits::default();
    let known = Conversation::from_record(started, last, 3, &limits);
    assert_eq!((known.started(), known.last()), (started, last));
    assert_eq!(known.phase().as_str(), "active");
    let over = known.at("2026-08-21T09:00:00Z".parse().unwrap(), &limits).conversation;
    let close = over.ended().unwrap();
    assert_eq!(close.reason, CloseReason::Inactivity);
    assert_eq!(close.at, "2026-08-20T10:00:00Z".parse().unwrap());

    let empty = Conversation::from_record(started, last, 0, &limits);
    assert_eq!((empty.phase(), empty.messages()), (&Phase::Initialized, &MessageState::Nothing));
    assert_eq!(Conversation::fold([], &limits), None);
}

#[test]
fn stored_conversations_are_small_and_stay_readable() {
    let at: Timestamp = "2026-08-20T09:00:00.001Z".parse().unwrap();
    let events = [(Event::Prompt, at), (Event::Ended("clear".into()), at)];
    let known = Conversation::fold(events, &Limits::default()).unwrap();
    let stored = concat!(
        r#"{"phase":{"ended":{"at":"2026-08-20T09:00:00.001Z","reason":"agent:clear"}},"#,
        r#""said":{"closed":{"at":"2026-08-20T09:00:00.001Z","reason":"agent:clear"}},"#,
        r#""started":"2026-08-20T09:00:00.001Z","since":"2026-08-20T09:00:00.001Z","#,
        r#""last":"2026-08-20T09:00:00.001Z"}"#
    );
    assert_eq!(serde_json::to_string(&known).unwrap(), stored);
    assert_eq!(serde_json::from_str::<Conversation>(stored).unwrap(), known);
}

//! A conversation described in words, for readable tables.

use std::time::Duration;

use thru_core::Timestamp;
use thru_lifecycle::conversation::{Effect, Event, MessageState};
use thru_lifecycle::{Conversation, Limits};

/// Plays a story and returns the resulting phase and the effects of the last word.
///
/// `+30m`, `-1d`, `+1ms` let time pass (a tick if it is forward); the other words are events.
pub(crate) fn play(story: &str) -> String {
    let mut now: Timestamp = "2026-08-20T09:00:00Z".parse().unwrap();
    let (mut known, mut effects) = (None::<Conversation>, Vec::new());
    let limits = Limits::default();
    for word in story.split_whitespace() {
        let step = if let Some(duration) = word.strip_prefix('+') {
            now = now.checked_add(read(duration)).unwrap();
            known.map(|conversation| conversation.at(now, &limits))
        } else if let Some(duration) = word.strip_prefix('-') {
            now = now.checked_sub(read(duration)).unwrap();
            known.map(|conversation| conversation.at(now, &limits))
        } else {
            Some(Conversation::apply(known, event(word), now, &limits))
        };
        (known, effects) =
            step.map_or((None, Vec::new()), |step| (Some(step.conversation), step.effects));
    }
    tell(&known.unwrap(), &effects)
}

fn event(word: &str) -> Event {
    match word {
        "start" => Event::Started,
        "resume" => Event::Resumed,
        "prompt" => Event::Prompt,
        "tool" => Event::Activity,
        "compact" => Event::Checkpoint,
        "stop" => Event::Stopped,
        "leave" => Event::Left,
        "end" => Event::Ended("other".into()),
        "close" => Event::Closed("task_complete".into()),
        _ => panic!("no such event: {word}"),
    }
}

fn read(duration: &str) -> Duration {
    let digits = duration.trim_end_matches(char::is_alphabetic);
    let number: u64 = digits.parse().unwrap();
    match &duration[digits.len()..] {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(60 * number),
        "h" => Duration::from_secs(60 * 60 * number),
        "d" => Duration::from_secs(24 * 60 * 60 * number),
        unit => panic!("no such unit: {unit}"),
    }
}

fn tell(conversation: &Conversation, effects: &[Effect]) -> String {
    let mut told = conversation.phase().as_str().to_owned();
    if conversation.turn().is_some() {
        told += " (turn)";
    }
    if let Some(close) = conversation.ended() {
        told += &format!(" ({})", close.reason);
    }
    if *conversation.messages() == MessageState::Nothing {
        told += " (not listed)";
    }
    for effect in effects {
        told += &match effect {
            Effect::TurnEnded => ", turn ended".to_owned(),
            Effect::Resumed { idle_for } => {
                format!(", resumed after {} s", idle_for.as_secs())
            }
            Effect::CloseDue(close) => format!(", close: {}", close.reason),
        };
    }
    told
}

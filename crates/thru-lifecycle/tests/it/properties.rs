//! Random sequences of events, with repetitions, clocks that jump and restarts in between.

use std::time::Duration;

use proptest::prelude::*;
use thru_core::Timestamp;
use thru_lifecycle::conversation::{Effect, Event, MessageState, Phase, Step};
use thru_lifecycle::{Conversation, Limits};

const DAY: i64 = 24 * 60 * 60;

/// An event, or a tick, some seconds after the one before.
#[derive(Clone, Debug)]
struct Happening {
    event: Option<Event>,
    later: i64,
}

fn any_event() -> impl Strategy<Value = Event> {
    prop::sample::select(vec![
        Event::Started,
        Event::Resumed,
        Event::Prompt,
        Event::Activity,
        Event::Checkpoint,
        Event::Stopped,
        Event::Left,
        Event::Ended("other".into()),
        Event::Closed("done".into()),
    ])
}

fn any_story() -> impl Strategy<Value = Vec<Happening>> {
    let later = prop_oneof![
        3 => 0..=3i64,
        4 => 0..=600i64,
        3 => 0..=3 * 60 * 60i64,
        1 => -400..=0i64,
        1 => -DAY..=DAY,
    ];
    let happening = (prop::option::weighted(0.8, any_event()), later)
        .prop_map(|(event, later)| Happening { event, later });
    prop::collection::vec(happening, 1..60)
}

fn any_limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        2 => Just(Limits::default()),
        1 => (1..7200u64, 1..7200u64, 1..40_000u64).prop_map(|(inactivity, idle, longest)| Limits {
            inactivity_timeout: Duration::from_secs(inactivity),
            idle_timeout: Duration::from_secs(idle),
            max_duration: Duration::from_secs(longest),
        }),
    ]
}

fn later(now: Timestamp, seconds: i64) -> Timestamp {
    Timestamp::from_second(now.as_second() + seconds).unwrap()
}

fn start() -> Timestamp {
    "2026-08-20T09:00:00Z".parse().unwrap()
}

/// Plays a story and calls `each` with every step and its time. Ticks before the first event have no
/// effect.
fn play(story: &[Happening], limits: &Limits, mut each: impl FnMut(&Happening, Timestamp, &Step)) {
    let (mut now, mut known) = (start(), None);
    for happening in story {
        now = later(now, happening.later);
        let step = match (&happening.event, known.take()) {
            (Some(event), known) => Conversation::apply(known, event.clone(), now, limits),
            (None, Some(known)) => Conversation::at(known, now, limits),
            (None, None) => continue,
        };
        each(happening, now, &step);
        known = Some(step.conversation);
    }
}

fn last_of(story: &[Happening], limits: &Limits) -> Option<(Conversation, Timestamp)> {
    let mut last = None;
    play(story, limits, |_, now, step| last = Some((step.conversation.clone(), now)));
    last
}

/// Checks the invariants of every reachable state.
fn check(conversation: &Conversation) {
    assert!(conversation.started() <= conversation.since());
    assert!(conversation.since() <= conversation.last());
    if let Some(turn) = conversation.turn() {
        assert!(conversation.since() <= turn && turn <= conversation.last());
    }
    let said = conversation.messages();
    match conversation.phase() {
        Phase::Initialized => assert_eq!(*said, MessageState::Nothing),
        Phase::Active { .. } | Phase::Idle => assert_ne!(*said, MessageState::Nothing),
        Phase::Suspended => assert_ne!(*said, MessageState::New),
        Phase::Ended(close) => {
            assert_ne!(*said, MessageState::New);
            assert!(conversation.last() <= close.at);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_state_contradicts_itself(story in any_story(), limits in any_limits()) {
        play(&story, &limits, |_, _, step| check(&step.conversation));
    }

    #[test]
    fn a_restart_changes_nothing(story in any_story(), limits in any_limits()) {
        play(&story, &limits, |_, _, step| {
            let stored = serde_json::to_string(&step.conversation).unwrap();
            assert!(stored.len() < 500, "{stored}");
            assert_eq!(serde_json::from_str::<Conversation>(&stored).unwrap(), step.conversation);
        });
    }

    #[test]
    fn a_repetition_says_nothing_new(
        story in any_story(),
        limits in any_limits(),
        event in any_event(),
        seconds in -DAY..DAY,
    ) {
        let (known, now) = last_of(&story, &limits).unzip();
        let at = later(now.unwrap_or_else(start), seconds);
        let once = Conversation::apply(known, event.clone(), at, &limits).conversation;
        let twice = Conversation::apply(Some(once.clone()), event, at, &limits);
        prop_assert_eq!(twice.effects, []);
        prop_assert_eq!(twice.conversation, once);
    }

    /// Compares the machine with a flag: true if there were messages since the last close.
    #[test]
    fn one_close_for_each_period_of_activity(story in any_story(), limits in any_limits()) {
        let mut is_new = false;
        let mut is_first = true;
        let mut count = |happening: Option<&Happening>, step: &Step| {
            let mut closes = step.effects.iter().filter(|effect| matches!(effect, Effect::CloseDue(_)));
            // An end that is the first known event was preceded by others.
            if let Some(Effect::CloseDue(close)) = closes.next() {
                assert!(is_new || is_first, "closed twice");
                is_new = false;
                assert!(matches!(step.conversation.messages(), MessageState::Closed(c) if c == close)
                    || *step.conversation.messages() == MessageState::New);
            }
            assert_eq!(closes.next(), None);
            let now_new = *step.conversation.messages() == MessageState::New;
            if now_new && !is_new {
                let event = happening.and_then(|happening| happening.event.as_ref());
                assert!(event.is_some_and(|event| !matches!(
                    event,
                    Event::Started | Event::Left | Event::Ended(_) | Event::Closed(_)
                )));
            }
            assert!(now_new || !is_new, "what is new was covered without a close");
            is_new = now_new;
            is_first = false;
        };
        play(&story, &limits, |happening, _, step| count(Some(happening), step));
        if let Some(known) = last_of(&story, &limits) {
            let over = known.0.at(later(known.1, 400 * DAY), &limits);
            count(None, &over);
            prop_assert!(over.conversation.ended().is_some());
        }
    }

    #[test]
    fn a_prompt_always_leads_to_a_turn(story in any_story(), limits in any_limits(), seconds in -DAY..DAY) {
        let (known, now) = last_of(&story, &limits).unzip();
        let at = later(now.unwrap_or_else(start), seconds);
        let step = Conversation::apply(known, Event::Prompt, at, &limits);
        prop_assert!(step.conversation.turn().is_some());
        prop_assert!(step.conversation.is_listed());
    }

    #[test]
    fn ticks_add_up(
        story in any_story(),
        limits in any_limits(),
        seconds in prop::collection::vec(-100..DAY, 1..5),
    ) {
        let Some((known, now)) = last_of(&story, &limits) else { return Ok(()) };
        let mut times: Vec<_> = seconds.into_iter().map(|seconds| later(now, seconds)).collect();
        times.sort_unstable();
        let at_once = known.clone().at(*times.last().unwrap(), &limits);
        let (mut known, mut effects) = (known, Vec::new());
        for now in times {
            let early = known.clone().at(later(known.last(), -1), &limits);
            prop_assert_eq!(&early.conversation, &known);
            // Nothing happens before it is due, something does when it is.
            if let Some(due) = known.due(&limits) {
                prop_assert_eq!(&known.clone().at(later(due, -1), &limits).conversation, &known);
                prop_assert_ne!(&known.clone().at(due, &limits).conversation, &known);
            }
            let step = known.at(now, &limits);
            effects.extend(step.effects);
            known = step.conversation;
            prop_assert_eq!(&known.clone().at(now, &limits).conversation, &known);
        }
        prop_assert_eq!(known, at_once.conversation);
        prop_assert_eq!(effects, at_once.effects);
    }

    #[test]
    fn compactions_and_stops_end_nothing(story in any_story(), limits in any_limits()) {
        let Some((known, now)) = last_of(&story, &limits) else { return Ok(()) };
        let before = known.at(now, &limits).conversation;
        for event in [Event::Checkpoint, Event::Stopped] {
            let step = Conversation::apply(Some(before.clone()), event, now, &limits);
            prop_assert!(!step.effects.iter().any(|effect| matches!(effect, Effect::CloseDue(_))));
            prop_assert!(step.conversation.ended().is_none() || before.ended().is_some());
        }
    }
}

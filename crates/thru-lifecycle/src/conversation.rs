//! The conversation: from its first event, over turns and pauses, to its end.
//!
//! ```text
//!              prompt             idle_timeout            2 × idle_timeout
//! initialized ───────▶ active ──────────────────▶ idle ────────────────────▶ ended
//!                       ▲  │ left                                              │
//!                       │  └──────────▶ suspended ──▶ (as idle)                │
//!                       └────────────── any event but the echo of an end ◀─────┘
//! ```
//!
//! Every phase ends at once when the agent says so or somebody asks for it, and after `max_duration`
//! since the last start or resume. Apart from the phase a conversation knows what was said since it was
//! last closed ([`Said`]): only that makes a close due, and each close covers it, so that there is one
//! [`Effect::CloseDue`] for each period of activity, however many events and ticks tell of its end.
//!
//! **Clocks jump.** An event that lies up to five minutes back counts as of the latest activity: hooks
//! are processes of their own and may be recorded in another order than they ran. One that lies farther
//! back is believed, and the times before it move with it. A tick never moves anything back.
//!
//! **Echoes.** Hooks that ran before an end may be recorded after it. Within five seconds of an end that
//! somebody told, the end of a turn, a tool use or a compaction does not wake the conversation.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thru_core::Timestamp;

use crate::{Close, CloseReason};

/// How far apart times may lie that right clocks tell, in whatever order: what lies farther back, a clock
/// that was set back told; what lies farther ahead, one that runs ahead.
pub const CLOCKS_DIFFER: Duration = Duration::from_mins(5);
/// How long after an end the events before it may still come in.
const ECHO: Duration = Duration::from_secs(5);

/// How long a conversation may be silent, and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After how long without an event it is closed, that is, indexed.
    pub inactivity_timeout: Duration,
    /// After how long without an event it is idle; after twice that it has ended.
    pub idle_timeout: Duration,
    /// How long after its last start or resume it has ended.
    pub max_duration: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            inactivity_timeout: Duration::from_secs(30 * 60),
            idle_timeout: Duration::from_secs(30 * 60),
            max_duration: Duration::from_secs(8 * 60 * 60),
        }
    }
}

/// What happens to a conversation. What is said to the user meanwhile (notifications) is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It starts.
    Started,
    /// The agent says that it goes on with it.
    Resumed,
    /// A prompt.
    Prompt,
    /// Work: a tool ran, a subagent finished.
    Activity,
    /// The context is compacted: a checkpoint, never an end.
    Checkpoint,
    /// A turn ends. Never the end of the conversation.
    Stopped,
    /// The person switches to another session.
    Left,
    /// The agent says that it ends, with its reason.
    Ended(String),
    /// A person or an agent asks to close it, with a reason.
    Closed(String),
}

impl Event {
    /// Whether it may be the echo of what ran before an end.
    const fn may_be_echo(&self) -> bool {
        matches!(self, Self::Activity | Self::Checkpoint | Self::Stopped)
    }
}

/// Where a conversation stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It started, and nothing was said yet.
    Initialized,
    /// It goes on.
    Active {
        /// Since when the agent works, where a turn is under way.
        turn: Option<Timestamp>,
    },
    /// Nothing happened for a while.
    Idle,
    /// It was left for another session.
    Suspended,
    /// It is over, until something happens in it again.
    Ended(Close),
}

impl Phase {
    /// The name shown to people and programs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::Active { .. } => "active",
            Self::Idle => "idle",
            Self::Suspended => "suspended",
            Self::Ended(_) => "ended",
        }
    }
}

/// What was said, as far as closes are concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// Nothing at all: such a session is not listed.
    Nothing,
    /// Something since the last close, if there was one.
    New,
    /// Nothing since this close.
    Closed(Close),
}

/// What is to be done because of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A turn is over: it can be distilled.
    TurnEnded,
    /// The conversation goes on after a pause.
    Resumed {
        /// How long nothing had happened.
        idle_for: Duration,
    },
    /// Index it now.
    CloseDue(Close),
}

/// A conversation after an event or after time passed, and what is to be done because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is now.
    pub conversation: Conversation,
    /// In the order in which they came about.
    pub effects: Vec<Effect>,
}

/// The state of one conversation. `started` ≤ `since` ≤ `last`, whatever clocks do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Conversation {
    phase: Phase,
    said: Said,
    started: Timestamp,
    since: Timestamp,
    last: Timestamp,
}

/// What time alone does.
enum Passing {
    Idle,
    Close,
    End(CloseReason),
}

impl Conversation {
    /// What an event makes of a conversation, or of nothing where it is the first that is known of it.
    /// Whatever time did before the event comes first.
    pub fn apply(known: Option<Self>, event: Event, at: Timestamp, limits: &Limits) -> Step {
        let mut step = match known {
            Some(conversation) => conversation.at(at, limits),
            None => Step { conversation: Self::before(&event, at), effects: Vec::new() },
        };
        step.take(event, at);
        step
    }

    /// What time alone makes of it until `now`.
    pub fn at(self, now: Timestamp, limits: &Limits) -> Step {
        let mut step = Step { conversation: self, effects: Vec::new() };
        while let Some((at, passing)) = step.conversation.next(limits)
            && at <= now
        {
            step.pass(passing, at);
        }
        step
    }

    /// When time alone changes something next; never for one that ended.
    pub fn due(&self, limits: &Limits) -> Option<Timestamp> {
        self.next(limits).map(|(at, _)| at)
    }

    /// What a row of events makes of a conversation; nothing without any.
    pub fn fold(
        events: impl IntoIterator<Item = (Event, Timestamp)>,
        limits: &Limits,
    ) -> Option<Self> {
        events.into_iter().fold(None, |known, (event, at)| {
            Some(Self::apply(known, event, at, limits).conversation)
        })
    }

    /// A conversation that only its transcript tells of, as of its last record.
    pub fn from_record(started: Timestamp, last: Timestamp, turns: u64, limits: &Limits) -> Self {
        let known = Self::before(&Event::Started, started.min(last));
        let event = if turns == 0 { Event::Started } else { Event::Activity };
        Self::apply(Some(known), event, last, limits).conversation
    }

    /// Where it stands.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// What was said since it was last closed.
    pub const fn said(&self) -> &Said {
        &self.said
    }

    /// When its first event was.
    pub const fn started(&self) -> Timestamp {
        self.started
    }

    /// When it last started or was resumed.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// When something last happened in it.
    pub const fn last(&self) -> Timestamp {
        self.last
    }

    /// Since when the agent works, where a turn is under way.
    pub const fn turn(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Active { turn } => turn,
            _ => None,
        }
    }

    /// When and why it ended.
    pub const fn ended(&self) -> Option<&Close> {
        match &self.phase {
            Phase::Ended(close) => Some(close),
            _ => None,
        }
    }

    /// Why it may be indexed as it is: it was closed, it ended, or somebody left it. Nothing while it goes on.
    pub fn left(&self) -> Option<CloseReason> {
        match (&self.said, &self.phase) {
            (Said::Closed(close), _) | (Said::New, Phase::Ended(close)) => {
                Some(close.reason.clone())
            }
            (Said::New, Phase::Suspended) => Some(CloseReason::Left),
            (Said::New, Phase::Idle) => Some(CloseReason::Inactivity),
            (Said::New, Phase::Initialized | Phase::Active { .. }) | (Said::Nothing, _) => None,
        }
    }

    /// Whether anything was said in it, so that it is worth showing.
    pub const fn is_listed(&self) -> bool {
        !matches!(self.said, Said::Nothing)
    }

    const fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Active { .. })
    }

    /// What there was before the first event that is known. An end has something before it: we came
    /// in the middle of the conversation.
    const fn before(event: &Event, at: Timestamp) -> Self {
        let (phase, said) = match event {
            Event::Left | Event::Ended(_) | Event::Closed(_) => {
                (Phase::Active { turn: Some(at) }, Said::New)
            }
            _ => (Phase::Initialized, Said::Nothing),
        };
        Self { phase, said, started: at, since: at, last: at }
    }

    /// What time alone does next, and when. Of several at one time, the first in this list.
    fn next(&self, limits: &Limits) -> Option<(Timestamp, Passing)> {
        if self.ended().is_some() {
            return None;
        }
        let silent = |duration| after(self.last, duration);
        let idle = self.is_active().then(|| (silent(limits.idle_timeout), Passing::Idle));
        let close =
            (self.said == Said::New).then(|| (silent(limits.inactivity_timeout), Passing::Close));
        let end =
            (silent(limits.idle_timeout.saturating_mul(2)), Passing::End(CloseReason::Inactivity));
        // Shortened limits must not end it before its last activity.
        let longest = (
            after(self.since, limits.max_duration).max(self.last),
            Passing::End(CloseReason::MaxDuration),
        );
        [idle, close, Some(end), Some(longest)].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// Whether an event is the echo of what ran before the end that was told at about that time.
    fn is_echo(&self, event: &Event, at: Timestamp) -> bool {
        let told = match &self.phase {
            Phase::Suspended => self.last,
            Phase::Ended(close) if !close.reason.is_timeout() => close.at,
            _ => return false,
        };
        event.may_be_echo() && at.duration_since(told).unsigned_abs() <= ECHO
    }

    /// Notes that something happened, on a clock that may have been set back.
    fn touch(&mut self, at: Timestamp) {
        self.last = at;
        self.since = self.since.min(at);
        self.started = self.started.min(at);
        if let Phase::Active { turn: Some(turn) } = &mut self.phase {
            *turn = at.min(*turn);
        }
    }
}

impl Step {
    fn pass(&mut self, passing: Passing, at: Timestamp) {
        match passing {
            Passing::Idle => {
                self.end_turn();
                self.conversation.phase = Phase::Idle;
            }
            Passing::Close => self.close(Close { at, reason: CloseReason::Inactivity }),
            Passing::End(reason) => self.end(Close { at, reason }),
        }
    }

    fn take(&mut self, event: Event, at: Timestamp) {
        let last = self.conversation.last;
        let back = last.duration_since(at);
        let at = if back.is_positive() && back.unsigned_abs() <= CLOCKS_DIFFER { last } else { at };
        if self.conversation.is_echo(&event, at) {
            return;
        }
        if let Event::Closed(reason) = event {
            // Whoever closes a session from outside says nothing in it.
            if self.conversation.ended().is_none() {
                self.end(Close { at: at.max(last), reason: CloseReason::Asked(reason) });
            }
            return;
        }
        if event == Event::Prompt && self.conversation.turn() == Some(at) {
            // The same prompt, told twice.
            return;
        }
        let idle_for = between(last, at);
        self.conversation.touch(at);
        match event {
            Event::Started if !self.conversation.is_listed() => {
                self.conversation.phase = Phase::Initialized;
                self.conversation.since = at;
            }
            Event::Started | Event::Resumed => {
                self.end_turn();
                if self.conversation.is_active() && idle_for > Duration::ZERO {
                    self.effects.push(Effect::Resumed { idle_for });
                }
                self.wake(at, idle_for);
                self.conversation.since = at;
            }
            Event::Prompt => {
                self.end_turn();
                self.wake(at, idle_for);
                self.work(at);
            }
            Event::Activity => {
                self.wake(at, idle_for);
                self.work(at);
            }
            Event::Checkpoint => self.wake(at, idle_for),
            Event::Stopped => {
                // A turn that was taken for over, or that nobody told of, ends here.
                if !self.conversation.is_active() {
                    self.wake(at, idle_for);
                    self.work(at);
                }
                self.conversation.said = Said::New;
                self.end_turn();
            }
            Event::Left if self.conversation.ended().is_none() => {
                self.end_turn();
                self.close(Close { at, reason: CloseReason::Left });
                self.conversation.phase = Phase::Suspended;
            }
            Event::Left => self.end(Close { at, reason: CloseReason::Left }),
            Event::Ended(reason) => self.end(Close { at, reason: CloseReason::Agent(reason) }),
            Event::Closed(_) => {}
        }
    }

    /// Makes it active, as a resumed one where it was away.
    fn wake(&mut self, at: Timestamp, idle_for: Duration) {
        let conversation = &mut self.conversation;
        if conversation.is_active() {
            return;
        }
        if conversation.phase != Phase::Initialized {
            conversation.since = at;
            if conversation.is_listed() {
                self.effects.push(Effect::Resumed { idle_for });
            }
        }
        if conversation.said == Said::Nothing {
            conversation.said = Said::New;
        }
        conversation.phase = Phase::Active { turn: None };
    }

    /// Notes that the agent works: there is a turn, and something new.
    fn work(&mut self, at: Timestamp) {
        if let Phase::Active { turn } = &mut self.conversation.phase {
            turn.get_or_insert(at);
        }
        self.conversation.said = Said::New;
    }

    fn end_turn(&mut self) {
        if let Phase::Active { turn } = &mut self.conversation.phase
            && turn.take().is_some()
        {
            self.effects.push(Effect::TurnEnded);
        }
    }

    fn end(&mut self, close: Close) {
        self.end_turn();
        self.close(close.clone());
        self.conversation.phase = Phase::Ended(close);
    }

    /// Covers what is new with a close. Nothing new, no close.
    fn close(&mut self, close: Close) {
        if self.conversation.said == Said::New {
            self.effects.push(Effect::CloseDue(close.clone()));
            self.conversation.said = Said::Closed(close);
        }
    }
}

/// The time `duration` later, or the end of time.
fn after(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// How long it is from one time to another; nothing where the clock was set back.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

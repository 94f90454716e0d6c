//! The conversation: from its first event, through turns and pauses, to its end.
//!
//! ```text
//!              prompt             idle_timeout            2 × idle_timeout
//! initialized ───────▶ active ──────────────────▶ idle ────────────────────▶ ended
//!                       ▲  │ left                                              │
//!                       │  └──────────▶ suspended ──▶ (as idle)                │
//!                       └────────────── any event but the echo of an end ◀─────┘
//! ```
//!
//! Every phase ends at once when the agent reports an end or a close is requested, and after `max_duration`
//! since the last start or resume. Besides the phase a conversation tracks whether there were messages since
//! the last close ([`MessageState`]): only they make a close due, and each close covers them, so that there is one
//! [`Effect::CloseDue`] for each period of activity, however many events and ticks report its end.
//!
//! **Clocks jump.** An event that is up to five minutes back is moved to the latest activity: hooks are
//! processes of their own and may be recorded in another order than they ran. One that is farther back is
//! believed, and the times before it move with it. A tick never moves anything back.
//!
//! **Echoes.** Hooks that ran before an end may be recorded after it. Within five seconds of a reported
//! end, the end of a turn, a tool use or a compaction does not resume the conversation.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thru_core::Timestamp;

use crate::{Close, CloseReason};

/// The maximum difference between correct clocks, in either direction: an earlier time means a clock
/// that was set back; a later one, a clock that runs ahead.
pub const CLOCKS_DIFFER: Duration = Duration::from_mins(5);
/// The time after an end during which events from before it may still arrive.
const ECHO: Duration = Duration::from_secs(5);

/// The limits for the silence and the duration of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time without an event after which it is closed, that is, indexed.
    pub inactivity_timeout: Duration,
    /// The time without an event after which it is idle; after twice that it has ended.
    pub idle_timeout: Duration,
    /// The time after its last start or resume at which it ends.
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

/// An event of a conversation. Notifications to the user are not events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It starts.
    Started,
    /// The agent reports that it was resumed.
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
    /// The agent reports its end, with a reason.
    Ended(String),
    /// A person or an agent requests to close it, with a reason.
    Closed(String),
}

impl Event {
    /// True if it may be the echo of work from before an end.
    const fn may_be_echo(&self) -> bool {
        matches!(self, Self::Activity | Self::Checkpoint | Self::Stopped)
    }
}

/// The phase of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It started, and no prompt was given yet.
    Initialized,
    /// It is in progress.
    Active {
        /// The start of the turn in progress, if there is one.
        turn: Option<Timestamp>,
    },
    /// There was no activity for a while.
    Idle,
    /// The person switched to another session.
    Suspended,
    /// It is over, unless another event resumes it.
    Ended(Close),
}

impl Phase {
    /// Returns the name shown to people and programs.
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

/// The messages since the last close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageState {
    /// None at all: such a session is not listed.
    Nothing,
    /// Some since the last close, if there was one.
    New,
    /// None since this close.
    Closed(Close),
}

/// The work that a step makes necessary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A turn is over: it can be distilled.
    TurnEnded,
    /// The conversation continues after a pause.
    Resumed {
        /// The duration of the pause.
        idle_for: Duration,
    },
    /// Index it now.
    CloseDue(Close),
}

/// A conversation after an event or the passage of time, and the resulting work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The new state.
    pub conversation: Conversation,
    /// The effects in the order in which they occurred.
    pub effects: Vec<Effect>,
}

/// The state of one conversation. `started` ≤ `since` ≤ `last`, whatever clocks do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Conversation {
    phase: Phase,
    #[serde(rename = "said")]
    messages: MessageState,
    started: Timestamp,
    since: Timestamp,
    last: Timestamp,
}

/// A transition caused by the passage of time.
enum Passing {
    Idle,
    Close,
    End(CloseReason),
}

impl Conversation {
    /// Applies an event to a conversation, or to none if it is the first known event. The passage of
    /// time before the event is applied first.
    pub fn apply(known: Option<Self>, event: Event, at: Timestamp, limits: &Limits) -> Step {
        let mut step = match known {
            Some(conversation) => conversation.at(at, limits),
            None => Step { conversation: Self::before(&event, at), effects: Vec::new() },
        };
        step.take(event, at);
        step
    }

    /// Applies the passage of time until `now`.
    pub fn at(self, now: Timestamp, limits: &Limits) -> Step {
        let mut step = Step { conversation: self, effects: Vec::new() };
        while let Some((at, passing)) = step.conversation.next(limits)
            && at <= now
        {
            step.pass(passing, at);
        }
        step
    }

    /// Returns the time of the next transition without an event; `None` for one that ended.
    pub fn due(&self, limits: &Limits) -> Option<Timestamp> {
        self.next(limits).map(|(at, _)| at)
    }

    /// Applies a sequence of events; returns `None` if there are none.
    pub fn fold(
        events: impl IntoIterator<Item = (Event, Timestamp)>,
        limits: &Limits,
    ) -> Option<Self> {
        events.into_iter().fold(None, |known, (event, at)| {
            Some(Self::apply(known, event, at, limits).conversation)
        })
    }

    /// Returns the conversation known only from a transcript, as of its last record.
    pub fn from_record(started: Timestamp, last: Timestamp, turns: u64, limits: &Limits) -> Self {
        let known = Self::before(&Event::Started, started.min(last));
        let event = if turns == 0 { Event::Started } else { Event::Activity };
        Self::apply(Some(known), event, last, limits).conversation
    }

    /// Returns its phase.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Returns the state of its messages since the last close.
    pub const fn messages(&self) -> &MessageState {
        &self.messages
    }

    /// Returns the time of its first event.
    pub const fn started(&self) -> Timestamp {
        self.started
    }

    /// Returns the time of its last start or resume.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns the time of its last activity.
    pub const fn last(&self) -> Timestamp {
        self.last
    }

    /// Returns the start of the turn in progress, if there is one.
    pub const fn turn(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Active { turn } => turn,
            _ => None,
        }
    }

    /// Returns the time and reason of its end.
    pub const fn ended(&self) -> Option<&Close> {
        match &self.phase {
            Phase::Ended(close) => Some(close),
            _ => None,
        }
    }

    /// Returns the reason why it may be indexed as it is: it was closed, it ended, or the person left
    /// it. `None` while it goes on.
    pub fn left(&self) -> Option<CloseReason> {
        match (&self.messages, &self.phase) {
            (MessageState::Closed(close), _) | (MessageState::New, Phase::Ended(close)) => {
                Some(close.reason.clone())
            }
            (MessageState::New, Phase::Suspended) => Some(CloseReason::Left),
            (MessageState::New, Phase::Idle) => Some(CloseReason::Inactivity),
            (MessageState::New, Phase::Initialized | Phase::Active { .. })
            | (MessageState::Nothing, _) => None,
        }
    }

    /// True if it has any messages, so that it is worth listing.
    pub const fn is_listed(&self) -> bool {
        !matches!(self.messages, MessageState::Nothing)
    }

    const fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Active { .. })
    }

    /// Returns the assumed state before the first known event. An end was preceded by other events:
    /// recording began in the middle of the conversation.
    const fn before(event: &Event, at: Timestamp) -> Self {
        let (phase, messages) = match event {
            Event::Left | Event::Ended(_) | Event::Closed(_) => {
                (Phase::Active { turn: Some(at) }, MessageState::New)
            }
            _ => (Phase::Initialized, MessageState::Nothing),
        };
        Self { phase, messages, started: at, since: at, last: at }
    }

    /// Returns the next transition caused by time, and its time. Of several at one time, the first in
    /// this list.
    fn next(&self, limits: &Limits) -> Option<(Timestamp, Passing)> {
        if self.ended().is_some() {
            return None;
        }
        let silent = |duration| after(self.last, duration);
        let idle = self.is_active().then(|| (silent(limits.idle_timeout), Passing::Idle));
        let close = (self.messages == MessageState::New)
            .then(|| (silent(limits.inactivity_timeout), Passing::Close));
        let end =
            (silent(limits.idle_timeout.saturating_mul(2)), Passing::End(CloseReason::Inactivity));
        // Shortened limits must not end it before its last activity.
        let longest = (
            after(self.since, limits.max_duration).max(self.last),
            Passing::End(CloseReason::MaxDuration),
        );
        [idle, close, Some(end), Some(longest)].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// True if an event is the echo of work from before an end reported at about that time.
    fn is_echo(&self, event: &Event, at: Timestamp) -> bool {
        let told = match &self.phase {
            Phase::Suspended => self.last,
            Phase::Ended(close) if !close.reason.is_timeout() => close.at,
            _ => return false,
        };
        event.may_be_echo() && at.duration_since(told).unsigned_abs() <= ECHO
    }

    /// Records activity, on a clock that may have been set back.
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
            // Closing a session from outside adds no message to it. What time assumed gives way to what was asked.
            let is_assumed = |close: &Close| close.reason.is_assumed();
            if self.conversation.ended().is_none_or(is_assumed) {
                let close = Close { at: at.max(last), reason: CloseReason::Asked(reason) };
                if let MessageState::Closed(known) = &mut self.conversation.messages
                    && known.reason.is_assumed()
                {
                    let dues = self.effects.iter_mut().filter_map(|effect| match effect {
                        Effect::CloseDue(due) if due == known => Some(due),
                        _ => None,
                    });
                    dues.for_each(|due| *due = close.clone());
                    *known = close.clone();
                }
                self.end(close);
            }
            return;
        }
        if event == Event::Prompt && self.conversation.turn() == Some(at) {
            // The same prompt, reported twice.
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
                // A turn that was assumed to be over, or was never reported, ends here.
                if !self.conversation.is_active() {
                    self.wake(at, idle_for);
                    self.work(at);
                }
                self.conversation.messages = MessageState::New;
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

    /// Makes it active, and records a resume if it was away.
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
        if conversation.messages == MessageState::Nothing {
            conversation.messages = MessageState::New;
        }
        conversation.phase = Phase::Active { turn: None };
    }

    /// Records work of the agent: there is a turn, and new content.
    fn work(&mut self, at: Timestamp) {
        if let Phase::Active { turn } = &mut self.conversation.phase {
            turn.get_or_insert(at);
        }
        self.conversation.messages = MessageState::New;
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

    /// Covers the new content with a close. No new content, no close.
    fn close(&mut self, close: Close) {
        if self.conversation.messages == MessageState::New {
            self.effects.push(Effect::CloseDue(close.clone()));
            self.conversation.messages = MessageState::Closed(close);
        }
    }
}

/// Returns the time `duration` later, or the end of time.
fn after(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// Returns the duration from one time to another; zero if the clock was set back.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

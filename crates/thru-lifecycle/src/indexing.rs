//! Our work on a session: whether what it holds is indexed.
//!
//! ```text
//!             asked              succeeded or unchanged
//! unindexed ─────────▶ indexing ────────────────────────▶ indexed
//!     ▲                 │  │  ▲                              │
//!     │  abandoned, or  │  │  │ asked                        │
//!     ├─ grew meanwhile ┘  │  │                              │
//!     │                    ▼  │                              │
//!     ├────── grew ─────── failed                            │
//!     └────── grew ──────────────────────────────────────────┘
//! ```
//!
//! Whoever asks (an explicit close, a question, the inactivity timeout, a retry) asks in the same way. The
//! work begins with the content hash: where it is the one that is indexed, the existing episode is the
//! answer; otherwise a new one takes its place.

/// Whether a session is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// Not, or it changed since.
    Unindexed,
    /// Somebody is at it.
    Running {
        /// Whether the session grew since they began: what they index is not all.
        grew: bool,
    },
    /// As it is.
    Indexed,
    /// The last try failed.
    Failed,
}

/// What happens to our work on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Its content changed.
    Grew,
    /// It is wanted: by a close, a question, a timeout or a retry.
    Asked,
    /// Its content hash turned out to be the one that is indexed.
    Unchanged,
    /// It was indexed.
    Succeeded,
    /// Indexing it failed.
    Failed,
    /// The process that indexed it died.
    Abandoned,
}

/// What is to be done because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Start to index.
    Index,
    /// Nothing: the existing episode is the answer.
    Skip,
    /// The new episode takes the place of the existing one, if there is one.
    Replace,
    /// Try again later.
    Retry,
}

impl Indexing {
    /// Every state, in the order of their codes.
    pub const ALL: [Self; 5] = [
        Self::Unindexed,
        Self::Running { grew: false },
        Self::Indexed,
        Self::Failed,
        Self::Running { grew: true },
    ];

    /// What an event makes of it. An event that has nothing to say to a state, such as the success of
    /// work that was given up meanwhile, changes nothing.
    pub const fn step(self, event: Event) -> (Self, Option<Effect>) {
        match (self, event) {
            (Self::Running { .. }, Event::Grew) => (Self::Running { grew: true }, None),
            (_, Event::Grew) => (Self::Unindexed, None),

            (Self::Unindexed | Self::Failed, Event::Asked) => {
                (Self::Running { grew: false }, Some(Effect::Index))
            }
            (Self::Indexed, Event::Asked) => (self, Some(Effect::Skip)),

            (Self::Running { grew: true }, Event::Unchanged) => {
                (Self::Unindexed, Some(Effect::Skip))
            }
            (_, Event::Unchanged) => (Self::Indexed, Some(Effect::Skip)),

            (Self::Running { grew: true }, Event::Succeeded) => {
                (Self::Unindexed, Some(Effect::Replace))
            }
            (Self::Running { grew: false }, Event::Succeeded) => {
                (Self::Indexed, Some(Effect::Replace))
            }
            (Self::Running { .. }, Event::Failed) => (Self::Failed, Some(Effect::Retry)),
            (Self::Running { .. }, Event::Abandoned) => (Self::Unindexed, Some(Effect::Retry)),

            (Self::Running { .. }, Event::Asked)
            | (_, Event::Succeeded | Event::Failed | Event::Abandoned) => (self, None),
        }
    }

    /// What it is once it waits to be asked for again: work that failed, or that somebody began, is given
    /// back.
    pub const fn given_back(self) -> Self {
        self.step(Event::Asked).0.step(Event::Abandoned).0
    }

    /// What it is once the next try failed.
    pub const fn failed(self) -> Self {
        self.step(Event::Asked).0.step(Event::Failed).0
    }

    /// Whether somebody is at it.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// The number that stands for it in the store.
    pub const fn code(self) -> u8 {
        match self {
            Self::Unindexed => 0,
            Self::Running { grew: false } => 1,
            Self::Indexed => 2,
            Self::Failed => 3,
            Self::Running { grew: true } => 4,
        }
    }

    /// The state of that number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.code() == code)
    }

    /// The name shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unindexed => "unindexed",
            Self::Running { .. } => "indexing",
            Self::Indexed => "indexed",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_do_not_change() {
        let codes = Indexing::ALL.map(|state| (state.code(), state.as_str()));
        let names = ["unindexed", "indexing", "indexed", "failed", "indexing"];
        assert_eq!(codes.map(|(_, name)| name), names);
        for (code, state) in (0..).zip(Indexing::ALL) {
            assert_eq!(Indexing::from_code(code), Some(state));
        }
        assert_eq!(Indexing::from_code(5), None);
    }

    fn any_event() -> impl Strategy<Value = Event> {
        prop::sample::select(vec![
            Event::Grew,
            Event::Asked,
            Event::Unchanged,
            Event::Succeeded,
            Event::Failed,
            Event::Abandoned,
        ])
    }

    proptest! {
        /// A session of numbered contents beside the machine: `Indexed` must mean the newest one.
        #[test]
        fn indexed_means_all_of_it(
            events in prop::collection::vec((any_event(), any::<bool>()), 0..60),
        ) {
            let (mut state, mut content, mut taken, mut indexed) = (Indexing::Unindexed, 1, None, 0);
            for (event, restart) in events {
                // Only who reads all of the content may say that it is unchanged.
                if event == Event::Unchanged && taken.unwrap_or(content) != indexed {
                    continue;
                }
                if event == Event::Grew {
                    content += 1;
                }
                let (next, effect) = state.step(event);
                match effect {
                    Some(Effect::Index) => taken = Some(content),
                    Some(Effect::Replace) => indexed = taken.take().unwrap(),
                    _ if !matches!(next, Indexing::Running { .. }) => taken = None,
                    _ => {}
                }
                state = if restart { Indexing::from_code(next.code()).unwrap() } else { next };
                prop_assert_eq!(taken.is_some(), matches!(state, Indexing::Running { .. }));
                if state == Indexing::Indexed {
                    prop_assert_eq!(indexed, content);
                }
            }
            // Whatever happened, the work can be ended.
            state = state.step(Event::Abandoned).0.step(Event::Asked).0.step(Event::Succeeded).0;
            prop_assert_eq!(state, Indexing::Indexed);
        }

        #[test]
        fn growing_is_never_lost(events in prop::collection::vec(any_event(), 0..20)) {
            let mut state = Indexing::Unindexed;
            for event in events {
                state = state.step(event).0;
            }
            let grown = state.step(Event::Grew).0;
            prop_assert_eq!(grown.step(Event::Grew).0, grown);
            for end in [Event::Succeeded, Event::Failed, Event::Abandoned] {
                prop_assert_ne!(grown.step(end).0, Indexing::Indexed);
            }
        }
    }
}

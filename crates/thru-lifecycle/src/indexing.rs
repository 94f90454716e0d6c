//! The indexing of a session, as a state machine.
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
//! All requests (an explicit close, a question, the inactivity timeout, a retry) are the same event. The
//! work begins with the content hash: if it is the one that is indexed, the existing episode is kept;
//! otherwise a new one replaces it.

/// The state of a session's indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// Not indexed, or changed since.
    Unindexed,
    /// A process is indexing it.
    Running {
        /// True if the session grew since it began, so that the result will be incomplete.
        grew: bool,
    },
    /// Indexed in its current state.
    Indexed,
    /// The last attempt failed.
    Failed,
}

/// An event of the indexing of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Its content changed.
    Grew,
    /// Indexing is requested: by a close, a question, a timeout or a retry.
    Asked,
    /// Its content hash is the one that is indexed.
    Unchanged,
    /// It was indexed.
    Succeeded,
    /// Indexing it failed.
    Failed,
    /// The process that indexed it died.
    Abandoned,
}

/// The work that an event makes necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Start indexing.
    Index,
    /// Nothing: the existing episode is up to date.
    Skip,
    /// The new episode replaces the existing one, if there is one.
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

    /// Applies an event. An event that does not fit the state, such as the success of work that was
    /// given up meanwhile, changes nothing.
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

    /// Returns the state in which it waits for the next request, after failed or abandoned work.
    pub const fn given_back(self) -> Self {
        self.step(Event::Asked).0.step(Event::Abandoned).0
    }

    /// Returns the state after the next attempt failed.
    pub const fn failed(self) -> Self {
        self.step(Event::Asked).0.step(Event::Failed).0
    }

    /// True if a process is indexing it.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Returns its number in the store.
    pub const fn code(self) -> u8 {
        match self {
            Self::Unindexed => 0,
            Self::Running { grew: false } => 1,
            Self::Indexed => 2,
            Self::Failed => 3,
            Self::Running { grew: true } => 4,
        }
    }

    /// Returns the state with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.code() == code)
    }

    /// Returns the name shown to people and programs.
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
        /// Runs the machine beside a session of numbered contents: `Indexed` must mean the newest one.
        #[test]
        fn indexed_means_all_of_it(
            events in prop::collection::vec((any_event(), any::<bool>()), 0..60),
        ) {
            let (mut state, mut content, mut taken, mut indexed) = (Indexing::Unindexed, 1, None, 0);
            for (event, restart) in events {
                // Only a process that read all of the content may report that it is unchanged.
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
            // The work can be completed in any state.
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

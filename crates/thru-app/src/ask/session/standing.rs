//! The place of a session in its lifecycle: its phase, its close, its episodes.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;
use thru_core::{Id, Timestamp};
use thru_lifecycle::conversation::{MessageState, Phase};
use thru_lifecycle::{CloseReason, Indexing};
use thru_store::{SessionRow, Store};

use crate::app::App;
use crate::keep::close;
use crate::trouble::Result;
use crate::words::{day_and_time, plural, printable};

/// The place of a session in its lifecycle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Standing {
    /// The time since when it is in its phase.
    pub since: Option<Timestamp>,
    /// The episodes that it was indexed as before, the latest first.
    pub retired_episodes: Vec<RetiredEpisode>,
    #[serde(skip)]
    phase: Option<&'static str>,
    #[serde(skip)]
    close: Option<CloseReason>,
    #[serde(skip)]
    indexing: Indexing,
    #[serde(skip)]
    is_indexed: bool,
}

/// An episode that another one replaced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RetiredEpisode {
    /// Its id.
    pub episode_uuid: Id,
    /// The time when it was indexed.
    pub indexed: Timestamp,
    /// The time when it was retired.
    pub retired: Option<Timestamp>,
    /// The reason for the close that it was indexed at.
    pub close_reason: String,
    /// The number of its messages.
    pub message_count: u64,
}

impl Standing {
    pub(super) fn new(app: &App, store: &Store, session: &SessionRow) -> Result<Self> {
        let conversation = session.lifecycle.at(app.clock.now(), &app.limits());
        let close = conversation.as_ref().and_then(|one| match one.messages() {
            MessageState::Closed(close) => Some(close),
            MessageState::New | MessageState::Nothing => one.ended(),
        });
        let since = conversation.as_ref().map(|conversation| match conversation.phase() {
            Phase::Initialized => conversation.started(),
            Phase::Active { .. } => conversation.since(),
            Phase::Idle | Phase::Suspended => conversation.last(),
            Phase::Ended(close) => close.at,
        });
        let retired = store.episodes(session.row)?.into_iter();
        let retired = retired.filter(|episode| episode.retired.is_some());
        Ok(Self {
            since,
            retired_episodes: retired
                .map(|episode| RetiredEpisode {
                    episode_uuid: episode.uuid,
                    indexed: episode.indexed,
                    retired: episode.retired,
                    close_reason: episode.reason,
                    message_count: episode.messages,
                })
                .collect(),
            phase: conversation.as_ref().map(|one| one.phase().as_str()),
            close: close.map(|close| close.reason.clone()),
            indexing: session.indexing,
            is_indexed: session.episode.is_some(),
        })
    }

    /// One line: the phase, the reason of the close, the state of the indexing.
    pub fn line(&self, zone: &TimeZone) -> String {
        let mut parts = Vec::new();
        if let Some(phase) = self.phase {
            let since = if phase == "ended" { "" } else { " since" };
            parts.push(format!("{phase}{since} {}", day_and_time(self.since, zone)));
            // A session that goes on after its close is no longer closed.
            let closed = if phase == "ended" { "closed" } else { "last closed" };
            let reason = self.close.as_ref().map(reason_words);
            parts.extend(reason.map(|reason| format!("{closed} {reason}")));
        }
        let state = self.indexing.as_str();
        parts.push(match self.is_indexed {
            true if self.indexing != Indexing::Indexed => {
                format!("{state}, an earlier version is indexed")
            }
            _ => state.to_owned(),
        });
        match self.retired_episodes.len() as u64 {
            0 => {}
            retired => parts.push(plural(retired, "earlier version")),
        }
        parts.join(" · ")
    }
}

/// The reason of a close in words, behind "closed".
fn reason_words(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Agent(why) => format!("by the agent ({})", printable(why)),
        CloseReason::Asked(why) if why == close::UNSAID => "on request".to_owned(),
        CloseReason::Asked(why) => format!("on request ({})", printable(why)),
        CloseReason::Inactivity => "after inactivity".to_owned(),
        CloseReason::MaxDuration => "at the longest duration".to_owned(),
        CloseReason::Left => "when another was opened".to_owned(),
    }
}

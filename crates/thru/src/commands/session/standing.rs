//! Where one session stands: its phase, why it was closed, and what it is indexed as.

use serde_json::{Value, json};
use thru_app::App;
use thru_app::Result;
use thru_core::Timestamp;
use thru_lifecycle::conversation::{Phase, Said};
use thru_lifecycle::{Conversation, Indexing};
use thru_store::{Episode, SessionRow, Store};

use crate::ui::{day_and_time, plural, printable};

/// Where a session stands.
pub(super) struct Standing<'a> {
    session: &'a SessionRow,
    conversation: Option<Conversation>,
    /// What it is and was indexed as, the latest first.
    episodes: Vec<Episode>,
}

impl<'a> Standing<'a> {
    pub(super) fn of(store: &Store, session: &'a SessionRow, environment: &App) -> Result<Self> {
        Ok(Self {
            session,
            conversation: session.heard.at(environment.clock.now(), &environment.limits()),
            episodes: store.episodes(session.row)?,
        })
    }

    /// Since when it is in its phase.
    fn since(&self) -> Option<Timestamp> {
        let conversation = self.conversation.as_ref()?;
        Some(match conversation.phase() {
            Phase::Initialized => conversation.started(),
            Phase::Active { .. } => conversation.since(),
            Phase::Idle | Phase::Suspended => conversation.last(),
            Phase::Ended(close) => close.at,
        })
    }

    fn retired(&self) -> impl Iterator<Item = &Episode> {
        self.episodes.iter().filter(|episode| episode.retired.is_some())
    }

    /// In one line.
    pub(super) fn line(&self, environment: &App) -> String {
        let mut parts = Vec::new();
        if let Some(conversation) = &self.conversation {
            let since = day_and_time(self.since(), environment.zone());
            parts.push(format!("{} since {since}", conversation.phase().as_str()));
            let close = match conversation.said() {
                Said::Closed(close) => Some(close),
                Said::New | Said::Nothing => conversation.ended(),
            };
            parts.extend(
                close.map(|close| format!("closed: {}", printable(&close.reason.to_string()))),
            );
        }
        let state = self.session.indexing.as_str();
        parts.push(match self.session.episode {
            Some(episode) => {
                let episode: String = episode.to_string().chars().take(8).collect();
                match self.session.indexing {
                    Indexing::Indexed => format!("{state} as {episode}"),
                    _ => format!("{state}, last indexed as {episode}"),
                }
            }
            None => state.to_owned(),
        });
        match self.retired().count() as u64 {
            0 => {}
            retired => parts.push(plural(retired, "retired episode")),
        }
        parts.join(" · ")
    }

    /// What the session's own fields do not say already.
    pub(super) fn as_json(&self) -> Value {
        let retired: Vec<Value> = self
            .retired()
            .map(|episode| {
                json!({
                    "episode_uuid": episode.uuid,
                    "indexed": episode.indexed,
                    "retired": episode.retired,
                    "close_reason": episode.reason,
                    "message_count": episode.messages,
                })
            })
            .collect();
        json!({ "since": self.since(), "retired_episodes": retired })
    }
}

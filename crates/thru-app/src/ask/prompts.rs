//! Lists of prompts.

use std::cmp::Reverse;

use thru_core::PassageKind;
use thru_redact::Clean;
use thru_store::{Newest, PassageRow, SessionFilter, SessionRow};

use super::passage::PassageEntry;
use super::session::SessionEntry;
use super::{Opened, ProjectScope};
use crate::app::App;
use crate::call::Call;
use crate::fresh::Freshness;
use crate::trouble::Result;

/// Sessions that are read at first; eight times as many, where their prompts are too few.
const SESSIONS: usize = 100;
/// Passages of a session that are looked through for prompts, from its end.
const WITHIN: usize = 20_000;

/// A request for the prompts there are.
#[derive(Clone, Debug)]
pub struct ListPrompts {
    /// Their projects.
    pub project: ProjectScope,
    /// Maximum number of prompts.
    pub limit: usize,
}

/// Prompts, the latest first.
#[derive(Clone, Debug)]
pub struct PromptList {
    /// True if there are more.
    pub more: bool,
    /// The prompts.
    pub prompts: Vec<ListedPrompt>,
}

/// A prompt in a list.
#[derive(Clone, Debug)]
pub struct ListedPrompt {
    /// The prompt.
    pub entry: PassageEntry,
    /// Its session.
    pub session: SessionEntry,
}

impl ListedPrompt {
    /// Its text.
    pub fn text(&self) -> &Clean<String> {
        &self.entry.text
    }
}

/// Lists prompts, the latest first.
///
/// # Errors
/// Fails if there is no such project, or the store cannot be read.
pub fn list(app: &App, request: &ListPrompts, call: Call<'_>) -> Result<PromptList> {
    let Opened { store, intake, .. } = Opened::new(app, Freshness::Recorded, call)?;
    let project = request.project.find(app, &store)?;
    let projects = project.map(|one| store.project_rows(one.row)).transpose()?;
    let newest =
        Newest { kind: Some(PassageKind::Human), within: WITHIN, limit: request.limit + 1 };
    let mut most = SESSIONS;
    let (mut found, sessions) = loop {
        let filter = SessionFilter {
            projects: projects.clone(),
            limit: Some(most),
            ..SessionFilter::default()
        };
        let sessions = store.sessions(&filter)?;
        let mut found: Vec<(PassageRow, usize)> = Vec::new();
        let mut is_complete = sessions.len() < most;
        for (at, session) in sessions.iter().enumerate() {
            call.check()?;
            // No session from here on has a prompt that is newer than those found.
            if found.len() > request.limit && session.ended < found[request.limit].0.at {
                is_complete = true;
                break;
            }
            let prompts = store.newest_passages(session.row, newest)?;
            found.extend(prompts.into_iter().map(|prompt| (prompt, at)));
            found.sort_by_key(|(prompt, _)| Reverse(prompt.at));
        }
        if is_complete {
            break (found, sessions);
        }
        most *= 8;
    };
    let more = found.len() > request.limit;
    found.truncate(request.limit);
    let redactor = intake.redactor();
    let listed = |(prompt, at): &(PassageRow, usize)| {
        let session: &SessionRow = &sessions[*at];
        Ok(ListedPrompt {
            entry: PassageEntry::read(&store, redactor, prompt)?,
            session: SessionEntry::new(app, redactor, session),
        })
    };
    Ok(PromptList { more, prompts: found.iter().map(listed).collect::<Result<_>>()? })
}

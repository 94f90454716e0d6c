//! Commits made outside sessions: what the repository of a session's directory tells of its time.
//!
//! The log of today is not that of tomorrow, so what was seen is written to the journal: a rebuild tells the same.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use thru_core::{HeadLog, SeenCommit, Timestamp};
use thru_redact::Report;
use thru_store::{Store, TimedSession};

use crate::{Intake, Operation, Result, identity};

/// Time after a session in which commits are taken to be of its work, and are looked for.
const AFTER: Duration = Duration::from_secs(24 * 60 * 60);

impl Intake {
    /// Records the commits that were made in the directories of new and recent sessions, and marks these sessions to be
    /// distilled again.
    pub(crate) fn see_commits(&self, store: &mut Store) -> Result<()> {
        if !self.options.distil || store.stale_sessions()?.is_empty() {
            return Ok(());
        }
        let since = self.clock.now().saturating_sub(AFTER).unwrap_or(Timestamp::MIN);
        let sessions = store.timed_sessions(since)?;
        let mut starts: HashMap<&str, Vec<Timestamp>> = HashMap::new();
        for session in &sessions {
            starts.entry(&session.directory).or_default().push(session.started);
        }
        let mut logs: HashMap<&str, Option<HeadLog>> = HashMap::new();
        let mut seen: Vec<(&TimedSession, Vec<SeenCommit>)> = Vec::new();
        for session in sessions.iter().filter(|one| one.is_stale || one.ended >= since) {
            let log = logs.entry(&session.directory).or_insert_with(|| {
                identity::head_log(Path::new(&session.directory), self.options.home.as_deref())
            });
            let Some(log) = log else { continue };
            let end = session.ended.saturating_add(AFTER).unwrap_or(Timestamp::MAX);
            let later = starts.get(session.directory.as_str()).into_iter().flatten();
            let next = later.filter(|start| **start > session.ended).min();
            let within = session.started..next.map_or(end, |next| end.min(*next));
            let mut commits = log.commits(session.branch.as_deref(), &within);
            let known = store.seen_commits(session.row)?;
            commits.retain(|commit| known.iter().all(|one| one.hash != commit.hash));
            if !commits.is_empty() {
                seen.push((
                    session,
                    commits.into_iter().map(|one| self.clean_commit(one)).collect(),
                ));
            }
        }
        if seen.is_empty() {
            return Ok(());
        }
        let operations = seen.iter().map(|(session, commits)| Operation::CommitsSeen {
            session: session.key.clone(),
            commits: commits.clone(),
        });
        self.record(&operations.collect::<Vec<_>>())?;
        let batch = store.begin()?;
        for (session, commits) in &seen {
            batch.put_commits(session.row, commits)?;
        }
        batch.commit()?;
        Ok(())
    }

    fn clean_commit(&self, commit: SeenCommit) -> SeenCommit {
        let subject = self.redactor.clean_text(&commit.subject, &mut Report::default());
        SeenCommit { subject: subject.into_inner(), ..commit }
    }
}

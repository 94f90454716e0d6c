//! Commits of the session's work that were made outside it: by a person, or by another program.

use thru_core::{Observation, ObservationType, SeenCommit, Statement};

use crate::event::Event;
use crate::gate::is_understood;
use crate::session::Session;
use crate::subject;
use crate::text::{FACT, cut};

/// Most commits told of one observation.
const MOST: usize = 3;

/// Tells with the work of a session by which commits it was kept. Work without a commit of its own goes by the subject of the
/// only one that followed it.
pub(crate) fn tell(session: &Session<'_>, observations: &mut [Observation]) {
    let commits: Vec<&SeenCommit> =
        session.commits.iter().filter(|commit| !is_own(session.events, commit)).collect();
    let is_work =
        |one: &Observation| !one.files_modified.is_empty() && one.kind != ObservationType::Decision;
    let has_commits =
        session.events.iter().filter_map(Event::run).any(|run| !run.commits.is_empty());
    let is_only = observations.iter().filter(|one| is_work(one)).count() == 1;
    for (number, commit) in commits.iter().enumerate().take(MOST) {
        let before = |one: &Observation| one.at.is_none_or(|at| at <= commit.at);
        let Some(work) = observations.iter_mut().rfind(|one| is_work(one) && before(one)) else {
            continue;
        };
        let subject = subject::of_commit(&commit.subject);
        let is_its_name =
            is_only && !has_commits && commits.len() == 1 && is_understood(&subject, 1);
        let fact = match is_its_name && number == 0 {
            true => {
                work.title = subject;
                format!("Then committed as {}", commit.hash)
            }
            false => format!("Then committed as {}: {}", commit.hash, commit.subject),
        };
        let sources = work.sources.clone();
        work.facts.push(Statement { text: cut(&fact, FACT), sources });
    }
}

/// Returns true if the session made a commit itself.
fn is_own(events: &[Event], commit: &SeenCommit) -> bool {
    let runs = events.iter().filter_map(Event::run);
    runs.flat_map(|run| &run.commits).any(|own| {
        let same_hash = |hash: &String| {
            hash.starts_with(&commit.hash) || commit.hash.starts_with(hash.as_str())
        };
        own.subject == commit.subject || own.hash.as_ref().is_some_and(same_hash)
    })
}

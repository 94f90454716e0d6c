//! Projections: what the store, or another place, holds of a session besides its passages.
//!
//! A projection is made of a session's distilled content and of people's decisions, and of nothing else, so that it
//! can be thrown away and made again. Intake drives all projections alike; a new one implements [`Projection`] in a
//! room of its own and gets a line in [`projections`].

mod graph;
mod memories;

use std::sync::Arc;

use thru_core::SessionKey;
use thru_lifecycle::content::Content;
use thru_redact::{Clean, Redactor};
use thru_store::{Batch, NewMemory, NewOpening, NewTurn, Store};

use crate::sessions::Indexer;
use crate::{Finding, Intake, Result};

use graph::Graph;
use memories::Memories;

/// The distilled content of one session, as projections are made of it.
#[derive(Debug)]
pub struct SessionContent {
    /// The session's row.
    pub session: i64,
    /// The title that follows from its content, if any does.
    pub title: Option<String>,
    /// Its memories, with people's decisions and the answers of models applied.
    pub memories: Clean<Vec<NewMemory>>,
    /// What it shows of the world, for the graph.
    pub openings: Clean<Vec<NewOpening>>,
    /// The content of the whole conversation.
    pub content: Content,
    /// The content of its turns.
    pub turns: Vec<NewTurn>,
}

/// One view of sessions. Where a method writes to a [`Batch`], it is part of that transaction.
pub trait Projection {
    /// A short name: the key of its version in the store, and its place in findings.
    fn name(&self) -> &'static str;

    /// The version of what it makes: every session is projected again where the store holds another one. `None` if its
    /// rows carry versions of their own.
    fn version(&self) -> Option<u32>;

    /// Replaces its view of a session, whose content changed or whose episode was replaced. The same content leaves
    /// everything as it is.
    ///
    /// # Errors
    /// Fails if its place cannot be written.
    fn replace(&self, batch: &mut Batch<'_>, content: &SessionContent) -> Result<()>;

    /// Completes its view once all sessions of a run were replaced.
    ///
    /// # Errors
    /// Fails if its place cannot be written.
    fn settle(&self, _store: &mut Store) -> Result<()> {
        Ok(())
    }

    /// Removes its view of a session that is forgotten.
    ///
    /// # Errors
    /// Fails if its place cannot be written.
    fn forget(&self, batch: &Batch<'_>, session: i64, key: &SessionKey) -> Result<()>;

    /// Applies redaction rules to what it keeps outside the store. The store itself is rebuilt.
    ///
    /// # Errors
    /// Fails if its place cannot be written.
    fn redact(&self, _redactor: &Redactor) -> Result<()> {
        Ok(())
    }

    /// Follows a rebuild, after the new store took the place of the old one.
    ///
    /// # Errors
    /// Fails if its place cannot be written.
    fn rebuilt(&self, _store: &Store) -> Result<()> {
        Ok(())
    }

    /// Reports what is damaged or missing in its view.
    ///
    /// # Errors
    /// Fails if the check itself is not possible.
    fn verify(&self, store: &Store, report: &mut dyn FnMut(Finding)) -> Result<()>;

    /// Writes its view as lines that name no row number: equal views give equal lines, in any order.
    ///
    /// # Errors
    /// Fails if its place cannot be read.
    fn dump(&self, store: &Store, line: &mut dyn FnMut(String)) -> Result<()>;
}

impl Intake {
    /// Returns the lines of every projection, sorted: stores that were made of the same journal and archive give the
    /// same lines (invariant I-4).
    ///
    /// # Errors
    /// Fails if a projection cannot be read.
    pub fn dump(&self, store: &Store) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for projection in self.projections(Indexer::without_transcripts(self)).all() {
            projection.dump(store, &mut |line| lines.push(line))?;
        }
        lines.sort();
        Ok(lines)
    }
}

/// A projection that is shared by the threads of intake.
pub type SharedProjection = Arc<dyn Projection + Send + Sync>;

/// The registry: every projection beside episodes, in the order in which they are written.
pub fn projections() -> Vec<SharedProjection> {
    vec![Arc::new(Memories), Arc::new(Graph)]
}

/// Every projection of one run.
pub(crate) struct Projections<'a> {
    registered: &'a [SharedProjection],
    /// Episodes. They come last: indexing a session says that all the others hold it.
    pub(crate) episodes: Indexer<'a>,
}

impl<'a> Projections<'a> {
    /// The projections of a run with this indexer.
    pub(crate) fn new(episodes: Indexer<'a>, registered: &'a [SharedProjection]) -> Self {
        Self { registered, episodes }
    }

    /// Returns all of them, in the order in which they are written.
    pub(crate) fn all(&self) -> impl Iterator<Item = &dyn Projection> {
        let registered = self.registered.iter().map(|one| one.as_ref() as &dyn Projection);
        registered.chain(std::iter::once(&self.episodes as &dyn Projection))
    }

    /// Completes the views of all sessions that were replaced or forgotten.
    pub(crate) fn settle(&self, store: &mut Store) -> Result<()> {
        self.all().try_for_each(|one| one.settle(store))
    }

    /// Marks every session to be projected again where a version changed.
    pub(crate) fn settle_versions(&self, store: &mut Store) -> Result<()> {
        if self.are_current(store)? {
            return Ok(());
        }
        let batch = store.begin()?;
        batch.distil_all_again()?;
        for one in self.all() {
            if let Some(version) = one.version() {
                batch.set_projection_version(one.name(), version)?;
            }
        }
        batch.commit()?;
        Ok(())
    }

    /// Returns true if no version changed, or the store holds nothing yet.
    pub(crate) fn would_keep(&self, store: &Store) -> Result<bool> {
        self.versions_match(store, |held, made| held.is_none() || held == made)
    }

    /// Returns true if the store holds the current version of each.
    fn are_current(&self, store: &Store) -> Result<bool> {
        self.versions_match(store, |held, made| made.is_none() || held == made)
    }

    /// Returns true if the version that the store holds and the one that is made match for each.
    fn versions_match(
        &self,
        store: &Store,
        matches: impl Fn(Option<u32>, Option<u32>) -> bool,
    ) -> Result<bool> {
        for one in self.all() {
            if !matches(store.projection_version(one.name())?, one.version()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

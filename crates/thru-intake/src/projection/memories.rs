//! Memories: observations and summaries in the store.

use thru_core::SessionKey;
use thru_store::{Batch, MemoryFilter, Store};

use super::{Projection, SessionContent};
use crate::{Finding, Result};

/// The memories of sessions.
pub(crate) struct Memories;

impl Projection for Memories {
    fn name(&self) -> &'static str {
        "memories"
    }

    fn version(&self) -> Option<u32> {
        Some(thru_distil::VERSION)
    }

    fn replace(&self, batch: &mut Batch<'_>, content: &SessionContent) -> Result<()> {
        batch.put_memories(content.session, content.title.as_deref(), &content.memories)?;
        Ok(())
    }

    fn forget(&self, batch: &Batch<'_>, session: i64, _: &SessionKey) -> Result<()> {
        Ok(batch.remove_memories_of(session)?)
    }

    fn verify(&self, store: &Store, report: &mut dyn FnMut(Finding)) -> Result<()> {
        let unreadable = store
            .memories(&MemoryFilter::default())?
            .iter()
            .filter(|memory| store.body_of(memory).is_err())
            .count();
        if unreadable > 0 {
            report(Finding {
                place: "memory.db".to_owned(),
                message: format!("{unreadable} memories cannot be read"),
                serious: true,
            });
        }
        Ok(())
    }

    fn dump(&self, store: &Store, line: &mut dyn FnMut(String)) -> Result<()> {
        let memories = store.memories(&MemoryFilter::default())?;
        let rows: Vec<i64> = memories.iter().map(|memory| memory.row).collect();
        let mut files = store.files_of_memories(&rows)?;
        for memory in &memories {
            let session = memory.session.map(|row| store.session_key(row)).transpose()?.flatten();
            let project = memory.project.map(|row| store.project_name(row)).transpose()?;
            line(format!(
                "memory {}: session {:?} project {project:?} turn {} {} {:?} {:?} at {:?} {:?} {}/{} files {:?} body {:?}",
                memory.id,
                session.map(|key| key.id),
                memory.turn,
                memory.kind,
                memory.flags,
                memory.outcome,
                memory.at.map(|at| at.to_string()),
                memory.title,
                memory.tokens,
                memory.raw_tokens,
                files.remove(&memory.row).unwrap_or_default(),
                store.body_of(memory)?,
            ));
        }
        Ok(())
    }
}

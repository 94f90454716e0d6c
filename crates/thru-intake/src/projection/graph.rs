//! The graph: what sessions show, and the facts that are folded of it.

use thru_core::SessionKey;
use thru_graph::{SessionOpening, fold};
use thru_store::{Batch, FactFilter, FactTime, Store};

use super::{Projection, SessionContent};
use crate::{Finding, Result};

/// The facts of sessions.
pub(crate) struct Graph;

impl Projection for Graph {
    fn name(&self) -> &'static str {
        "graph"
    }

    fn version(&self) -> Option<u32> {
        Some(thru_graph::VERSION)
    }

    fn replace(&self, batch: &mut Batch<'_>, content: &SessionContent) -> Result<()> {
        Ok(batch.put_openings(content.session, &content.openings)?)
    }

    fn settle(&self, store: &mut Store) -> Result<()> {
        if store.is_folded()? {
            return Ok(());
        }
        let batch = store.begin()?;
        for key in batch.clear_unfolded()? {
            let openings = batch.openings_of(&key)?.into_iter().filter_map(|stored| {
                Some(SessionOpening {
                    session: format!("{}/{}", stored.session.agent.as_str(), stored.session.id),
                    place: stored.place,
                    opening: serde_json::from_str(&stored.body).ok()?,
                })
            });
            let project = key.project.as_ref().map_or("", |(_, project)| project.as_str());
            let facts = fold(project, openings.collect());
            batch.put_facts(&key, &facts)?;
        }
        batch.all_folded()?;
        Ok(batch.commit()?)
    }

    fn forget(&self, batch: &Batch<'_>, session: i64, _: &SessionKey) -> Result<()> {
        Ok(batch.remove_openings(session)?)
    }

    fn verify(&self, store: &Store, report: &mut dyn FnMut(Finding)) -> Result<()> {
        let (unread, unshown) = store.graph_problems()?;
        for (number, trouble) in [
            (unread, "openings cannot be read"),
            (unshown, "facts have no passage that shows them"),
        ] {
            if number > 0 {
                let message = format!("{number} {trouble}");
                report(Finding { place: "memory.db".to_owned(), message, serious: true });
            }
        }
        Ok(())
    }

    fn dump(&self, store: &Store, line: &mut dyn FnMut(String)) -> Result<()> {
        let facts = store.facts(&FactFilter { time: FactTime::Ever, ..FactFilter::default() })?;
        let rows: Vec<i64> = facts.iter().map(|fact| fact.row).collect();
        let mut evidence = store.evidence_of(&rows)?;
        for fact in &facts {
            let project = fact.subject.project.map(|row| store.project_name(row)).transpose()?;
            let object = fact.object.as_ref().map(|one| (one.kind, &one.key, &one.name));
            let subject = (fact.subject.kind, &fact.subject.key, &fact.subject.name);
            line(format!(
                "fact {} of {project:?}: {subject:?} {} {object:?} {:?} [{}] ({}) {} {:?} {:?}",
                fact.id,
                fact.relation,
                fact.value,
                fact.scope,
                fact.note,
                fact.from,
                fact.end,
                evidence.remove(&fact.row).unwrap_or_default(),
            ));
        }
        Ok(())
    }
}

//! A third projection is driven like memories and episodes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use thru_core::SessionKey;
use thru_intake::{Finding, Projection, Result, SessionContent};
use thru_store::{Batch, Store};

use crate::machine::{Machine, assert_same};
use crate::records::{ONE, TWO, conversation, file};

/// The number of messages of each session, by the session's row.
#[derive(Default)]
struct Counts {
    rows: Mutex<BTreeMap<i64, u64>>,
    replaced: AtomicU32,
    rebuilt: AtomicU32,
    version: AtomicU32,
}

impl Projection for Counts {
    fn name(&self) -> &'static str {
        "counts"
    }

    fn version(&self) -> Option<u32> {
        Some(self.version.load(Ordering::Relaxed))
    }

    fn replace(&self, _: &mut Batch<'_>, content: &SessionContent) -> Result<()> {
        self.replaced.fetch_add(1, Ordering::Relaxed);
        self.rows.lock().unwrap().insert(content.session, content.content.messages);
        Ok(())
    }

    fn forget(&self, _: &Batch<'_>, session: i64, _: &SessionKey) -> Result<()> {
        self.rows.lock().unwrap().remove(&session);
        Ok(())
    }

    fn rebuilt(&self, _: &Store) -> Result<()> {
        self.rebuilt.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn verify(&self, _: &Store, report: &mut dyn FnMut(Finding)) -> Result<()> {
        if self.rows.lock().unwrap().is_empty() {
            let message = "holds nothing".to_owned();
            report(Finding { place: "counts".to_owned(), message, serious: true });
        }
        Ok(())
    }

    fn dump(&self, store: &Store, line: &mut dyn FnMut(String)) -> Result<()> {
        for (row, messages) in self.rows.lock().unwrap().iter() {
            let session = store.session_key(*row)?.map(|key| key.id);
            line(format!("count of {session:?}: {messages}"));
        }
        Ok(())
    }
}

fn machine() -> (Machine, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let mut machine = Machine::with([
        (&file(ONE), &conversation(ONE).text()),
        (&file(TWO), &conversation(TWO).text()),
    ]);
    machine.options.projections.push(counts.clone());
    machine.import();
    (machine, counts)
}

fn counted(machine: &Machine) -> usize {
    machine.dump().iter().filter(|line| line.starts_with("count of")).count()
}

#[test]
fn a_projection_follows_import_forgetting_and_rebuild() {
    let (machine, counts) = machine();
    assert_eq!(counted(&machine), 2);
    machine.assert_sound();
    machine.forget(TWO);
    assert_eq!(counted(&machine), 1);
    let before = machine.dump();
    counts.rows.lock().unwrap().clear();
    machine.rebuild();
    assert_same(&machine.dump(), &before);
    assert_eq!(counts.rebuilt.load(Ordering::Relaxed), 1);
}

#[test]
fn a_new_version_projects_every_session_again_and_an_old_one_none() {
    let (machine, counts) = machine();
    let replaced = counts.replaced.load(Ordering::Relaxed);
    machine.import();
    assert_eq!(counts.replaced.load(Ordering::Relaxed), replaced);
    counts.version.store(1, Ordering::Relaxed);
    machine.import();
    assert_eq!(counts.replaced.load(Ordering::Relaxed), replaced + 2);
}

#[test]
fn what_a_projection_finds_missing_is_reported() {
    let (machine, counts) = machine();
    counts.rows.lock().unwrap().clear();
    let found = machine.verify();
    assert!(found.findings.iter().any(|finding| finding.place == "counts"));
}

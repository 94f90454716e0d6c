//! The costs of models: the same sum in any order of reading the journal, and dropped questions.

use thru_core::{Agent, Micros, Purpose, Question, SessionId, SessionKey, Spent, Timestamp};
use thru_lifecycle::content::ContentHash;
use thru_store::{Batch, Fate, JobKind, SpendingFilter, Store};

use crate::support::Home;

const MOST: Spent = Spent { input: 900, output: 100, cost: Some(Micros(500)) };
const REAL: Spent = Spent { input: 90, output: 10, cost: Some(Micros(50)) };

fn question() -> Question {
    Question {
        purpose: Purpose::Turn,
        session: None,
        project: None,
        provider: "ollama".to_owned(),
        model: "small".to_owned(),
        spent: MOST,
    }
}

fn written(store: &mut Store, steps: &[fn(&Batch<'_>)]) {
    let batch = store.begin().unwrap();
    steps.iter().for_each(|step| step(&batch));
    batch.commit().unwrap();
}

#[test]
fn an_answer_may_be_read_before_its_question() {
    fn ask(batch: &Batch<'_>) {
        batch.put_question("q", Timestamp::UNIX_EPOCH, &question()).unwrap();
    }
    fn settle(batch: &Batch<'_>) {
        batch.settle_question("q", Timestamp::UNIX_EPOCH, Fate::Answered, REAL).unwrap();
    }
    let orders: [&[fn(&Batch<'_>)]; 3] =
        [&[ask, settle], &[settle, ask], &[settle, ask, settle, ask]];
    let rows = orders.map(|order| {
        let home = Home::new();
        let mut store = home.store();
        written(&mut store, order);
        store.spending(SpendingFilter::default()).unwrap()
    });
    assert_eq!((rows[0].len(), rows[0][0].spent, rows[0][0].fate), (1, REAL, Fate::Answered));
    assert_eq!((rows[0][0].provider.as_str(), rows[0][0].model.as_str()), ("ollama", "small"));
    assert!(rows.iter().all(|row| *row == rows[0]), "{rows:?}");
}

#[test]
fn a_dropped_question_is_added_again_only_for_other_content() {
    let home = Home::new();
    let mut store = home.store();
    let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("one") };
    let kind = JobKind::RefineTurn(1);
    let mut queued = |content: u8, lets_be: bool| {
        let batch = store.begin().unwrap();
        let session = batch.session(&key).unwrap();
        let content = ContentHash::from_bytes([content; ContentHash::BYTES]);
        batch.put_question_job(kind, session, content, Timestamp::UNIX_EPOCH).unwrap();
        if lets_be {
            batch.let_question_be(kind, session).unwrap();
        }
        batch.commit().unwrap();
        store.jobs().unwrap().len()
    };
    assert_eq!(queued(1, false), 1);
    assert_eq!(queued(1, true), 0);
    assert_eq!(queued(1, false), 0);
    assert_eq!(queued(2, false), 1);
}

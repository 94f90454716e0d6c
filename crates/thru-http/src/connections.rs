//! Connections: so many at a time and no more. Where all places are taken, the one that has rested longest makes room,
//! so that no client keeps the others out by holding connections.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections at a time. A browser opens six for all its tabs.
const MOST: usize = 16;
/// The time that a new connection waits for the place of another.
const MAKING_ROOM: Duration = Duration::from_millis(200);

/// The connections that are open.
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    open: Mutex<Vec<Arc<Connection>>>,
}

/// A connection.
pub(crate) struct Connection {
    /// The time since which it waits for a request; `None` while one is answered.
    resting: Mutex<Option<Instant>>,
    /// Told when it is to be closed.
    over: Notify,
}

/// A place for a connection, free again when dropped.
pub(crate) struct Place {
    connections: Arc<Connections>,
    pub(crate) connection: Arc<Connection>,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { places: Arc::new(Semaphore::new(MOST)), open: Mutex::default() })
    }

    /// Takes a place for a new connection; `None` where every other one is at work.
    pub(crate) async fn place(self: &Arc<Self>) -> Option<Place> {
        let permit = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.longest_resting()?.end();
                let place = Arc::clone(&self.places).acquire_owned();
                tokio::time::timeout(MAKING_ROOM, place).await.ok()?.ok()?
            }
        };
        let connection =
            Arc::new(Connection { resting: Mutex::new(Some(Instant::now())), over: Notify::new() });
        self.open().push(Arc::clone(&connection));
        Some(Place { connections: Arc::clone(self), connection, _permit: permit })
    }

    /// Waits until all are closed.
    pub(crate) async fn closed(&self) {
        let all = u32::try_from(MOST).unwrap_or(u32::MAX);
        // It is never closed, so that this cannot fail.
        let _ = self.places.acquire_many(all).await;
    }

    fn longest_resting(&self) -> Option<Arc<Connection>> {
        let open = self.open();
        let resting = open.iter().filter_map(|one| Some(((*one.resting())?, one)));
        resting.min_by_key(|(since, _)| *since).map(|(_, one)| Arc::clone(one))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Notes that a request came whole and is answered.
    pub(crate) fn works(&self) {
        *self.resting() = None;
    }

    /// Notes that it waits for the next request.
    pub(crate) fn rests(&self) {
        *self.resting() = Some(Instant::now());
    }

    /// Has it closed, even in the middle of an answer.
    pub(crate) fn end(&self) {
        self.over.notify_one();
    }

    /// Waits until it is to be closed.
    pub(crate) async fn over(&self) {
        self.over.notified().await;
    }

    fn resting(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.open().retain(|one| !Arc::ptr_eq(one, &self.connection));
    }
}

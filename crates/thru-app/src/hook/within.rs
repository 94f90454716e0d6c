//! Work that may take longer than an agent waits.

use std::sync::mpsc;
use std::time::Instant;

/// Runs `work` on a thread of its own and waits for it until `deadline`. Returns `None` if it is not done by
/// then: it goes on, and ends with the process wherever it is. So this is for work that may be killed at any
/// point and is taken up by the next process.
///
/// Reading stops by itself when its time is over, but only where that is safe, and that may be late: a
/// block of a transcript has to be written whole, and a snapshot is not made in parts.
pub(super) fn within<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let left = deadline.checked_duration_since(Instant::now())?;
    let (done, waiting) = mpsc::channel();
    // The receiver may be gone.
    std::thread::Builder::new().spawn(move || drop(done.send(work()))).ok()?;
    waiting.recv_timeout(left).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_caller_goes_on_when_the_time_is_over() {
        let soon = Instant::now() + Duration::from_secs(60);
        assert_eq!(within(soon, || 7), Some(7));
        let (hold, held) = mpsc::channel::<()>();
        let now = Instant::now() + Duration::from_millis(10);
        assert_eq!(within(now, move || held.recv().is_ok()), None);
        drop(hold);
        assert_eq!(within(now, || 7), None, "nothing is begun when the time is over");
    }
}

//! The end of idleness: files that stay open from one question to the next are closed once no question comes. A server
//! of an agent runs all day, and files that were replaced meanwhile take room on the disk for as long as it has them
//! open.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// A thread that sleeps until a question comes, and releases resources once none came for a while. It ends when this is
/// dropped.
pub struct Idle(SyncSender<()>);

impl Idle {
    /// Calls `release` each time that no question came for `unused`.
    pub fn after(unused: Duration, release: impl Fn() + Send + 'static) -> Self {
        let (sender, questions) = sync_channel(1);
        // Without the thread things stay open, which harms no answer.
        let _ = std::thread::Builder::new().name("idle".to_owned()).spawn(move || {
            while questions.recv().is_ok() {
                loop {
                    match questions.recv_timeout(unused) {
                        Ok(()) => {}
                        Err(RecvTimeoutError::Timeout) => break release(),
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            }
        });
        Self(sender)
    }

    /// Notes a question.
    pub fn asked(&self) {
        // A message that waits says the same.
        let _ = self.0.try_send(());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn resources_are_released_once_after_the_last_question() {
        let (sender, released) = channel();
        let idle = Idle::after(Duration::from_millis(1), move || sender.send(()).unwrap());
        for _ in 0..2 {
            idle.asked();
            released.recv_timeout(Duration::from_secs(30)).unwrap();
        }
        drop(idle);
        assert!(released.recv().is_err());
    }
}

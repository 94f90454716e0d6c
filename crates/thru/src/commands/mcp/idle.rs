//! Lets go of what is kept for the next question once nobody asks any more: an agent's server runs all day, and
//! files that were replaced meanwhile take room on the disk for as long as it has them open.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Tells a thread that something was asked; when it was told of nothing for a while, that lets go. It sleeps until
/// it is told, and ends with this.
pub(super) struct Idle(SyncSender<()>);

impl Idle {
    /// Has `let_go` called each time that nothing was asked for so long.
    pub(super) fn after(unused: Duration, let_go: impl Fn() + Send + 'static) -> Self {
        let (told, asked) = sync_channel(1);
        // Without the thread things stay open, which harms no answer.
        let _ = std::thread::Builder::new().name("idle".to_owned()).spawn(move || {
            while asked.recv().is_ok() {
                loop {
                    match asked.recv_timeout(unused) {
                        Ok(()) => {}
                        Err(RecvTimeoutError::Timeout) => break let_go(),
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            }
        });
        Self(told)
    }

    /// Something was asked.
    pub(super) fn asked(&self) {
        // A message that waits says the same.
        let _ = self.0.try_send(());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_is_kept_is_let_go_once_after_the_last_question() {
        let (sender, let_go) = channel();
        let idle = Idle::after(Duration::from_millis(1), move || sender.send(()).unwrap());
        for _ in 0..2 {
            idle.asked();
            let_go.recv_timeout(Duration::from_secs(30)).unwrap();
        }
        drop(idle);
        assert!(let_go.recv().is_err());
    }
}

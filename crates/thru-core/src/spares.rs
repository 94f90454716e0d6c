//! Scratch space that threads lend each other.

use std::sync::{Mutex, PoisonError};

/// Values that a thread takes and gives back: as many are made as threads were ever at work at once.
///
/// Caches of regular expressions belong here. The pools of the `regex` crate keep up to nine of them, as a thread only finds
/// those of threads whose number differs by a multiple of eight, and a process that lives long starts many threads.
#[derive(Debug)]
pub struct Spares<T>(Mutex<Vec<T>>);

impl<T> Spares<T> {
    /// Works with a value; makes one if all are lent.
    pub fn lend<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut spare = spare.unwrap_or_else(make);
        let done = work(&mut spare);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(spare);
        done
    }
}

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn threads_that_come_after_another_share_one() {
        let (spares, made) = (Spares::default(), AtomicUsize::new(0));
        let make = || made.fetch_add(1, Ordering::Relaxed);
        for _ in 0..20 {
            std::thread::scope(|scope| {
                scope.spawn(|| spares.lend(make, |one| assert_eq!(*one, 0)));
            });
        }
        assert_eq!(spares.lend(make, |outer| spares.lend(make, |inner| (*outer, *inner))), (0, 1));
        assert_eq!(made.into_inner(), 2);
    }
}

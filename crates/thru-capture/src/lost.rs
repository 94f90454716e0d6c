//! Events that could not be recorded, counted in a file that has its place on the disk before the disk is full.
//!
//! The count is kept until a hook that can record again tells the user.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use thru_core::{Layout, Timestamp};

/// The size of the file: the count, and the seconds of the first and the last of them.
const BYTES: usize = 24;
/// The time that a hook waits for another one that counts.
const PATIENCE: Duration = Duration::from_millis(50);

/// The events that were lost since the user was last told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Their number.
    pub events: u64,
    /// The time of the first.
    pub first: Timestamp,
    /// The time of the last.
    pub last: Timestamp,
}

fn path(layout: &Layout) -> PathBuf {
    layout.run().join("lost-events")
}

/// Counts an event that is lost, and returns the number of those that were lost since the user was last told; `None`
/// where it cannot be counted.
pub fn count(layout: &Layout, now: Timestamp) -> Option<u64> {
    let path = path(layout);
    let open = || OpenOptions::new().read(true).write(true).open(&path);
    let mut file = open().or_else(|_| prepare(&path).and_then(|()| open())).ok()?;
    lock(&file);
    let known = read(&mut file).ok()?;
    let first = if known.events == 0 { now } else { known.first };
    let lost = Lost { events: known.events.saturating_add(1), first, last: now };
    write(&mut file, lost).ok()?;
    Some(lost.events)
}

/// Returns the events that were lost since the user was last told.
pub fn known(layout: &Layout) -> Option<Lost> {
    let mut file = File::open(path(layout)).ok()?;
    read(&mut file).ok().filter(|lost| lost.events > 0)
}

/// Returns the events that were lost and begins to count anew. Makes the file where there is none.
pub fn take(layout: &Layout) -> Option<Lost> {
    let path = path(layout);
    let lost = match File::open(&path) {
        Ok(mut file) => read(&mut file).ok()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            prepare(&path).ok()?;
            Lost::default()
        }
        Err(_) => return None,
    };
    if lost.events == 0 {
        return None;
    }
    let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    lock(&file);
    // Another hook may have told of them meanwhile.
    let lost = read(&mut file).ok().filter(|lost| lost.events > 0)?;
    write(&mut file, Lost::default()).ok()?;
    Some(lost)
}

/// Makes the file, with its bytes on the disk.
fn prepare(path: &std::path::Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        thru_journal::files::create_dir_private(directory).map_err(io::Error::other)?;
    }
    let mut options = OpenOptions::new();
    thru_journal::files::private(options.write(true).create(true).truncate(false));
    write(&mut options.open(path)?, Lost::default())
}

fn lock(file: &File) {
    let deadline = Instant::now() + PATIENCE;
    // Without the lock, two at once may count as one.
    while file.try_lock().is_err() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn read(file: &mut File) -> io::Result<Lost> {
    let mut bytes = Vec::with_capacity(BYTES);
    file.rewind()?;
    file.take(BYTES as u64).read_to_end(&mut bytes)?;
    let number = |at: usize| {
        let mut number = [0; 8];
        if let Some(held) = bytes.get(at..at + 8) {
            number.copy_from_slice(held);
        }
        u64::from_le_bytes(number)
    };
    let time = |at| Timestamp::from_second(number(at).cast_signed()).unwrap_or_default();
    Ok(Lost { events: number(0), first: time(8), last: time(16) })
}

fn write(file: &mut File, lost: Lost) -> io::Result<()> {
    let seconds = |time: Timestamp| time.as_second().to_le_bytes();
    let bytes = [lost.events.to_le_bytes(), seconds(lost.first), seconds(lost.last)].concat();
    file.rewind()?;
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn lost_events_are_counted_and_told_once() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        std::fs::write(layout.run(), "in the way").unwrap();
        assert_eq!(count(&layout, at(1)), None, "there was never room");
        std::fs::remove_file(layout.run()).unwrap();
        assert_eq!(take(&layout), None);
        assert_eq!(std::fs::metadata(path(&layout)).unwrap().len(), BYTES as u64);
        std::fs::remove_file(path(&layout)).unwrap();
        for event in 1..=3 {
            assert_eq!(count(&layout, at(event)), Some(event.cast_unsigned()));
        }
        let lost = Lost { events: 3, first: at(1), last: at(3) };
        assert_eq!(known(&layout), Some(lost));
        assert_eq!(take(&layout), Some(lost));
        assert_eq!((take(&layout), known(&layout)), (None, None));
        assert_eq!(count(&layout, at(9)), Some(1));
    }

    #[test]
    fn hooks_at_once_are_all_counted() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        take(&layout);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..10).for_each(|_| _ = count(&layout, at(1))));
            }
        });
        assert_eq!(known(&layout).unwrap().events, 80);
    }
}

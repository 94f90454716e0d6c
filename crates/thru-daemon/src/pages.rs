//! The pages of the program's own file. Those that were touched stay with a process that lives long, although the system
//! could read them again at any time: some 30 MB of code, and as much of the embedding model's weights.

use std::fs;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::mailbox::Mailbox;

/// They are given back at most this often: it takes some milliseconds until those that are needed are there again.
const INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which a process that sleeps looks for work done by others of its threads.
const LOOK: Duration = Duration::from_secs(5);
/// The least work after which they are given back.
const WORK: Duration = Duration::from_millis(5);

/// Gives pages back after work, whichever thread did it.
pub(crate) struct Releasing {
    last: Mutex<Release>,
}

/// A moment at which they were given back.
struct Release {
    at: Instant,
    /// What the process had worked until then.
    worked: Duration,
    /// True where nothing was under way then, which would have needed pages again.
    is_last: bool,
}

impl Releasing {
    pub(crate) fn new() -> Self {
        let start = Release { at: Instant::now(), worked: Duration::ZERO, is_last: true };
        Self { last: Mutex::new(start) }
    }

    /// Gives them back where enough was done since the last time, and once more when it is over. Returns true while there is
    /// something to give back soon.
    pub(crate) fn after_work(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let has_worked = processor_time() >= last.worked + WORK;
        let pause = if has_worked { INTERVAL } else { LOOK };
        let is_due = last.at.elapsed() >= pause && (has_worked || !last.is_last);
        if is_due {
            release_pages();
            let (at, worked) = (Instant::now(), processor_time());
            *last = Release { at, worked, is_last: !has_worked };
        }
        has_worked
    }

    /// Starts the thread that looks for work beside that of the loop. It ends with the daemon, once it is unparked.
    pub(crate) fn start(self: &Arc<Self>, mailbox: Arc<Mailbox>) -> io::Result<JoinHandle<()>> {
        let releasing = Arc::clone(self);
        thread::Builder::new().name("pages".to_owned()).spawn(move || {
            let mut wait = LOOK;
            while !mailbox.is_stopped() {
                thread::park_timeout(wait);
                wait = if releasing.after_work() { INTERVAL } else { LOOK };
            }
        })
    }
}

/// Gives the pages of the program's file, code and constants, back to the system. What is needed of them later comes out of
/// its cache, or from the file.
pub fn release_pages() {
    let Ok(program) = fs::read_link("/proc/self/exe") else { return };
    let mappings = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    unwritten(&mappings, &program.to_string_lossy()).into_iter().for_each(forget);
}

/// Returns the addresses of the mappings, as the system lists them, that show this file as it is: none can be written to, and
/// none was, which would have made it memory in part.
fn unwritten(mappings: &str, file: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_of_file = false;
    for line in mappings.lines() {
        let mut fields = line.split_ascii_whitespace();
        match (fields.next(), fields.next()) {
            (Some("Anonymous:" | "Swap:"), Some(amount)) if is_of_file && amount != "0" => {
                found.pop();
                is_of_file = false;
            }
            (Some(addresses), Some(mode)) if !addresses.ends_with(':') => {
                let shown = line.find('/').and_then(|at| line.get(at..));
                let range = range(addresses).filter(|_| shown == Some(file) && !mode.contains('w'));
                is_of_file = range.is_some();
                found.extend(range);
            }
            _ => {}
        }
    }
    found
}

fn range(addresses: &str) -> Option<Range<usize>> {
    let (start, end) = addresses.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    Duration::ZERO
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the one way to return pages of a program; the proof is beside it")]
fn forget(pages: Range<usize>) {
    use rustix::mm::{Advice, madvise};
    let start = std::ptr::with_exposed_provenance_mut(pages.start);
    // SAFETY: these are whole pages of the program's own file, which stay mapped until the process ends. None of them was ever
    // written to, nor can be: the mapping does not allow it, and a file cannot be written while it runs as a program. So what is
    // read there, by any thread and at any time, is the same before and after. It fails where the system does not allow it, which
    // changes nothing.
    let _ = unsafe { madvise(start, pages.len(), Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn forget(_: Range<usize>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_were_never_written_are_given_back() {
        let mappings = "\
00200000-01f6f000 r--p 00000000 fe:00 1234      /opt/my tools/thru
Rss:                8576 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me
01f6f000-03b29000 r-xp 01d6e000 fe:00 1234      /opt/my tools/thru
Anonymous:             0 kB
Swap:                  0 kB
03b29000-03c34000 r--p 03927000 fe:00 1234      /opt/my tools/thru
Anonymous:            52 kB
Swap:                  0 kB
03c34000-03c35000 r--p 03a31000 fe:00 1234      /opt/my tools/thru
Anonymous:             0 kB
Swap:                  4 kB
03c35000-03c3d000 rw-p 03a31000 fe:00 1234      /opt/my tools/thru
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 77 /lib/libc.so.6
Anonymous:             0 kB
7f0000001000-7f0000002000 r--p 00000000 00:00 0
Anonymous:             0 kB
";
        let found = unwritten(mappings, "/opt/my tools/thru");
        assert_eq!(found, [0x0020_0000..0x01f6_f000, 0x01f6_f000..0x03b2_9000]);
        assert!(unwritten(mappings, "/tools/thru").is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_program_runs_on_and_its_constants_are_as_before() {
        static CONSTANT: &[u8] = include_bytes!("../../../models/all-MiniLM-L6-v2/vocab.txt");
        let resident = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).unwrap();
            line.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
        };
        let hash = blake3::hash(CONSTANT);
        let before = resident();
        // Other tests touch pages at the same time.
        let has_left = || {
            release_pages();
            resident() + CONSTANT.len() / 2 < before
        };
        assert!((0..100).any(|_| has_left()), "{before}");
        assert_eq!(blake3::hash(CONSTANT), hash);
    }
}

//! The memory of a constant as large as the weights. It is part of the program's file; pages of it that were touched stay with
//! the process, although the system could read them again at any time.

use std::fs;
use std::ops::Range;

/// No system has larger pages.
const LARGEST_PAGE: usize = 64 * 1024;

/// Gives the memory of a constant back to the system. What is read of it later comes from the program's file again.
pub(super) fn release(constant: &'static [u8]) {
    let start = constant.as_ptr().addr().next_multiple_of(LARGEST_PAGE);
    let end = constant.as_ptr_range().end.addr() / LARGEST_PAGE * LARGEST_PAGE;
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    if start < end
        && maps.lines().filter_map(unchanged).any(|of| of.start <= start && end <= of.end)
    {
        forget(start..end);
    }
}

/// Returns the addresses of a mapping, as the system lists it, that shows a file as it is: read-only, and not of memory.
fn unchanged(line: &str) -> Option<Range<usize>> {
    let mut fields = line.split_ascii_whitespace();
    let (addresses, mode, mut rest) = (fields.next()?, fields.next()?, fields.skip(2));
    let (start, end) = addresses.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let is_file = rest.next().is_some_and(|inode| inode != "0");
    (is_file && !mode.contains('w')).then_some(address(start)?..address(end)?)
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the one way to return pages of a program; the proof is beside it")]
fn forget(pages: Range<usize>) {
    use rustix::mm::{Advice, madvise};
    let start = std::ptr::with_exposed_provenance_mut(pages.start);
    // SAFETY: these are whole pages inside one constant, which nothing ever wrote to: it is not mutable, its mapping is not
    // writable, and bytes need no relocation. They are pages of a file, which cannot be written while the program runs. So what
    // is read there, by any thread and at any time, is the same before and after. It fails where the system does not allow it,
    // which changes nothing.
    let _ = unsafe { madvise(start, pages.len(), Advice::LinuxDontNeed) };
}

#[cfg(not(target_os = "linux"))]
fn forget(_: Range<usize>) {}

#[cfg(test)]
mod tests {
    use super::super::WEIGHTS;
    use super::*;

    #[test]
    fn only_files_that_cannot_be_written_are_forgotten() {
        let file = "55d0c0000000-55d0c2000000 r--p 00001000 fe:00 1234  /usr/bin/thru";
        assert_eq!(unchanged(file), Some(0x55d0_c000_0000..0x55d0_c200_0000));
        for other in [
            "55d0c0000000-55d0c2000000 rw-p 00001000 fe:00 1234  /usr/bin/thru",
            "55d0c0000000-55d0c2000000 r--p 00000000 00:00 0",
            "55d0c0000000-55d0c2000000 r--p",
            "",
        ] {
            assert_eq!(unchanged(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_constant_leaves_and_comes_back_as_it_was() {
        let resident = || {
            let maps = fs::read_to_string("/proc/self/smaps").unwrap();
            let place = WEIGHTS.bytes.as_ptr().addr() + WEIGHTS.bytes.len() / 2;
            let mut lines = maps.lines();
            lines.find(|line| unchanged(line).is_some_and(|of| of.contains(&place))).unwrap();
            let rss = lines.find_map(|line| line.strip_prefix("Rss:")).unwrap();
            rss.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
        };
        let hash = blake3::hash(WEIGHTS.bytes);
        let before = resident();
        // Other tests may read them at the same time.
        let has_left = || {
            release(WEIGHTS.bytes);
            resident() + WEIGHTS.bytes.len() / 2 < before
        };
        assert!((0..100).any(|_| has_left()), "{before}");
        assert_eq!(blake3::hash(WEIGHTS.bytes), hash);
    }
}

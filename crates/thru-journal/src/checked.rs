//! A line of JSON after its own checksum: `<16 hex digits> <JSON>\n`.
//!
//! The journal's records and the archive's block headers share it. It must not interpret the JSON.

/// Hex digits of a checksum: 64 bits of BLAKE3, plenty to detect damage (it is not a signature).
const DIGITS: usize = 16;

/// The number of bytes that [`seal`] adds to the JSON.
pub(crate) const OVERHEAD: usize = DIGITS + 2;

/// Appends `json` as a checked line to `out`. The JSON must be on one line.
pub(crate) fn seal(json: &[u8], out: &mut Vec<u8>) {
    debug_assert!(memchr::memchr(b'\n', json).is_none());
    out.reserve(json.len() + OVERHEAD);
    out.extend_from_slice(checksum(json).as_bytes());
    out.push(b' ');
    out.extend_from_slice(json);
    out.push(b'\n');
}

/// Returns the JSON of a checked line, given without its newline; `None` if the checksum does not
/// match.
pub(crate) fn open(line: &[u8]) -> Option<&[u8]> {
    let (sum, rest) = line.split_at_checked(DIGITS)?;
    let json = rest.strip_prefix(b" ")?;
    (sum == checksum(json).as_bytes()).then_some(json)
}

fn checksum(bytes: &[u8]) -> String {
    let mut digits = blake3::hash(bytes).to_hex().to_string();
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_form_on_disk_stays_the_same() {
        let mut line = Vec::new();
        seal(br#"{"v":1}"#, &mut line);
        assert_eq!(line, b"a122c9c1c4a04973 {\"v\":1}\n");
    }

    proptest! {
        #[test]
        fn any_changed_byte_is_noticed(json in "[ -~]{0,80}", at: prop::sample::Index, flip in 1u8..=255) {
            let mut line = Vec::new();
            seal(json.as_bytes(), &mut line);
            line.pop();
            prop_assert_eq!(open(&line), Some(json.as_bytes()));
            let at = at.index(line.len());
            line[at] ^= flip;
            prop_assert_eq!(open(&line), None);
        }
    }
}

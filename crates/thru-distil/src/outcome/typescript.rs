//! What `tsc` prints.

use std::sync::LazyLock;

use regex::Regex;

use super::Failure;
use crate::pattern;

static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?:^|\s)([^\s(:]+\.[cm]?[jt]sx?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (TS\d+): (.+)$",
    )
});

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let Some(error) = ERROR.as_ref() else { return };
    for line in lines.iter().filter(|line| line.contains("error TS")) {
        if let Some(parts) = error.captures(line) {
            found.push(Failure::error(&parts[2], &parts[3], Some(&parts[1])));
        }
    }
}

//! What `tsc` prints.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?:^|\s)([^\s(:]+\.[cm]?[jt]sx?)(?:\(\d+,\d+\):|:\d+:\d+ -) error (TS\d+): (.+)$",
    )
});

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    for line in lines.iter().filter(|line| line.contains("error TS")) {
        if let Some(parts) = ERROR.captures(line) {
            found.push(Failure::error(&parts[2], &parts[3], Some(&parts[1])));
        }
    }
}

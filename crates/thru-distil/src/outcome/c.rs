//! What compilers of C and its kin print, and those that follow their form.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^(\S+\.(?:c|cc|cpp|cxx|h|hh|hpp|m|mm|java|kt|swift|cs)):\d+(?::\d+)?: (?:fatal )?error: (.+)$",
    )
});

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    for line in lines.iter().filter(|line| line.contains("error: ")) {
        if let Some(parts) = ERROR.captures(line) {
            found.push(Failure::error("", &parts[2], Some(&parts[1])));
        }
    }
}

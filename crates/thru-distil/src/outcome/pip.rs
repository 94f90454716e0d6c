//! What `pip` and `uv` print where packages cannot be installed.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^(?:ERROR: |\s*× )((?:No matching distribution found for|Cannot install|Failed building wheel for|Could not build wheels for|Could not install packages due to|Failed to build installable wheels|No solution found when resolving|Failed to build `).*)$",
    )
});

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    for line in lines {
        if let Some(parts) = ERROR.captures(line) {
            found.push(Failure::error("", parts[1].trim_end_matches(':'), None));
        }
    }
}

//! What building an image prints: BuildKit, Compose and the builder before them.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

/// `ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1`.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^(?:ERROR: |failed to |target \S+: )*(?:solve|failed to solve): (.+)$|^(The command '.+' returned a non-zero code: \d+)$",
    )
});

/// `Dockerfile:12`, above the lines around.
static PLACE: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^(\S*(?:Dockerfile|Containerfile)\S*?):\d+$"));

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let mut file = None;
    for line in lines {
        if let Some(parts) = PLACE.captures(line) {
            file = parts.get(1).map(|path| path.as_str());
        } else if let Some(parts) = ERROR.captures(line) {
            let message = parts.get(1).or(parts.get(2)).map_or("", |message| message.as_str());
            found.push(Failure::error("", message, file));
        }
    }
}

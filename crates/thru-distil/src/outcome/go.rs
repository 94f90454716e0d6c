//! What `go test`, `go build` and `go vet` print.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

static TEST: LazyLock<Regex> = LazyLock::new(|| pattern::regex(r"^\s*--- FAIL: (\S+) \("));

static ERROR: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^(?:vet: )?(\S+\.go):\d+(?::\d+)?: (.+)$"));

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    for line in lines {
        if let Some(parts) = TEST.captures(line) {
            found.push(Failure::test(&parts[1], None));
        } else if let Some(parts) = ERROR.captures(line) {
            found.push(Failure::error("", &parts[2], Some(parts[1].trim_start_matches("./"))));
        }
    }
}

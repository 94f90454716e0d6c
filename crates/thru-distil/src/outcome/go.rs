//! What `go test`, `go build` and `go vet` print.

use std::sync::LazyLock;

use regex::Regex;

use super::Failure;
use crate::pattern;

static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern::regex(r"^\s*--- FAIL: (\S+) \("));

static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern::regex(r"^(?:vet: )?(\S+\.go):\d+(?::\d+)?: (.+)$"));

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let (Some(test), Some(error)) = (TEST.as_ref(), ERROR.as_ref()) else { return };
    for line in lines {
        if let Some(parts) = test.captures(line) {
            found.push(Failure::test(&parts[1], None));
        } else if let Some(parts) = error.captures(line) {
            found.push(Failure::error("", &parts[2], Some(parts[1].trim_start_matches("./"))));
        }
    }
}

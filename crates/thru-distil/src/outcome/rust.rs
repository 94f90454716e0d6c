//! What `cargo` and `rustc` print.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::{Failure, is_own_file};
use crate::pattern;

static ERROR: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\s*error(?:\[(E\d{4})\])?: (.+)$"));

static TEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^test (\S+)(?: - should panic)? \.\.\. FAILED|^\s+FAIL \[[^\]]*\](?: \([^)]*\))?\s+\S+ (\S+)$",
    )
});

static PANIC: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^thread '([^']+)' (?:\(\d+\) )?panicked at ([^\s:]+):\d+"));

/// Sums of what was said before.
const SUMS: [&str; 6] = [
    "could not compile",
    "aborting due to",
    "test failed, to rerun",
    "build failed",
    "process didn't exit successfully",
    "could not document",
];

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let is_of_cargo = |line: &&str| {
        line.starts_with("error") || line.starts_with("test ") || line.contains("FAIL [")
    };
    if !lines.iter().any(is_of_cargo) {
        return;
    }
    let panics: Vec<(&str, &str)> = lines
        .iter()
        .filter_map(|line| PANIC.captures(line))
        .filter_map(|found| Some((found.get(1)?.as_str(), found.get(2)?.as_str())))
        .collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some(parts) = TEST.captures(line) {
            let name = parts.get(1).or(parts.get(2)).map_or("", |name| name.as_str());
            let file = panics.iter().find(|(test, _)| *test == name).map(|(_, file)| *file);
            found.push(Failure::test(name, file.filter(|file| is_own_file(file))));
        } else if let Some(parts) = ERROR.captures(line) {
            let message = parts.get(2).map_or("", |message| message.as_str());
            let code = parts.get(1).map_or("", |code| code.as_str());
            let place = lines
                .iter()
                .skip(at + 1)
                .take(3)
                .find_map(|next| next.trim_start().strip_prefix("--> "));
            let is_sum = SUMS.iter().any(|sum| message.contains(sum));
            // Without a code or a place, any program may have said it.
            if is_sum || code.is_empty() && place.is_none() {
                continue;
            }
            let file = place.and_then(|place| place.split(':').next());
            found.push(Failure::error(code, message, file.filter(|file| is_own_file(file))));
        }
    }
}

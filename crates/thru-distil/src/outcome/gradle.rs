//! What Gradle and its Kotlin compiler print.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

/// `KilnTest > melts() FAILED`.
static TEST: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^(?:\S.* > )?(\S+ > .+?) FAILED$"));

/// `e: file:///p/src/Main.kt:3:5 Unresolved reference: x`.
static KOTLIN: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^e: (?:file://)?(\S+\.kts?):\d+:\d+:? (.+)$"));

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    for line in lines {
        if line.starts_with("> Task ") {
            continue;
        } else if let Some(parts) = TEST.captures(line) {
            found.push(Failure::test(&parts[1], None));
        } else if let Some(parts) = KOTLIN.captures(line) {
            found.push(Failure::error("", &parts[2], Some(&parts[1])));
        }
    }
    // Gradle's own summary says something where no compiler and no test does.
    if found.is_empty()
        && let Some(at) = lines.iter().position(|line| *line == "* What went wrong:")
    {
        let why = lines.iter().skip(at + 1).take_while(|line| !line.trim().is_empty());
        let why: Vec<&str> = why.take(2).map(|line| line.trim_start_matches(['>', ' '])).collect();
        found.push(Failure::error("", &why.join(" "), None));
    }
}

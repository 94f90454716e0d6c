//! What the runners of JavaScript tests print: Jest, Vitest, Bun, Node, Playwright.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::{Failure, is_own_file};
use crate::pattern;

/// `FAIL src/a.test.ts`, and Vitest's ` FAIL  src/a.test.ts > suite > name`.
static FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^\s*(?:❯ )?FAIL\s+(?:\|?[A-Za-z0-9_@/-]+\|?\s+)?(\S+\.[cm]?[jt]sx?)(?:\s+>\s+(.+?))?(?:\s+\(.*\))?$",
    )
});

/// `● suite › name`, but no heading such as `● Console`.
static JEST: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\s+● (.+ › .+?)(?:\s+\([\d.]+ m?s\))?$"));

/// `(fail) suite > name [1.00ms]`.
static BUN: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\(fail\) (.+?)(?:\s+\[[\d.]+m?s\])?$"));

/// `not ok 3 - name`.
static TAP: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\s*not ok \d+ - (.+?)(?:\s+#.*)?$"));

/// `1) [chromium] › tests/a.spec.ts:3:1 › name`.
static PLAYWRIGHT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"^\s+\d+\) (?:\[[^\]]+\] › )?(\S+\.[cm]?[jt]sx?):\d+:\d+ › (.+?)(?:\s+─+)?$")
});

/// The place of an error that is none of a test's: `    at src/a.ts:118:29`.
static AT: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\s+at (?:.*\()?(\S+\.[cm]?[jt]sx?):\d+"));

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let mut path: Option<&str> = None;
    // A file that failed as a whole has no test of its own.
    let mut failed_files: Vec<&str> = Vec::new();
    let before = found.len();
    for (at, line) in lines.iter().enumerate() {
        if let Some(parts) = FILE.captures(line) {
            path = parts.get(1).map(|path| path.as_str());
            match parts.get(2) {
                Some(name) => found.push(Failure::test(name.as_str(), path)),
                None => failed_files.extend(path),
            }
        } else if let Some(parts) = JEST.captures(line) {
            found.push(Failure::test(&parts[1], path));
        } else if let Some(parts) = BUN.captures(line).or_else(|| TAP.captures(line)) {
            // Names of files may come from another stream than those of tests.
            found.push(Failure::test(&parts[1], None));
        } else if let Some(parts) = PLAYWRIGHT.captures(line) {
            found.push(Failure::test(&parts[2], Some(&parts[1])));
        } else if line.starts_with("# Unhandled error between tests") {
            let below = lines.get(at + 1..).unwrap_or_default();
            let error = below.iter().take(20).position(|line| line.starts_with("error: "));
            let Some(message) = error.and_then(|error| below.get(error)) else { continue };
            let after = below.iter().skip(error.unwrap_or_default() + 1).take(3);
            let own = after.filter_map(|line| AT.captures(line)).find_map(|parts| {
                parts.get(1).map(|path| path.as_str()).filter(|path| is_own_file(path))
            });
            found.push(Failure::error("", message.trim_start_matches("error: "), own));
        }
    }
    let named = found.split_off(before);
    let has_own = |path: &&str| named.iter().any(|failure| failure.file.as_deref() == Some(*path));
    let whole = failed_files.into_iter().filter(|path| !has_own(path));
    found.extend(whole.map(|path| Failure::test(path, Some(path))));
    found.extend(named);
}

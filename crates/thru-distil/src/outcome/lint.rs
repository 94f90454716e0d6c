//! What linters print: ESLint, Biome, Ruff.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

/// `  3:1  error  message  rule-name`, below a line with the file.
static ESLINT: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\s+\d+:\d+\s+error\s+(.+?)\s{2,}(\S+)$"));

/// `src/a.ts:3:1 lint/style/useConst ━━━`, above a line with the message.
static BIOME: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^(?: at )?(\S+?)(?::\d+:\d+)? ((?:lint|assist|parse|suppressions)(?:/\w+)*|format)\s+(?:FIXABLE\s+)?━",
    )
});

/// `a.py:3:1: E501 message`.
static RUFF: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"^(\S+\.pyi?):\d+:\d+: ([A-Z]{1,4}\d{2,4}) (?:\[\*\] )?(.+)$")
});

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let mut file: Option<&str> = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(parts) = ESLINT.captures(line) {
            found.push(Failure::error(&parts[2], &parts[1], file));
        } else if let Some(parts) = BIOME.captures(line) {
            let below = lines.iter().skip(at + 1).find(|line| !line.trim().is_empty());
            let message = below.and_then(|line| line.trim().strip_prefix(['×', '!', '✖']));
            // What the formatter would change says nothing that lasts.
            let message = message.filter(|_| parts[2].contains('/')).unwrap_or_default();
            found.push(Failure::error(&parts[2], message, Some(&parts[1])));
        } else if let Some(parts) = RUFF.captures(line) {
            found.push(Failure::error(&parts[2], &parts[3], Some(&parts[1])));
        } else if !line.starts_with(char::is_whitespace) {
            file = Some(line.trim()).filter(|line| super::is_own_file(line));
        }
    }
}

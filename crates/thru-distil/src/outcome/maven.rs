//! What Maven and its Surefire print.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Failure;
use crate::pattern;

/// `[ERROR] /p/src/main/java/Kiln.java:[3,8] cannot find symbol`.
static ERROR: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\[ERROR\] (\S+\.(?:java|kt|scala)):\[\d+,\d+\] (.+)$"));

/// `[ERROR] kiln.KilnTest.melts -- Time elapsed: 0.01 s <<< FAILURE!`; older: `[ERROR] melts(kiln.KilnTest)  Time …`.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^\[ERROR\] (\S+?)(?:\(([\w.$]+)\))?\s+(?:-- )?Time elapsed: .*<<< (?:FAILURE|ERROR)!",
    )
});

static GOAL: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^\[ERROR\] Failed to execute goal .*?: (.+?)(?: -> .*)?$"));

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let before = found.len();
    for line in lines.iter().filter(|line| line.starts_with("[ERROR]")) {
        if let Some(parts) = ERROR.captures(line) {
            found.push(Failure::error("", &parts[2], Some(&parts[1])));
        } else if let Some(parts) = TEST.captures(line) {
            let name = match parts.get(2) {
                Some(class) => format!("{}.{}", class.as_str(), &parts[1]),
                None => parts[1].to_owned(),
            };
            found.push(Failure::test(&name, None));
        } else if found.len() == before
            && let Some(parts) = GOAL.captures(line)
        {
            found.push(Failure::error("", &parts[1], None));
        }
    }
}

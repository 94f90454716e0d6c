//! What `pytest`, `unittest`, `mypy` and Python itself print.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::{Failure, is_own_file};
use crate::pattern;

static PYTEST: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^(?:FAILED|ERROR) (\S+\.py)(::\S+)?(?: - (.+))?$"));

static UNITTEST: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"^(?:FAIL|ERROR): (\w+) \(([A-Za-z0-9_.]+)\)"));

static RAISED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"^((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Warning))(?:: (.+))?$")
});

static FRAME: LazyLock<Regex> = LazyLock::new(|| pattern::regex(r#"^\s+File "([^"]+)", line \d+"#));

static MYPY: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"^([^\s:]+\.pyi?):\d+(?::\d+)?: error: (.+?)(?:\s+\[([a-z0-9-]+)\])?$")
});

pub(super) fn read(lines: &[&str], found: &mut Vec<Failure>) {
    let mut names_tests = false;
    // The innermost file of the project, while a traceback is read.
    let mut file: Option<Option<&str>> = None;
    let mut last_raised = None;
    for line in lines {
        if line.starts_with("Traceback (most recent call last)") {
            file = Some(None);
        } else if let Some(own) = &mut file {
            if let Some(parts) = FRAME.captures(line) {
                let path = parts.get(1).map(|path| path.as_str());
                *own = path.filter(|path| is_own_file(path)).or(*own);
            } else if let Some(parts) = RAISED.captures(line) {
                let message = parts.get(2).map_or("", |message| message.as_str());
                last_raised = Some(Failure::error(&parts[1], message, *own));
                file = None;
            }
        } else if let Some(parts) = PYTEST.captures(line) {
            let path = parts.get(1).map(|path| path.as_str());
            match parts.get(2) {
                Some(name) => {
                    let name = format!("{}{}", &parts[1], name.as_str());
                    found.push(Failure::test(&name, path));
                }
                None => {
                    let message = parts.get(3).map_or("cannot be collected", |text| text.as_str());
                    found.push(Failure::error("", message, path));
                }
            }
            names_tests = true;
        } else if let Some(parts) = UNITTEST.captures(line) {
            // Newer versions write the name twice.
            let of = parts[2].strip_suffix(&format!(".{}", &parts[1])).unwrap_or(&parts[2]);
            found.push(Failure::test(&format!("{of}.{}", &parts[1]), None));
            names_tests = true;
        } else if let Some(parts) = MYPY.captures(line) {
            let code = parts.get(3).map_or("", |code| code.as_str());
            found.push(Failure::error(code, &parts[2], Some(&parts[1])));
        }
    }
    // A runner names its tests; an error of a test says less than its name.
    found.extend(last_raised.filter(|_| !names_tests));
}

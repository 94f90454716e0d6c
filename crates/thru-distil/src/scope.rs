//! The reach of a check: the part of the work that it looked at, so that a later check tells about an
//! earlier one.

use crate::shell::Simple;

/// The work of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tests,
    Lint,
    Types,
    Format,
    Build,
    /// Everything that the project checks: `npm run check`, `make ci`.
    All,
    /// Anything else, known by its program only.
    Other,
}

/// Words of a command line that name the kind of a check.
#[rustfmt::skip]
const KINDS: [(Kind, &[&str]); 6] = [
    (Kind::Types, &["typecheck", "type-check", "tsc", "mypy", "pyright"]),
    (Kind::Lint, &[
        "lint", "clippy", "eslint", "biome", "ruff", "vet", "golangci-lint", "rubocop", "flake8",
        "knip", "audit",
    ]),
    (Kind::Format, &["fmt", "prettier"]),
    (Kind::Tests, &[
        "test", "tests", "vitest", "jest", "pytest", "nextest", "tox", "nox", "rspec", "phpunit",
        "playwright", "cypress", "mocha", "bats", "ctest", "e2e",
    ]),
    (Kind::Build, &["build", "compile"]),
    (Kind::All, &["check", "verify", "validate", "ci"]),
];

/// Options that widen a check to everything.
const WIDENING: [&str; 5] = ["--workspace", "--all", "--recursive", "-r", "--workspaces"];

/// Options that narrow a check to what the next word names.
#[rustfmt::skip]
const NARROWING: [&str; 22] = [
    "-p", "--package", "--filter", "-F", "-w", "-t", "-k", "--grep", "--test", "--bin", "--example",
    "--bench", "--testPathPattern", "--testPathPatterns", "--testNamePattern", "-run", "--run",
    "--project", "--suite", "--scope", "--tests", "-m",
];

/// Options that are followed by a word of their own, which names no part of the work.
#[rustfmt::skip]
const VALUED: [&str; 16] = [
    "-C", "--prefix", "--cwd", "--dir", "--manifest-path", "--config", "-c", "--features",
    "--reporter", "--timeout", "-j", "--jobs", "--profile", "--target", "--color", "-n",
];

/// Programs that run what a project calls its tasks.
const RUNNERS: [&str; 10] =
    ["npm", "pnpm", "yarn", "bun", "make", "just", "task", "mise", "turbo", "nx"];

/// Most words of a command line that are looked at.
const WORDS: usize = 60;

/// The reach of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    kind: Kind,
    /// The program and subcommand.
    family: String,
    /// The packages, files and names that it was limited to; none for everything.
    parts: Vec<String>,
    /// The folder that it ran in, if the command line names it.
    folder: Option<String>,
}

impl Scope {
    /// Returns the reach of a command that checks something.
    pub(crate) fn of(command: &Simple, folder: Option<&str>) -> Option<Self> {
        if !command.is_check() {
            return None;
        }
        let family = command.family();
        let mut parts = Vec::new();
        let mut own_folder = None;
        let mut is_wide = false;
        let mut is_below = false;
        let mut words = command.words.iter().skip(1).take(WORDS).map(String::as_str);
        let mut named = 0;
        let names_check = |word: &str| kind_of(word).is_some();
        while let Some(word) = words.next() {
            let (option, value) = word.split_once('=').unwrap_or((word, ""));
            if word == "--" {
                is_below = true;
            } else if WIDENING.contains(&word) && !is_below {
                is_wide = true;
            } else if NARROWING.contains(&option) && (named > 0 || option != "-m") {
                // `vitest --run` takes no value.
                let mut after = words.clone();
                let next = after.next().filter(|next| !next.starts_with('-'));
                match (value.is_empty(), next) {
                    (false, _) => parts.push(value.to_owned()),
                    (true, Some(next)) => {
                        parts.push(next.to_owned());
                        words = after;
                    }
                    (true, None) => {}
                }
            } else if VALUED.contains(&option) {
                let value = if value.is_empty() { words.next().unwrap_or_default() } else { value };
                if matches!(option, "-C" | "--prefix" | "--cwd" | "--dir") {
                    own_folder = Some(value);
                }
            } else if word.starts_with('-') || word.is_empty() {
                continue;
            } else if named == 0 && !is_below && !command.is_check_word(word) {
                // The runner's own words: `npm run`, `bunx bun`.
                continue;
            } else if named == 0 && (command.is_check_word(word) || names_check(word)) {
                named += 1;
            } else {
                parts.push(word.to_owned());
            }
        }
        // The program itself is the check: every word names a part.
        if named == 0 {
            let own = command.words.iter().skip(1).take(WORDS).map(String::as_str);
            parts.extend(own.filter(|word| !word.starts_with('-')).map(str::to_owned));
        }
        if is_wide {
            parts.clear();
        }
        for part in &mut parts {
            *part = part.trim_start_matches("./").trim_end_matches('/').to_owned();
        }
        parts.retain(|part| !part.is_empty() && part != "." && part != "..." && part != "run");
        parts.sort_unstable();
        parts.dedup();
        let folder = match (own_folder, folder) {
            (Some(own), Some(folder)) if !own.starts_with('/') => Some(format!("{folder}/{own}")),
            (Some(own), _) => Some(own.to_owned()),
            (None, folder) => folder.map(str::to_owned),
        };
        Some(Self { kind: kind(command), family, parts, folder })
    }

    /// Returns true if its success means that the other check would succeed, too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_same = self.family == other.family;
        if !self.reaches(other) {
            return false;
        }
        match self.parts.is_empty() {
            // The whole suite, whichever program runs it.
            true => {
                is_same
                    || self.kind == Kind::All
                    || self.kind == other.kind && self.kind != Kind::Other
            }
            false => {
                is_same
                    && !other.parts.is_empty()
                    && other.parts.iter().all(|part| self.parts.iter().any(|own| holds(own, part)))
            }
        }
    }

    /// Returns true if it ran where the other did, or above.
    fn reaches(&self, other: &Self) -> bool {
        match (&self.folder, &other.folder) {
            (Some(own), Some(of_other)) => holds(own, of_other),
            _ => true,
        }
    }
}

/// Returns true if a path is another one, or lies below it.
fn holds(above: &str, path: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
}

fn kind(command: &Simple) -> Kind {
    let words = command.words.iter().take(8).map(String::as_str);
    let found = words.filter(|word| !word.starts_with('-')).find_map(kind_of);
    // Only a runner of tasks checks all: `cargo check` compiles, `terraform validate` looks at itself.
    let runs_tasks = RUNNERS.contains(&command.program());
    found.filter(|kind| *kind != Kind::All || runs_tasks).unwrap_or(Kind::Other)
}

fn kind_of(word: &str) -> Option<Kind> {
    let word = word.rsplit('/').next().unwrap_or(word);
    let exact =
        |word: &str| KINDS.iter().find(|(_, words)| words.contains(&word)).map(|(kind, _)| *kind);
    exact(word).or_else(|| word.split([':', '-', '_', '.']).find_map(exact))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shell;

    fn scope(line: &str) -> Scope {
        let line = shell::parse(line);
        line.acting().find_map(|command| Scope::of(command, None)).unwrap()
    }

    fn covers(green: &str, red: &str) -> bool {
        scope(green).covers(&scope(red))
    }

    #[test]
    fn a_check_covers_those_that_look_at_less() {
        for (green, red) in [
            ("cargo test", "cargo test"),
            ("cargo test", "cargo test -p parser names_are_read"),
            ("cargo test --workspace", "cargo test -p parser"),
            ("cargo test --all-features", "cargo nextest run -p parser"),
            ("npm run test", "npx vitest run src/a.test.ts"),
            ("npm test", "npm test -- --grep login"),
            ("bun run lint", "bunx eslint src/a.ts"),
            ("npm run lint:fix", "npm run lint"),
            ("pytest tests", "pytest tests/test_a.py"),
            ("pytest tests/test_a.py", "pytest tests/test_a.py::test_b"),
            ("prettier --check docs", "prettier --check docs/a.md"),
            ("go test ./...", "go test ./pkg/a"),
            ("pnpm --filter web build", "pnpm --filter web build"),
            ("timeout 60 make check", "ruff check src/a.py"),
            ("tsc --noEmit", "npm run typecheck"),
            ("npm run check", "npx vitest run src/a.test.ts"),
            ("cargo check", "cargo check -p parser"),
        ] {
            assert!(covers(green, red), "{green} | {red}");
        }
    }

    #[test]
    fn a_check_says_nothing_of_what_it_left_out() {
        for (green, red) in [
            ("cargo test -p parser", "cargo test"),
            ("cargo test -p parser", "cargo test -p writer"),
            ("cargo test", "cargo clippy"),
            ("cargo build", "cargo test"),
            ("npx vitest run src/a.test.ts", "npx vitest run src/b.test.ts"),
            ("npx vitest run src/a.test.ts", "npm run test"),
            ("pytest tests/test_a.py", "pytest tests/test_abc.py"),
            ("npm run typecheck", "npm run lint"),
            ("pnpm --filter web build", "pnpm --filter api build"),
            ("npm --prefix web test", "npm --prefix api test"),
            ("cargo check", "cargo test"),
            ("terraform validate", "npm test"),
        ] {
            assert!(!covers(green, red), "{green} | {red}");
        }
    }

    #[test]
    fn a_check_in_one_folder_says_nothing_of_another() {
        let at = |folder: &str| {
            let line = shell::parse("npm test");
            line.acting().find_map(|command| Scope::of(command, Some(folder))).unwrap()
        };
        assert!(at("/p").covers(&at("/p/web")));
        assert!(at("/p").covers(&scope("npm test")));
        assert!(!at("/p/web").covers(&at("/p")));
        assert!(!at("/p/web").covers(&at("/p/website")));
    }

    proptest! {
        #[test]
        fn any_check_covers_itself(line in "(cargo|npm|pytest|bunx|make) (test|lint|run|check)( -[a-z]| --[a-z]{2,6}(=x)?| [a-z./]{1,6}){0,5}") {
            for command in shell::parse(&line).acting() {
                if let Some(scope) = Scope::of(command, None) {
                    prop_assert!(scope.covers(&scope), "{line} {scope:?}");
                }
            }
        }
    }
}

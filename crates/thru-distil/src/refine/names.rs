//! The verifiable names in a statement: files, identifiers, commands, error codes, numbers.

/// A name and its kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) kind: Kind,
    /// In lower case.
    pub(super) text: String,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A file, a folder, an address.
    File,
    /// Something in code: a function, a type, a flag.
    Identifier,
    /// A command line.
    Command,
    /// An error code, a hash.
    Code,
    /// A number.
    Number,
    /// A line number in a file.
    Line,
}

/// Most names that are looked up: no honest sentence has more.
const MOST: usize = 40;

/// Programs that are named together with their arguments.
#[rustfmt::skip]
const PROGRAMS: [&str; 30] = [
    "git", "gh", "cargo", "npm", "pnpm", "yarn", "bun", "npx", "bunx", "docker", "kubectl", "pip",
    "pip3", "python", "python3", "node", "deno", "go", "make", "just", "uv", "poetry", "terraform",
    "rustup", "brew", "apt", "systemctl", "pytest", "dotnet", "curl",
];

/// Arguments of programs that can be nothing else in a sentence.
#[rustfmt::skip]
const TOLD: [&str; 34] = [
    "test", "build", "run", "install", "add", "commit", "push", "pull", "rebase", "merge",
    "checkout", "reset", "stash", "clippy", "fmt", "bench", "publish", "deploy", "exec", "compose",
    "up", "apply", "init", "revert", "cherry-pick", "clone", "fetch", "switch", "restore", "tag",
    "nextest", "ci", "lint", "typecheck",
];

/// Error codes without digits.
#[rustfmt::skip]
const ERRORS: [&str; 26] = [
    "ENOENT", "EACCES", "EPERM", "EEXIST", "EADDRINUSE", "ECONNREFUSED", "ECONNRESET",
    "ETIMEDOUT", "EPIPE", "EINVAL", "EISDIR", "ENOTDIR", "ENOTEMPTY", "EMFILE", "ENOMEM",
    "ENOSPC", "EBUSY", "EAGAIN", "EINTR", "ENOTFOUND", "ELIFECYCLE", "ERESOLVE", "EXDEV", "EROFS",
    "SIGKILL", "SIGSEGV",
];

/// Names with a capital inside that are common technical terms, not identifiers of a project.
const BRANDS: [&str; 10] = [
    "GitHub",
    "GitLab",
    "JavaScript",
    "TypeScript",
    "macOS",
    "iOS",
    "OpenAI",
    "YouTube",
    "LaTeX",
    "iPhone",
];

/// Folders with which paths begin: other words around a slash are alternatives.
#[rustfmt::skip]
const FOLDERS: [&str; 26] = [
    "src", "lib", "app", "apps", "tests", "test", "docs", "crates", "packages", "bin", "cmd", "pkg",
    "internal", "include", "scripts", "config", "public", "assets", "components", "pages", "api",
    "server", "utils", "target", "dist", "build",
];

/// Returns the names in one sentence, whether or not code is quoted.
pub(super) fn find(statement: &str) -> Vec<Name> {
    let mut found = Found::default();
    let pieces: Vec<&str> = pieces(statement);
    // With an odd number of backticks it is unclear which part is code: treat all of it as such.
    let is_odd = pieces.len().is_multiple_of(2);
    for (at, piece) in pieces.iter().enumerate() {
        match at % 2 == 1 || is_odd && at > 0 {
            true => found.code(piece),
            false => found.prose(piece, at == 0),
        }
        if found.names.len() >= MOST {
            break;
        }
    }
    found.names.truncate(MOST);
    found.names
}

/// Returns the spans between backticks; adjacent ones are joined.
fn pieces(statement: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = statement;
    while let Some((piece, after)) = rest.split_once('`') {
        pieces.push(piece);
        rest = after.trim_start_matches('`');
    }
    pieces.push(rest);
    pieces
}

#[derive(Default)]
struct Found {
    names: Vec<Name>,
}

impl Found {
    fn push(&mut self, kind: Kind, text: &str) {
        let name = Name { kind, text: text.to_lowercase() };
        if !text.is_empty() && !self.names.contains(&name) && self.names.len() < MOST {
            self.names.push(name);
        }
    }

    /// Adds the names in a span quoted as code.
    fn code(&mut self, span: &str) {
        let span = span.trim().trim_start_matches("$ ").trim();
        let mut words = span.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let is_command = second.is_some()
            && (PROGRAMS.contains(&first) || first.starts_with("./") || span.contains(" --"));
        if is_command {
            return self.push(Kind::Command, span);
        }
        for word in span.split_whitespace() {
            self.word(word, true, Kind::Number);
        }
    }

    fn prose(&mut self, text: &str, is_start: bool) {
        let mut program = "";
        let mut is_line = false;
        for (at, word) in text.split_whitespace().enumerate() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
            if !program.is_empty() && TOLD.contains(&bare) {
                self.push(Kind::Command, &format!("{program} {bare}"));
            }
            program =
                if PROGRAMS.contains(&word) && word != "go" && word != "just" { word } else { "" };
            // "1. First" numbers its own sentences.
            let count = word.strip_suffix(['.', ')']).filter(|_| is_start && at == 0);
            let is_count = count.is_some_and(|count| {
                count.len() <= 2 && count.bytes().all(|byte| byte.is_ascii_digit())
            });
            if !is_count {
                self.word(word, false, if is_line { Kind::Line } else { Kind::Number });
            }
            is_line = matches!(bare, "line" | "lines" | "Line" | "Lines");
        }
    }

    fn word(&mut self, word: &str, is_code: bool, kind: Kind) {
        if word.contains("://") {
            let is_around = |c: char| "\"'“”‘’()[]{}<>,;.!?".contains(c);
            return self.push(Kind::File, word.trim_matches(is_around).trim_end_matches('/'));
        }
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if is_numeric(bare) {
            return self.numbers(kind, bare);
        }
        let is_between =
            |c: char| "\"“”‘’()[]{}<>,;|…—–=+!?*&^%~".contains(c) || c == '\'' && is_code;
        for (at, piece) in word.split(is_between).enumerate() {
            let piece = piece.trim_end_matches([':', '.', '\'']).trim_start_matches([':', '\'']);
            let piece = piece.strip_suffix("'s").unwrap_or(piece);
            let piece = piece.strip_suffix("’s").unwrap_or(piece);
            let is_called =
                at == 0 && word.get(piece.len()..).is_some_and(|rest| rest.starts_with("()"));
            if piece.chars().any(char::is_alphanumeric) {
                self.token(piece, is_code || is_called);
            }
        }
    }

    fn token(&mut self, token: &str, is_code: bool) {
        let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
        if token.starts_with("--") || is_code && token.starts_with('-') && token.len() > 1 {
            return self.push(Kind::Identifier, token);
        }
        if is_numeric(token) {
            return self.numbers(Kind::Number, token);
        }
        if let Some(number) = token.strip_prefix('#').filter(|rest| is_numeric(rest)) {
            return self.numbers(Kind::Number, number);
        }
        if is_code_of_error(token) || is_hash(token) {
            return self.push(Kind::Code, token);
        }
        // "src/a.rs:40:7" names a file and a position in it.
        let (path, place) = match token.split_once(':') {
            Some((path, place)) if !place.starts_with(':') && is_file(path, is_code) => {
                (path, place)
            }
            _ => (token, ""),
        };
        if is_file(path, is_code) {
            let path = path.trim_start_matches("./").trim_end_matches('/').replace('\\', "/");
            self.push(Kind::File, &path);
            return self.numbers(Kind::Line, place);
        }
        if token.contains('/') || token.contains('\\') {
            token.split(['/', '\\']).for_each(|part| self.part(part, is_code));
            return;
        }
        let is_name = is_code
            || token.contains("::")
            || token.contains('_')
            || token.starts_with(['$', '@'])
            || has_hump(token)
            || is_dotted(token);
        if is_name {
            return self.push(Kind::Identifier, token);
        }
        if has_digit {
            self.mixed(token);
        }
    }

    fn part(&mut self, part: &str, is_code: bool) {
        if is_numeric(part) {
            self.numbers(Kind::Number, part);
        } else if is_code && !part.is_empty() || has_hump(part) || part.contains('_') {
            self.push(Kind::Identifier, part);
        }
    }

    /// Adds tokens of letters and digits: "UTF-8", "port-3000", "sha256".
    fn mixed(&mut self, token: &str) {
        for part in token.split(['-', ':', '.', '/']) {
            match part {
                _ if !part.bytes().any(|byte| byte.is_ascii_digit()) => {}
                _ if is_numeric(part) => self.numbers(Kind::Number, part),
                _ => self.push(Kind::Identifier, part),
            }
        }
    }

    /// Adds the numbers in a token: "1,250ms", "v1.2.3", "3-5".
    fn numbers(&mut self, kind: Kind, token: &str) {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_');
        for number in token.split(|c: char| !is_part(c)) {
            let number = number.trim_matches(|c: char| !c.is_ascii_digit());
            let whole = without_separators(number);
            // Any description says "one" or "two" of something.
            let is_small = whole.len() == 1 && whole.as_bytes() <= b"2".as_slice();
            if !whole.is_empty() && !is_small {
                self.push(kind, &whole);
            }
        }
    }
}

/// Returns a number without its thousands separators.
fn without_separators(number: &str) -> String {
    for separator in [',', '_'] {
        let mut groups = number.split(separator);
        let first = groups.next().unwrap_or_default();
        let rest: Vec<&str> = groups.collect();
        let is_grouped = (1..=3).contains(&first.len())
            && !rest.is_empty()
            && rest
                .iter()
                .all(|group| group.split('.').next().is_some_and(|whole| whole.len() == 3));
        if is_grouped {
            return number.replace(separator, "");
        }
    }
    number.trim_end_matches([',', '_']).to_owned()
}

/// Returns true for digits, separators and a unit, or for a version.
fn is_numeric(token: &str) -> bool {
    let token = token.strip_prefix(['v', 'V', '-', '$', '€', '~', '≈']).unwrap_or(token);
    let unit = token.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ',' | '_' | ':' | '-' | '/')
    });
    token.starts_with(|c: char| c.is_ascii_digit())
        && unit.len() <= 4
        && unit.chars().all(|c| c.is_alphabetic() || c == '%')
        && !is_hash(token)
}

/// Returns true for "E0382", "TS2322", "ENOENT".
fn is_code_of_error(token: &str) -> bool {
    let letters = token.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = &token[letters..];
    ERRORS.contains(&token)
        || (1..=5).contains(&letters)
            && (3..=5).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hash(token: &str) -> bool {
    (7..=40).contains(&token.len())
        && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && token.bytes().any(|byte| byte.is_ascii_digit())
        && token.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_file(token: &str, is_code: bool) -> bool {
    if token.contains('*') || token.starts_with('@') && !token.contains('.') {
        return false;
    }
    let name = token.rsplit(['/', '\\']).next().unwrap_or(token);
    let mut folders = token.split(['/', '\\']);
    let first = folders.next().unwrap_or_default();
    let parts = 1 + folders.count();
    has_extension(name)
        || name.len() > 2
            && name.starts_with('.')
            && name.bytes().skip(1).all(|b| b.is_ascii_alphanumeric())
        || parts > 1
            && (token.starts_with(['/', '.', '~'])
                || token.ends_with('/')
                || parts > 2
                || is_code
                || FOLDERS.contains(&first))
}

/// Returns true if a name has a known file extension.
fn has_extension(name: &str) -> bool {
    #[rustfmt::skip]
    const EXTENSIONS: [&str; 66] = [
        "rs", "toml", "lock", "md", "mdx", "txt", "json", "jsonl", "yaml", "yml", "ts", "tsx", "js",
        "jsx", "mjs", "cjs", "py", "go", "rb", "java", "kt", "swift", "c", "h", "cc", "cpp", "hpp",
        "cs", "php", "lua", "sh", "bash", "zsh", "ps1", "sql", "html", "css", "scss", "vue",
        "svelte", "astro", "xml", "svg", "png", "jpg", "gif", "pdf", "csv", "env", "ini", "cfg",
        "conf", "log", "db", "sqlite", "proto", "tf", "ex", "exs", "erl", "hs", "ml", "zig", "dart",
        "ipynb", "wasm",
    ];
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
            && !is_framework(name)
    })
}

/// Returns true for technical terms such as "Node.js".
fn is_framework(name: &str) -> bool {
    name.strip_suffix(".js").is_some_and(|stem| {
        stem.len() > 1
            && stem.starts_with(char::is_uppercase)
            && stem.bytes().all(|b| b.is_ascii_alphabetic())
    })
}

/// Returns true if a lower-case letter precedes a capital one.
fn has_hump(token: &str) -> bool {
    let pairs = token.chars().zip(token.chars().skip(1));
    let token = token.strip_suffix('s').filter(|one| BRANDS.contains(one)).unwrap_or(token);
    let mut pairs = pairs.filter(|(a, b)| a.is_lowercase() && b.is_uppercase());
    pairs.next().is_some() && !BRANDS.contains(&token)
}

/// Returns true for "config.timeout", not for "e.g." or the end of a sentence.
fn is_dotted(token: &str) -> bool {
    let mut parts = token.split('.');
    let is_word =
        |part: &str| part.len() > 1 && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    token.contains('.') && !is_framework(token) && parts.all(is_word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(statement: &str) -> String {
        let names = find(statement);
        let shown = names.iter().map(|name| format!("{:?}:{}", name.kind, name.text));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_are_found_in_sentences() {
        for (statement, names) in [
            ("The lock is held per file.", ""),
            ("Fixed src/a.rs:40 and `b.rs`.", "File:src/a.rs Line:40 File:b.rs"),
            ("read/write and client/server", ""),
            ("src/refine holds it", "File:src/refine"),
            ("parse_date() calls parse()", "Identifier:parse_date Identifier:parse"),
            ("`TurnInput::of` in TurnInput", "Identifier:turninput::of Identifier:turninput"),
            ("Pass --no-verify.", "Identifier:--no-verify"),
            ("`cargo test -p x` passed", "Command:cargo test -p x"),
            ("ran cargo clippy twice", "Command:cargo clippy"),
            ("the go test and just run it", ""),
            ("error E0382 and TS2322, ENOENT", "Code:e0382 Code:ts2322 Code:enoent"),
            ("took 1,250 ms, 30s, 50%, v1.2.3", "Number:1250 Number:30 Number:50 Number:1.2.3"),
            ("(lines 78-80) of it", "Line:78 Line:80"),
            ("two of 2 files, 0 errors, 1st", ""),
            ("1. First of all 17", "Number:17"),
            ("commit 4f0c2d1", "Code:4f0c2d1"),
            ("GitHub's TypeScript API on Node.js", ""),
            ("see https://x.org/a/.", "File:https://x.org/a"),
            ("UTF-8 on port 3000: localhost:3001", "Number:8 Number:3000 Number:3001"),
            ("PR #128 and issue-77", "Number:128 Number:77"),
            (".env and .gitignore", "File:.env File:.gitignore"),
            ("config.timeout, e.g. here", "Identifier:config.timeout"),
            ("Vec<FileTouch> of `lock`", "Identifier:filetouch Identifier:lock"),
            ("a `b", "Identifier:b"),
            ("``cargo fly` ran", "Command:cargo fly"),
            ("a ``b`` c", "Identifier:b"),
        ] {
            assert_eq!(named(statement), names, "{statement}");
        }
    }

    proptest! {
        #[test]
        fn anything_is_read(statement in "[ -~é`→]{0,200}") {
            let names = find(&statement);
            prop_assert!(names.len() <= MOST);
            prop_assert!(names.iter().all(|name| !name.text.is_empty()));
        }
    }
}

//! Command lines: the commands in them, the part that stays the same in later runs, and the kind of each
//! command.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use thru_core::shell_commands;

use crate::scope::Scope;
use crate::text::one_line;

/// Most commands of a line that are looked at.
const COMMANDS: usize = 200;

/// Most checks of a line that are followed.
const SCOPES: usize = 8;

/// Programs that only inspect things: their failures mean nothing.
const LOOKING: [&str; 34] = [
    "ls", "cat", "head", "tail", "grep", "rg", "find", "fd", "echo", "printf", "wc", "which",
    "pwd", "tree", "stat", "du", "df", "diff", "file", "test", "[", "sleep", "sed", "awk", "sort",
    "uniq", "jq", "less", "type", "ps", "lsof", "env", "true", "for",
];

/// Words of a check: a program, or one of its subcommands or scripts.
#[rustfmt::skip]
const CHECKS: [&str; 40] = [
    "test", "tests", "check", "clippy", "lint", "typecheck", "type-check", "tsc", "eslint",
    "biome", "prettier", "vitest", "jest", "pytest", "mypy", "ruff", "build", "nextest", "vet",
    "golangci-lint", "tox", "nox", "rspec", "rubocop", "phpunit", "playwright", "cypress",
    "mocha", "bats", "ctest", "flake8", "pyright", "fmt", "verify", "compile", "e2e", "validate",
    "knip", "audit", "ci",
];

/// Programs that never check the work, whatever their words.
const NO_CHECKS: [&str; 12] =
    ["git", "gh", "glab", "cd", "mkdir", "rm", "cp", "mv", "curl", "ssh", "docker", "kubectl"];

/// Options with which a check only tells of itself.
const ABOUT_ITSELF: [&str; 10] = [
    "--help",
    "--version",
    "--list",
    "--listTests",
    "--list-tests",
    "--collect-only",
    "--showConfig",
    "--print-config",
    "--init",
    "--dry-run",
];

/// Programs that run a script.
const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "python", "python3"];

/// Programs whose second word determines what they do.
#[rustfmt::skip]
const WITH_SUBCOMMAND: [&str; 36] = [
    "git", "gh", "cargo", "npm", "pnpm", "yarn", "bun", "npx", "bunx", "pnpx", "go", "make",
    "just", "docker", "podman", "kubectl", "terraform", "python", "python3", "uv", "poetry",
    "pip", "pip3", "dotnet", "mvn", "gradle", "./gradlew", "bundle", "rake", "rails", "php",
    "composer", "deno", "node", "brew", "systemctl",
];

/// Commands that only prepare others.
const SETTING_UP: [&str; 10] =
    ["cd", "pushd", "popd", "export", "set", "source", "echo", "printf", "sleep", "true"];

/// One command of a command line: its words, without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Simple {
    /// The words, without assignments and wrappers such as `timeout 60`.
    pub(crate) words: Vec<String>,
    /// True if it only filters the output of the command before it.
    pub(crate) is_piped: bool,
    /// True if it runs only if the command before it succeeded.
    pub(crate) is_conditional: bool,
}

/// A command line taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Its commands, in order.
    pub(crate) commands: Vec<Simple>,
    /// The texts of its here-documents.
    pub(crate) documents: Vec<String>,
}

/// Parses a command line as far as needed: quotes, here-documents, `&&`, `||`, `;` and `|`.
pub(crate) fn parse(line: &str) -> CommandLine {
    let (line, documents) = without_documents(line);
    let commands = shell_commands(&line).into_iter().map(|command| Simple {
        words: without_wrappers(command.words),
        is_piped: command.is_piped,
        is_conditional: command.is_conditional,
    });
    let commands = commands.filter(|command| !command.words.is_empty()).take(COMMANDS).collect();
    CommandLine { commands, documents }
}

/// Returns a command's words without assignments, redirections and programs that only run another.
fn without_wrappers(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    let mut skip_next = false;
    for word in words {
        if std::mem::take(&mut skip_next) {
            continue;
        }
        if kept.is_empty() {
            let is_wrapper = matches!(
                word.as_str(),
                "sudo"
                    | "time"
                    | "nohup"
                    | "exec"
                    | "command"
                    | "env"
                    | "then"
                    | "do"
                    | "else"
                    | "if"
                    | "!"
                    | "{"
            );
            if is_wrapper || is_assignment(&word) {
                continue;
            }
            if word == "timeout" || word == "gtimeout" {
                skip_next = true;
                continue;
            }
        }
        if is_redirection(&word) {
            skip_next = word.ends_with(['>', '<']);
            continue;
        }
        kept.push(word);
    }
    kept
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_redirection(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
    word.starts_with('>') || word.starts_with('<') && !word.starts_with("<(")
}

/// Returns the command line without the bodies of its here-documents, and those bodies.
fn without_documents(line: &str) -> (Cow<'_, str>, Vec<String>) {
    if !line.contains("<<") {
        return (Cow::Borrowed(line), Vec::new());
    }
    let mut kept = String::with_capacity(line.len());
    let mut documents = Vec::new();
    let lines: Vec<&str> = line.lines().collect();
    // The position of each line, so that a mark without its end costs no search.
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        places.entry(line.trim()).or_default().push(at);
    }
    let mut at = 0;
    while let Some(current) = lines.get(at) {
        kept.push_str(current);
        kept.push('\n');
        at += 1;
        if documents.len() >= 16 {
            continue;
        }
        let Some(mark) = document_mark(current) else { continue };
        let Some(ends) = places.get(mark) else { continue };
        let end = ends.get(ends.partition_point(|end| *end < at)).copied();
        if let Some(end) = end {
            documents.push(lines.get(at..end).unwrap_or_default().join("\n"));
            at = end + 1;
        }
    }
    (Cow::Owned(kept), documents)
}

fn document_mark(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    let after = after.trim_start_matches('-').trim_start();
    let mark = after.trim_start_matches(['\'', '"', '\\']);
    let end = mark.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(mark.len());
    Some(&mark[..end]).filter(|mark| !mark.is_empty())
}

impl Simple {
    /// Returns the program, without the folders before it.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map(String::as_str).unwrap_or_default();
        match word.starts_with("./") {
            true => word,
            false => word.rsplit('/').next().unwrap_or(word),
        }
    }

    /// Returns true if it only inspects things.
    pub(crate) fn is_looking(&self) -> bool {
        LOOKING.contains(&self.program())
    }

    /// Returns true if it checks the work: tests, linters, builds.
    pub(crate) fn is_check(&self) -> bool {
        let program = self.program();
        let is_about_itself = self.words.iter().any(|word| ABOUT_ITSELF.contains(&word.as_str()));
        if self.is_looking()
            || is_about_itself
            || NO_CHECKS.contains(&program) && !self.builds_image()
        {
            return false;
        }
        self.is_check_program() || self.plain().any(|word| self.is_check_word(word))
    }

    /// Returns true for `docker build`.
    fn builds_image(&self) -> bool {
        self.program() == "docker" && self.plain().next() == Some("build")
    }

    /// Returns true if its program checks the work whatever its words are.
    pub(crate) fn is_check_program(&self) -> bool {
        let script = self.words.first().map(String::as_str).unwrap_or_default();
        CHECKS.contains(&self.program()) || script.contains('/') && names_check(self.program())
    }

    /// Returns true if it only prepares others.
    pub(crate) fn is_setting_up(&self) -> bool {
        SETTING_UP.contains(&self.program())
    }

    /// Returns true if a word of it is the one that makes it a check.
    pub(crate) fn is_check_word(&self, word: &str) -> bool {
        let program = self.program();
        let mut plain = self.plain();
        let first = plain.next().unwrap_or_default();
        if first != word {
            return false;
        }
        // `npm ci` installs, `npm run ci` checks.
        let is_own = matches!(word, "ci" | "audit")
            && self.words.get(1).is_some_and(|own| own == word)
            && matches!(program, "npm" | "pnpm" | "yarn" | "bun");
        let is_runner = WITH_SUBCOMMAND.contains(&program) || SHELLS.contains(&program);
        !is_own
            && match is_runner || self.words.get(1).is_some_and(|own| is_runner_word(own)) {
                true => names_check(word),
                false => CHECKS.contains(&word.split(':').next().unwrap_or(word)),
            }
    }

    /// Returns its words without options, their values, and the words of runners.
    fn plain(&self) -> impl Iterator<Item = &str> {
        const VALUED: [&str; 9] =
            ["--filter", "-F", "-w", "-C", "--prefix", "--cwd", "--dir", "-p", "--with"];
        let mut skip_next = false;
        self.words.iter().skip(1).take(12).map(String::as_str).filter(move |word| {
            let is_value = std::mem::replace(&mut skip_next, VALUED.contains(word));
            !is_value && !word.starts_with(['-', '+']) && !is_runner_word(word)
        })
    }

    /// Returns true if its subcommand determines what it does, so that another form may replace it.
    pub(crate) fn has_subcommand(&self) -> bool {
        let program = self.wrapped().next().unwrap_or_default();
        WITH_SUBCOMMAND.contains(&program)
            && !matches!(program, "python" | "python3" | "node" | "systemctl")
    }

    /// Returns the words from the program on, or from the program that it wraps.
    fn wrapped(&self) -> impl Iterator<Item = &str> {
        let second = self.words.get(1).map(String::as_str).unwrap_or_default();
        let is_wrapped = !self.is_looking()
            && !WITH_SUBCOMMAND.contains(&self.program())
            && WITH_SUBCOMMAND.contains(&second);
        let program = if is_wrapped { second } else { self.program() };
        std::iter::once(program)
            .chain(self.words.iter().skip(1 + usize::from(is_wrapped)).map(String::as_str))
    }

    /// Returns the program and the subcommand: the part that stays the same when it is tried another
    /// way.
    pub(crate) fn family(&self) -> String {
        let mut words = self.wrapped();
        let program = words.next().unwrap_or_default();
        let mut family = program.to_owned();
        if WITH_SUBCOMMAND.contains(&program) {
            let mut plain = words.filter(|word| !word.starts_with('-') && !word.contains('/'));
            let runs_script =
                |word: &str| matches!(word, "run" | "exec" | "compose" | "x" | "pr" | "-m");
            if let Some(first) = plain.next() {
                family = format!("{program} {}", script(first));
                if runs_script(first)
                    && let Some(second) = plain.next()
                {
                    family = format!("{family} {}", script(second));
                }
            }
        }
        one_line(&family, 60)
    }
}

/// Returns true for folders that are made for a moment.
fn is_temporary(folder: &str) -> bool {
    const FOLDERS: [&str; 5] =
        ["/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "$(mktemp"];
    let variable = folder.strip_prefix('$').map(|name| name.trim_start_matches('{'));
    FOLDERS.iter().any(|start| folder.starts_with(start))
        || variable.is_some_and(|name| {
            name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("tmp"))
                || name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("temp"))
        })
}

/// Returns true for words that only say that the next one is run.
fn is_runner_word(word: &str) -> bool {
    matches!(word, "run" | "exec" | "x" | "dlx" | "run-script" | "workspace")
        || matches!(
            word,
            "bun" | "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "uv" | "poetry"
        )
}

/// Returns true if a word names a check: "test", "lint:fix", "scripts/check-links.sh".
fn names_check(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    CHECKS.contains(&name) || name.split([':', '-', '_', '.']).any(|part| CHECKS.contains(&part))
}

/// Returns the script of a variant: "lint:fix" is a way of running "lint".
fn script(word: &str) -> &str {
    word.split(':').next().filter(|start| CHECKS.contains(start)).unwrap_or(word)
}

impl CommandLine {
    /// Returns the commands that act, without changes of folder and output filters.
    pub(crate) fn acting(&self) -> impl Iterator<Item = &Simple> {
        self.commands.iter().filter(|command| {
            let is_filter = command.is_piped && command.is_looking();
            !is_filter && !command.is_setting_up()
        })
    }

    /// Returns true if its last command filters the output of the one before, so that the shell reports the filter's outcome.
    pub(crate) fn is_filtered(&self) -> bool {
        self.commands.last().is_some_and(|command| command.is_piped && command.is_looking())
    }

    /// Returns the reach of each check in it. The shell stands in `folder`, unless the line changes that.
    pub(crate) fn scopes(&self, folder: Option<&str>) -> Vec<Scope> {
        let placed = self.placed(folder).into_iter();
        placed
            .filter_map(|(command, folder)| Scope::of(command, folder.as_deref()))
            .take(SCOPES)
            .collect()
    }

    /// Returns its commands, each with the folder that it runs in where that is known. The shell stands in `folder`, unless
    /// the line changes that.
    pub(crate) fn placed(&self, folder: Option<&str>) -> Vec<(&Simple, Option<Rc<str>>)> {
        let mut folder: Option<Rc<str>> = folder.map(Rc::from);
        let mut placed = Vec::with_capacity(self.commands.len());
        for command in &self.commands {
            if matches!(command.program(), "cd" | "pushd")
                && let Some(to) = command.words.get(1)
            {
                let to = to.trim_end_matches('/');
                folder = match (to.starts_with(['/', '~', '$']), folder) {
                    (false, Some(from)) => Some(format!("{from}/{to}").into()),
                    (false, None) => None,
                    (true, _) => Some(to.into()),
                };
            }
            placed.push((command, folder.clone()));
        }
        placed
    }

    /// Returns the temporary folder in which its commands of git run, if they do; true if the line makes
    /// the repository there.
    pub(crate) fn scratch(&self, folder: Option<&str>) -> Option<(String, bool)> {
        let mut place = folder;
        let mut found: Option<(String, bool)> = None;
        for command in &self.commands {
            let words = &command.words;
            if matches!(command.program(), "cd" | "pushd") {
                place = words.get(1).map(String::as_str).or(place);
            } else if command.program() == "git" {
                let own =
                    words.iter().position(|word| word == "-C").and_then(|at| words.get(at + 1));
                let adds = words.windows(2).take(4).any(|pair| pair == ["worktree", "add"]);
                let inits = adds || words.iter().take(4).any(|word| word == "init");
                let made = match adds {
                    true => words.iter().skip(3).find(|word| is_temporary(word)),
                    false => words
                        .last()
                        .filter(|last| inits && *last != "init" && !last.starts_with('-')),
                };
                let at = own.or(made).map(String::as_str).or(place);
                if let Some(at) = at.filter(|at| is_temporary(at)) {
                    let inits = inits || found.as_ref().is_some_and(|(_, inits)| *inits);
                    found = Some((at.trim_end_matches('/').to_owned(), inits));
                }
            }
        }
        found
    }

    /// Returns the branch without a history that it begins, as for files kept apart from the work.
    pub(crate) fn orphan(&self) -> Option<&str> {
        self.commands.iter().filter(|command| command.program() == "git").find_map(|command| {
            let at = command.words.iter().position(|word| word == "--orphan")?;
            let mut names = command.words.iter().skip(at + 1);
            names.find(|word| !word.starts_with('-')).map(String::as_str)
        })
    }

    /// Returns the key of the command, which is the same for every run.
    pub(crate) fn key(&self) -> String {
        let mut key = String::new();
        for command in self.acting() {
            if !key.is_empty() {
                key.push_str(" && ");
            }
            key.push_str(&command.words.join(" "));
            if key.len() > 2000 {
                break;
            }
        }
        key
    }

    /// Returns the command that the line is about: the last check, else the first that acts.
    pub(crate) fn main(&self) -> Option<&Simple> {
        let checks = self.acting().filter(|command| command.is_check());
        checks
            .last()
            .or_else(|| self.acting().find(|command| !command.is_looking()))
            .or_else(|| self.acting().next())
    }
}

/// Most characters of a command line that is shown.
const SHOWN: usize = 90;

/// Returns the command line as shown: without changes of folder before it and filters after it, so that
/// it can still be found in its source.
pub(crate) fn shown(line: &str) -> String {
    let mut rest = line.trim();
    for _ in 0..3 {
        let Some(after) = rest.strip_prefix("cd ") else { break };
        let Some((_, after)) = after.split_once("&&") else { break };
        rest = after.trim_start();
    }
    // A comment above the command is not the command.
    while let Some((_, after)) = rest.split_once('\n').filter(|_| rest.starts_with('#')) {
        rest = after.trim_start();
    }
    let mut line = rest.lines().next().unwrap_or_default();
    if let Some(at) = line.find(" -m \"$(cat") {
        line = &line[..at];
    }
    let mut line = without_filters(line);
    // Of a long one, the program counts, not the variables before it.
    while line.chars().count() > SHOWN
        && let Some((word, rest)) = line.split_once(' ')
        && is_variable(word)
    {
        line = rest;
    }
    one_line(line, SHOWN)
}

/// Returns true for `NAME=value`.
fn is_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns a line without the filters at its end.
fn without_filters(line: &str) -> &str {
    const FILTERS: [&str; 9] =
        ["2>&1", "2>/dev/null", "| tail", "| head", "| grep", "|tail", "|head", "; echo", "> /"];
    let mut line = line.trim_end();
    for _ in 0..4 {
        let last = FILTERS.iter().filter_map(|filter| line.rfind(filter)).max();
        let Some(at) = last.filter(|at| *at > 2) else { break };
        let after = &line[at..];
        if after.contains("&&") || after.len() > 2 && after[2..].contains(';') {
            break;
        }
        line = line[..at].trim_end();
    }
    line
}

/// Returns true for the tools of all agents that run a command line, or read on from one that runs.
pub(crate) fn is_shell(tool: &str) -> bool {
    matches!(
        tool,
        "Bash"
            | "PowerShell"
            | "bash"
            | "powershell"
            | "local_shell"
            | "shell"
            | "shell_command"
            | "exec_command"
            | "container.exec"
    ) || is_poll(tool)
}

/// Returns true for the tools that read on from a command that still runs.
pub(crate) fn is_poll(tool: &str) -> bool {
    matches!(tool, "write_stdin" | "TaskOutput" | "BashOutput")
}

/// Members of the input of a shell call, beside the command line.
#[rustfmt::skip]
const MEMBERS: [&str; 17] = [
    "description: ", "timeout: ", "timeout_ms: ", "run_in_background: ",
    "dangerouslyDisableSandbox: ", "sandbox: ", "sandbox_permissions: ", "justification: ",
    "shell: ", "restart: ", "workdir: ", "yield_time_ms: ", "max_output_tokens: ", "login: ",
    "tty: ", "session_id: ", "chars: ",
];

/// Returns the folder that a shell call names as the place to run in.
pub(crate) fn folder<'t>(text: &'t str, command: &str) -> Option<&'t str> {
    let input = &text[..text.len() - result(text, command).len()];
    input.lines().find_map(|line| line.strip_prefix("workdir: ")).map(str::trim)
}

/// Returns the result in the text of a shell call: the part after its input.
pub(crate) fn result<'t>(text: &'t str, command: &str) -> &'t str {
    let mut rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    loop {
        let own = rest.strip_prefix("command: ").or_else(|| rest.strip_prefix("cmd: "));
        let after = match own.and_then(|rest| rest.strip_prefix(command)) {
            Some(after) => after,
            None => match MEMBERS.iter().find_map(|member| rest.strip_prefix(member)) {
                Some(after) => after.split_once('\n').map_or("", |(line, _)| &after[line.len()..]),
                None => return rest,
            },
        };
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        parse(line).commands.iter().map(|command| command.words.join(" ")).collect()
    }

    #[test]
    fn a_line_is_taken_apart() {
        assert_eq!(
            words("cd /x && RUST_LOG=1 timeout 60 cargo test -p 'a b' 2>&1 | tail -5; git status"),
            ["cd /x", "cargo test -p a b", "tail -5", "git status"]
        );
        assert_eq!(words("echo \"a && b\" # c && d\nls"), ["echo a && b", "ls"]);
    }

    #[test]
    fn here_documents_are_kept_apart() {
        let line = "git commit -m \"$(cat <<'EOF'\nAdd x\n\nbody && more\nEOF\n)\" && git push";
        let parsed = parse(line);
        assert_eq!(parsed.documents, ["Add x\n\nbody && more"]);
        assert_eq!(parsed.commands.last().unwrap().words, ["git", "push"]);
    }

    #[test]
    fn marks_without_an_end_take_linear_time() {
        let line: String = (0..60_000).map(|number| format!("a <<X{number}\n")).collect();
        assert!(parse(&line).documents.is_empty());
    }

    #[test]
    fn the_same_check_has_the_same_key() {
        let key = |line| parse(line).key();
        assert_eq!(
            key("cd a && cargo test -p x 2>&1 | tail -20"),
            key("timeout 300 cargo test -p x")
        );
        assert_ne!(key("cargo test -p x"), key("cargo test -p y"));
        assert_eq!(parse("npm run lint -- --fix").main().unwrap().family(), "npm run lint");
        assert!(parse("bun run test:unit").main().unwrap().is_check());
        assert!(!parse("grep -r test src").main().unwrap().is_check());
    }

    #[test]
    fn repositories_made_for_a_moment_are_known() {
        let scratch = |line| parse(line).scratch(None);
        let made = |folder: &str, inits| Some((folder.to_owned(), inits));
        assert_eq!(
            scratch("TMP=$(mktemp -d); cd \"$TMP\" && git init -q && git commit -qm initial"),
            made("$TMP", true)
        );
        assert_eq!(
            scratch("git init /tmp/case && git -C /tmp/case commit -qm x"),
            made("/tmp/case", true)
        );
        assert_eq!(
            scratch(
                "D=$(mktemp -d); git worktree add --detach \"$TMP_D\" HEAD && git -C $TMP_D commit -qm x"
            ),
            made("$TMP_D", true)
        );
        assert_eq!(scratch("cd /tmp/case && git commit -qm x"), made("/tmp/case", false));
        assert_eq!(scratch("cd /p && git init && git commit -qm initial"), None);
    }

    #[test]
    fn checks_are_told_from_commands_that_mention_them() {
        let is_check = |line| parse(line).commands[0].is_check();
        for line in [
            "cargo clippy --all-targets",
            "pnpm --filter web build",
            "bunx --bun bun test a.test.ts",
            "python -m pytest tests",
            "uv run pytest",
            "wrapper npm run test",
            "mise run test:integration",
            "bash scripts/run-tests.sh",
            "./scripts/check-links.sh",
            "node_modules/.bin/tsc --noEmit",
            "turbo lint",
        ] {
            assert!(is_check(line), "{line}");
        }
        for line in [
            "npm ci",
            "tmuxer capture review-e2e",
            "tracker update x --note 'ran the tests'",
            "bun run src/cli.ts eval run suite.yaml --test-id a",
            "git diff --check",
            "npm install vitest",
            "node server.js test",
        ] {
            assert!(!is_check(line), "{line}");
        }
    }

    #[test]
    fn the_result_follows_the_input() {
        let text = "Bash\ncommand: a\nb\ndescription: x\ntimeout: 5\nout\nput";
        assert_eq!(result(text, "a\nb"), "out\nput");
        assert_eq!(result("Bash\ncommand: a", "a"), "");
        let text = "exec_command\ncmd: a\nworkdir: /w\nyield_time_ms: 5\nout\nworkdir: /x";
        assert_eq!(result(text, "a"), "out\nworkdir: /x");
        assert_eq!(folder(text, "a"), Some("/w"));
    }
}

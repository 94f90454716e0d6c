//! The words of questions how to run something, and of commands.

/// Phrases that ask how to run something.
pub(super) const PHRASES: [&str; 20] = [
    "how do i ",
    "how do we ",
    "how do you ",
    "how to ",
    "how can i ",
    "how can we ",
    "how does one ",
    "command to ",
    "command for ",
    "which command",
    "what command",
    "what's the command",
    "wie starte",
    "wie führe",
    "wie baue",
    "wie teste",
    "wie kann ich",
    "wie veröffentliche",
    "mit welchem befehl",
    "welcher befehl",
];

/// The number of groups in [`SAME`] that name a deed.
pub(super) const DEEDS: usize = 10;

/// Groups of words that stand for each other in a command: first deeds, then things.
pub(super) const SAME: [&[&str]; 15] = [
    &["run", "start", "launch", "serve", "dev", "up", "boot", "starte", "starten", "führe"],
    &["build", "compile", "bundle", "baue", "bauen"],
    &["test", "tests", "testing", "vitest", "jest", "pytest", "teste"],
    &["publish", "release", "deploy", "ship", "veröffentliche"],
    &["lint", "linter", "lints", "biome", "eslint", "clippy"],
    &["format", "fmt", "prettier"],
    &["typecheck", "typechecks", "tsc"],
    &["generate", "regenerate", "codegen", "gen"],
    &["migrate", "migration", "migrations"],
    &["validate", "verify"],
    &["frontend", "front-end", "web", "ui"],
    &["backend", "back-end", "api"],
    &["database", "db", "postgres", "datenbank"],
    &["e2e", "end-to-end", "playwright"],
    &["css", "style", "styles", "stylesheet", "stylesheets"],
];

/// Words that name no one thing.
#[rustfmt::skip]
pub(super) const VAGUE: [&str; 22] = [
    "app", "application", "server", "service", "services", "project", "site", "program", "tool", "script", "local", "locally",
    "client", "stack", "all", "only", "again", "new", "files", "anwendung", "projekt", "dienst",
];

/// Programs that look at what is there, keep its history or prepare others: they run nothing of a project.
#[rustfmt::skip]
pub(super) const LOOKING: [&str; 43] = [
    "awk", "cat", "cd", "chmod", "cp", "curl", "cut", "date", "df", "diff", "du", "echo", "env", "export", "find", "gh", "git",
    "grep", "head", "jq", "kill", "less", "ln", "ls", "lsof", "mkdir", "mv", "nl", "pgrep", "pkill", "ps", "pwd", "rg", "rm", "sed",
    "sleep", "sort", "tail", "test", "touch", "true", "wc", "which",
];

/// Programs with which projects are built and run.
#[rustfmt::skip]
pub(super) const RUNNERS: [&str; 38] = [
    "npm", "pnpm", "yarn", "bun", "bunx", "npx", "deno", "node", "cargo", "make", "just", "task", "docker", "docker-compose",
    "podman", "python", "python3", "pip", "uv", "poetry", "pytest", "go", "gradle", "mvn", "dotnet", "swift", "flutter", "rails",
    "bundle", "rake", "composer", "php", "mix", "cmake", "ninja", "terraform", "kubectl", "gh",
];

/// Beginnings of lines in which programs say that they failed.
pub(super) const ERRORS: [&str; 7] =
    ["error:", "error[", "fatal:", "npm error", "npm err!", "err_", "traceback (most recent"];

/// Messages of a shell about a command that did not run.
pub(super) const FAILURES: [&str; 3] =
    ["command not found", "unrecognized subcommand", "No such file or directory"];

//! Every page at the widths of real terminals: nothing is wider than the terminal, and no width or colour changes a word.

use unicode_width::UnicodeWidthStr;

use crate::home::Home;
use crate::records::ONE;

const WIDTHS: [usize; 3] = [50, 80, 120];

/// Commands that print a page, in a home with a history.
const PAGES: &[&[&str]] = &[
    &[],
    &["status"],
    &["search", "--all", "importer", "lock"],
    &["search", "--all", "importer", "lock", "--explain"],
    &["search", "--all", "zebrafish"],
    &["search", "--all", "importer lock", "--explain-id", "PASSAGE"],
    &["facts", "--all"],
    &["why", "importer", "--all"],
    &["problems", "--all"],
    &["changed", "2026-01-01", "--all"],
    &["show", "MEMORY"],
    &["show", "PASSAGE", "--source"],
    &["timeline", "MEMORY"],
    &["context"],
    &["context", "--explain"],
    &["sessions", "--all"],
    &["session", "show", ONE],
    &["session", "load", ONE],
    &["close", ONE],
    &["restore", ONE],
    &["graph", "path", "src/store.rs", "importer"],
    &["compaction", ONE],
    &["summaries"],
    &["vault"],
    &["capture", "pause"],
    &["capture", "resume"],
    &["edit", "MEMORY", "--title", "Retries are capped at five"],
    &["undo", "zzzzzz"],
    &["projects"],
    &["redact", "--apply"],
    &["redact", "list"],
    &["redact", "--scan"],
    &["redact", "test", "password = hunter2hunter2"],
    &["forget", "MEMORY"],
    &["forget", "--session", ONE],
    &["log"],
    &["log", "--merges"],
    &["config"],
    &["config", "path"],
    &["config", "show", "--origin"],
    &["config", "get", "search.limit"],
    &["install", "--dry-run"],
    &["uninstall", "--dry-run"],
    &["doctor"],
    &["stats"],
    &["stats", "sessions"],
    &["stats", "models"],
    &["journal", "stats"],
    &["journal", "show"],
    &["journal", "verify"],
    &["jobs"],
    &["models"],
    &["embed", "--limit", "0"],
    &["distil"],
    &["sync-history"],
    &["daemon", "status"],
    &["daemon", "stop"],
    &["daemon", "logs"],
    &["up"],
    &["import"],
    &["import", "--dry-run"],
    &["verify"],
    &["rebuild"],
    &["self"],
    &["self", "update"],
    &["self", "changelog"],
    &["show", "zzzzzz"],
    &["remember", "The importer retries a locked file five times and then gives up with an error"],
    &["remember", "--rule", "Use pnpm, not npm"],
    &["remember", "--type", "nonsense", "What is it about"],
    &["demo"],
    &["ui"],
    &["why", "src/store.rs:10"],
    &["search", "--all", "what did I do in march 2026"],
    &["search", "--all", "imprter lokc"],
    &["changed", "2026-01-01..2026-12-31", "--all"],
    &["session", "show", "zzzzzz"],
    &["projects", "rename", "rocket", "rocket"],
    &["projects", "merge", "nothing", "rocket"],
    &["projects", "trust"],
    &["summaries", "rebuild"],
    &["summaries", "load", ONE],
    &["summaries", "delete", ONE],
    &["jobs", "retry", "1"],
    &["jobs", "run"],
    &["jobs", "cancel", "1"],
    &["models", "set", "anthropic"],
    &["models", "test"],
    &["models", "off"],
    &["config", "set", "search.limit", "12"],
    &["config", "set", "search.limti", "12"],
    &["config", "show", "search.limit"],
    &["redact", "add", "zebra", "zebra-[0-9]+"],
    &["redact", "remove", "nothing"],
    &["log", "--agents"],
    &["log", "--all"],
    &["stats", "--since", "2026-01-01"],
    &["import", "--from", "claude-mem"],
    &["import", "/nowhere/at/all"],
    &["mcp", "--revoke", "gemini"],
    &["vault", "init", "--dry-run"],
    &["vault", "sync"],
    &["vault", "compact", ONE],
    &["daemon", "uninstall"],
    &["install"],
    &["uninstall"],
];

/// Commands that show an id that is new each time.
const NEW_IDS: [&str; 2] = ["remember", "demo"];

/// The words of a text, whatever lines they stand on.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A text without the blanks at the ends of lines.
fn trimmed(text: &str) -> String {
    let trim = |line: &str| match line.trim_end().strip_suffix(" GB free") {
        // Other processes may take space between two runs.
        Some(rest) => {
            format!("{} free\n", rest.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        }
        None => format!("{}\n", line.trim_end()),
    };
    text.lines().map(trim).collect()
}

/// A text without what colours it.
fn plain(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = escape.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

/// Fails if a line is wider than the terminal and could have been folded between words.
fn assert_fits(page: &str, columns: usize, called: &str) {
    for line in page.lines() {
        let room = line.width() <= columns;
        let indent = line.len() - line.trim_start().len();
        // A word longer than a line stays whole, and is all that stands on it.
        let is_one_word = words(line).len() <= 1 || indent + words(line)[0].width() > columns;
        assert!(room || is_one_word, "`thru {called}` at {columns} columns:\n{line}\nof\n{page}");
    }
}

#[test]
fn every_page_fits_every_terminal_in_every_colour() {
    let home = Home::imported();
    let told = home.tell(&["Retries are capped at 5", "--type", "discovery"]);
    let passage = home.id_of("lock");
    for page in PAGES {
        let arguments: Vec<&str> = page
            .iter()
            .map(|argument| match *argument {
                "MEMORY" => told.as_str(),
                "PASSAGE" => passage.as_str(),
                argument => argument,
            })
            .collect();
        let called = page.join(" ");
        // What changes something finds it changed from then on.
        home.thru_at(80, &arguments);
        for columns in WIDTHS {
            let at = |color: &str| {
                let arguments = [&arguments[..], &["--color", color]].concat();
                let ran = home.thru_at(columns, &arguments);
                assert!(!ran.stderr.contains("Usage:"), "`thru {called}`: {}", ran.stderr);
                eprintln!("--- {called} {columns}\n{}{}", ran.stdout, ran.stderr);
                assert_fits(&plain(&ran.stderr), columns, &called);
                ran.stdout
            };
            let (bare, coloured) = (at("never"), at("always"));
            let unwanted = home.thru_without_colour(columns, &arguments).stdout;
            assert!(!bare.contains('\u{1b}'), "`thru {called}`: {bare}");
            assert_fits(&bare, columns, &called);
            if page.first().is_some_and(|command| NEW_IDS.contains(command)) {
                continue;
            }
            // One of the two may take a tenth of a second longer, and says so.
            let untimed = |page: &str| trimmed(page).replace(|c: char| c.is_ascii_digit(), "0");
            let same = untimed(&plain(&coloured)) == untimed(&bare);
            assert!(same, "`thru {called}` at {columns} columns:\n{coloured}\nand\n{bare}");
            assert_eq!(untimed(&unwanted), untimed(&bare), "`NO_COLOR=1 thru {called}`");
        }
    }
}

#[test]
fn what_a_program_or_a_shell_reads_is_not_folded() {
    let home = Home::imported();
    for arguments in [
        &["search", "--all", "importer", "lock", "--json"][..],
        &["export"],
        &["graph", "export"],
        &["mcp", "--print-config", "claude-desktop"],
        &["resume", ONE, "--print"],
        &["completions", "bash"],
        &["man"],
    ] {
        let narrow = home.thru_at(50, arguments).stdout;
        let wide = home.thru_at(500, arguments).stdout;
        // Each export says when it was made, in as many digits as that needs.
        let undated = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
        assert_eq!(undated(&narrow), undated(&wide), "`thru {}`", arguments.join(" "));
    }
}

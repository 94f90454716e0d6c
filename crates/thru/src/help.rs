//! The help of the whole program: its commands by what they are for, those of every day first.

use std::fmt::Write;

use clap::{Command, CommandFactory};
use thru_ui::fold::example;

use crate::arguments::Cli;
use crate::ui::wrap;

/// The groups, and the commands in them.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Everyday",
        &[
            "search", "context", "show", "sessions", "session", "resume", "remember", "ui", "view",
            "status",
        ],
    ),
    ("Memories", &["timeline", "edit", "forget", "undo", "log", "export", "stats"]),
    ("Facts", &["facts", "why", "problems", "changed", "graph"]),
    (
        "Sessions",
        &[
            "close",
            "restore",
            "compaction",
            "summaries",
            "vault",
            "projects",
            "capture",
            "sync-history",
        ],
    ),
    (
        "Setup",
        &[
            "up",
            "install",
            "uninstall",
            "import",
            "config",
            "models",
            "embed",
            "distil",
            "mcp",
            "daemon",
            "demo",
            "self",
            "completions",
            "man",
        ],
    ),
    ("Repair", &["doctor", "jobs", "redact", "verify", "rebuild", "journal"]),
];

/// Columns that the name of a command takes.
const NAME: usize = 14;
/// The fewest columns for what a command does.
const LEAST: usize = 20;

/// The command line, with its commands in groups.
pub(crate) fn command(columns: usize) -> Command {
    let command = with_examples(Cli::command(), columns).term_width(columns);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{}Options:{}\n{{options}}{{after-help}}",
        groups(&command, columns),
        command.get_styles().get_header().render(),
        command.get_styles().get_header().render_reset(),
    );
    command.help_template(template)
}

/// The command and those below it, with their examples folded: what an example does stays behind it, or goes below it.
fn with_examples(mut command: Command, columns: usize) -> Command {
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        let lines: Vec<String> = text.lines().map(|line| example(line, columns)).collect();
        command = command.after_help(lines.join("\n"));
    }
    command.mut_subcommands(|command| with_examples(command, columns))
}

fn groups(command: &Command, columns: usize) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let room = columns.saturating_sub(2 + NAME).max(LEAST);
    let mut text = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{header}{group}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let indent = format!("  {literal}{name:NAME$}{literal:#}");
            for (number, line) in wrap(&about, room).iter().enumerate() {
                let _ = match number {
                    0 => writeln!(text, "{indent}{line}"),
                    _ => writeln!(text, "{:1$}{line}", "", 2 + NAME),
                };
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let mut known: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    /// A line that is broken by hand is broken once more where a terminal is narrower.
    #[test]
    fn no_paragraph_is_broken_by_hand() {
        fn check(command: &Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for (line, next) in text.lines().zip(text.lines().skip(1)) {
                let is_broken =
                    !line.is_empty() && !line.ends_with([':', '.']) && !line.starts_with(' ');
                let goes_on = !next.is_empty() && !next.starts_with(' ');
                assert!(!(is_broken && goes_on), "{}: {line} / {next}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}

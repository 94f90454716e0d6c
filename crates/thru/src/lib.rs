//! The command line: arguments into requests, answers into pages.
//!
//! A library, so that tests run commands without starting a process: [`run`] takes the process, the terminal and the
//! streams as values. Nothing below this crate looks at any of them (invariant I-9).

mod arguments;
mod commands;
mod dispatch;
mod environment;
mod failure;
mod help;
mod process;
mod ui;

use std::ffi::OsString;
use std::io::Write;

use clap::FromArgMatches;

use arguments::Cli;
use environment::Environment;

pub use commands::hook::run as hook;
pub use process::Process;
pub use ui::{Streams, Terminal};

/// Runs a command, given its words without the program's name. Returns the exit status.
pub fn run(
    words: impl IntoIterator<Item = OsString>,
    process: &Process,
    terminal: Terminal,
    streams: Streams,
) -> u8 {
    let mut words: Vec<OsString> = std::iter::once(OsString::from("thru")).chain(words).collect();
    // `thru help search`, as other programs take it.
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    let parsed = help::command(terminal.width)
        // A terminal is shown the state of the memory.
        .arg_required_else_help(!terminal.output)
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error, &terminal, &streams),
    };
    let mut errors = streams.errors();
    let columns = terminal.error_columns();
    let environment = Environment::from_process(process, terminal, streams, arguments.plain);
    let outcome = environment.and_then(|mut environment| {
        if let Some(when) = arguments.color {
            environment.color = when.into();
        }
        let outcome = match arguments.command {
            Some(command) => dispatch::run(command, &environment),
            None => commands::status::front(&environment),
        };
        // The system unmaps what was opened faster when all of it ends at once.
        if process.ends_after {
            std::mem::forget(environment);
        }
        outcome
    });
    match outcome {
        Ok(outcome) => outcome.status(),
        Err(trouble) => failure::report(&trouble, &mut errors, columns),
    }
}

/// Prints help, the version, or the reason why the words are no command.
fn refuse(error: &clap::Error, terminal: &Terminal, streams: &Streams) -> u8 {
    let is_error = error.use_stderr();
    let (mut stream, is_terminal) = match is_error {
        true => (streams.errors(), terminal.errors),
        false => (streams.output(), terminal.output),
    };
    let text = error.render();
    let plain =
        |text: String| text.replace("invalid digit found in string", "that is no whole number");
    let text = match is_terminal && !terminal.no_color {
        true => plain(text.ansi().to_string()),
        false => plain(text.to_string()),
    };
    // Help is folded already.
    let columns = if is_error { terminal.error_columns() } else { usize::MAX };
    for line in text.lines() {
        // A closed pipe is no failure.
        let _ = writeln!(stream, "{}", ui::fold(line, columns));
    }
    let _ = stream.flush();
    if is_error { 2 } else { 0 }
}

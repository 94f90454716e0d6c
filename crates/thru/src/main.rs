//! `thru`: arguments in, calls out. What the machine says of itself (environment, home, terminal) is
//! looked at here and handed on; nothing below this crate looks for itself (invariant I-9).

mod arguments;
mod commands;
mod environment;
mod failure;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use environment::Environment;

fn main() -> ExitCode {
    // Whatever a library below creates, only the owner may read it.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // Hundreds of times a day, inside somebody's work: nothing that a hook has no use for.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "hook") {
        return commands::hook::run(words);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed pipe is no failure.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = Environment::of_process().and_then(|environment| {
        let outcome = commands::run(arguments, &environment);
        // The system unmaps what was opened faster when all of it ends at once.
        std::mem::forget(environment);
        outcome
    });
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(error) => failure::report(&error),
    }
}

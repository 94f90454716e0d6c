//! The program `thru`.

use std::process::ExitCode;

use thru::{Process, Streams, Terminal};

fn main() -> ExitCode {
    // Only the owner may read what a library below creates.
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // A write beyond the limit for files is an error that is told, not the end of the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
    let process = Process::current();
    let mut words = std::env::args_os().skip(1).peekable();
    // Hundreds of times a day, in the middle of the user's work: skip everything a hook does not need.
    if words.next_if(|word| word == "hook").is_some() {
        return thru::hook(words, &process);
    }
    // A panic over a damaged index is caught, and the index made again.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !thru_store::index::is_guarded() {
            told(panic);
        }
    }));
    let terminal = Terminal::current(&process);
    ExitCode::from(thru::run(words, &process, terminal, Streams::of_process()))
}

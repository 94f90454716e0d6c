//! `thru daemon logs`: the daemon's log.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use thru_app::{Result, background};

use crate::environment::Environment;
use crate::ui::{Outcome, printable};

/// The interval at which new lines are looked for.
const STEP: Duration = Duration::from_millis(250);

pub(super) fn run(lines: usize, follow: bool, environment: &Environment) -> Result<Outcome> {
    let (paths, mut output) = (background::paths(environment), environment.streams.output());
    let mut shown = Shown { length: 0 };
    let text = shown.read(&paths.log)?;
    let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
    if all.len() < lines {
        let mut older = paths.log.clone().into_os_string();
        older.push(".1");
        let older = Shown { length: 0 }.read(older.as_ref())?;
        all.splice(0..0, older.lines().map(str::to_owned));
    }
    let nothing = all.is_empty();
    print(&mut output, all.iter().skip(all.len().saturating_sub(lines)).map(String::as_str))?;
    if !follow {
        return Ok(Outcome::found(!nothing));
    }
    loop {
        thread::sleep(STEP);
        print(&mut output, shown.read(&paths.log)?.lines())?;
    }
}

fn print<'a>(output: &mut impl Write, lines: impl Iterator<Item = &'a str>) -> io::Result<()> {
    for line in lines {
        writeln!(output, "{}", printable(line))?;
    }
    output.flush()
}

/// The part of a log that was read.
struct Shown {
    length: u64,
}

impl Shown {
    /// Reads the whole lines that came since, from the beginning where the log begins anew.
    fn read(&mut self, path: &Path) -> io::Result<String> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            file => file?,
        };
        if file.metadata()?.len() < self.length {
            self.length = 0;
        }
        file.seek(SeekFrom::Start(self.length))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        self.length += bytes.len() as u64;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

//! MCP over the pipes of a program.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use thru_outside::process::Group;
use thru_outside::{Limits, excerpt};

use crate::error::SinkError;
use crate::message::{Request, answer};
use crate::sink::Line;

/// Interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(100);

/// Time for a program to exit after its input was closed.
const ENDING: Duration = Duration::from_secs(2);

/// Most unread lines that are buffered.
const WAITING: usize = 64;

/// A running program; dropping this ends it.
pub(crate) struct ProgramLine {
    group: Group,
    /// Feeds a writer thread: a program that does not read would block us. Dropping it closes the
    /// program's input.
    writer: Option<Sender<Vec<u8>>>,
    lines: Receiver<Result<Vec<u8>, SinkError>>,
    limits: Limits,
    /// True if it did not answer, so that it will not exit by itself either.
    hangs: bool,
}

impl ProgramLine {
    pub(crate) fn start(command: &mut Command, limits: Limits) -> Result<Self, SinkError> {
        let failed = |error: io::Error| SinkError::Unreachable(excerpt(&error.to_string()));
        let mut group = Group::start(command).map_err(failed)?;
        let missing = || SinkError::Protocol("the program has no pipes".to_owned());
        let mut stdin = group.stdin().ok_or_else(missing)?;
        let stdout = group.stdout().ok_or_else(missing)?;
        let (writer, written) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            for line in written {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        let (sender, lines) = mpsc::sync_channel(WAITING);
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(line) = next_line(&mut reader, limits.size) {
                let is_over = line.is_err();
                if sender.send(line).is_err() || is_over {
                    break;
                }
            }
        });
        // Its error output is not ours to judge, but must be drained.
        if let Some(mut stderr) = group.stderr() {
            thread::spawn(move || io::copy(&mut stderr, &mut io::sink()));
        }
        Ok(Self { group, writer: Some(writer), lines, limits, hangs: false })
    }

    fn write(&self, message: &Value) -> Result<(), SinkError> {
        let line = format!("{message}\n").into_bytes();
        let is_written = self.writer.as_ref().is_some_and(|writer| writer.send(line).is_ok());
        if is_written { Ok(()) } else { Err(ended()) }
    }

    fn read(&mut self, started: Instant, stop: &AtomicBool) -> Result<Vec<u8>, SinkError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                self.hangs = true;
                return Err(SinkError::Stopped);
            }
            let left = self.limits.time.saturating_sub(started.elapsed());
            if left.is_zero() {
                self.hangs = true;
                return Err(SinkError::Timeout(self.limits.time));
            }
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
        }
    }
}

fn ended() -> SinkError {
    SinkError::Protocol("the program ended".to_owned())
}

/// Returns the next line, without its line ending; `None` at the end.
fn next_line(reader: &mut impl BufRead, limit: usize) -> Option<Result<Vec<u8>, SinkError>> {
    let mut line = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    match reader.take(most).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) if line.last() == Some(&b'\n') => Some(Ok(line)),
        Ok(length) if length > limit => Some(Err(SinkError::TooLong(limit))),
        Ok(_) => None,
    }
}

impl Line for ProgramLine {
    fn ask(&mut self, request: &Request, stop: &AtomicBool) -> Result<Value, SinkError> {
        let started = Instant::now();
        self.write(&request.body)?;
        loop {
            // Some print a greeting here, although they should not.
            let line = self.read(started, stop)?;
            let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
            if request.is_answered_by(&message) {
                return Ok(message);
            }
            if let Some(answer) = answer(&message) {
                self.write(&answer)?;
            }
        }
    }

    fn tell(&mut self, message: &Value, _: &AtomicBool) -> Result<(), SinkError> {
        self.write(message)
    }

    fn agree(&mut self, _: String) {}

    fn has_session(&self) -> bool {
        false
    }

    fn is_over(&mut self) -> bool {
        !matches!(self.group.has_ended(), Ok(false))
    }
}

impl Drop for ProgramLine {
    fn drop(&mut self) {
        // Closing its input asks it to exit.
        self.writer = None;
        let waiting = Instant::now();
        while !self.hangs
            && waiting.elapsed() < ENDING
            && matches!(self.group.has_ended(), Ok(false))
        {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

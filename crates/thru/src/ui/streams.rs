//! The standard streams of a run: those of the process, or buffers of a test.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Standard input, output and errors. Clones are the same streams.
#[derive(Clone)]
pub struct Streams {
    input: Arc<Mutex<dyn Read + Send>>,
    output: Output,
    errors: Output,
}

/// A stream to write to. Clones are the same stream.
#[derive(Clone)]
pub(crate) struct Output(Arc<Mutex<dyn Write + Send>>);

impl Streams {
    /// The streams of the process.
    pub fn of_process() -> Self {
        Self::new(io::stdin(), io::stdout(), io::stderr())
    }

    /// Other streams.
    pub fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        errors: impl Write + Send + 'static,
    ) -> Self {
        Self {
            input: Arc::new(Mutex::new(input)),
            output: Output(Arc::new(Mutex::new(output))),
            errors: Output(Arc::new(Mutex::new(errors))),
        }
    }

    /// Standard output.
    pub(crate) fn output(&self) -> Output {
        self.output.clone()
    }

    /// Standard error.
    pub(crate) fn errors(&self) -> Output {
        self.errors.clone()
    }

    /// Reads all that is left of standard input.
    ///
    /// # Errors
    /// Fails if the input cannot be read or is not UTF-8.
    pub(crate) fn read_all(&self) -> io::Result<String> {
        let mut text = String::new();
        self.input.lock().unwrap_or_else(PoisonError::into_inner).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Reads a line of standard input, without its end; `None` where the input is over.
    ///
    /// # Errors
    /// Fails if the input cannot be read or is not UTF-8.
    pub(crate) fn read_line(&self) -> io::Result<Option<String>> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut line, mut byte) = (Vec::new(), [0]);
        // Byte by byte: what follows the line belongs to the next reader.
        while input.read(&mut byte)? > 0 {
            if byte[0] == b'\n' {
                break;
            }
            line.push(byte[0]);
        }
        if line.is_empty() && byte[0] != b'\n' {
            return Ok(None);
        }
        let line = String::from_utf8(line).map_err(io::Error::other)?;
        Ok(Some(line.trim_end_matches('\r').to_owned()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

//! Message framing: each message follows its length in four bytes (big-endian), or, for simple clients,
//! stands on a line of its own. The first byte tells the two apart: a message is a JSON object, and a
//! length that begins with `{` would be two gigabytes.

use std::io::{self, Read, Write};

/// Maximum bytes of a message.
pub const LARGEST: usize = 1024 * 1024;

/// The framing of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each after its length.
    Framed,
    /// Each on a line.
    Lines,
}

/// The error of reading a message. The connection cannot be used afterwards.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The message is longer than [`LARGEST`].
    #[error("a message is longer than {LARGEST} bytes")]
    TooLong,
    /// The other side closed the connection, or took too long.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads messages from a stream.
#[derive(Debug)]
pub struct MessageReader {
    form: Option<Form>,
    /// Bytes read beyond the last message.
    rest: Vec<u8>,
}

impl MessageReader {
    /// Returns a reader that detects the framing from the first byte.
    pub fn new() -> Self {
        Self { form: None, rest: Vec::new() }
    }

    /// Returns the framing, once a message has come.
    pub fn form(&self) -> Option<Form> {
        self.form
    }

    /// Reads the next message; `None` if the stream ended between two messages.
    ///
    /// # Errors
    /// Returns [`FrameError::TooLong`] for a message beyond [`LARGEST`], and [`FrameError::Io`] if the
    /// stream fails or ends inside a message.
    pub fn next(&mut self, stream: &mut impl Read) -> Result<Option<Vec<u8>>, FrameError> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            let mut chunk = [0; 8 * 1024];
            let read = match stream.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            match read {
                0 if self.rest.is_empty() => return Ok(None),
                // The last line needs no newline.
                0 if self.form == Some(Form::Lines) => {
                    return Ok(Some(std::mem::take(&mut self.rest)));
                }
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                read => self.rest.extend_from_slice(&chunk[..read]),
            }
        }
    }

    /// Takes a whole message out of the buffer, if there is one.
    fn take(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let Some(first) = self.rest.first() else { return Ok(None) };
        let form = *self.form.get_or_insert(match first {
            b'{' => Form::Lines,
            _ => Form::Framed,
        });
        match form {
            Form::Lines => {
                // There may be empty lines between messages.
                let blank = self.rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                self.rest.drain(..blank);
                let end = self.rest.iter().position(|byte| *byte == b'\n');
                if end.unwrap_or(self.rest.len()) > LARGEST {
                    return Err(FrameError::TooLong);
                }
                let Some(end) = end else { return Ok(None) };
                let mut line: Vec<u8> = self.rest.drain(..=end).collect();
                line.pop();
                Ok(Some(line))
            }
            Form::Framed => {
                let Some((length, body)) = self.rest.split_first_chunk::<4>() else {
                    return Ok(None);
                };
                let length = u32::from_be_bytes(*length) as usize;
                if length > LARGEST {
                    return Err(FrameError::TooLong);
                }
                if body.len() < length {
                    return Ok(None);
                }
                let rest = self.rest.split_off(4 + length);
                let mut message = std::mem::replace(&mut self.rest, rest);
                message.drain(..4);
                Ok(Some(message))
            }
        }
    }
}

impl Default for MessageReader {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a message in one go. On a line it must not contain a newline, and JSON has none.
///
/// # Errors
/// Fails if the message is longer than [`LARGEST`], or the stream cannot be written.
pub fn write_message(stream: &mut impl Write, form: Form, message: &[u8]) -> io::Result<()> {
    if message.len() > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"));
    }
    let mut bytes = Vec::with_capacity(message.len() + 4);
    match form {
        Form::Framed => {
            bytes.extend_from_slice(&(message.len() as u32).to_be_bytes());
            bytes.extend_from_slice(message);
        }
        Form::Lines => {
            bytes.extend_from_slice(message);
            bytes.push(b'\n');
        }
    }
    stream.write_all(&bytes)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Yields bytes in pieces of one size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn all(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, Option<FrameError>) {
        let (mut reader, mut stream) = (MessageReader::new(), Pieces(bytes, size));
        let mut messages = Vec::new();
        loop {
            match reader.next(&mut stream) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => return (messages, None),
                Err(error) => return (messages, Some(error)),
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            texts in prop::collection::vec("\\{[ -~]{0,200}", 1..8),
            framed: bool,
            size in 1..64usize,
        ) {
            let form = if framed { Form::Framed } else { Form::Lines };
            let mut bytes = Vec::new();
            for text in &texts {
                write_message(&mut bytes, form, text.as_bytes()).unwrap();
            }
            let (messages, error) = all(&bytes, size);
            prop_assert!(error.is_none());
            let expected: Vec<Vec<u8>> = texts.iter().map(|text| text.clone().into_bytes()).collect();
            prop_assert_eq!(messages, expected);
        }

        #[test]
        fn arbitrary_bytes_are_read_alike_in_any_pieces(
            bytes: Vec<u8>,
            first in prop::option::of(Just(b'{')),
            size in 1..64usize,
        ) {
            let bytes: Vec<u8> = first.into_iter().chain(bytes).collect();
            let (whole, whole_error) = all(&bytes, usize::MAX);
            let (pieces, error) = all(&bytes, size);
            prop_assert_eq!(whole, pieces);
            prop_assert_eq!(whole_error.is_some(), error.is_some());
        }
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_kept() {
        let (messages, error) = all(&[0xff; 100], 100);
        assert!(messages.is_empty() && matches!(error, Some(FrameError::TooLong)));
        let line = vec![b'{'; LARGEST + 10];
        assert!(matches!(all(&line, 8192).1, Some(FrameError::TooLong)));
        assert!(write_message(&mut Vec::new(), Form::Framed, &line).is_err());
    }

    #[test]
    fn a_frame_cut_off_is_an_error_and_a_last_line_is_none() {
        assert!(matches!(all(&[0, 0, 0, 9, b'{'], 10).1, Some(FrameError::Io(_))));
        assert_eq!(all(b"{\"a\":1}\n\n{}", 3).0, [b"{\"a\":1}".to_vec(), b"{}".to_vec()]);
        assert_eq!(all(b"{}\n \n ", 3).0, [b"{}".to_vec()], "what is blank is nothing");
    }
}

//! Input on the daemon's socket, in frames or lines, from any process of the same user. It splits into
//! the same messages however it is chunked, and every message is a request or gets an error.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use thru_core::rpc;
use thru_daemon::{Form, FrameError, LARGEST, MessageReader, write_message};

/// A stream that returns its bytes in pieces of one size.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(self.0.len()).min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((size, bytes)) = data.split_first() else { return };
    let (whole, form, failed) = read(bytes, usize::MAX);
    let in_pieces = read(bytes, 1 + usize::from(*size));
    assert_eq!((&whole, form, failed), (&in_pieces.0, in_pieces.1, in_pieces.2));
    let mut again = Vec::new();
    for message in &whole {
        assert!(message.len() <= LARGEST);
        check(message);
        if let Some(form) = form {
            write_message(&mut again, form, message).expect("what could be read can be written");
        }
    }
    // Messages survive a round trip.
    assert_eq!(read(&again, usize::MAX).0, whole);
});

/// Returns the messages, their form, and true if they ended in an error.
fn read(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, Option<Form>, bool) {
    let (mut reader, mut stream) = (MessageReader::new(), Pieces(bytes, size));
    let mut messages = Vec::new();
    loop {
        match reader.next(&mut stream) {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, reader.form(), false),
            Err(FrameError::TooLong | FrameError::Io(_)) => return (messages, reader.form(), true),
        }
    }
}

fn check(message: &[u8]) {
    match rpc::read(message) {
        Ok(request) => {
            assert!(request.id.as_ref().is_none_or(|id| id.is_string() || id.is_number()));
            assert!(request.params.as_ref().is_none_or(|it| it.is_object() || it.is_array()));
        }
        Err(unread) => {
            assert!(unread.id.is_string() || unread.id.is_number() || unread.id.is_null());
            assert!(unread.code < 0 && !unread.why.is_empty());
        }
    }
}

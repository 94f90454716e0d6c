//! The part of HTTP/1.1 that the client needs: one request and one response per connection.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Bytes of a body, far above any conversation in a test.
const LONGEST_BODY: u64 = 256 * 1024 * 1024;

/// Bytes at which a line of a head is cut off.
const LONGEST_LINE: u64 = 64 * 1024;

/// A request.
pub(crate) struct Incoming {
    pub(crate) method: String,
    /// The path with the query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Reads one request; `None` if the other side closed without sending one.
pub(crate) fn read(stream: impl Read) -> io::Result<Option<Incoming>> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut length = 0;
    loop {
        let header = line(&mut reader)?;
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    if length > LONGEST_BODY {
        return Err(io::Error::other("the request is too long"));
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(Some(Incoming { method, path, body }))
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.take(LONGEST_LINE).read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

/// Writes the head of a response. The body follows until the connection is closed.
pub(crate) fn respond(writer: &mut impl Write, status: u16, kind: &str) -> io::Result<()> {
    // The client reads the number and ignores the phrase.
    write!(
        writer,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_to_its_end() {
        let text =
            "POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyrest";
        let incoming = read(text.as_bytes()).unwrap().unwrap();
        assert_eq!(
            (incoming.method.as_str(), incoming.path.as_str()),
            ("POST", "/v1/messages?beta=true")
        );
        assert_eq!(incoming.body, b"body");
        assert!(read(&b""[..]).unwrap().is_none());
    }
}

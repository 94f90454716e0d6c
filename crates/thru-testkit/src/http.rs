//! A real HTTP server on loopback with scripted answers and failures. For tests.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Far above any request of a test, in bytes.
const LONGEST_BODY: u64 = 256 * 1024 * 1024;

/// Longest header line, in bytes; a longer one is cut off.
const LONGEST_LINE: u64 = 64 * 1024;

/// A listener on a free port of loopback, until it is dropped. Every connection is served on a thread of its own.
pub struct Listener {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Listener {
    /// Starts to listen. `serve` is given each connection, and a flag that is set when the listener is dropped. A
    /// client may disconnect at any time, so errors of connections are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot listen on loopback.
    pub fn start(
        serve: impl Fn(&TcpStream, &AtomicBool) -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let serve = Arc::new(serve);
        let listening = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                for connection in listener.incoming() {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let Ok(connection) = connection else { continue };
                    let (serve, is_over) = (Arc::clone(&serve), Arc::clone(&is_over));
                    thread::spawn(move || _ = serve(&connection, &is_over));
                }
            }
        });
        Ok(Self { address, is_over, listening: Some(listening) })
    }

    /// Returns its URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, which waits for a connection.
        if TcpStream::connect(self.address).is_ok()
            && let Some(listening) = self.listening.take()
        {
            _ = listening.join();
        }
    }
}

/// A server that answers from a script, until it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    listener: Listener,
}

type Handler = Box<dyn Fn(&ReceivedRequest) -> Response + Send + Sync>;

struct Shared {
    handler: Handler,
    asked: Mutex<Vec<ReceivedRequest>>,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The method.
    pub method: String,
    /// The path, with the query.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// A scripted answer, with its faults.
#[derive(Clone, Debug)]
pub struct Response {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    fault: Fault,
}

#[derive(Clone, Debug)]
enum Fault {
    None,
    /// Nothing is sent until the server is dropped.
    SilentFromStart,
    /// Nothing is sent after the head.
    SilentAfterHead,
    /// The connection stays open after the body.
    SilentAfterBody,
    /// The connection is closed after this many bytes of the body.
    CutAfter(usize),
    /// The connection breaks in the middle of the head.
    Broken,
    /// The body is sent byte by byte, with this pause.
    Slow(Duration),
}

impl Response {
    /// Creates an answer with a body of this content type.
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.into(), fault: Fault::None }
    }

    /// Creates an answer with a JSON document.
    pub fn json(status: u16, body: impl ToString) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Replaces the content type.
    #[must_use]
    pub fn called(mut self, kind: &str) -> Self {
        self.headers.retain(|(name, _)| name != "content-type");
        self.with("content-type", kind)
    }

    /// Creates a silent answer: nothing is sent, and the connection stays open.
    pub fn silence() -> Self {
        Self { fault: Fault::SilentFromStart, ..Self::new(200, "", "") }
    }

    /// Creates an answer whose connection breaks at once.
    pub fn broken() -> Self {
        Self { fault: Fault::Broken, ..Self::new(200, "", "") }
    }

    /// Sends nothing after the head.
    #[must_use]
    pub fn without_body(self) -> Self {
        Self { fault: Fault::SilentAfterHead, ..self }
    }

    /// Keeps the connection open after the body, without a length.
    #[must_use]
    pub fn without_end(self) -> Self {
        Self { fault: Fault::SilentAfterBody, ..self }
    }

    /// Closes the connection after this many bytes of the body.
    #[must_use]
    pub fn cut_after(self, bytes: usize) -> Self {
        Self { fault: Fault::CutAfter(bytes), ..self }
    }

    /// Sends the body byte by byte, with this pause.
    #[must_use]
    pub fn slowly(self, pause: Duration) -> Self {
        Self { fault: Fault::Slow(pause), ..self }
    }
}

impl Server {
    /// Starts a server that gives these answers in order, and the last one to all further requests.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot listen on loopback.
    pub fn start(responses: impl IntoIterator<Item = Response>) -> io::Result<Self> {
        let mut responses = responses.into_iter();
        let missing = Response::new(500, "text/plain", "the script has no answer");
        let state =
            Mutex::new((responses.next().unwrap_or(missing), responses.collect::<Vec<_>>()));
        Self::answering(move |_| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let response = state.0.clone();
            if !state.1.is_empty() {
                state.0 = state.1.remove(0);
            }
            response
        })
    }

    /// Starts a server that computes each answer from the request.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot listen on loopback.
    pub fn answering(
        handler: impl Fn(&ReceivedRequest) -> Response + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { handler: Box::new(handler), asked: Mutex::default() });
        let listener = Listener::start({
            let shared = Arc::clone(&shared);
            move |connection, is_over| shared.serve(connection, is_over)
        })?;
        Ok(Self { shared, listener })
    }

    /// Returns its URL, without a slash at the end.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Returns all requests so far, in order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    fn serve(&self, connection: &TcpStream, is_over: &AtomicBool) -> io::Result<()> {
        let Some(asked) = read(connection)? else { return Ok(()) };
        let response = (self.handler)(&asked);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let mut writer = connection;
        match response.fault {
            // Half a head, and then nothing: to a client this is as broken as a reset, on every system.
            Fault::Broken => writer.write_all(b"HTTP/1.1 200")?,
            Fault::SilentFromStart => hold(is_over),
            Fault::SilentAfterHead => {
                writer.write_all(&response.head())?;
                hold(is_over);
            }
            Fault::SilentAfterBody => {
                writer.write_all(&response.head_without_length())?;
                writer.write_all(&response.body)?;
                hold(is_over);
            }
            Fault::CutAfter(bytes) => {
                writer.write_all(&response.head())?;
                writer.write_all(&response.body[..bytes.min(response.body.len())])?;
            }
            Fault::Slow(pause) => {
                writer.write_all(&response.head())?;
                for byte in &response.body {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    writer.write_all(&[*byte])?;
                    thread::sleep(pause);
                }
            }
            Fault::None => {
                writer.write_all(&response.head())?;
                writer.write_all(&response.body)?;
            }
        }
        Ok(())
    }
}

/// Keeps a connection open.
fn hold(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(10));
    }
}

impl Response {
    fn head(&self) -> Vec<u8> {
        let mut head = self.head_without_length();
        head.truncate(head.len() - 2);
        head.extend(format!("content-length: {}\r\n\r\n", self.body.len()).into_bytes());
        head
    }

    fn head_without_length(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

/// Reads one request; `None` if the client sent nothing.
///
/// # Errors
///
/// Returns an error if the connection breaks.
pub fn read(stream: impl Read) -> io::Result<Option<ReceivedRequest>> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut asked = ReceivedRequest { method, path, headers, body: Vec::new() };
    let length = asked.header("content-length").parse().unwrap_or(0_u64);
    reader.take(length.min(LONGEST_BODY)).read_to_end(&mut asked.body)?;
    Ok(Some(asked))
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.take(LONGEST_LINE).read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_to_its_end() {
        let text =
            "POST /v1/messages?beta=true HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyrest";
        let asked = read(text.as_bytes()).unwrap().unwrap();
        assert_eq!(
            (asked.method.as_str(), asked.path.as_str()),
            ("POST", "/v1/messages?beta=true")
        );
        assert_eq!((asked.header("host"), asked.body.as_slice()), ("x", b"body".as_slice()));
        assert!(read(&b""[..]).unwrap().is_none());
    }
}

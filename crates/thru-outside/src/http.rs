//! One HTTP request and its answer.
//!
//! The exchange runs on a thread of its own and hands over what it reads; the caller watches time, size and the stop
//! flag. However the caller leaves, its connection is shut down at once, so that the thread ends wherever it hangs.
//! Only looking up a name and the first knock are not interrupted: both have [`CONNECT`].

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::crypto::ring;
use ureq::config::Config;
use ureq::http::header::{CONTENT_TYPE, LOCATION};
use ureq::http::{HeaderMap, HeaderValue, Request};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};
use ureq::{Agent, Proxy};

use crate::LOOK;
use crate::service_url::ServiceUrl;
use crate::words::excerpt;

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(10);

/// Most bytes of a body that are handed over at a time.
const PIECE: usize = 16 * 1024;

/// The user agent.
const AGENT: &str = concat!("throughline/", env!("CARGO_PKG_VERSION"));

/// Limits of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time from the first byte sent to the last one received.
    pub time: Duration,
    /// Most bytes of the body of a response.
    pub size: usize,
}

/// A client of one service.
pub struct Http {
    config: Config,
    limits: Limits,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Sends the body.
    Post,
    /// Deletes; has no body.
    Delete,
}

/// A request with a JSON body.
pub struct HttpRequest<'c> {
    /// The method.
    pub method: Method,
    /// The URL.
    pub url: &'c str,
    /// Headers beside the standard ones.
    pub headers: &'c [(&'static str, &'c str)],
    /// The JSON document.
    pub body: Vec<u8>,
    /// Returns true if the part of the body read so far is enough: for responses that are endless
    /// streams.
    pub is_enough: &'c (dyn Fn(&HttpResponse) -> bool + Sync),
}

/// A response with any status.
#[derive(Clone, Debug, Default)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    headers: HeaderMap,
    /// The whole body, or the part that was enough.
    pub body: Vec<u8>,
}

/// The reason there was no response.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The server cannot be reached, or cannot be trusted.
    #[error("not reachable: {0}")]
    Unreachable(String),
    /// The time limit was exceeded.
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// The `stop` flag was set.
    #[error("stopped")]
    Stopped,
    /// The response is longer than this many bytes; the rest was not read.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The connection broke during the exchange.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// A redirect, which is never followed with a key.
    #[error("the answer is a redirect to {0}")]
    Redirect(String),
    /// The request cannot be built.
    #[error("the request cannot be made: {0}")]
    Impossible(String),
}

impl HttpError {
    /// Returns true if the server may have received the request, and may act on it.
    pub const fn was_sent(&self) -> bool {
        matches!(self, Self::Timeout(_) | Self::Stopped | Self::TooLong(_) | Self::Broken(_))
    }
}

impl HttpResponse {
    /// Returns a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the media type of the body, in lower case and without parameters.
    pub fn kind(&self) -> String {
        let kind = self.header(CONTENT_TYPE.as_str());
        kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Returns true for a status of success.
    pub const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

impl Http {
    /// A client for one service. Encrypted connections trust the roots that the system trusts, and go through the proxy
    /// that the environment names; others reach only the own network, and go straight there.
    pub fn new(service: &ServiceUrl, limits: Limits) -> Self {
        let encryption = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let goes_far = service.is_encrypted() && !service.is_loopback();
        let config = Agent::config_builder()
            .user_agent(AGENT)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .tls_config(encryption)
            .proxy(if goes_far { Proxy::try_from_env() } else { None })
            .build();
        Self { config, limits }
    }

    /// Sends a request and waits for the answer. Ends soon after `stop` was set.
    ///
    /// # Errors
    /// Fails if no whole answer comes within the limits, or it leads elsewhere. [`HttpError::was_sent`] tells whether the
    /// other side may have the request.
    pub fn send(
        &self,
        request: &HttpRequest<'_>,
        stop: &AtomicBool,
    ) -> Result<HttpResponse, HttpError> {
        let is_connected = Arc::new(AtomicBool::new(false));
        let connector = DefaultConnector::new().chain(Mark(Arc::clone(&is_connected)));
        let agent = Agent::with_parts(self.config.clone(), connector, DefaultResolver::default());
        let exchange = Exchange { agent: agent.clone(), is_connected, request: build(request)? };
        let (pieces, received) = sync_channel(1);
        thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || exchange.run(&pieces))
            .map_err(|error| HttpError::Impossible(error.to_string()))?;
        let response = self.receive(request, &received, stop);
        agent.shutdown();
        response
    }

    fn receive(
        &self,
        request: &HttpRequest<'_>,
        received: &Receiver<Result<Piece, HttpError>>,
        stop: &AtomicBool,
    ) -> Result<HttpResponse, HttpError> {
        let started = Instant::now();
        let mut response = HttpResponse::default();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(HttpError::Stopped);
            }
            let left = self.limits.time.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(HttpError::Timeout(self.limits.time));
            }
            match received.recv_timeout(left.min(LOOK)) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(HttpError::Broken("it ended without an answer".to_owned()));
                }
                Ok(piece) => match piece? {
                    Piece::Head { status, headers } => {
                        (response.status, response.headers) = (status, headers);
                        if (300..400).contains(&status) {
                            let to = excerpt(response.header(LOCATION.as_str()));
                            return Err(HttpError::Redirect(to));
                        }
                    }
                    Piece::Body(bytes) => {
                        if response.body.len() + bytes.len() > self.limits.size {
                            return Err(HttpError::TooLong(self.limits.size));
                        }
                        response.body.extend_from_slice(&bytes);
                        if (request.is_enough)(&response) {
                            return Ok(response);
                        }
                    }
                    Piece::End => return Ok(response),
                },
            }
        }
    }
}

/// A part of an answer, as it comes.
enum Piece {
    Head { status: u16, headers: HeaderMap },
    Body(Vec<u8>),
    End,
}

/// A request that is under way.
struct Exchange {
    agent: Agent,
    is_connected: Arc<AtomicBool>,
    request: Request<Vec<u8>>,
}

impl Exchange {
    /// Hands over the answer, or the error that ends it. The caller may have left: then the pieces go nowhere.
    fn run(self, pieces: &SyncSender<Result<Piece, HttpError>>) {
        let is_connected = Arc::clone(&self.is_connected);
        if let Err(error) = self.pass_on(pieces) {
            _ = pieces.send(Err(failure(&error, is_connected.load(Ordering::Relaxed))));
        }
    }

    fn pass_on(self, pieces: &SyncSender<Result<Piece, HttpError>>) -> Result<(), ureq::Error> {
        let (head, body) = self.request.into_parts();
        let response = match body.is_empty() {
            true => self.agent.run(Request::from_parts(head, ()))?,
            false => self.agent.run(Request::from_parts(head, body))?,
        };
        let (head, body) = response.into_parts();
        let head = Piece::Head { status: head.status.as_u16(), headers: head.headers };
        let mut is_wanted = pieces.send(Ok(head)).is_ok();
        let mut body = body.into_reader();
        let mut buffer = vec![0; PIECE];
        while is_wanted {
            let read = body.read(&mut buffer)?;
            let piece = if read == 0 { Piece::End } else { Piece::Body(buffer[..read].to_vec()) };
            is_wanted = pieces.send(Ok(piece)).is_ok() && read > 0;
        }
        Ok(())
    }
}

/// The last step of a connection: remembers that everything before it went well, encryption included.
#[derive(Debug)]
struct Mark(Arc<AtomicBool>);

impl<In: Transport> Connector<In> for Mark {
    type Out = In;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<In>, ureq::Error> {
        self.0.store(chained.is_some(), Ordering::Relaxed);
        Ok(chained)
    }
}

fn build(request: &HttpRequest<'_>) -> Result<Request<Vec<u8>>, HttpError> {
    let (method, body) = match request.method {
        Method::Post => ("POST", request.body.clone()),
        Method::Delete => ("DELETE", Vec::new()),
    };
    let mut built = Request::builder()
        .method(method)
        .uri(request.url)
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(|error| HttpError::Impossible(excerpt(&error.to_string())))?;
    for (name, value) in request.headers {
        // Never with the value: it may be a key.
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            HttpError::Impossible(format!("{name} has characters that cannot be sent"))
        })?;
        value.set_sensitive(true);
        built.headers_mut().insert(*name, value);
    }
    Ok(built)
}

fn failure(error: &ureq::Error, was_connected: bool) -> HttpError {
    use ureq::Error::{BadUri, ConnectProxyFailed, Http, InvalidProxyUrl, Io};
    let said = match error {
        Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            "nothing answers there".to_owned()
        }
        _ => innermost(error),
    };
    match error {
        BadUri(_) | Http(_) | InvalidProxyUrl => HttpError::Impossible(said),
        ConnectProxyFailed(_) => HttpError::Unreachable(said),
        _ if was_connected => HttpError::Broken(said),
        _ => HttpError::Unreachable(said),
    }
}

/// The cause; the errors around it only say that there was one.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    excerpt(&error.to_string())
}

//! One HTTP request and its answer.
//!
//! The network is asynchronous here for one reason: a dropped exchange is over at once, wherever it
//! hangs. A blocking read could only be left behind on a thread.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, redirect};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::LOOK;
use crate::place::Place;
use crate::words::excerpt;

/// Time limit for connecting.
const CONNECT: Duration = Duration::from_secs(10);

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
    client: Client,
    limits: Limits,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Sends the body.
    Post,
    /// Deletes; has no body.
    Delete,
}

/// A request with a JSON body.
pub struct Call<'c> {
    /// The method.
    pub verb: Verb,
    /// The URL.
    pub url: &'c str,
    /// Headers beside the standard ones.
    pub headers: &'c [(&'static str, &'c str)],
    /// The JSON document.
    pub body: Vec<u8>,
    /// Returns true if the part of the body read so far is enough: for responses that are endless
    /// streams.
    pub is_enough: &'c (dyn Fn(&Answer) -> bool + Sync),
}

/// A response with any status.
#[derive(Clone, Debug, Default)]
pub struct Answer {
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
    Elsewhere(String),
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

impl Answer {
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
    /// Creates a client for one server. Requests to this machine use no proxy.
    ///
    /// # Errors
    ///
    /// Returns [`HttpError::Impossible`] if encryption or the client cannot be set up.
    pub fn new(place: &Place, limits: Limits) -> Result<Self, HttpError> {
        let mut builder = Client::builder()
            .user_agent(AGENT)
            .connect_timeout(CONNECT)
            .redirect(redirect::Policy::none())
            // Every exchange has a runtime of its own; a connection cannot outlive it.
            .pool_max_idle_per_host(0)
            .tls_backend_preconfigured(encryption(place)?);
        if place.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| impossible(&error))?;
        Ok(Self { client, limits })
    }

    /// Sends a request and waits for the response. Ends soon after `stop` was set.
    ///
    /// # Errors
    ///
    /// Returns [`HttpError`] if there is no complete response within the limits.
    pub fn send(&self, call: &Call<'_>, stop: &AtomicBool) -> Result<Answer, HttpError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error: io::Error| HttpError::Impossible(error.to_string()))?;
        let answer = runtime.block_on(self.watched(call, stop));
        // A name lookup cannot be interrupted; leave it behind.
        runtime.shutdown_background();
        answer
    }

    async fn watched(&self, call: &Call<'_>, stop: &AtomicBool) -> Result<Answer, HttpError> {
        let started = Instant::now();
        let mut exchange = pin!(self.exchange(call));
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(HttpError::Stopped);
            }
            let left = self.limits.time.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(HttpError::Timeout(self.limits.time));
            }
            if let Ok(done) = tokio::time::timeout(left.min(LOOK), exchange.as_mut()).await {
                return done;
            }
        }
    }

    async fn exchange(&self, call: &Call<'_>) -> Result<Answer, HttpError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in call.headers {
            // Never with the value: it may be a key.
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                HttpError::Impossible(format!("{name} has characters that cannot be sent"))
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let request = match call.verb {
            Verb::Post => self.client.post(call.url).body(call.body.clone()),
            Verb::Delete => self.client.delete(call.url),
        };
        let request = request.headers(headers);
        let mut response = request.send().await.map_err(|error| broken(&error))?;
        let mut answer = Answer {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body: Vec::new(),
        };
        if (300..400).contains(&answer.status) {
            return Err(HttpError::Elsewhere(excerpt(answer.header(LOCATION.as_str()))));
        }
        self.receive(&mut response, &mut answer, call.is_enough).await?;
        Ok(answer)
    }

    async fn receive(
        &self,
        response: &mut Response,
        answer: &mut Answer,
        is_enough: &(dyn Fn(&Answer) -> bool + Sync),
    ) -> Result<(), HttpError> {
        while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
            if answer.body.len() + piece.len() > self.limits.size {
                return Err(HttpError::TooLong(self.limits.size));
            }
            answer.body.extend_from_slice(&piece);
            if is_enough(answer) {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the encryption settings: built-in cryptography, and the certificates that the system trusts.
/// The system is only asked if needed.
fn encryption(place: &Place) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: rustls::Error| HttpError::Impossible(error.to_string());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = if place.is_encrypted() {
        builder.with_platform_verifier().map_err(failed)?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}

fn impossible(error: &reqwest::Error) -> HttpError {
    HttpError::Impossible(innermost(error))
}

fn broken(error: &reqwest::Error) -> HttpError {
    let said = innermost(error);
    if error.is_builder() {
        HttpError::Impossible(said)
    } else if error.is_connect() {
        HttpError::Unreachable(said)
    } else {
        HttpError::Broken(said)
    }
}

/// Returns the innermost error; the errors around it only repeat the URL.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    excerpt(&error.to_string())
}

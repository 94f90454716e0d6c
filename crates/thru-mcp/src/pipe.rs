//! A transport of lines: one thread reads, one writes, and what waits between them is bounded in bytes.
//!
//! The SDK's own transport passes over what is no JSON without a word and reads on however many calls wait. This one
//! answers for itself, stops reading while answers pile up, and ends when whoever reads them is gone.

use std::future::Future;
use std::io::{BufRead, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, oneshot, watch};

use crate::incoming::{Incoming, Line, next_line, read_line, too_long};

/// Bytes of messages that were read and wait to be served: ten thousand calls are less.
const WAITING: usize = 8 * 1024 * 1024;
/// Bytes of answers that nobody read yet. Beyond, nothing more is served until somebody does.
const UNREAD: usize = 64 * 1024 * 1024;
/// Requests that are served at the same time.
const AT_ONCE: usize = 32;
/// How long the last answers may take to be read when all is over.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// How it stands with the output.
#[derive(Clone, Copy, Debug, Default)]
struct Output {
    /// Bytes that were not written yet.
    unread: usize,
    /// Whether nobody reads, or it is to end.
    is_over: bool,
}

/// Ends a conversation from outside.
#[derive(Clone)]
pub struct Stopper(watch::Sender<Output>);

impl Stopper {
    /// Ends it: what is being answered is, nothing more is read.
    pub fn stop(&self) {
        self.0.send_modify(|output| output.is_over = true);
    }
}

/// A conversation over two pipes.
pub(crate) struct Pipe {
    incoming: UnboundedReceiver<Read>,
    waiting: Arc<Waiting>,
    /// A message that was read and waits for others to be served.
    held: Option<ClientJsonRpcMessage>,
    serving: Arc<Semaphore>,
    answers: Option<mpsc::Sender<Vec<u8>>>,
    output: watch::Sender<Output>,
    written: Option<oneshot::Receiver<()>>,
}

impl Pipe {
    /// Starts the threads that read and write.
    pub(crate) fn new(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, incoming) = unbounded_channel();
        let waiting = Arc::new(Waiting::default());
        let waits = Arc::clone(&waiting);
        std::thread::Builder::new()
            .name("mcp-reads".to_owned())
            .spawn(move || read_all(input, &sender, &waits))?;
        let (answers, queue) = mpsc::channel::<Vec<u8>>();
        let (done, written) = oneshot::channel();
        let state = watch::Sender::new(Output::default());
        let of_writer = state.clone();
        std::thread::Builder::new().name("mcp-writes".to_owned()).spawn(move || {
            if write_all(output, &queue, &of_writer).is_err() {
                of_writer.send_modify(|output| output.is_over = true);
            }
            let _ = done.send(());
        })?;
        Ok(Self {
            incoming,
            waiting,
            held: None,
            serving: Arc::new(Semaphore::new(AT_ONCE)),
            answers: Some(answers),
            output: state,
            written: Some(written),
        })
    }

    /// Ends it from outside.
    pub(crate) fn stopper(&self) -> Stopper {
        Stopper(self.output.clone())
    }

    fn write(&self, message: &impl serde::Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.output.send_modify(|output| output.unread += line.len());
        let gone = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        self.answers.as_ref().ok_or_else(gone)?.send(line).map_err(|_| gone())
    }

    /// The next message. May be dropped while it waits: nothing is lost then.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut output = self.output.subscribe();
        loop {
            let may_go_on = |output: &Output| output.is_over || output.unread < UNREAD;
            if output.wait_for(may_go_on).await.ok()?.is_over {
                return None;
            }
            if self.held.is_none() {
                let (incoming, bytes) = tokio::select! {
                    incoming = self.incoming.recv() => incoming?,
                    _ = output.wait_for(|output| output.is_over) => return None,
                };
                self.waiting.took(bytes);
                match incoming {
                    Incoming::Message(message) => self.held = Some(*message),
                    Incoming::Refused(answer) => self.write(&answer).ok()?,
                    Incoming::Ignored => {}
                }
                continue;
            }
            // Whoever cancels a request does not wait behind others.
            if matches!(self.held, Some(JsonRpcMessage::Request(_))) {
                let place = tokio::select! {
                    place = Arc::clone(&self.serving).acquire_owned() => place.ok()?,
                    _ = output.wait_for(|output| output.is_over) => return None,
                };
                if let Some(JsonRpcMessage::Request(request)) = &mut self.held {
                    // Given back when the request is answered and its context dropped.
                    request.request.extensions_mut().insert(Arc::new(place));
                }
            }
            return self.held.take();
        }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        std::future::ready(self.write(&item))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.answers = None;
        if let Some(written) = self.written.take() {
            // Whoever does not read them by then does not want them.
            let _ = tokio::time::timeout(LAST_ANSWERS, written).await;
        }
        Ok(())
    }
}

/// What was read and is not served, in bytes: the thread that reads waits while it is too much.
#[derive(Default)]
struct Waiting {
    bytes: Mutex<usize>,
    fewer: Condvar,
}

impl Waiting {
    /// Waits until there is room for so many bytes, and takes it. No line is longer than all the room.
    fn add(&self, bytes: usize) {
        let mut waiting = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *waiting + bytes > WAITING {
            waiting = self.fewer.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        *waiting += bytes;
    }

    fn took(&self, bytes: usize) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
        self.fewer.notify_one();
    }
}

/// A message with the bytes of its line.
type Read = (Incoming, usize);

fn read_all(mut input: impl BufRead, incoming: &UnboundedSender<Read>, waiting: &Waiting) {
    let mut line = Vec::new();
    loop {
        let (message, bytes) = match next_line(&mut input, &mut line) {
            Ok(Line::Whole) => (read_line(&line), line.len()),
            Ok(Line::TooLong) => (Incoming::Refused(too_long()), 0),
            Ok(Line::End) | Err(_) => return,
        };
        waiting.add(bytes);
        if incoming.send((message, bytes)).is_err() {
            return;
        }
    }
}

fn write_all(
    mut output: impl Write,
    answers: &mpsc::Receiver<Vec<u8>>,
    state: &watch::Sender<Output>,
) -> std::io::Result<()> {
    while let Ok(line) = answers.recv() {
        output.write_all(&line)?;
        output.flush()?;
        state.send_modify(|output| output.unread = output.unread.saturating_sub(line.len()));
    }
    Ok(())
}

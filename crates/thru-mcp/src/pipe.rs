//! A transport of lines: one thread reads, one writes, and the queues between them are bounded in bytes.
//!
//! The SDK's own transport silently skips invalid JSON and reads on however many calls are waiting. This
//! one answers invalid lines, stops reading while answers pile up, and ends when the other side is gone.

use std::future::Future;
use std::io::{BufRead, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, GetExtensions, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::incoming::{Incoming, Line, next_line, read_line, too_long};
use crate::queue::{Queue, Waiting};
use crate::stdio::WORKERS;

/// Most bytes of messages that were read and not served yet: more than ten thousand calls.
const UNSERVED: usize = 16 * 1024 * 1024;
/// Bytes of memory that a message takes beside its line.
const ENVELOPE: usize = 1024;
/// Most bytes of unread answers. Beyond that, nothing more is served until some are read.
const UNREAD: usize = 64 * 1024 * 1024;
/// Most requests served at the same time. More than there are workers, so that none waits for work, and few more: a
/// request whose turn it is waits for those that were begun.
const AT_ONCE: usize = 2 * WORKERS;
/// Time for the client to read the last answers after the end.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// The state of the output.
#[derive(Clone, Copy, Debug, Default)]
struct Output {
    /// Bytes that were not written yet.
    unread: usize,
    /// True if the reader is gone, or the conversation is to end.
    is_over: bool,
}

/// Ends a conversation from outside.
#[derive(Clone)]
pub struct Stopper(watch::Sender<Output>);

impl Stopper {
    /// Ends it: running requests are still answered, nothing more is read.
    pub fn stop(&self) {
        self.0.send_modify(|output| output.is_over = true);
    }
}

/// A conversation over two pipes.
pub(crate) struct Pipe {
    incoming: UnboundedReceiver<Read>,
    unserved: Arc<Unserved>,
    /// True if all input was read.
    is_read: bool,
    /// Requests that wait for a slot.
    held: Queue,
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
        let unserved = Arc::new(Unserved::default());
        let of_reader = Arc::clone(&unserved);
        std::thread::Builder::new()
            .name("mcp-reads".to_owned())
            .spawn(move || read_all(input, &sender, &of_reader))?;
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
            unserved,
            is_read: false,
            held: Queue::default(),
            serving: Arc::new(Semaphore::new(AT_ONCE)),
            answers: Some(answers),
            output: state,
            written: Some(written),
        })
    }

    /// Returns a handle that ends it from outside.
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

    /// Returns the next message. Cancel-safe: dropping the future loses nothing.
    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut output = self.output.subscribe();
        loop {
            let may_go_on = |output: &Output| output.is_over || output.unread < UNREAD;
            if output.wait_for(may_go_on).await.ok()?.is_over {
                return None;
            }
            if self.is_read && self.held.is_empty() {
                return None;
            }
            // Requests wait for a slot. Other messages do not queue behind them: one may be a
            // cancellation.
            let read = tokio::select! {
                biased;
                _ = output.wait_for(|output| output.is_over) => return None,
                place = Arc::clone(&self.serving).acquire_owned(), if !self.held.is_empty() => {
                    return self.first_held(place.ok()?);
                }
                read = self.incoming.recv(), if !self.is_read => read,
            };
            let Some((incoming, bytes)) = read else {
                self.is_read = true;
                continue;
            };
            match incoming {
                Incoming::Message(message) => match *message {
                    JsonRpcMessage::Request(request) => {
                        self.held.push(Waiting { request, bytes });
                        continue;
                    }
                    other => {
                        self.unserved.took(bytes);
                        self.drop_cancelled(&other);
                        return Some(other);
                    }
                },
                Incoming::Refused(answer) => {
                    self.unserved.took(bytes);
                    self.write(&answer).ok()?;
                }
                Incoming::Ignored => self.unserved.took(bytes),
            }
        }
    }

    /// Returns the request whose turn it is, with its slot.
    fn first_held(&mut self, place: OwnedSemaphorePermit) -> Option<ClientJsonRpcMessage> {
        let Waiting { mut request, bytes } = self.held.pop()?;
        self.unserved.took(bytes);
        // Released when the request is answered and its context dropped.
        request.request.extensions_mut().insert(Arc::new(place));
        Some(JsonRpcMessage::Request(request))
    }

    /// Drops the request that a message cancels, if it still waits: it is never begun, nor answered.
    fn drop_cancelled(&mut self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Notification(notice) = message else { return };
        let ClientNotification::CancelledNotification(cancelled) = &notice.notification else {
            return;
        };
        let id = cancelled.params.request_id.as_ref();
        if let Some(waiting) = id.and_then(|id| self.held.remove(id)) {
            self.unserved.took(waiting.bytes);
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
            // A client that has not read them by then does not want them.
            let _ = tokio::time::timeout(LAST_ANSWERS, written).await;
        }
        Ok(())
    }
}

/// Bytes that were read and not served: the reading thread waits while there are too many.
#[derive(Default)]
struct Unserved {
    bytes: Mutex<usize>,
    fewer: Condvar,
}

impl Unserved {
    /// Waits until there is room for this many bytes, and takes it. No message needs more than all the
    /// room.
    fn add(&self, bytes: usize) {
        let mut unserved = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        while *unserved + bytes > UNSERVED {
            unserved = self.fewer.wait(unserved).unwrap_or_else(PoisonError::into_inner);
        }
        *unserved += bytes;
    }

    fn took(&self, bytes: usize) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= bytes;
        self.fewer.notify_one();
    }
}

/// A message with the bytes that it takes while it waits.
type Read = (Incoming, usize);

fn read_all(mut input: impl BufRead, incoming: &UnboundedSender<Read>, unserved: &Unserved) {
    let mut line = Vec::new();
    loop {
        let message = match next_line(&mut input, &mut line) {
            Ok(Line::Whole) => read_line(&line),
            Ok(Line::TooLong) => Incoming::Refused(too_long()),
            Ok(Line::End) | Err(_) => return,
        };
        if matches!(message, Incoming::Ignored) {
            continue;
        }
        let bytes = line.len() + ENVELOPE;
        unserved.add(bytes);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ping(id: usize) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n")
    }

    fn id(message: Option<&ClientJsonRpcMessage>) -> String {
        match message {
            Some(JsonRpcMessage::Request(request)) => request.id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_message_takes_more_than_its_line_and_an_empty_line_nothing() {
        let (sender, mut incoming) = unbounded_channel();
        let unserved = Unserved::default();
        read_all(&b"\n \r\n{}\n\n"[..], &sender, &unserved);
        let (message, bytes) = incoming.try_recv().unwrap();
        assert!(matches!(message, Incoming::Refused(_)), "{message:?}");
        assert_eq!((bytes, *unserved.bytes.lock().unwrap()), (2 + ENVELOPE, 2 + ENVELOPE));
        assert!(incoming.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_notice_passes_requests_that_wait_and_the_one_that_it_cancels_is_never_begun() {
        let (cancelled, last) = (AT_ONCE + 1, AT_ONCE + 2);
        let mut input: String = (1..=last).map(ping).collect();
        input.push_str(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{cancelled}}}}}\n"
        ));
        let mut pipe = Pipe::new(std::io::Cursor::new(input), std::io::sink()).unwrap();
        let mut served = Vec::new();
        for number in 1..=AT_ONCE {
            served.push(pipe.next().await);
            assert_eq!(id(served.last().unwrap().as_ref()), number.to_string());
        }
        assert!(matches!(pipe.next().await, Some(JsonRpcMessage::Notification(_))));
        served.pop();
        let next = pipe.next().await;
        assert_eq!(id(next.as_ref()), last.to_string());
        assert!(pipe.next().await.is_none());
        assert_eq!(*pipe.unserved.bytes.lock().unwrap(), 0);
    }
}

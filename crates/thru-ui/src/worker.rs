//! The thread that asks the application, so that no key waits for an answer.

use std::mem::discriminant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::Duration;

use thru_app::{App, Call, Patience, Result, Trouble};

use crate::ask::{self, Wording};
use crate::state::{Answer, Request};

/// The time without another key after which a list is asked for.
const PAUSE: Duration = Duration::from_millis(60);
/// The time that a request waits for another process that writes.
const WRITER: Duration = Duration::from_secs(20);

/// The thread, and the ways to it and back.
pub(crate) struct Worker {
    requests: Option<Sender<Request>>,
    answers: Receiver<Answer>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the system starts no thread.
    pub(crate) fn start(app: App, wording: Wording) -> Result<Self> {
        let (requests, incoming) = mpsc::channel();
        let (outgoing, answers) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::Builder::new().name("ui".to_owned()).spawn(move || {
            work(&app, wording, &incoming, &outgoing, &over);
        })?;
        Ok(Self { requests: Some(requests), answers, is_over, thread: Some(thread) })
    }

    /// Hands a request over.
    pub(crate) fn ask(&self, request: Request) {
        // A thread that ended is noticed where its answers are.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }

    /// Returns the next answer, if there is one.
    ///
    /// # Errors
    /// Fails if the thread ended, which it does only by a fault.
    pub(crate) fn answer(&self) -> Result<Option<Answer>> {
        match self.answers.try_recv() {
            Ok(answer) => Ok(Some(answer)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                Err(Trouble::failed("internal error; nothing is lost"))
            }
        }
    }
}

impl Drop for Worker {
    /// Questions are given up; a change that was begun is finished.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(
    app: &App,
    wording: Wording,
    requests: &Receiver<Request>,
    answers: &Sender<Answer>,
    is_over: &AtomicBool,
) {
    while let Some(waiting) = gather(requests) {
        for request in waiting {
            let call = match is_question(&request) {
                true if is_over.load(Ordering::Relaxed) => continue,
                true => Call::unwatched(Patience::Within(WRITER), is_over),
                false => Call::unattended(Patience::Within(WRITER)),
            };
            if answers.send(ask::answer(app, request, wording, call)).is_err() {
                return;
            }
        }
    }
}

/// The requests that wait, without questions that a later one takes the place of; `None` once there will be no more.
fn gather(requests: &Receiver<Request>) -> Option<Vec<Request>> {
    let mut waiting = vec![requests.recv().ok()?];
    loop {
        let is_typing = waiting.iter().any(|request| matches!(request, Request::List(_)));
        match requests.recv_timeout(if is_typing { PAUSE } else { Duration::ZERO }) {
            Ok(request) => {
                if matches!(request, Request::List(_) | Request::Read(_)) {
                    waiting.retain(|other| discriminant(other) != discriminant(&request));
                }
                waiting.push(request);
            }
            // Also where there will be no more: what was asked for last is still to be done.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Some(waiting);
            }
        }
    }
}

/// True for requests that change nothing.
const fn is_question(request: &Request) -> bool {
    match request {
        Request::List(_)
        | Request::Read(_)
        | Request::Preview(_)
        | Request::Draft(_)
        | Request::ResumeLine(_) => true,
        Request::Forget(_) | Request::Undo | Request::Correct(_) => false,
    }
}

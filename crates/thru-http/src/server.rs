//! The server: a thread that listens on this machine alone, and bounds what a connection may take.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::HttpBody;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use thru_app::background::{OPENED, listens_always, page_file, was_page_opened};
use thru_app::{App, Backend};
use thru_journal::files;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::access::Access;
use crate::clients::Clients;
use crate::connections::{Connections, Place};
use crate::export::EXPORTS;
use crate::routes;

/// Event streams at a time.
pub(crate) const STREAMS: usize = 8;
/// Bytes and number of the headers of a request, and the time for them; a connection may rest as long between two.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
const HEAD: Duration = Duration::from_secs(10);
/// Answers worked on at the same time. Each thread keeps caches of its own for the regular expressions of redaction, megabytes
/// of them.
const WORKERS: usize = 2;
/// The time for answers under way once the server ends.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// The time without a page after which a server that was only started for one listens no more, and the interval at
/// which that is looked at.
const UNUSED: Duration = Duration::from_hours(1);
const LOOK: Duration = Duration::from_mins(1);
/// Ports tried after the one that was asked for.
const MORE_PORTS: u16 = 20;

/// The state that all requests share.
pub(crate) struct Shared {
    pub(crate) backend: Backend,
    pub(crate) access: Access,
    pub(crate) clients: Clients,
    pub(crate) port: u16,
    /// The time at which it began.
    pub(crate) started: Instant,
    /// Event streams that may still be opened.
    pub(crate) streams: Arc<Semaphore>,
    /// Exports that may still be begun.
    pub(crate) exports: Arc<Semaphore>,
    /// True once the server ends.
    pub(crate) ending: watch::Receiver<bool>,
    /// The time of the last request.
    last: Mutex<Instant>,
    on_request: Box<dyn Fn() + Send + Sync>,
}

impl Shared {
    /// Notes that the server is in use.
    pub(crate) fn note_request(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        (self.on_request)();
    }

    /// True if no page was open for long.
    fn is_unused(&self) -> bool {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > UNUSED
    }
}

/// A server that runs until it is dropped, or until no page was open for long.
pub struct Server {
    shared: Arc<Shared>,
    end: watch::Sender<bool>,
    address_file: PathBuf,
    /// True if the address is left behind.
    stays: bool,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server for this home on a port, or on one of those that follow where it is taken. `on_request` is called
    /// with every request that is let in.
    ///
    /// # Errors
    /// Fails if no port is free, or the token of this home cannot be read or written.
    pub fn start(
        app: &App,
        port: u16,
        on_request: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let run = app.layout.run();
        let (listeners, port) = listen(port)?;
        let (end, ending) = watch::channel(false);
        let mut app = app.again().map_err(io::Error::other)?;
        // The daemon may have been started by an agent's hook; a page is used by a person.
        app.machine = Arc::new((*app.machine).clone().without_agent());
        let shared = Arc::new(Shared {
            access: Access::open(run.join("http.token"))?,
            clients: Clients::new(&app.layout),
            streams: Arc::new(Semaphore::new(STREAMS)),
            exports: Arc::new(Semaphore::new(EXPORTS)),
            backend: Backend::new(app.clone()),
            port,
            started: Instant::now(),
            ending,
            last: Mutex::new(Instant::now()),
            on_request: Box::new(on_request),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WORKERS)
            // Regular expressions keep memory for each thread that ever used them: new threads for every burst of
            // questions would make it several times as much.
            .thread_keep_alive(UNUSED)
            .build()?;
        let router = routes::router(Arc::clone(&shared), &app);
        let (for_thread, closes) = (Arc::clone(&shared), !listens_always(&app.config));
        let serve = move || {
            runtime.block_on(accept_all(listeners, router, &for_thread, closes));
            runtime.shutdown_timeout(LAST_ANSWERS);
        };
        let thread = std::thread::Builder::new().name("http".to_owned()).spawn(serve)?;
        let address_file = page_file(&app);
        let server = Self { shared, end, address_file, stays: false, thread: Some(thread) };
        server.keep_address(was_page_opened(&app))?;
        Ok(server)
    }

    /// True if it listens no more, because no page was open for long.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The address of the page.
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.shared.port)
    }

    /// Writes the address, and if a page was opened there.
    fn keep_address(&self, was_opened: bool) -> io::Result<()> {
        let opened = if was_opened { format!("{OPENED}\n") } else { String::new() };
        files::replace(&self.address_file, format!("{}\n{opened}", self.origin()).as_bytes())
            .map_err(io::Error::other)
    }

    /// Makes a link that opens the page once, within a minute.
    ///
    /// # Errors
    /// Fails if the system has no random numbers, or the address cannot be written.
    pub fn link(&self) -> io::Result<String> {
        self.keep_address(true)?;
        Ok(format!("{}/#code={}", self.origin(), self.shared.access.code()?))
    }

    /// Ends the sessions of all pages.
    ///
    /// # Errors
    /// Fails if the new token cannot be written.
    pub fn end_sessions(&self) -> io::Result<()> {
        self.shared.access.replace()
    }
}

impl Server {
    /// Ends the server and leaves its address, for the daemon that comes next to go on with.
    pub fn hand_over(mut self) {
        self.stays = true;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.stays {
            let _ = std::fs::remove_file(&self.address_file);
        }
        let _ = self.end.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Listens on both loopback addresses, as `localhost` may mean either. Port 0 is any that is free.
fn listen(port: u16) -> io::Result<(Vec<StdListener>, u16)> {
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for port in port..=port.saturating_add(MORE_PORTS) {
        match listen_at(port) {
            Ok(listening) => return Ok(listening),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen_at(port: u16) -> io::Result<(Vec<StdListener>, u16)> {
    let first = StdListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let port = first.local_addr()?.port();
    let mut listeners = vec![first];
    match StdListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
        Ok(second) => listeners.push(second),
        // The other `localhost` is another program's.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        // The machine has no IPv6.
        Err(_) => {}
    }
    for listener in &listeners {
        listener.set_nonblocking(true)?;
    }
    Ok((listeners, port))
}

async fn accept_all(listeners: Vec<StdListener>, router: Router, shared: &Shared, closes: bool) {
    let mut ending = shared.ending.clone();
    let connections = Connections::new();
    for listener in listeners {
        let Ok(listener) = TcpListener::from_std(listener) else { continue };
        tokio::spawn(accept(listener, router.clone(), Arc::clone(&connections), ending.clone()));
    }
    loop {
        tokio::select! {
            () = ended(&mut ending) => break,
            // An open page says every few seconds that it is there.
            () = tokio::time::sleep(LOOK) => if closes && shared.is_unused() { break },
        }
    }
    // Connections notice it by themselves; this is the time that they have.
    let _ = tokio::time::timeout(LAST_ANSWERS, connections.closed()).await;
}

async fn accept(
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
    mut ending: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ended(&mut ending) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, say: it passes, and a busy loop makes it worse.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // One more than there may be is closed at once.
        let Some(place) = connections.place().await else { continue };
        tokio::spawn(serve(stream, router.clone(), place, ending.clone()));
    }
}

async fn serve(stream: TcpStream, router: Router, place: Place, mut ending: watch::Receiver<bool>) {
    let routes = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&place.connection));
        let (answering, connection) = (routes.call(request), Arc::clone(&place.connection));
        async move {
            let response = answering.await;
            // A stream goes on after its head.
            if response.as_ref().is_ok_and(|response| response.body().size_hint().exact().is_some())
            {
                connection.rests();
            }
            response
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // A client that goes away, or sends what is no HTTP, is no concern of ours.
        _ = connection.as_mut() => {}
        () = place.connection.over() => {}
        () = ended(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(LAST_ANSWERS, connection).await;
        }
    }
}

/// Returns once the server ends.
pub(crate) async fn ended(ending: &mut watch::Receiver<bool>) {
    // A sender that is gone ended, too.
    let _ = ending.wait_for(|is_over| *is_over).await;
}

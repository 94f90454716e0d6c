//! The server of a daemon: started with it, or when the page is asked for.

use std::sync::{Arc, Mutex, PoisonError};

use thru_app::background::service::Viewer;
use thru_app::background::{listens_always, was_page_opened};
use thru_app::{App, Context, Result};

use crate::server::Server;

/// The server, once it was asked for.
pub struct Viewing {
    server: Mutex<Option<Server>>,
    on_request: Arc<dyn Fn() + Send + Sync>,
    on_trouble: Box<dyn Fn(&str) + Send + Sync>,
}

impl Viewing {
    /// Makes a server that does not listen yet. `on_request` is called with every request that is let in, `on_trouble`
    /// with the reason why it cannot listen, where no caller waits for it.
    pub fn new(
        on_request: impl Fn() + Send + Sync + 'static,
        on_trouble: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self {
            server: Mutex::default(),
            on_request: Arc::new(on_request),
            on_trouble: Box::new(on_trouble),
        }
    }

    /// Ends the server. Where it is handed over, the next daemon serves the page again if one was opened.
    pub fn end(&self, is_handed_over: bool) {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = server.filter(|_| is_handed_over) {
            server.hand_over();
        }
    }

    fn with_server<T>(
        &self,
        app: &App,
        work: impl FnOnce(&Server) -> std::io::Result<T>,
    ) -> Result<T> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        // One that closed by itself is gone before the next begins.
        let open = server.take().filter(|server| !server.is_over());
        let running = match open {
            Some(running) => running,
            None => {
                let on_request = Arc::clone(&self.on_request);
                let port = app.config.http.port;
                Server::start(app, port, move || on_request())
                    .with_context(|| format!("port {port} and those after it cannot be used"))?
            }
        };
        Ok(work(server.insert(running))?)
    }
}

impl Viewer for Viewing {
    fn begin(&self, app: &App) {
        // A daemon that was replaced or killed leaves its address, and the pages that were opened there, to the next one.
        if (listens_always(&app.config) || was_page_opened(app))
            && let Err(trouble) = self.with_server(app, |_| Ok(()))
        {
            (self.on_trouble)(&trouble.message());
        }
    }

    fn link(&self, app: &App, ends_sessions: bool) -> Result<String> {
        self.with_server(app, |server| {
            if ends_sessions {
                server.end_sessions()?;
            }
            server.link()
        })
    }
}

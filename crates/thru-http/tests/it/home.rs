//! A home with a session in it, its server, and a client that speaks HTTP by hand.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use thru_agents::{Homes, agents};
use thru_app::{App, Call, Machine, Patience, Places};
use thru_core::{Agent, Layout};
use thru_http::Server;
use thru_intake::ImportOptions;
use thru_testkit::records::{Author, file};

/// The session that every home holds.
pub(crate) const SESSION: &str = "4f1c9a52-0000-4000-8000-000000000001";

/// A home, gone when dropped.
pub(crate) struct Home {
    folder: TempDir,
}

pub(crate) fn call() -> Call<'static> {
    Call::unattended(Patience::Endless)
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "tmp", "claude", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let home = Self { folder };
        let mut records = Author::of(SESSION);
        records
            .asks("Why does the importer lock the database? <img src=x onerror=alert(1)>")
            .runs("c1", "cargo test importer")
            .gets("c1", "error: database is locked\n</script><script>alert(2)</script>")
            .says("The importer holds one lock per process. I changed it to a lock per file.");
        home.add(SESSION, &records);
        home
    }

    /// Imports a session.
    pub(crate) fn add(&self, session: &str, records: &Author) {
        let transcript = self.folder.path().join("claude").join(file(session));
        fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        fs::write(transcript, records.text()).unwrap();
        self.import();
    }

    pub(crate) fn app(&self) -> App {
        let path = |name: &str| self.folder.path().join(name);
        let homes = Homes::new(|agent| match agent {
            Agent::ClaudeCode => path("claude"),
            agent => path(agent.as_str()),
        });
        let places = Places {
            layout: Layout::new(path("home")),
            config_file: path("home/config.toml"),
            homes,
            home: Some(path("user")),
        };
        let machine = Machine {
            host: "test".to_owned(),
            temp_dir: path("tmp"),
            variables: vec![("THROUGHLINE_DAEMON".into(), "off".into())],
            ..Machine::default()
        };
        App::open(places, Arc::new(machine), path("work")).unwrap()
    }

    /// A place in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the settings.
    pub(crate) fn set(&self, settings: &str) {
        fs::write(self.folder.path().join("home/config.toml"), settings).unwrap();
    }

    /// True if a file of the home holds a text.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let mut folders = vec![self.folder.path().join("home")];
        while let Some(folder) = folders.pop() {
            for item in fs::read_dir(folder).unwrap() {
                let path = item.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if fs::read(&path)
                    .unwrap()
                    .windows(text.len())
                    .any(|part| part == text.as_bytes())
                {
                    return true;
                }
            }
        }
        false
    }

    fn import(&self) {
        let app = self.app();
        let intake = app.intake().unwrap();
        let lock = call().lock(&intake).unwrap();
        let found = agents::discover(Agent::ClaudeCode, &app.homes, &|_| false);
        let plan = intake.plan(found, None).unwrap();
        let never = AtomicBool::new(false);
        let options = ImportOptions::whole(&|_| false);
        intake.import(&lock, plan, &options, &never, &mut |_, _, _| {}, &mut |_| {}).unwrap();
    }

    /// Starts the server on a port of its own, and opens a session.
    pub(crate) fn serve(&self) -> Served {
        self.serve_on(0)
    }

    /// The same on a port that was used before.
    pub(crate) fn serve_on(&self, port: u16) -> Served {
        let server = Server::start(&self.app(), port, || {}).unwrap();
        let port = server.origin().rsplit(':').next().unwrap().parse().unwrap();
        let mut served = Served { server, port, token: String::new() };
        let session = served.redeem(&served.code());
        served.token = session.json()["token"].as_str().unwrap().to_owned();
        served
    }
}

/// A server and a session on it.
pub(crate) struct Served {
    pub(crate) server: Server,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Served {
    pub(crate) fn code(&self) -> String {
        self.server.link().unwrap().split_once("#code=").unwrap().1.to_owned()
    }

    pub(crate) fn redeem(&self, code: &str) -> Response {
        let body = serde_json::json!({ "code": code }).to_string();
        let head = format!(
            "POST /api/v1/session HTTP/1.1\r\n{}Content-Type: application/json\r\n",
            self.host()
        );
        self.send(&with_length(&head, &body))
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n", self.port)
    }

    pub(crate) fn authorised(&self) -> String {
        format!("{}Authorization: Bearer {}\r\n", self.host(), self.token)
    }

    /// Asks a question with the token.
    pub(crate) fn get(&self, path: &str) -> Response {
        self.send(&format!("GET {path} HTTP/1.1\r\n{}\r\n", self.authorised()))
    }

    /// Changes something with the token.
    pub(crate) fn change(&self, method: &str, path: &str, body: &Value) -> Response {
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{}Content-Type: application/json\r\n",
            self.authorised()
        );
        self.send(&with_length(&head, &body.to_string()))
    }

    /// Sends bytes as they are, and reads until the server closes the connection.
    pub(crate) fn send(&self, request: &str) -> Response {
        self.send_on(self.connect(), request)
    }

    /// The same, and says that nothing more follows.
    pub(crate) fn send_and_end(&self, request: &str) -> Response {
        let stream = self.connect();
        let _ = (&stream).write_all(request.as_bytes());
        let _ = stream.shutdown(Shutdown::Write);
        self.send_on(stream, "")
    }

    fn send_on(&self, mut stream: TcpStream, request: &str) -> Response {
        // A server that refuses early may have stopped to read.
        let _ = stream.write_all(request.as_bytes());
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let _ = stream.shutdown(Shutdown::Both);
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
            true => dechunked(body),
            false => body.to_owned(),
        };
        Response { status, head: head.to_owned(), body }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }
}

pub(crate) fn with_length(head: &str, body: &str) -> String {
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn dechunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            break;
        }
        whole.push_str(&rest[..length]);
        text = &rest[length + 2..];
    }
    whole
}

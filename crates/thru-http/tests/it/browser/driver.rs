//! A browser behind WebDriver, spoken to in plain HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time for something to appear in the page. A machine that builds meanwhile is slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser without a window, gone when dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one; `None` where there is no Chromium with its driver.
    pub(crate) fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let profile = tempfile::tempdir().ok()?;
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let until = Instant::now() + PATIENCE;
        while browser.ask("GET", "/status", &Value::Null).is_none() {
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
            "--force-prefers-reduced-motion",
            &profile,
        ];
        let wanted = json!({ "goog:chromeOptions": { "args": arguments } });
        let started = browser.ask(
            "POST",
            "/session",
            &json!({ "capabilities": { "alwaysMatch": wanted } }),
        )?;
        browser.session = started["sessionId"].as_str()?.to_owned();
        Some(browser)
    }

    /// Opens an address.
    pub(crate) fn open(&self, address: &str) {
        self.command("url", &json!({ "url": address }));
    }

    /// Runs a script, and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script, and returns what it calls its argument with.
    pub(crate) fn run_until_called_back(&self, script: &str) -> Value {
        self.command("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Shows pages in the colours and the width of another machine.
    pub(crate) fn look_as(&self, scheme: &str, width: u32) {
        let set = |name: &str, values: Value| {
            self.command("goog/cdp/execute", &json!({ "cmd": name, "params": values }));
        };
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        set("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        set("Emulation.setDeviceMetricsOverride", size);
    }

    /// Waits until an expression holds.
    pub(crate) fn wait_for(&self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        // What is looked at may not be there yet.
        let script = format!("try {{ return Boolean({expression}) }} catch {{ return false }}");
        while self.run(&script) != true {
            let shown = || self.run("return document.body.innerText");
            assert!(Instant::now() < until, "never: {expression}\n{}", shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses keys, one after the other.
    pub(crate) fn press(&self, keys: &str) {
        let each = |key: char| {
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        };
        let actions: Vec<Value> = keys.chars().flat_map(each).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.command("actions", &json!({ "actions": [keyboard] }));
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{name}", self.session);
        let answer = self.ask("POST", &path, body).expect("the browser went away");
        assert!(answer.get("error").is_none(), "{name}: {}", answer["message"]);
        answer
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE * 2)).ok()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        // It keeps connections open, whatever it is asked to do.
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).ok()?;
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body).ok()?;
        let mut answer: Value = serde_json::from_slice(&body).ok()?;
        Some(answer["value"].take())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.ask("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

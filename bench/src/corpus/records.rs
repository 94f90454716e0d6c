//! The records of a transcript, as Claude Code writes them, put together as text: a gigabyte of trees
//! would take too long.

use std::fmt::Write;

use jiff::Timestamp;

use crate::rng::Rng;

/// Writes the records of one session.
pub(super) struct Recorder {
    /// The transcript so far.
    pub(super) text: String,
    session: String,
    directory: String,
    version: String,
    branch: String,
    parent: Option<String>,
    milliseconds: i64,
}

/// A name in the shape of a UUID.
pub(super) fn uuid(rng: &mut Rng) -> String {
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 48 & 0xfff,
        b & 0xffff_ffff_ffff
    )
}

/// An id as the API gives them.
pub(super) fn api_id(rng: &mut Rng, prefix: &str) -> String {
    let mut id = format!("{prefix}_01");
    base64(rng, &mut id, 22, false);
    id
}

/// This many characters of base64.
pub(super) fn base64(rng: &mut Rng, text: &mut String, characters: usize, with_signs: bool) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let end = if with_signs { 64 } else { 62 };
    for _ in 0..characters {
        text.push(char::from(ALPHABET[rng.below(end)]));
    }
}

/// `text` as a JSON string.
pub(super) fn quote(out: &mut String, text: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\t' => "\\t",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escape);
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out.push('"');
}

/// `text` as a JSON string of its own.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    quote(&mut out, text);
    out
}

impl Recorder {
    pub(super) fn new(
        session: String,
        directory: String,
        version: String,
        branch: String,
        milliseconds: i64,
    ) -> Self {
        Self {
            text: String::new(),
            session,
            directory,
            version,
            branch,
            parent: None,
            milliseconds,
        }
    }

    /// Lets time pass.
    pub(super) const fn wait(&mut self, milliseconds: usize) {
        self.milliseconds += milliseconds as i64;
    }

    /// The time now, in milliseconds since 1970.
    pub(super) const fn now(&self) -> i64 {
        self.milliseconds
    }

    /// The session's id.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    fn timestamp(&self) -> String {
        let time = Timestamp::from_millisecond(self.milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
        format!("{time:.3}")
    }

    /// One record of a conversation: the envelope around `body`, a list of members without braces.
    pub(super) fn record(&mut self, rng: &mut Rng, kind: &str, body: &str) -> String {
        let uuid = uuid(rng);
        let timestamp = self.timestamp();
        let out = &mut self.text;
        out.push_str("{\"parentUuid\":");
        match &self.parent {
            Some(parent) => quote(out, parent),
            None => out.push_str("null"),
        }
        out.push_str(",\"isSidechain\":false,\"userType\":\"external\",\"cwd\":");
        quote(out, &self.directory);
        for (name, value) in [
            ("sessionId", self.session.as_str()),
            ("version", &self.version),
            ("gitBranch", &self.branch),
            ("type", kind),
        ] {
            out.extend([",\"", name, "\":\"", value, "\""]);
        }
        out.extend([",", body, ",\"uuid\":\"", &uuid, "\",\"timestamp\":\"", &timestamp, "\"}\n"]);
        self.parent = Some(uuid.clone());
        uuid
    }

    /// A record outside the conversation.
    pub(super) fn note(&mut self, kind: &str, body: &str) {
        let timestamp = self.timestamp();
        self.text.extend(["{\"type\":\"", kind, "\",", body, ",\"timestamp\":\"", &timestamp]);
        self.text.extend(["\",\"sessionId\":\"", &self.session, "\"}\n"]);
    }

    /// The records of an answer: one content block each, as Claude Code writes them.
    pub(super) fn answer(
        &mut self,
        rng: &mut Rng,
        message: &str,
        request: &str,
        block: &str,
    ) -> String {
        let mut body = String::with_capacity(block.len() + 600);
        let _ = write!(
            body,
            "\"message\":{{\"model\":\"claude-opus-4-5\",\"id\":\"{message}\",\"type\":\"message\",\
             \"role\":\"assistant\",\"content\":[{block}],\"stop_reason\":null,\"stop_sequence\":null,\
             \"usage\":{{\"input_tokens\":{},\"cache_creation_input_tokens\":{},\
             \"cache_read_input_tokens\":{},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":0,\
             \"ephemeral_1h_input_tokens\":0}},\"output_tokens\":{},\"service_tier\":\"standard\"}}}},\
             \"requestId\":\"{request}\"",
            rng.between(1, 12),
            rng.between(100, 4000),
            rng.between(10_000, 150_000),
            rng.between(3, 900),
        );
        self.record(rng, "assistant", &body)
    }
}

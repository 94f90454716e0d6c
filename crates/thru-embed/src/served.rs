//! Embeddings from a server that the user configured: Ollama, or anything that speaks OpenAI's format.
//!
//! Sources: Ollama `POST /api/embed`; OpenAI `POST /v1/embeddings` (also LM Studio, llama.cpp, vLLM).

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thru_outside::{
    Http, HttpError, HttpRequest, HttpResponse, Key, Limits, Method, ServiceUrl, excerpt,
};

use crate::{EmbedError, Embedder, normalise};

/// Texts in one request.
const AT_ONCE: usize = 32;
/// Longest answer in bytes: that many vectors as decimal text, some 30 bytes a component, with room to
/// spare.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;
/// More components than any model has.
const MOST_DIMENSIONS: usize = 8_192;

/// The wire format of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Ollama's own.
    Ollama,
    /// OpenAI's.
    OpenAi,
}

/// Settings of a served model.
#[derive(Clone)]
pub struct ServedSettings {
    /// The wire format.
    pub dialect: Dialect,
    /// The base URL, without `/v1` or `/api`.
    pub service: ServiceUrl,
    /// The server's name of the model.
    pub model: String,
    /// The server's key, if it needs one.
    pub key: Option<Key>,
    /// Time limit of one request.
    pub timeout: Duration,
}

impl ServedSettings {
    /// Returns the name of its model, equal to [`Embedder::model`], without connecting.
    pub fn name(&self) -> String {
        name_of(self)
    }
}

/// A server's model.
pub struct Served {
    settings: ServedSettings,
    http: Http,
    name: String,
}

impl Served {
    /// Prepares to ask. Nothing is sent yet.
    pub fn new(settings: ServedSettings) -> Self {
        let limits = Limits { time: settings.timeout, size: LONGEST_ANSWER };
        let http = Http::new(&settings.service, limits);
        let name = name_of(&settings);
        Self { settings, http, name }
    }

    fn ask(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (path, body) = match self.settings.dialect {
            Dialect::Ollama => (
                "/api/embed",
                json!({ "model": self.settings.model, "input": texts, "truncate": true }),
            ),
            Dialect::OpenAi => (
                "/v1/embeddings",
                json!({ "model": self.settings.model, "input": texts, "encoding_format": "float" }),
            ),
        };
        let url = self.settings.service.join(path);
        let bearer = self.settings.key.as_ref().map(|key| format!("Bearer {}", key.reveal()));
        let headers: Vec<(&'static str, &str)> =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
        let request = HttpRequest {
            method: Method::Post,
            url: &url,
            headers: &headers,
            body: body.to_string().into_bytes(),
            is_enough: &|_| false,
        };
        let response = self.http.send(&request, stop).map_err(|error| match error {
            HttpError::Stopped => EmbedError::Stopped,
            HttpError::Impossible(_) => self.refused(&error.to_string(), false),
            _ => self.refused(&error.to_string(), true),
        })?;
        if !(200..300).contains(&response.status) {
            return Err(self.refusal(&response));
        }
        let document: Value = serde_json::from_slice(&response.body)
            .map_err(|_| self.refused("its answer is not JSON", false))?;
        let vectors = vectors(self.settings.dialect, document)
            .ok_or_else(|| self.refused("its answer holds no vectors", false))?;
        let width = vectors.first().map_or(0, Vec::len);
        let is_sound = |vector: &Vec<f32>| {
            vector.len() == width && vector.iter().all(|component| component.is_finite())
        };
        if vectors.len() != texts.len() || !(1..=MOST_DIMENSIONS).contains(&width) {
            let detail = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(self.refused(&detail, false));
        }
        if !vectors.iter().all(is_sound) {
            return Err(self.refused("its vectors are of different lengths, or no numbers", false));
        }
        Ok(vectors)
    }

    fn refusal(&self, response: &HttpResponse) -> EmbedError {
        let text = String::from_utf8_lossy(&response.body);
        let said =
            self.settings.key.as_ref().map_or_else(|| text.to_string(), |key| key.hide_in(&text));
        let may_pass = matches!(response.status, 408 | 425 | 429 | 500..=599);
        self.refused(&format!("status {}: {}", response.status, excerpt(&said)), may_pass)
    }

    fn refused(&self, reason: &str, may_pass: bool) -> EmbedError {
        let service = self.settings.service.host().to_owned();
        EmbedError::Refused { service, reason: reason.to_owned(), may_pass }
    }
}

impl Embedder for Served {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(AT_ONCE) {
            vectors.extend(self.ask(batch, stop)?);
        }
        vectors.iter_mut().for_each(|vector| normalise(vector));
        Ok(vectors)
    }
}

/// Returns the model's name combined with its server: one name may mean different models on different
/// servers.
fn name_of(settings: &ServedSettings) -> String {
    let service = blake3::hash(settings.service.join("").as_bytes()).to_hex();
    let readable: String = settings
        .model
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .take(60)
        .collect();
    // Names that differ in a replaced character are different models.
    let exact = blake3::hash(settings.model.as_bytes()).to_hex();
    format!("{}-{}-{}", readable.trim_matches(['.', '-']), &exact[..6], &service[..6])
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

fn vectors(dialect: Dialect, mut document: Value) -> Option<Vec<Vec<f32>>> {
    match dialect {
        Dialect::Ollama => serde_json::from_value(document.get_mut("embeddings")?.take()).ok(),
        Dialect::OpenAi => {
            let mut data: Vec<Embedding> =
                serde_json::from_value(document.get_mut("data")?.take()).ok()?;
            data.sort_by_key(|one| one.index);
            Some(data.into_iter().map(|one| one.embedding).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use thru_testkit::http::{Response, Server};

    use super::*;

    fn ask(dialect: Dialect, response: Response) -> (Result<Vec<Vec<f32>>, EmbedError>, Value) {
        let server = Server::start([response]).unwrap();
        let served = Served::new(ServedSettings {
            dialect,
            service: ServiceUrl::parse(&server.url()).unwrap(),
            model: "nomic/Embed:v1".to_owned(),
            key: Key::new("sk-test-key"),
            timeout: Duration::from_secs(5),
        });
        let answer = served.embed(&["one", "two"], &AtomicBool::new(false));
        let asked = server.requests();
        let body = asked.first().map(|asked| serde_json::from_slice(&asked.body).unwrap());
        (answer, body.unwrap_or_default())
    }

    #[test]
    fn ollama_is_asked_in_its_own_format() {
        let answer = json!({ "model": "m", "embeddings": [[3.0, 4.0], [0.0, 2.0]] });
        let (vectors, body) = ask(Dialect::Ollama, Response::json(200, answer));
        assert_eq!(vectors.unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        assert_eq!(
            body,
            json!({ "model": "nomic/Embed:v1", "input": ["one", "two"], "truncate": true })
        );
    }

    #[test]
    fn openai_may_answer_in_any_order() {
        let answer = json!({ "data": [
            { "index": 1, "embedding": [0.0, 1.0] },
            { "index": 0, "embedding": [1.0, 0.0] },
        ] });
        let (vectors, _) = ask(Dialect::OpenAi, Response::json(200, answer));
        assert_eq!(vectors.unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn answers_that_are_none_are_refused() {
        let text = |response| ask(Dialect::OpenAi, response).0.unwrap_err().to_string();
        let one = json!({ "data": [{ "index": 0, "embedding": [1.0] }] });
        assert!(text(Response::json(200, one)).contains("1 vectors for 2 texts"));
        assert!(text(Response::json(200, "{")).contains("not JSON"));
        assert!(text(Response::json(200, json!({}))).contains("no vectors"));
        let uneven = json!({ "data": [
            { "index": 0, "embedding": [1.0] }, { "index": 1, "embedding": [1.0, 2.0] }
        ] });
        assert!(text(Response::json(200, uneven)).contains("different lengths"));
        let refusal = text(Response::json(401, json!({ "error": "sk-test-key is wrong" })));
        assert!(refusal.contains("status 401") && !refusal.contains("sk-test-key"), "{refusal}");
    }

    #[test]
    fn a_server_and_its_model_have_a_name_of_their_own() {
        let name = |url: &str, model: &str| {
            name_of(&ServedSettings {
                dialect: Dialect::Ollama,
                service: ServiceUrl::parse(url).unwrap(),
                model: model.to_owned(),
                key: None,
                timeout: Duration::from_secs(1),
            })
        };
        let here = name("http://localhost:11434", "nomic-embed-text:v1.5");
        assert!(here.starts_with("nomic-embed-text-v1.5-"), "{here}");
        assert_ne!(here, name("http://localhost:11435", "nomic-embed-text:v1.5"));
        assert_ne!(here, name("http://localhost:11434", "nomic-embed-text-v1.5"));
        assert!(!name("http://localhost:1", "../..").contains(".."));
    }
}

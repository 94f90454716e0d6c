//! Requests and responses in each format.

use serde_json::{Value, json};
use thru_core::{Micros, find_object};
use thru_models::{AskError, Key, Kind, Prices, Request, Stop, Usage, connect};
use thru_testkit::provider::{
    ModelServer, Response, anthropic, anthropic_body, body, error, ollama, ollama_body, openai,
    openai_body,
};

use crate::{GO_ON, KEY, OVER_HTTP, ask, provider, request, settings};

/// Returns the object in an answer, if any.
fn found(reply: &thru_models::Reply) -> Option<Value> {
    reply.structured.clone().or_else(|| find_object(&reply.text))
}

const ANSWER: &str = r#"{"title":"The door is mended"}"#;

/// Returns a provider's response with this answer.
pub(crate) fn says(kind: Kind, text: &str) -> Response {
    match kind {
        Kind::Anthropic => anthropic(text),
        Kind::OpenAi => openai(text),
        Kind::Ollama | Kind::ClaudeCli => ollama(text),
    }
}

fn ends(kind: Kind, text: &str, reason: &str) -> Response {
    let body = match kind {
        Kind::Anthropic => anthropic_body(text, reason),
        Kind::OpenAi => openai_body(text, reason),
        Kind::Ollama | Kind::ClaudeCli => ollama_body(text, reason),
    };
    Response::json(200, body)
}

#[test]
fn anthropic_is_asked_in_its_format() {
    let server = ModelServer::start([anthropic(ANSWER)]).unwrap();
    provider(Kind::Anthropic, &server).ask(&request(), &GO_ON).unwrap();
    let asked = &server.requests()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!((asked.header("x-api-key"), asked.header("anthropic-version")), (KEY, "2023-06-01"));
    assert_eq!(asked.header("content-type"), "application/json");
    assert!(asked.header("user-agent").starts_with("throughline/"));
    let wanted = json!({
        "model": "some-model", "max_tokens": 500, "temperature": 0.5,
        "system": request().system,
        "messages": [{ "role": "user", "content": request().prompt }],
        "output_config": { "format": { "type": "json_schema", "schema": request().schema } },
    });
    assert_eq!(body(asked), wanted);
}

#[test]
fn openai_is_asked_in_its_format() {
    let server = ModelServer::start([openai(ANSWER)]).unwrap();
    provider(Kind::OpenAi, &server).ask(&request(), &GO_ON).unwrap();
    let asked = &server.requests()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), format!("Bearer {KEY}"));
    let wanted = json!({
        "model": "some-model", "max_tokens": 500, "temperature": 0.5, "stream": false,
        "messages": [
            { "role": "system", "content": request().system },
            { "role": "user", "content": request().prompt },
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": { "name": "observation", "strict": true, "schema": request().schema },
        },
    });
    assert_eq!(body(asked), wanted);
}

#[test]
fn ollama_is_asked_in_its_format() {
    let server = ModelServer::start([ollama(ANSWER)]).unwrap();
    let mut settings = settings(Kind::Ollama, &server.url());
    settings.key = None;
    connect(&settings).unwrap().ask(&request(), &GO_ON).unwrap();
    let asked = &server.requests()[0];
    assert_eq!((asked.path.as_str(), asked.header("authorization")), ("/api/chat", ""));
    let wanted = json!({
        "model": "some-model", "stream": false, "think": false, "keep_alive": "5m",
        "messages": [
            { "role": "system", "content": request().system },
            { "role": "user", "content": request().prompt },
        ],
        "options": { "num_ctx": 4_096, "num_predict": 500, "temperature": 0.5 },
        "format": request().schema,
    });
    assert_eq!(body(asked), wanted);
}

#[test]
fn an_answer_is_read_in_each_format() {
    for kind in OVER_HTTP {
        let reply = ask(kind, [says(kind, ANSWER)]).unwrap();
        assert_eq!(reply.text, ANSWER);
        assert_eq!(reply.structured, Some(json!({ "title": "The door is mended" })));
        assert_eq!((reply.stopped, reply.cost), (Stop::Complete, None));
        let cached_input = if kind == Kind::Ollama { 0 } else { 800 };
        let usage = Usage { input: 1_000, output: 50, cached_input, estimated: false };
        assert_eq!(reply.usage, usage, "{kind}");
    }
    assert_eq!(
        ask(Kind::Anthropic, [anthropic(ANSWER)]).unwrap().model,
        "claude-haiku-4-5-20251001"
    );
}

#[test]
fn a_schema_that_is_ignored_is_found_in_the_words() {
    for kind in OVER_HTTP {
        for text in
            [format!("Of course:\n```json\n{ANSWER}\n```"), format!("Here you are: {ANSWER} Bye!")]
        {
            let reply = ask(kind, [says(kind, &text)]).unwrap();
            assert_eq!(reply.structured, Some(json!({ "title": "The door is mended" })), "{text}");
        }
        // Other forms are up to the caller.
        let prose = ask(kind, [says(kind, "<title>The door</title>")]).unwrap();
        assert_eq!((prose.text.as_str(), found(&prose)), ("<title>The door</title>", None));
    }
}

#[test]
fn thoughts_are_no_part_of_an_answer() {
    let text = format!("<think>\nMaybe {{\"title\":\"no\"}}?\n</think>\n\n{ANSWER}");
    let reply = ask(Kind::OpenAi, [openai(&text)]).unwrap();
    assert_eq!(
        (reply.text.as_str(), found(&reply).unwrap()["title"].as_str()),
        (ANSWER, Some("The door is mended"))
    );
    assert!(matches!(
        ask(Kind::OpenAi, [openai("<think>for ever")]),
        Err(AskError::Unusable { .. })
    ));
}

#[test]
fn an_answer_that_was_cut_off_is_no_answer_but_was_paid() {
    for (kind, reason) in
        [(Kind::Anthropic, "max_tokens"), (Kind::OpenAi, "length"), (Kind::Ollama, "length")]
    {
        let error = ask(kind, [ends(kind, r#"{"title":"The do"#, reason)]).unwrap_err();
        assert!(matches!(error, AskError::Truncated { .. }), "{error:?}");
        assert_eq!(error.to_string(), "the answer was cut off after 50 tokens");
        assert_eq!(error.spent().unwrap().input, 1_000);
        // Whole all the same.
        assert_eq!(ask(kind, [ends(kind, ANSWER, reason)]).unwrap().stopped, Stop::Length);
        // Text is worth something even if its end is missing.
        let server = ModelServer::start([ends(kind, "The do", reason)]).unwrap();
        let plain = Request { schema: None, ..request() };
        assert_eq!(provider(kind, &server).ask(&plain, &GO_ON).unwrap().text, "The do");
    }
}

#[test]
fn a_refusal_is_no_answer_but_was_paid() {
    let mut message = openai_body("", "stop");
    message["choices"][0]["message"]["refusal"] = "I will not.".into();
    for (kind, response, said) in [
        (Kind::Anthropic, ends(Kind::Anthropic, "", "refusal"), "the model declined"),
        (Kind::OpenAi, ends(Kind::OpenAi, "", "content_filter"), "the model declined"),
        (Kind::OpenAi, Response::json(200, message), "the model declined: I will not."),
    ] {
        let error = ask(kind, [response]).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.spent().unwrap().output), (said, 50));
    }
}

#[test]
fn an_answer_without_a_word_was_paid() {
    for kind in OVER_HTTP {
        let error = ask(kind, [says(kind, " \n")]).unwrap_err();
        assert!(matches!(error, AskError::Unusable { .. }), "{error:?}");
        assert_eq!(error.spent().unwrap().output, 50);
    }
}

#[test]
fn what_is_not_told_is_estimated() {
    for (kind, field) in
        [(Kind::Anthropic, "usage"), (Kind::OpenAi, "usage"), (Kind::Ollama, "eval_count")]
    {
        let mut body = match kind {
            Kind::Anthropic => anthropic_body(ANSWER, "end_turn"),
            Kind::OpenAi => openai_body(ANSWER, "stop"),
            _ => ollama_body(ANSWER, "stop"),
        };
        body.as_object_mut().unwrap().remove(field);
        let usage = ask(kind, [Response::json(200, body)]).unwrap().usage;
        assert!(usage.estimated && usage.input > 20 && usage.output > 5, "{usage:?}");
    }
}

#[test]
fn a_price_that_is_told_counts() {
    let mut routed = openai_body(ANSWER, "stop");
    routed["usage"]["cost"] = json!(0.000_42);
    let server = ModelServer::start([Response::json(200, routed)]).unwrap();
    let provider = provider(Kind::OpenAi, &server);
    let mut reply = provider.ask(&request(), &GO_ON).unwrap();
    assert_eq!(reply.cost, Some(Micros(420)));
    // A server on this machine costs nothing, whatever it says.
    assert_eq!(Prices::default().cost_of(&*provider, &reply), Some(Micros(0)));
    let far = settings(Kind::OpenAi, "https://openrouter.ai/api/v1");
    let far = connect(&far).unwrap();
    assert_eq!(Prices::default().cost_of(&*far, &reply), Some(Micros(420)));
    reply.cost = None;
    assert_eq!(Prices::default().cost_of(&*far, &reply), None);
}

fn format_of(asked: &Value) -> String {
    asked["response_format"]["type"].as_str().unwrap_or("text").to_owned()
}

#[test]
fn a_server_that_rejects_a_schema_is_asked_for_json_and_then_for_text() {
    let server = ModelServer::answering(|asked| {
        let asked = body(asked);
        match format_of(&asked).as_str() {
            "text" => openai(ANSWER),
            other => error(
                400,
                "invalid_request_error",
                &format!("response_format {other} is not supported"),
            ),
        }
    });
    let server = server.unwrap();
    let provider = provider(Kind::OpenAi, &server);
    assert_eq!(
        provider.ask(&request(), &GO_ON).unwrap().structured.unwrap()["title"],
        "The door is mended"
    );
    // It is remembered.
    provider.ask(&request(), &GO_ON).unwrap();
    let formats: Vec<String> =
        server.requests().iter().map(|asked| format_of(&body(asked))).collect();
    assert_eq!(formats, ["json_schema", "json_object", "text", "text"]);
    // The model still learns what is wanted of it.
    let last = body(&server.requests()[3])["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(
        last.starts_with(&request().prompt) && last.contains(r#""additionalProperties":false"#),
        "{last}"
    );
}

#[test]
fn a_server_is_asked_in_the_words_that_it_knows() {
    let server = ModelServer::answering(|asked| {
        let asked = body(asked);
        let no = |message: &str| error(400, "invalid_request_error", message);
        if asked["max_tokens"].is_u64() {
            return no(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            );
        }
        if asked["temperature"].is_number() {
            return no("Unsupported value: 'temperature' does not support 0.5 with this model.");
        }
        openai(ANSWER)
    });
    let server = server.unwrap();
    let provider = provider(Kind::OpenAi, &server);
    provider.ask(&request(), &GO_ON).unwrap();
    provider.ask(&request(), &GO_ON).unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert_eq!(body(&requests[3])["max_completion_tokens"], 500);
    assert_eq!(format_of(&body(&requests[3])), "json_schema");
}

#[test]
fn what_no_other_words_help_against_is_an_error() {
    for message in [
        "max_tokens is too large",
        "temperature",
        "json_schema is wrong",
        "the model does not exist",
    ] {
        let server = ModelServer::start([error(400, "invalid_request_error", message)]).unwrap();
        let error = provider(Kind::OpenAi, &server).ask(&request(), &GO_ON).unwrap_err();
        assert!(matches!(error, AskError::Rejected { status: 400, .. }), "{error:?}");
        assert!(server.requests().len() <= 3, "{message}");
        assert_eq!(error.to_string(), format!("the provider rejects the request (400): {message}"));
    }
}

#[test]
fn an_old_ollama_is_asked_as_it_was_then() {
    let server = ModelServer::answering(|asked| {
        let asked = body(asked);
        let no = |message: &str| Response::json(400, json!({ "error": message }));
        match (&asked["think"], &asked["format"]) {
            (Value::Bool(_), _) => no("\"m\" does not support thinking"),
            (_, Value::Object(_)) => no(
                "json: cannot unmarshal object into Go struct field ChatRequest.format of type string",
            ),
            _ => ollama(ANSWER),
        }
    });
    let server = server.unwrap();
    provider(Kind::Ollama, &server).ask(&request(), &GO_ON).unwrap();
    assert_eq!(body(&server.requests()[2])["format"], "json");
}

#[test]
fn keys_go_only_where_they_belong() {
    let server = ModelServer::start([openai(ANSWER)]).unwrap();
    let mut settings = settings(Kind::OpenAi, &format!("{}/v1/", server.url()));
    settings.key = None;
    connect(&settings).unwrap().ask(&request(), &GO_ON).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), "");
    settings.key = Key::new("k");
    connect(&settings).unwrap().ask(&request(), &GO_ON).unwrap();
    assert_eq!(server.requests()[1].header("authorization"), "Bearer k");
}

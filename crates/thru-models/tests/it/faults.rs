//! Servers that fail, in every format.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use thru_models::{AskError, Kind, Retry, connect};
use thru_testkit::provider::{ModelServer, Response, error, openai_body};

use crate::formats::says;
use crate::{GO_ON, KEY, OVER_HTTP, ask, provider, request, settings};

/// Asks each provider, with this response, and checks the error.
#[track_caller]
fn each(response: &Response, check: impl Fn(&AskError)) {
    for kind in OVER_HTTP {
        let error = ask(kind, [response.clone()]).unwrap_err();
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains(KEY) && !shown.contains("cellar door"), "{shown}");
            assert!(!shown.contains(char::is_control), "{shown:?}");
        }
        assert!(error.to_string().chars().count() < 300, "{error}");
        check(&error);
    }
}

#[test]
fn a_key_that_is_not_taken_is_never_tried_again() {
    let message = format!("invalid x-api-key {KEY}");
    for status in [401, 403] {
        each(&error(status, "authentication_error", &message), |error| {
            assert!(matches!(error, AskError::Unauthorized { .. }), "{error:?}");
            assert_eq!((error.retry(), error.spent()), (Retry::No, None));
            assert!(
                error.to_string().starts_with("authentication failed: invalid x-api-key <key>; "),
                "{error}"
            );
        });
    }
    let server = ModelServer::start([error(401, "authentication_error", "expired")]).unwrap();
    let asked = provider(Kind::Anthropic, &server).ask(&request(), &GO_ON).unwrap_err();
    assert_eq!(
        asked.to_string(),
        "authentication failed: expired; set ANTHROPIC_API_KEY to a key that is valid, or store one"
    );
}

#[test]
fn who_asks_too_often_waits_as_long_as_he_is_told() {
    let limited = error(429, "rate_limit_error", "slow down");
    each(&limited.clone().with("retry-after", "7"), |error| {
        assert!(matches!(error, AskError::RateLimited { .. }), "{error:?}");
        assert_eq!(error.retry(), Retry::After(Duration::from_secs(7)));
    });
    each(&limited, |error| assert_eq!(error.retry(), Retry::Backoff));
    each(&limited.clone().with("retry-after", "soon"), |error| {
        assert_eq!(error.retry(), Retry::Backoff)
    });
    each(&limited.with("retry-after", "99999999999"), |error| {
        assert_eq!(error.retry(), Retry::After(Duration::from_secs(86_400)));
    });
}

#[test]
fn a_provider_in_trouble_is_asked_again_later() {
    for status in [503, 529] {
        each(&error(status, "overloaded_error", "Overloaded"), |error| {
            assert!(matches!(error, AskError::Overloaded { .. }), "{error:?}");
            assert_eq!((error.retry(), error.spent()), (Retry::Backoff, None));
        });
    }
    for response in [
        error(500, "api_error", "oops"),
        Response::new(502, "text/html", "<html>Bad Gateway</html>"),
    ] {
        each(&response, |error| {
            assert!(matches!(error, AskError::Server { status: 500 | 502, .. }), "{error:?}");
            assert_eq!(error.retry(), Retry::Backoff);
        });
    }
}

#[test]
fn what_is_rejected_is_not_asked_again() {
    let missing = Response::json(404, r#"{"error":"model 'some-model' not found"}"#);
    each(&missing, |error| {
        assert_eq!(
            error.to_string(),
            "the provider rejects the request (404): model 'some-model' not found"
        );
        assert_eq!((error.retry(), error.spent()), (Retry::No, None));
    });
    let page = Response::new(404, "text/html", "<html>\u{1b}[2J nothing here</html>");
    each(&page, |error| {
        assert!(error.to_string().ends_with("a web page; is the url right?"), "{error}")
    });
    let echo = error(400, "invalid_request_error", &format!("cannot read: {}", request().prompt));
    each(&echo, |error| assert!(error.to_string().contains("repeats what was sent"), "{error}"));
    let elsewhere =
        Response::new(307, "text/plain", "").with("location", "https://elsewhere.example/v1");
    each(&elsewhere, |error| {
        assert!(matches!(error, AskError::Rejected { .. }), "{error:?}");
        assert!(error.to_string().contains("https://elsewhere.example/v1"), "{error}");
    });
}

#[test]
fn what_is_no_answer_is_not_understood() {
    for response in [
        Response::new(200, "text/html", "<html>Please log in</html>"),
        Response::new(200, "text/plain", "pong"),
        Response::json(200, "[]"),
        Response::json(200, "{}"),
        Response::json(200, r#"{"choices":[],"content":"x","message":null}"#),
        Response::json(200, ""),
        Response::new(200, "application/json", b"\xff\xfe\x00".to_vec()),
    ] {
        each(&response, |error| {
            // A response without an error may still be a server error.
            let is_unread = matches!(error, AskError::Protocol { .. } | AskError::Unusable { .. });
            assert!(is_unread, "{error:?} {response:?}");
            assert!(error.retry() == Retry::Backoff && error.spent().is_some());
        });
    }
}

#[test]
fn an_answer_of_another_content_type_is_read_all_the_same() {
    for kind in OVER_HTTP {
        for called in ["text/plain", "text/html; charset=utf-8", "application/octet-stream"] {
            assert!(ask(kind, [says(kind, "{\"title\":\"x\"}").called(called)]).is_ok());
        }
    }
}

#[test]
fn an_error_in_a_good_answer_is_an_error() {
    let body = r#"{"error":{"message":"Rate limit exceeded: free-models-per-min","code":429}}"#;
    each(&Response::json(200, body), |error| {
        assert!(matches!(error, AskError::RateLimited { .. }), "{error:?}")
    });
}

#[test]
fn a_connection_that_breaks_may_have_cost_something() {
    let whole = openai_body(&"word ".repeat(100), "stop").to_string();
    for response in [
        Response::broken(),
        Response::json(200, &whole).cut_after(40),
        Response::json(200, &whole[..100]),
    ] {
        each(&response, |error| {
            assert!(matches!(error, AskError::Protocol { .. }), "{error:?}");
            let spent = error.spent().unwrap();
            assert!(spent.estimated && spent.input > 20 && spent.output == 500, "{spent:?}");
        });
    }
}

#[test]
fn an_unreachable_server_costs_nothing() {
    let url = ModelServer::start([]).unwrap().url();
    for kind in OVER_HTTP {
        let error = connect(&settings(kind, &url)).unwrap().ask(&request(), &GO_ON).unwrap_err();
        assert!(matches!(error, AskError::Unreachable { .. }), "{error:?}");
        assert_eq!((error.retry(), error.spent()), (Retry::Backoff, None));
    }
}

#[test]
fn who_hangs_is_left_when_the_time_is_over() {
    let slow = Response::json(200, openai_body("x", "stop")).slowly(Duration::from_millis(50));
    for response in [Response::silence(), Response::json(200, "{}").without_body(), slow] {
        let server = ModelServer::start([response]).unwrap();
        let mut settings = settings(Kind::OpenAi, &server.url());
        settings.timeout = Duration::from_millis(250);
        let error = connect(&settings).unwrap().ask(&request(), &GO_ON).unwrap_err();
        assert_eq!(error.to_string(), "no answer within 0.25 s");
        assert!(error.retry() == Retry::Backoff && error.spent().unwrap().output == 500);
    }
}

#[test]
fn who_is_told_to_stop_does() {
    for response in [Response::silence(), Response::json(200, "{}").without_body()] {
        let server = ModelServer::start([response]).unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while server.requests().is_empty() {
                    thread::sleep(Duration::from_millis(5));
                }
                stop.store(true, Ordering::Relaxed);
            });
            // Its own time limit is longer than any test runs.
            let mut settings = settings(Kind::Anthropic, &server.url());
            settings.timeout = Duration::from_secs(100_000);
            let error = connect(&settings).unwrap().ask(&request(), &stop).unwrap_err();
            assert!(matches!(error, AskError::Stopped { spent: Some(_) }), "{error:?}");
        });
        let before = provider(Kind::Anthropic, &server).ask(&request(), &AtomicBool::new(true));
        assert!(matches!(before, Err(AskError::Stopped { .. })));
    }
}

#[test]
fn reading_ends_whatever_a_server_sends() {
    let long = "x".repeat(10 * 1024 * 1024);
    each(&Response::json(200, openai_body(&long, "stop")), |error| {
        assert_eq!(error.to_string(), "the answer is longer than 1048576 bytes");
        assert!(error.retry() == Retry::No && error.spent().is_some());
    });
    // Also if it does not say how long it is.
    let endless = Response::new(200, "application/json", long).without_end();
    each(&endless, |error| assert!(matches!(error, AskError::TooLong { .. }), "{error:?}"));
}

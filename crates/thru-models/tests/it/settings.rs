//! Accepted and rejected settings.

use thru_models::{ConnectError, Key, Kind, Provider, Settings, connect};

use crate::KEY;

fn try_connect(
    kind: Kind,
    url: Option<&str>,
    key: Option<&str>,
) -> Result<Box<dyn Provider>, ConnectError> {
    let mut settings = Settings::new(kind, "m");
    settings.url = url.map(str::to_owned);
    settings.key = key.and_then(Key::new);
    connect(&settings)
}

#[track_caller]
fn refused(kind: Kind, url: Option<&str>, key: Option<&str>) -> String {
    match try_connect(kind, url, key) {
        Ok(_) => panic!("{kind} {url:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_work_is_said_before_anything_is_sent() {
    assert_eq!(
        refused(Kind::Anthropic, None, None),
        "there is no key; set ANTHROPIC_API_KEY or store one"
    );
    assert_eq!(
        refused(Kind::OpenAi, None, None),
        "there is no key; set OPENAI_API_KEY or store one"
    );
    let router = Some("https://openrouter.ai/api/v1");
    assert_eq!(
        refused(Kind::OpenAi, router, None),
        "there is no key; set OPENROUTER_API_KEY or store one"
    );
    let password = Some("https://me:secret@host");
    assert_eq!(
        refused(Kind::OpenAi, password, None),
        "invalid url: an address must not hold a user or a password"
    );
    assert_eq!(
        refused(Kind::OpenAi, Some("http://api.example.com/v1"), Some(KEY)),
        "http://api.example.com/v1 is not encrypted; use https://"
    );
    assert_eq!(refused(Kind::ClaudeCli, None, None), "no working folder is set for claude");
    assert!(matches!(connect(&Settings::new(Kind::Ollama, " ")), Err(ConnectError::NoModel)));
    assert_eq!(
        "gemini".parse::<Kind>().unwrap_err().to_string(),
        "there is no provider \"gemini\"; there are anthropic, openai, ollama and claude-cli"
    );
}

#[test]
fn what_is_local_is_known() {
    for (kind, url, is_local) in [
        (Kind::Ollama, None, true),
        (Kind::OpenAi, Some("http://localhost:1234"), true),
        (Kind::OpenAi, Some("http://192.168.1.7:8000/v1"), false),
        (Kind::Anthropic, None, false),
        (Kind::OpenAi, None, false),
    ] {
        let provider = try_connect(kind, url, Some(KEY)).unwrap();
        assert_eq!(
            (provider.is_local(), provider.name(), provider.model()),
            (is_local, kind.name(), "m")
        );
    }
    for kind in Kind::ALL {
        assert_eq!(kind.to_string().parse::<Kind>().unwrap(), kind);
    }
}

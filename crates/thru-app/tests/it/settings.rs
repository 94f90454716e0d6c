//! Choosing a model and its key.

use std::fs;

use thru_app::models::catalog;
use thru_app::models::setting::{self, SetModel};
use thru_app::{Remedy, TroubleKind};
use thru_models::KeyStorage;

use crate::home::Home;

fn request(provider: &str) -> SetModel {
    SetModel { provider: provider.to_owned(), ..SetModel::default() }
}

#[test]
fn every_provider_that_is_listed_can_be_set() {
    let home = Home::new();
    for provider in catalog::list(&home.app()).providers {
        let request = SetModel {
            model: Some("m".to_owned()),
            url: Some("http://127.0.0.1:9/v1".to_owned()),
            ..request(provider.name)
        };
        assert_eq!(setting::set(&home.app(), &request).unwrap().provider, provider.name);
        assert_eq!(catalog::list(&home.app()).provider.as_deref(), Some(provider.name));
    }
}

#[test]
fn a_key_is_asked_for_only_where_it_is_what_lacks() {
    let home = Home::new();
    let remedy = |url: Option<&str>| {
        let request = SetModel {
            model: Some("m".to_owned()),
            url: url.map(str::to_owned),
            ..request("openai")
        };
        match setting::set(&home.app(), &request).unwrap_err().remedy() {
            Some(Remedy::Run { command, .. }) => command.clone(),
            remedy => panic!("{remedy:?}"),
        }
    };
    assert_eq!(remedy(None), "models set openai --key");
    assert_eq!(remedy(Some("http://example.com/v1")), "models set --help");
}

#[test]
fn a_provider_that_does_not_exist_is_refused_with_those_that_do() {
    let home = Home::new();
    let refused = setting::set(&home.app(), &request("grok")).unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::NotFound);
    assert!(matches!(refused.remedy(), Some(Remedy::Choose(names)) if names.len() == 8));
    assert!(!home.data().join("config.toml").exists());
}

#[test]
fn a_key_is_kept_apart_and_goes_with_its_provider() {
    let home = Home::new();
    let asked = request("anthropic");
    assert!(setting::lacks_key(&home.app(), &asked).unwrap());
    let refused = setting::set(&home.app(), &asked).unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::Invalid);
    let key = "sk-ant-secret-0123456789";
    setting::keep_key(&home.app(), "anthropic", key, KeyStorage::File).unwrap();
    assert!(!setting::lacks_key(&home.app(), &asked).unwrap());
    let set = setting::set(&home.app(), &asked).unwrap();
    assert!(!set.local && set.since.ends_with('Z'), "{set:?}");
    let config = fs::read_to_string(home.data().join("config.toml")).unwrap();
    assert!(config.contains("anthropic") && !config.contains("secret"), "{config}");
    let off = setting::off(&home.app(), true).unwrap();
    assert_eq!((off.was.as_deref(), off.keys_removed.len()), (Some("anthropic"), 1));
    assert!(!home.data().join("keys/anthropic").exists());
    assert_eq!(catalog::list(&home.app()).provider, None);
}

#[test]
fn a_gateway_stays_the_one_that_is_asked_until_another_is_named() {
    let home = Home::new();
    let url = |home: &Home| home.app().config.models.url.clone().filter(|url| !url.is_empty());
    let with_url = SetModel {
        model: Some("small".to_owned()),
        url: Some("http://127.0.0.1:9/v1".to_owned()),
        ..request("openai")
    };
    setting::set(&home.app(), &with_url).unwrap();
    let other_model = SetModel { model: Some("large".to_owned()), ..request("openai") };
    setting::set(&home.app(), &other_model).unwrap();
    assert_eq!(url(&home), with_url.url, "another model");
    setting::off(&home.app(), false).unwrap();
    // It may be another provider's, which must not be sent this one's key.
    setting::set(&home.app(), &other_model).unwrap_err();
    assert_eq!(url(&home), with_url.url, "after it was off");
    setting::set(&home.app(), &with_url).unwrap();
    // Another provider has an address of its own.
    setting::set(&home.app(), &SetModel { model: other_model.model, ..request("ollama") }).unwrap();
    assert_eq!(url(&home), None);
}

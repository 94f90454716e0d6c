use insta::assert_snapshot;
use proptest::prelude::*;

use super::super::{ClientVersion, Platform};
use super::*;
use crate::claude_code;

fn registration_of(
    program: &str,
    version: Option<ClientVersion>,
    platform: Platform,
) -> Registration {
    claude_code::HOOKS.setup.registration(program, version, platform, 10)
}

fn registration() -> Registration {
    registration_of("/opt/my tools/thru", Some(ClientVersion::new(2, 1, 197)), Platform::Linux)
}

fn uninstall(text: &str) -> Result<Option<String>, Refusal> {
    super::uninstall(text, Agent::ClaudeCode)
}

fn installed(text: &str) -> Result<Vec<InstalledHook>, Refusal> {
    super::installed(text, Agent::ClaudeCode)
}

/// As few events as show what happens.
fn two_events() -> Registration {
    Registration { events: vec!["SessionStart", "Stop"], ..registration() }
}

/// Puts in and takes out; gives what was in between.
#[track_caller]
fn there_and_back(text: &str, registration: &Registration) -> String {
    let with = install(Some(text), registration).unwrap();
    assert_eq!(install(Some(&with), registration).unwrap(), with, "not the same twice");
    assert_eq!(uninstall(&with).unwrap().as_deref(), Some(text), "in between: {with}");
    with
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let with = install(None, &two_events()).unwrap();
    assert_snapshot!(with, @r#"
    {
      "hooks": {
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "/opt/my tools/thru", "args": ["hook", "claude-code", "SessionStart"], "timeout": 10 }] }],
        "Stop": [{ "hooks": [{ "type": "command", "command": "/opt/my tools/thru", "args": ["hook", "claude-code", "Stop"], "timeout": 10 }] }]
      }
    }
    "#);
    assert_eq!(install(Some(&with), &two_events()).unwrap(), with);
    assert_eq!(uninstall(&with).unwrap(), None);
}

#[test]
fn what_is_there_keeps_its_place_and_form() {
    let text = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            {\n                \
                \"hooks\": [{\"type\":\"command\",\"command\":\"say done\"}]\n            }\n        ],\n        \
                \"PreToolUse\": []\n    },\n    \"unknown\" : [ 1,2 ]\n}";
    assert_snapshot!(there_and_back(text, &two_events()), @r#"
    {
        "model": "opus",
        "hooks": {
            "Stop": [
                {
                    "hooks": [{"type":"command","command":"say done"}]
                },
                { "hooks": [{ "type": "command", "command": "/opt/my tools/thru", "args": ["hook", "claude-code", "Stop"], "timeout": 10 }] }
            ],
            "PreToolUse": [],
            "SessionStart": [{ "hooks": [{ "type": "command", "command": "/opt/my tools/thru", "args": ["hook", "claude-code", "SessionStart"], "timeout": 10 }] }]
        },
        "unknown" : [ 1,2 ]
    }
    "#);
}

#[test]
fn every_formatting_comes_back() {
    for text in [
        "",
        " \n\t",
        "\u{feff}",
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        "{ \n }",
        "\u{feff}{\r\n\t\"a\": {}\r\n}\r\n",
        "{\"a\":1}",
        "{\"a\":1,\"hooks\":{}}",
        "{\"hooks\":{\"Stop\":[]},\"z\":0}",
        "{ \"hooks\" : { \"Stop\" : [ \n ] , \"Other\" : [ { } ] } }",
        "{\"hooks\":{\"Stop\":[null,{\"hooks\":[]},{\"matcher\":\"x\"}]}}",
        "{\"hooks\":{},\"hooks\":{\"Stop\":[]}}",
        "{\r\n  \"hooks\": { \r\n  }\r\n}",
    ] {
        let with = there_and_back(text, &registration());
        assert_eq!(installed(&with).unwrap().len(), 10, "{with}");
        serde_json::from_str::<Value>(with.trim_start_matches('\u{feff}')).unwrap();
    }
}

#[test]
fn lines_end_as_they_did() {
    let with = there_and_back("{\r\n\t\"a\": 1\r\n}\r\n", &registration());
    assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
    assert!(with.contains("\r\n\t\t\"Stop\""), "{with}");
}

#[test]
fn an_older_installation_is_replaced() {
    let text = "{\n  \"a\": 1\n}\n";
    let old = registration_of("/old/thru", None, Platform::Linux);
    let with_old = install(Some(text), &old).unwrap();
    let with_new = install(Some(&with_old), &registration()).unwrap();
    assert_eq!(with_new, install(Some(text), &registration()).unwrap());
    assert!(installed(&with_new).unwrap().iter().all(|hook| hook.program == "/opt/my tools/thru"));
    // And a downgrade takes out what the older version does not know.
    assert_eq!(install(Some(&with_new), &old).unwrap(), with_old);
}

#[test]
fn hooks_that_others_added_later_stay() {
    let with = install(None, &two_events()).unwrap();
    let theirs = r#"{ "hooks": [{ "type": "command", "command": "say done" }] }"#;
    let edited = with.replacen("[{ \"hooks\"", &format!("[{theirs}, {{ \"hooks\""), 1);
    assert_snapshot!(uninstall(&edited).unwrap().unwrap(), @r#"
    {
      "hooks": {
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
      }
    }
    "#);
    // Into our own group, before and behind our handler.
    let mine = r#"{ "type": "command", "command": "say done" }"#;
    let edited = with
        .replacen("\"hooks\": [{ \"type", &format!("\"hooks\": [{mine}, {{ \"type"), 1)
        .replacen("\"timeout\": 10 }] }]\n", &format!("\"timeout\": 10 }}, {mine}] }}]\n"), 1);
    assert_snapshot!(uninstall(&edited).unwrap().unwrap(), @r#"
    {
      "hooks": {
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
      }
    }
    "#);
}

/// Claude Code writes its settings anew when the user changes something, with its own formatting.
#[test]
fn a_file_that_was_written_anew_is_cleaned_too() {
    let text = "{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"say\"}]}]}}";
    let with = install(Some(text), &registration()).unwrap();
    let anew: Value = serde_json::from_str(&with).unwrap();
    let rest = uninstall(&format!("{anew:#}")).unwrap().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&rest).unwrap(),
        serde_json::from_str::<Value>(text).unwrap()
    );
}

#[test]
fn what_is_not_a_settings_file_is_refused() {
    let refused = |text: &str| install(Some(text), &registration()).unwrap_err().to_string();
    assert_eq!(refused("[]"), "the file is not an object");
    assert_eq!(refused("{\"hooks\": []}"), "`hooks` is not an object");
    assert_eq!(refused("{\"hooks\": {\"Stop\": {}}}"), "`hooks.Stop` is not a list");
    assert!(refused("\u{feff}\u{feff}").starts_with("not valid JSON: "));
    assert!(refused("{\n  // mine\n}").starts_with("not valid JSON: "));
    assert!(refused("{\"a\": 1,}").ends_with("at line 1 column 9"));
    assert!(uninstall("{").is_err() && installed("{").is_err());
}

/// White space as people and programs leave it; the mark among it.
fn blank() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        2 => prop::sample::select(vec![" ", "\n", "\r\n", "\n  ", "\t", " \n", " \r\n    "]).prop_map(str::to_owned),
        1 => "[ \t\r\n]{0,6}",
    ]
}

fn key() -> impl Strategy<Value = String> {
    let known = ["hooks", "Stop", "SessionStart", "PreToolUse", "matcher", "command", "args"];
    prop_oneof![
        prop::sample::select(known.to_vec()).prop_map(|key| format!("\"{key}\"")),
        any::<String>().prop_map(|key| Value::from(key).to_string()),
        Just("\"\\u0068ooks\"".to_owned()),
    ]
}

fn between(
    open: char,
    close: char,
    children: Vec<(String, String, String)>,
    inner: &str,
) -> String {
    let children: Vec<String> =
        children.into_iter().map(|(before, child, behind)| before + &child + &behind).collect();
    match children.is_empty() {
        true => format!("{open}{inner}{close}"),
        false => format!("{open}{}{close}", children.join(",")),
    }
}

fn list(item: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (prop::collection::vec((blank(), item, blank()), 0..4), blank())
        .prop_map(|(items, inner)| between('[', ']', items, &inner))
}

fn object(
    key: impl Strategy<Value = String>,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    let member = (key, blank(), blank(), value)
        .prop_map(|(key, before, behind, value)| format!("{key}{before}:{behind}{value}"));
    (prop::collection::vec((blank(), member, blank()), 0..4), blank())
        .prop_map(|(members, inner)| between('{', '}', members, &inner))
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("-1.5e+7".to_owned()),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
        Just("\"\\ud800\"".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![list(inner.clone()).boxed(), object(key(), inner).boxed()]
    })
}

/// Settings: anything, with hooks of other people where hooks stand.
fn settings() -> impl Strategy<Value = String> {
    let hooks = object(key(), list(json()));
    let hooks_member = (blank(), blank(), hooks)
        .prop_map(|(before, behind, hooks)| format!("\"hooks\"{before}:{behind}{hooks}"));
    let other = (key(), json())
        .prop_filter("hooks are made above", |(key, _)| !key.contains("ooks\""))
        .prop_map(|(key, value)| format!("{key}: {value}"));
    let member = prop_oneof![hooks_member, other];
    let root = (prop::collection::vec((blank(), member, blank()), 0..4), blank())
        .prop_map(|(members, inner)| between('{', '}', members, &inner));
    let root = prop_oneof![9 => root, 1 => Just(String::new())];
    (any::<bool>(), blank(), root, blank()).prop_map(|(mark, before, root, behind)| {
        format!("{}{before}{root}{behind}", if mark { "\u{feff}" } else { "" })
    })
}

/// Settings in which hooks of ours stand anywhere among those of others.
fn mixed_settings() -> impl Strategy<Value = String> {
    let handler = any::<bool>().prop_map(|is_ours| {
        let command = if is_ours { "/x/thru hook claude-code Stop" } else { "say done" };
        format!("{{\"type\": \"command\", \"command\": \"{command}\"}}")
    });
    let group = list(handler).prop_map(|handlers| format!("{{\"hooks\":{handlers}}}"));
    let events = ["\"A\"", "\"B\"", "\"C\"", "\"D\""];
    let names = prop::sample::subsequence(events.to_vec(), 0..=events.len());
    let hooks = (names, prop::collection::vec((blank(), list(group), blank()), events.len()));
    (hooks, blank(), any::<bool>()).prop_map(|((names, groups), inner, has_more)| {
        let events = names.into_iter().zip(groups);
        let events = events
            .map(|(name, (before, groups, behind))| (before, format!("{name}: {groups}"), behind));
        let hooks = between('{', '}', events.collect(), &inner);
        let more = if has_more { ", \"z\": 1" } else { "" };
        format!("{{\"hooks\": {hooks}{more}}}")
    })
}

/// The hooks that are not ours as a program reads them, without empty parts.
fn value_without_ours(text: &str) -> Value {
    let mut value: Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(Value::Null);
    if let Some(Value::Object(events)) = value.get_mut(HOOKS) {
        for (event, groups) in events.iter_mut() {
            for group in groups.as_array_mut().into_iter().flatten() {
                if let Some(Value::Array(handlers)) = group.get_mut(HOOKS) {
                    handlers.retain(|handler| {
                        InstalledHook::parse(Agent::ClaudeCode, event, None, handler).is_none()
                    });
                }
            }
            if let Value::Array(groups) = groups {
                groups.retain(|group| group.get(HOOKS) != Some(&Value::Array(Vec::new())));
            }
        }
        events.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if events.is_empty() {
            value.as_object_mut().unwrap().remove(HOOKS);
        }
    }
    // A file that is not there says as much as an empty one.
    if value.is_null() { Value::Object(serde_json::Map::new()) } else { value }
}

proptest! {
    #[test]
    fn taking_out_gives_back_every_byte(text in settings()) {
        let with = match install(Some(&text), &registration()) {
            Ok(with) => with,
            // Of several `hooks` in one object, or keys in it, one may be no list.
            Err(refusal) => {
                prop_assert!(matches!(refusal, Refusal::Unexpected { .. }), "{}", refusal);
                return Ok(());
            }
        };
        prop_assert_eq!(&install(Some(&with), &registration()).unwrap(), &with);
        prop_assert_eq!(uninstall(&with).unwrap(), Some(text.clone()), "{}", with);
        let ours = installed(&with).unwrap();
        prop_assert_eq!(ours.len(), registration().events.len());
        // A lone surrogate is JSON that `Value` does not take.
        if !text.contains("ud800") {
            prop_assert_eq!(value_without_ours(&with), value_without_ours(&text));
        }
        // Another version of ours in between changes nothing.
        let old = registration_of("/old/thru", None, Platform::Windows);
        let upgraded = install(Some(&install(Some(&text), &old).unwrap()), &registration()).unwrap();
        prop_assert_eq!(&upgraded, &with);
    }

    #[test]
    fn ours_are_taken_out_wherever_they_stand(text in mixed_settings()) {
        let rest = uninstall(&text).unwrap().unwrap_or_default();
        prop_assert!(installed(&rest).unwrap().is_empty(), "{}", rest);
        prop_assert_eq!(value_without_ours(&rest), value_without_ours(&text), "{}", rest);
    }

    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        let _ = (install(Some(&text), &registration()), uninstall(&text), installed(&text));
    }
}

//! Properties that must hold for any text, tested on texts composed of secrets, tags, escapes and
//! harmless pieces.

use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Draw, entries, expand};
use thru_redact::{Redactor, Report, UserRule};

mod support;

/// Generates a labelled secret, a harmless text, or text that may break the parsing.
fn piece() -> impl Strategy<Value = String> {
    let labelled: Vec<String> = entries(include_str!("labelled/secrets.txt"))
        .chain(entries(include_str!("labelled/harmless.txt")))
        .map(|template| template.replace(['«', '»'], ""))
        .collect();
    let odd = [
        "<private>",
        "</private>",
        "<PRIVATE >",
        "<private a=b>",
        "<private key>",
        "<pri",
        "vate>",
        "<throughline-context>",
        "</throughline-context>",
        "<claude-mem-context>",
        "</claude-mem-context>",
        "[private]",
        "[redacted:token]",
        "[redacted:",
        "\\",
        "\"",
        "\\\"",
        "\\n",
        "\n",
        "\t",
        " ",
        "/",
        "\\/",
        "\\u003cprivate\\u003e",
        "\\u0022",
        "\\ud83d",
        "é",
        "\u{1f600}",
        "’",
        "password",
        "PASSWORD=",
        "token: ",
        "secret='",
        "_KEY=",
        "sk-",
        "eyJ",
        "://",
        ":",
        "@",
        "=",
        "-",
        "_",
        ".",
        "a1",
        "hunter2",
        "\u{0}",
        "<",
        ">",
        "{",
        "}",
        "[",
        "]",
        ",",
        "Authorization: Bearer ",
        "-u a:",
        "n",
        "u2019",
    ];
    prop_oneof![
        2 => (prop::sample::select(labelled), 1_u64..u64::MAX).prop_map(|(template, seed)| expand(&template, &mut Draw(seed))),
        3 => prop::sample::select(odd.map(str::to_owned).to_vec()),
        1 => "[a-zA-Z0-9 +/=_.-]{0,24}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..7).prop_map(|pieces| pieces.concat())
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(
        [
            "text",
            "content",
            "password",
            "api_key",
            "token",
            "id",
            "uuid",
            "signature",
            "data",
            "input",
            "type",
            "timestamp",
            "a\"b",
            "é",
        ]
        .map(str::to_owned)
        .to_vec(),
    )
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
        // JSON inside a string.
        (key(), text()).prop_map(|(key, text)| Value::from(json!({ key: text }).to_string())),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

/// Returns the document with some characters of its strings escaped needlessly.
fn with_needless_escapes(line: &str, every: usize) -> String {
    let mut inside = false;
    let mut output = String::new();
    let mut characters = line.chars().enumerate();
    while let Some((at, character)) = characters.next() {
        inside ^= character == '"';
        if character == '\\' {
            output.push(character);
            let kind = characters.next().map(|(_, kind)| kind);
            output.extend(kind);
            let digits = if kind == Some('u') { 4 } else { 0 };
            output.extend(characters.by_ref().take(digits).map(|(_, digit)| digit));
        } else if inside && character != '"' && character.is_ascii() && at % every == 0 {
            output.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else if inside && character == '/' {
            output.push_str("\\/");
        } else {
            output.push(character);
        }
    }
    output
}

fn clean_line(redactor: &Redactor, line: &[u8]) -> Vec<u8> {
    redactor.clean_json_line(line, &mut Report::default()).into_inner()
}

/// Returns everything but the content of strings.
fn skeleton(value: &Value) -> Value {
    match value {
        Value::String(_) => Value::from(""),
        Value::Array(items) => items.iter().map(skeleton).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, field)| (key.clone(), skeleton(field))).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cleaning_text_twice_is_cleaning_it_once(text in text()) {
        let redactor = Redactor::builtin();
        let once = redactor.clean_text(&text, &mut Report::default()).into_inner();
        let mut report = Report::default();
        let twice = redactor.clean_text(&once, &mut report).into_inner();
        prop_assert_eq!(&once, &twice);
        prop_assert!(report.is_empty());
        prop_assert!(!redactor.is_wholly_private(&once));
    }

    #[test]
    fn cleaning_json_twice_is_cleaning_it_once(document in document(), every in 1_usize..40) {
        let redactor = Redactor::builtin();
        let line = with_needless_escapes(&document.to_string(), every);
        let once = clean_line(&redactor, line.as_bytes());
        let twice = String::from_utf8(clean_line(&redactor, &once)).unwrap();
        prop_assert_eq!(twice, String::from_utf8(once).unwrap());
    }

    #[test]
    fn a_line_is_cleaned_as_the_document_it_stands_for(document in document(), every in 1_usize..40, escapes: bool) {
        let redactor = Redactor::builtin();
        let mut line = document.to_string();
        if escapes {
            line = with_needless_escapes(&line, every);
        }
        let cleaned: Value = serde_json::from_slice(&clean_line(&redactor, line.as_bytes())).unwrap();
        prop_assert_eq!(skeleton(&cleaned), skeleton(&document));
        // A document in memory is cleaned without the prefilter, which settles most lines.
        let expected = redactor.clean_value(document, &mut Report::default()).into_inner();
        prop_assert_eq!(cleaned, expected);
    }

    #[test]
    fn any_bytes_are_cleaned_for_good(pieces in prop::collection::vec(prop_oneof![
        piece().prop_map(String::into_bytes), prop::collection::vec(any::<u8>(), 0..6)], 0..6))
    {
        let redactor = Redactor::builtin();
        let bytes = pieces.concat();
        let once = clean_line(&redactor, &bytes);
        prop_assert_eq!(&clean_line(&redactor, &once), &once);
        let _ = redactor.clean_bytes(&bytes, &mut Report::default());
        let _ = redactor.blank_json_line(&bytes, &mut Report::default());
    }

    #[test]
    fn user_rules_are_stable_too(text in text(), pattern in prop::sample::select(vec!["[a-z]+[0-9]", "p.*e", "(?s).+", "red|priv", r"\]", r"\[(?P<secret>.)"])) {
        let rules = [UserRule { name: "mine".to_owned(), pattern: pattern.to_owned() }];
        let redactor = Redactor::new(&rules, &[]).unwrap();
        let once = redactor.clean_text(&text, &mut Report::default()).into_inner();
        let twice = redactor.clean_text(&once, &mut Report::default()).into_inner();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn nothing_between_tags_is_left(before in "[a-z ]{0,8}", inside in "[0-9]{6}", after in "[a-z ]{0,8}", closed: bool) {
        let text = format!("{before}<private>{inside}{}{after}", if closed { "</private>" } else { "" });
        let line = json!({ "a": [{ "text": text }] }).to_string();
        let cleaned = String::from_utf8(clean_line(&Redactor::builtin(), line.as_bytes())).unwrap();
        prop_assert!(!cleaned.contains(&inside));
        prop_assert_eq!(cleaned.contains(&format!("[private]{after}")), closed || after.is_empty());
    }

    #[test]
    fn blanking_leaves_no_word(words in prop::collection::vec("[a-z]{3,9} [a-z]{3,9}", 4)) {
        let record = json!({
            "type": "user", "uuid": "u-1", "cwd": words[0],
            "message": { "role": "user", "content": [{ "type": "text", "text": words[1] }, words[2]] },
            "toolUseResult": { "type": words[3], "name": "x" },
        });
        let redactor = Redactor::builtin();
        let mut report = Report::default();
        let blanked = redactor.blank_json_line(record.to_string().as_bytes(), &mut report).into_inner();
        let blanked = String::from_utf8(blanked).unwrap();
        prop_assert!(words.iter().all(|word| !blanked.contains(word.as_str())));
        let value: Value = serde_json::from_str(&blanked).unwrap();
        prop_assert_eq!(skeleton(&value), skeleton(&record));
        prop_assert_eq!(&value["uuid"], "u-1");
        prop_assert_eq!(report.private, 1);
    }
}

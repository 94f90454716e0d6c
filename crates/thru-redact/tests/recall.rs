//! The share of secrets that is found in a made-up corpus, and that nothing harmless is taken for one.
//!
//! `cargo test -p thru-redact --test recall -- --ignored --nocapture` tries all of the corpus and prints what is missed.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;

use corpus::{Case, Class};
use thru_redact::{Redactor, Report};

mod corpus;

/// One case in this many is tried where seconds count. Has no divisor in common with the number of settings.
const STEP: usize = 11;

/// Cleans the text as it is, and as a string of a record.
fn cleaned(redactor: &Redactor, text: &str) -> [String; 2] {
    let report = &mut Report::default();
    let plain = redactor.clean_text(text, report).into_inner();
    let line = serde_json::json!({ "type": "user", "content": text }).to_string();
    let line = redactor.clean_json_line(line.as_bytes(), report).into_inner();
    let record: serde_json::Value = serde_json::from_slice(&line).unwrap();
    [plain, record["content"].as_str().unwrap().to_owned()]
}

/// The cases tried and missed.
#[derive(Default)]
struct Count {
    tried: usize,
    missed: usize,
}

impl Count {
    fn add(&mut self, missed: bool) {
        self.tried += 1;
        self.missed += usize::from(missed);
    }

    /// Returns the share that was found, in a thousand.
    fn found(&self) -> usize {
        1000 - 1000 * self.missed / self.tried
    }
}

/// Counts what is found by class, and calls `on_miss` with each case that is not, and with each whose surroundings went too.
fn count(
    step: usize,
    mut on_miss: impl FnMut(&Case, &str),
    mut on_loss: impl FnMut(&Case, &str),
) -> BTreeMap<Class, Count> {
    let redactor = Redactor::builtin();
    let mut counts: BTreeMap<Class, Count> = BTreeMap::new();
    for case in corpus::cases(step) {
        let texts = cleaned(&redactor, &case.text);
        let left = texts.iter().find(|text| case.leak(text).is_some());
        if let Some(text) = left {
            on_miss(&case, text);
        }
        if let Some(text) = texts.iter().find(|text| case.lost(text).is_some()) {
            on_loss(&case, text);
        }
        counts.entry(case.class).or_default().add(left.is_some());
    }
    counts
}

#[test]
fn secrets_of_all_kinds_are_found_in_all_settings() {
    let (mut missed, mut lost) = (String::new(), String::new());
    let told = |case: &Case, text: &str| format!("{} in {}: {text:?}\n", case.kind, case.setting);
    let counts = count(
        STEP,
        |case, text| missed.push_str(&told(case, text)),
        |case, text| lost.push_str(&told(case, text)),
    );
    assert!(lost.is_empty(), "what is around them went too:\n{lost}");
    for (class, least) in [(Class::Form, 995), (Class::Name, 985), (Class::Hard, 940)] {
        let found = counts[&class].found();
        assert!(found >= least, "{class:?}: {found} of 1000\n{missed}");
    }
}

#[test]
#[ignore = "takes a minute; prints what is missed"]
fn the_whole_corpus_in_detail() {
    let (mut kinds, mut settings): (BTreeMap<_, usize>, BTreeMap<_, usize>) = Default::default();
    let tell = |what: &str, case: &Case, text: &str| {
        println!("{what}: {} in {}\n    {:?}\n    {text:?}", case.kind, case.setting, case.text);
    };
    let mut lost = 0;
    let on_miss = |case: &Case, text: &str| {
        *kinds.entry(case.kind).or_default() += 1;
        *settings.entry(case.setting).or_default() += 1;
        tell("missed", case, text);
    };
    let counts = count(1, on_miss, |case, text| {
        lost += 1;
        tell("too much", case, text);
    });
    println!("too much was taken of {lost}");
    println!("missed by setting {settings:#?}\nmissed by kind {kinds:#?}");
    for (class, count) in counts {
        println!(
            "{class:?}: {} of {} missed, {} of 1000 found",
            count.missed,
            count.tried,
            count.found()
        );
    }
}

#[test]
fn harmless_lines_stay() {
    let redactor = Redactor::builtin();
    let lines = corpus::harmless(2);
    assert!(lines.len() > 900);
    let wrong: Vec<_> = lines
        .iter()
        .flat_map(|line| cleaned(&redactor, line).into_iter().filter(move |text| text != line))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

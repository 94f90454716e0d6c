//! Sentences as titles in the imperative: what an agent says it did or will do, and what a person asks
//! for.

use crate::text::{capitalised, plain, uncapitalised};
use crate::title::{shaped, without_doubts};
use crate::verbs;

/// The quality of a sentence as a statement of completed work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// It describes a state.
    State,
    /// It describes an action, with an action verb.
    Action,
}

/// Phrases with which agents lead up to the point, in lower case.
#[rustfmt::skip]
const OPENERS: [&str; 76] = ["no", 
    "perfect", "great", "excellent", "awesome", "wonderful", "fantastic", "nice", "good",
    "success", "done", "all done", "all set", "sure", "okay", "ok", "alright", "right", "yes",
    "now", "also", "so", "and", "then", "finally", "first", "next", "here we go", "got it",
    "i see", "i see it", "found it", "found the issue", "found the problem", "i found the issue",
    "i found it", "you're right", "you're absolutely right", "you are right", "good catch",
    "good point", "good question", "great question", "absolutely", "of course", "in short",
    "in summary", "summary", "to summarize", "short answer", "key finding", "key insight",
    "conclusion", "result", "fix", "the fix", "the result", "update", "status", "note",
    "confirmed", "ah", "oh", "hmm", "looks good", "looking good", "that works", "good news",
    "build succeeds", "tests pass", "all tests pass", "the issue", "root cause", "the problem",
    "clean", "interesting",
];

/// Beginnings that are dropped from a sentence to make a title, in lower case.
#[rustfmt::skip]
const SUBJECTS: [&str; 21] = ["gone ahead and ", 
    "i've successfully ", "i have successfully ", "successfully ", "i've now ", "i have now ",
    "i've also ", "i've ", "i’ve ", "i have ", "we've ", "we have ", "i just ", "i also ",
    "i then ", "i ", "we ", "also ", "just ", "now ", "you've ",
];

/// Words that refer to something the title does not show.
#[rustfmt::skip]
const POINTERS: [&str; 22] = [
    "it", "its", "it's", "this", "that", "that's", "these", "those", "they", "them", "both", "he",
    "she", "here", "here's", "there", "there's", "everything", "all", "same", "none", "which",
];

/// Returns `sentence` without the phrases that lead up to the point.
pub(crate) fn without_openers(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    for _ in 0..4 {
        let end = rest
            .char_indices()
            .take(48)
            .find(|(_, c)| matches!(c, '!' | '.' | ',' | ':' | '—' | '–' | '-'))
            .map(|(at, c)| (at, c.len_utf8()));
        let Some((at, width)) = end else { break };
        let opener = rest[..at].trim().to_ascii_lowercase();
        let is_separate =
            rest[at + width..].starts_with([' ', '\n', '!']) || at + width == rest.len();
        // "Next: write the schema" says that it is not written.
        let is_step = opener == "next" && rest[at..].starts_with(':');
        if !is_separate || is_step || !OPENERS.contains(&opener.as_str()) {
            break;
        }
        let after = rest[at + width..].trim_start_matches(['!', '.', ' ', '-', '—']);
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

/// Returns true if the first word refers to something unnamed.
pub(crate) fn points_elsewhere(sentence: &str) -> bool {
    let word = sentence.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    POINTERS.contains(&word.trim_end_matches([',', ':', '.']))
}

/// Turns a sentence about completed work into a title.
pub(crate) fn of_action(sentence: &str) -> Option<(String, Strength)> {
    let sentence = plain(sentence);
    let sentence = without_label(without_openers(&sentence));
    if is_fragment(sentence)
        || sentence.ends_with('?')
        || sentence.ends_with(':') && sentence.len() < 30
    {
        return None;
    }
    let rest = without_subject(sentence);
    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    if let Some(imperative) = verbs::imperative(first) {
        let object = after.trim();
        let goes_somewhere =
            matches!(imperative, "Switch" | "Move" | "Change" | "Migrate" | "Convert" | "Upgrade")
                && (object.starts_with("to ") || object.starts_with("from "));
        let is_whole = goes_somewhere || names_its_object(object);
        if object.split_whitespace().count() >= 2 && is_whole {
            let title = format!("{imperative} {}", in_step(object));
            return Some((shaped(&title), Strength::Action));
        }
        return None;
    }
    of_passive(sentence)
}

/// Turns "a and applied it" into "a and apply it": later verbs follow the form of the first.
fn in_step(object: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in object.split(' ') {
        let follows = words.last().is_some_and(|before| {
            before == "and" || before == "then" || before.ends_with([',', ':'])
        });
        let imperative =
            if follows && word.ends_with("ed") { verbs::imperative(word) } else { None };
        words.push(imperative.map_or_else(|| word.to_owned(), str::to_lowercase));
    }
    words.join(" ")
}

/// Turns "Parser: Added x" and "src/parser.rs - Added x" into "Added x".
fn without_label(sentence: &str) -> &str {
    let first = sentence.split(' ').next().unwrap_or_default();
    if verbs::imperative(first).is_some() {
        return sentence;
    }
    for separator in [": ", " - ", " — ", " – "] {
        if let Some((label, rest)) = sentence.split_once(separator)
            && label.len() < 90
            && rest.split(' ').next().is_some_and(|first| verbs::imperative(first).is_some())
        {
            return rest;
        }
    }
    sentence
}

/// Returns true if the sentence continues an earlier one.
pub(crate) fn is_fragment(sentence: &str) -> bool {
    const JOINTS: [&str; 10] =
        ["or", "and", "but", "because", "which", "so", "then", "where", "nor", "plus"];
    let word = sentence.split_whitespace().next().unwrap_or_default();
    JOINTS.iter().any(|joint| joint.eq_ignore_ascii_case(word.trim_end_matches(',')))
}

/// Returns true if a sentence claims that something was done, well phrased or not.
pub(crate) fn is_deed(sentence: &str) -> bool {
    let sentence = plain(sentence);
    let sentence = without_openers(&sentence);
    // "We configured x" is about earlier times.
    let sentence = without_label(sentence);
    let rest = if sentence.starts_with("We ") || sentence.starts_with("we ") {
        ""
    } else {
        without_subject(sentence)
    };
    rest.split_whitespace().next().is_some_and(|first| verbs::imperative(first).is_some())
}

/// Returns true if the verb has a real object, unlike "Persisted to disk" and "Fixed it".
fn names_its_object(object: &str) -> bool {
    let word = object.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let is_joint = matches!(
        word.as_str(),
        "by" | "to"
            | "in"
            | "on"
            | "at"
            | "from"
            | "when"
            | "with"
            | "as"
            | "for"
            | "and"
            | "or"
            | "via"
            | "if"
            | "but"
            | "successfully"
            | "up"
            | "out"
    );
    !is_joint && (word == "both" || word == "all" || !points_elsewhere(object))
}

/// Turns "The index was rebuilt" into "Rebuild the index".
fn of_passive(sentence: &str) -> Option<(String, Strength)> {
    #[rustfmt::skip]
    const LINKS: [&str; 6] = [
        " has been successfully ", " have been successfully ", " has been ", " have been ",
        " is now ", " are now ",
    ];
    if points_elsewhere(sentence) {
        return None;
    }
    if let Some(state) = sentence.strip_prefix("Now the ") {
        return Some((shaped(&format!("The {state}")), Strength::State));
    }
    for link in LINKS {
        let Some((subject, after)) = sentence.split_once(link) else { continue };
        let words = subject.split_whitespace().count();
        let is_whole = !subject.contains([',', ';', ':', '—', '('])
            && !["or ", "and ", "but ", "if ", "when ", "since ", "because ", "as "]
                .iter()
                .any(|joint| subject.to_lowercase().starts_with(joint));
        if words == 0 || words > 7 || !is_whole {
            return None;
        }
        let (verb, rest) = after.split_once([' ', '.']).unwrap_or((after, ""));
        let Some(imperative) = verbs::imperative(verb.trim_end_matches('.')) else {
            let says_now = link.contains(" now ");
            return says_now.then(|| (shaped(sentence), Strength::State));
        };
        let title = format!("{imperative} {} {rest}", uncapitalised(subject));
        return Some((shaped(&title), Strength::Action));
    }
    let first = sentence.split([' ', '\'', '’']).next().unwrap_or_default().to_lowercase();
    let is_talk =
        ["i", "we", "you", "let", "can", "please", "if", "once"].contains(&first.as_str());
    (!is_talk && sentence.contains(" now ")).then(|| (shaped(sentence), Strength::State))
}

pub(crate) fn without_subject(sentence: &str) -> &str {
    let mut rest = sentence;
    for _ in 0..2 {
        let lower: String = rest.chars().take(24).collect::<String>().to_lowercase();
        let Some(subject) = SUBJECTS.iter().find(|subject| lower.starts_with(**subject)) else {
            break;
        };
        let length: usize = rest.chars().take(subject.chars().count()).map(char::len_utf8).sum();
        rest = rest[length..].trim_start();
    }
    rest
}

/// Returns a text with "the" for "our", "my" and "your": what is meant stays, and who speaks goes.
pub(crate) fn impersonal(text: &str) -> String {
    let word =
        |word: &str| match ["our", "my", "your"].iter().any(|own| own.eq_ignore_ascii_case(word)) {
            true => "the".to_owned(),
            false => word.to_owned(),
        };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Turns a person's request into a title: the imperative in it, if there is one.
pub(crate) fn of_request(sentence: &str) -> Option<String> {
    let cleaned = plain(sentence);
    let request = without_courtesy(&cleaned);
    let (first, rest) = request.split_once(' ')?;
    let is_request = verbs::is_imperative(first)
        && rest.split_whitespace().count() >= 2
        && !points_elsewhere(rest)
        && (!request.contains('?') || is_polite_question(&cleaned));
    let request = request.trim_end_matches(['?', '.', '!', ' ']);
    let request = request.strip_suffix("please").unwrap_or(request).trim_end_matches([',', ' ']);
    is_request.then(|| shaped(&without_doubts(request)))
}

fn is_polite_question(sentence: &str) -> bool {
    let lower = sentence.to_ascii_lowercase();
    ["can you", "could you", "can we", "could we", "would you", "will you", "please"]
        .iter()
        .any(|polite| lower.contains(polite))
}

/// Returns a request without "could you please" and the like.
pub(crate) fn without_courtesy(sentence: &str) -> &str {
    #[rustfmt::skip]
    const COURTESY: [&str; 48] = [
        "hmmm, ", "hmmm ", "uuum, ", "ahh ", "ah ", "sorry, ", "please ", "pls ", "pelase ",
        "can you ", "could you ", "would you ", "will you ", "can we ", "could we ", "lets ",
        "let's ", "let us ", "ok ", "okay ", "ok, ", "okay, ", "now ", "now, ", "also ", "also, ",
        "and ", "so ", "so, ", "great, ", "great. ", "thanks! ", "thanks. ", "thanks, ", "perfect, ",
        "hmm, ", "hey ", "hi ", "hi, ", "yes, ", "yes please ", "yeah please ",
        "i want you to ", "i'd like you to ", "i need you to ", "we need to ", "you need to ",
        "just ",
    ];
    let mut rest = sentence.trim();
    for _ in 0..5 {
        let Some(courtesy) = COURTESY.iter().find(|courtesy| {
            rest.get(..courtesy.len()).is_some_and(|start| start.eq_ignore_ascii_case(courtesy))
        }) else {
            break;
        };
        rest = rest[courtesy.len()..].trim_start();
    }
    rest
}

/// Turns a cause into the title of its repair: "The problem was a race" becomes "Fix a race". Returns
/// `None` if the sentence does not say that something was wrong.
pub(crate) fn of_cause(title: &str) -> Option<String> {
    let (head, rest) = title.split_once(" was ").or_else(|| title.split_once(" is "))?;
    let head = head.to_lowercase();
    let names_trouble =
        ["the issue", "the problem", "the bug", "the cause", "the root cause", "the real issue"]
            .contains(&head.as_str());
    if !names_trouble {
        return None;
    }
    match rest.strip_prefix("that ") {
        Some(clause) => Some(capitalised(clause)),
        None if rest.starts_with("a ") || rest.starts_with("an ") => Some(format!("Fix {rest}")),
        None => Some(capitalised(title)),
    }
}

/// Turns the agent's announcement of its next step into a title.
pub(crate) fn of_announcement(sentence: &str) -> Option<String> {
    #[rustfmt::skip]
    const ANNOUNCEMENTS: [&str; 17] = [
        "let me ", "let's ", "i'll ", "i’ll ", "i will ", "i'm going to ", "i need to ", "i'm ", "i’m ", "i am ",
        "we need to ", "i should ", "time to ", "going to ", "start by ", "starting with ",
        "i'll start by ",
    ];
    let cleaned = plain(sentence);
    let mut rest = without_openers(&cleaned);
    if let Some(now) = rest.strip_prefix("Now ").or_else(|| rest.strip_prefix("Next ")) {
        rest = now.trim_start_matches(',').trim_start();
    }
    let lower = rest.to_ascii_lowercase();
    let mut is_announced = false;
    for announcement in ANNOUNCEMENTS {
        if let Some(at) = lower.find(announcement)
            && (at == 0 || at < 60 && !lower[..at].contains(". "))
        {
            rest = rest.get(at + announcement.len()..).unwrap_or_default();
            is_announced = true;
            break;
        }
    }
    for filler in ["now ", "also ", "first ", "go ahead and ", "quickly ", "just "] {
        rest = rest.strip_prefix(filler).unwrap_or(rest);
    }
    let (first, object) = rest.split_once(' ')?;
    let imperative = match verbs::imperative_of_gerund(first) {
        Some(imperative) => imperative.to_owned(),
        None if is_announced && is_worth_announcing(first) => capitalised(first),
        None => return None,
    };
    let object = object.trim();
    (object.split_whitespace().count() >= 2 && !points_elsewhere(object))
        .then(|| shaped(&format!("{imperative} {object}")))
}

fn is_worth_announcing(verb: &str) -> bool {
    #[rustfmt::skip]
    const IDLE: [&str; 18] = [
        "wait", "let", "show", "track", "check", "read", "look", "see", "find", "run", "verify",
        "search", "explore", "investigate", "do", "continue", "test", "try",
    ];
    verbs::is_imperative(verb) && !IDLE.iter().any(|idle| idle.eq_ignore_ascii_case(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(sentence: &str) -> String {
        of_action(sentence).map(|(title, _)| title).unwrap_or_default()
    }

    #[test]
    fn a_step_keeps_its_label() {
        assert_eq!(without_openers("Done. Next, glaze it."), "glaze it.");
        assert_eq!(without_openers("Done. Next: glaze the kiln."), "Next: glaze the kiln.");
    }

    #[test]
    fn actions_become_titles() {
        for (said, title) in [
            (
                "Perfect! I've fixed the lost update in `index.rs`.",
                "Fix the lost update in index.rs",
            ),
            ("**Added** a lock per file — it works.", "Add a lock per file — it works"),
            ("The session index has been rebuilt.", "Rebuild the session index"),
            (
                "Done. Updated the changelog to name the new flag.",
                "Update the changelog to name the new flag",
            ),
            ("`npm run check` now passes.", "npm run check now passes"),
            ("All done.", ""),
            ("Fixed it.", ""),
            ("Should I add tests?", ""),
        ] {
            assert_eq!(action(said), title, "{said}");
        }
    }

    #[test]
    fn causes_become_repairs() {
        assert_eq!(
            of_cause("The problem was a race in the watcher").unwrap(),
            "Fix a race in the watcher"
        );
        assert_eq!(of_cause("The issue was that the cache grew").unwrap(), "The cache grew");
        assert_eq!(of_cause("The parser was a joy"), None);
    }

    #[test]
    fn requests_and_announcements_become_titles() {
        assert_eq!(
            of_request("can you please fix the parser for tabs?").unwrap(),
            "Fix the parser for tabs"
        );
        assert_eq!(of_request("ok, is it done"), None);
        assert_eq!(
            of_announcement("Now let me add the retry loop:").unwrap(),
            "Add the retry loop"
        );
        assert_eq!(
            of_announcement("I’m removing the cone table from the kiln profile too.").unwrap(),
            "Remove the cone table from the kiln profile too"
        );
        assert_eq!(of_announcement("I'm checking the logs again."), None);
        assert_eq!(of_announcement("Let me check the logs."), None);
    }
}

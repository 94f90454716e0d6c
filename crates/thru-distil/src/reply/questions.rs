//! Questions: what they ask for, and what only asks how to go on.

use std::sync::LazyLock;

use crate::pattern::Regex;

use super::words::without_softeners;
use crate::pattern;
use crate::text::capitalised;
use crate::verbs;

/// Proposals about how to go on, which decide nothing about the work.
static PROCEDURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:go\s+ahead\s+(?:and|with)\s+|just\s+|now\s+|also\s+|please\s+|then\s+|yes,?\s+)*
        (?: commit | push | pull | merge | rebase | open\s+(?:a|the|another)?\s*(?:draft\s+)?(?:pr|pull) | create\s+(?:a|the|another)?\s*(?:draft\s+|new\s+)?(?:pr|pull|branch|commit) | ship | publish | deploy | release
          | run | re-?run | test | check | verify | validate | try | retry | start | restart | stop | kill | continue | proceed | resume | keep\s+going | finish | move\s+on
          | show | view | see | explain | walk | tell | elaborate | look | review | investigate | dig | explore | search | find | read | inspect | analy[sz]e | debug | diagnose | trace | monitor
          | do\s+(?:that|it|this|so) | help | discuss | talk | clarify | ask | wait | done | next | skip\s+ahead | more\s+questions? | save | give | send | pick\s+(?:that|this|it)\s+up | open | close | clean\s+up | delete\s+(?:the\s+)?(?:branch|worktree) | anything | something | create\s+context | generate\s+(?:a\s+)?(?:test|report|summary)
          | research | re-?plan | confirm | double.check | git )\b",
    )
});

/// Returns true if the text only says how to go on.
pub(crate) fn is_procedure(text: &str) -> bool {
    PROCEDURE.is_match(text.trim())
}

/// Returns true if the sentence is a question, with or without a question mark.
pub(crate) fn asks(sentence: &str) -> bool {
    #[rustfmt::skip]
    const ASKING: [&str; 61] = [
        "can", "could", "what", "whats", "what's", "why", "how", "hows", "is", "isn't", "are", "aren't", "does",
        "doesn't", "do", "did", "didn't", "should", "shouldn't", "would", "wouldn't", "will", "won't", "was", "were",
        "has", "have", "haven't", "which", "who", "where", "when", "whether", "any", "hy", "wondering",
        "explain", "tell", "describe", "show", "check", "investigate", "find", "look", "confirm", "verify", "review",
        "analyse", "analyze", "compare", "summarize", "summarise", "list", "kannst", "könntest", "was", "warum",
        "wie", "wieso", "gibt", "soll",
    ];
    let lower = sentence.to_lowercase();
    let mut words = without_softeners(&lower).split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_imperative = first == "do"
        && ["not", "the", "a", "it", "that", "this", "so", "both"].contains(&second)
        || first == "have" && !["you", "we", "they", "i"].contains(&second)
        || first == "what" && second == "i"
        || first == "any" && lower.contains(" should ")
        || first == "when" && lower.contains(',');
    let ends_open = lower.ends_with('?')
        || lower.starts_with("wait,")
        || lower.ends_with(" right")
        || lower.ends_with(" or not")
        || lower.ends_with(" correct")
        || lower.contains("do you think")
        || lower.contains("do you know")
        || lower.contains("let me know")
        || lower.contains("question is");
    ends_open || ASKING.contains(&first) && !is_imperative
}

/// Returns true for a question that is answered with more than yes or no.
pub(crate) fn asks_openly(question: &str) -> bool {
    const OPEN: [&str; 8] = ["what", "which", "where", "when", "who", "why", "how", "or"];
    let first = question.split_whitespace().next().unwrap_or_default().to_lowercase();
    OPEN.contains(&first.trim_end_matches("'s"))
}

/// Words of questions about how things should be.
static DECIDABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?: should | prefer(?:ence|red)? | want | like | rather | ok(?:ay)? | acceptable | fine\s+with | happy\s+with | which\s+(?:one|of|\w+\s+(?:should|would)) | name | call\s+it | default | go\s+with | keep | allowed? | sollen | soll | möchtest )\b",
    )
});

/// Questions about the conversation, or about what a person sees.
static TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?: work\s+on\s+next | do\s+next | next\s+step | tackle | anything\s+else | something\s+else | clarify | discuss | explore | talk | look\s+like | happen(?:s|ed|ing)? | see(?:ing)? | show(?:s|ing)? | share | paste | confirm | check | try | test | more\s+detail | proceed | continue | start\s+with | right\s+now | help | excited | concern | intuition | think(?:ing)? | stuck | another\s+shot )\b",
    )
});

/// Returns true if a question asks how things should be.
pub(crate) fn asks_for_decision(question: &str) -> bool {
    let shows = |shape: &LazyLock<Regex>| shape.is_match(question);
    shows(&DECIDABLE) && !shows(&TALK)
}

/// Questions that a yes turns into a decision.
static AGREEABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:so\s+|and\s+)?(?:
          (?:are\s+you\s+|is\s+it\s+)?(?:ok(?:ay)?|fine|happy|all\s+right)\s+(?:with\s+)?(?P<gerund>[a-z]+ing)\b
        | (?:should|shall|can)\s+we\s+(?P<verb>[a-z]+)\b )\s+(?P<rest>\S.*)$",
    )
});

/// Returns what a person decides with "yes" to a question: "Are you okay replacing the relay?" becomes "Replace the
/// relay".
pub(crate) fn agreed_to(question: &str) -> Option<String> {
    let found = AGREEABLE.captures(question.trim_end_matches(['?', ' ']))?;
    let verb = match (found.name("gerund"), found.name("verb")) {
        (Some(gerund), _) => verbs::imperative_of_gerund(gerund.as_str())?.to_owned(),
        (None, verb) => capitalised(verb?.as_str()),
    };
    let rest = found.name("rest")?.as_str();
    (!rest.contains(" or ")).then(|| format!("{verb} {rest}"))
}

/// Returns the first question in a text, without what follows it.
pub(crate) fn question_of(text: &str) -> &str {
    text.find('?').map_or(text, |at| &text[..=at])
}

/// Returns a question without its first words: "Should I commit?" becomes "commit?".
pub(crate) fn offered(question: &str) -> String {
    let lower = question.to_lowercase();
    let start = [
        "should i ",
        "shall i ",
        "do you want me to ",
        "want me to ",
        "would you like me to ",
        "do you want to ",
        "would you like to ",
    ];
    start.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or(&lower).to_owned()
}

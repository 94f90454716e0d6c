//! Wording: a sentence of the agent as a title that stands without those around it.

use std::sync::LazyLock;

use crate::pattern::{Captures, Regex};

use crate::agent_text::{foretells, is_label_line, is_meta};
use crate::cue;
use crate::gate::{is_balanced, is_name, is_understood, stands_alone};
use crate::pattern;
use crate::phrase;
use crate::reply;
use crate::text::{self, capitalised, uncapitalised};
use crate::title;
use crate::verbs;

/// A sentence as a title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    pub(crate) title: String,
    /// True if it advises.
    pub(crate) is_advice: bool,
    /// True if it names something: code, a number, a proper name.
    pub(crate) is_named: bool,
    /// What it loses because a part of the sentence is left out.
    pub(crate) lost: i32,
    /// True if it holds only under a condition that is left out.
    pub(crate) is_partial: bool,
}

/// What the sentence before tells about the pronouns of the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    /// Its subject.
    subject: Option<String>,
    /// The last name of code in it.
    name: Option<String>,
}

/// Words that lead up to an answer.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:
          (?: (?:mostly\s+|probably\s+)?yes | yep | no | nope | correct | exactly | right | agreed | slightly | mostly | partly | (?:the\s+)?short\s+answer | in\s+short | bottom\s+line
            | (?:(?:my|the)\s+)?(?:honest\s+|short\s+|final\s+|revised\s+)?(?:recommendation|verdict|take|read|view|conclusion) | in\s+other\s+words | \w+\s+says | (?:so\s+)?the\s+(?:practical|simple|short|honest)\s+answer\s+is ) \s*[,:;.—–-]\s+
          | (?: (?:my|the)\s+(?:honest\s+|short\s+)?(?:recommendation|verdict|take|read|view|conclusion|answer)\s+is(?:\s+(?:to|that))?
            | i(?:\s+would|['’]d)?\s+(?:think|believe|suspect|guess|say)(?:\s+that)? | it\s+(?:looks|seems)\s+(?:like|that) | looks\s+like
            | (?:it|this|that|which)\s+(?:also\s+)?means(?:\s+that)? | (?:so|then)\s+yes,?
            | so | then | also | and | actually | technically | honestly | basically | practically ) [\s,:]+ )",
    )
});

/// Advice of the agent, up to its verb.
static ADVICE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:i|we)(?:['’]d|\s+would) | (?:you|we)\s+(?:should|need\s+to|must|have\s+to) | i)\s+
        (?:(?:also|still|just|probably|strongly|simply|then|slightly|only)\s+)*
        (not\s+)?(?:(?:recommend|suggest|propose|advise|prefer)(?:ing)?\s+(?:to\s+)?(not\s+)?(.+) | (.+))$",
    )
});

/// A phrase before the subject, without which the sentence stands as well.
static FRONTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^((?:In|For|With|On|At|From|After|Given|Under|As of|By|When|Without|During|Today|Currently|Because)\b[^,.;:]{2,80}),\s+(.{20,})$",
    )
});

/// "The problem is that …", with its doubt.
static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:the|that|this)\s+(?:[a-z-]+\s+){0,2}(?:cause|reason|problem|issue|culprit|catch)\s+
        (?:is|was|(might\s+be|may\s+be|could\s+be|is\s+(?:probably|likely)|seems\s+to\s+be|appears\s+to\s+be))\s+that\s+(.+)$",
    )
});

/// A relative clause that only says who meets the thing.
static MET: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\s(?:that\s|which\s)?(?:you|we|i)\s(?:(?:should|can|need\s+to|have\s+to|must|would|just|currently)\s)?(?:use|need|have|want|see|saw|found|linked|built)\b",
    )
});

/// Addresses of issues and pull requests.
static TICKET: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"https?://[^\s/()]+/[^\s/()]+/([^\s/()]+)/(?:-/)?(?:issues|pull|merge_requests)/(\d+)[^\s)]*",
    )
});

/// Length up to which a fronted phrase may follow the sentence in brackets, in characters.
const ASIDE: usize = 32;

/// Least length of a sentence that is cut before a phrase, in characters.
const CUT: usize = 32;

/// What a title loses that ends before a clause, and before a phrase of its sentence.
const CLAUSE: i32 = 2;
const PHRASE: i32 = 4;

impl Before {
    /// Returns what a sentence tells about the pronouns of the next.
    pub(crate) fn of(sentence: &str) -> Self {
        Self {
            subject: subject(sentence),
            name: text::unmarked(sentence).split('`').nth(1).map(str::to_owned),
        }
    }
}

/// Returns the subject of a sentence: the words before its verb, if they name something.
fn subject(sentence: &str) -> Option<String> {
    let plain = text::plain(phrase::without_openers(sentence));
    let words: Vec<&str> = plain.split_whitespace().take(9).collect();
    let verb = words.iter().position(|word| is_known_verb(word))?;
    let subject = words.get(..verb).filter(|words| (1..=7).contains(&words.len()))?;
    let named = subject.iter().any(|word| is_name(word)) && stands_alone_as_subject(subject);
    (named && !subject.iter().any(|word| word.ends_with([',', ':', ';'])))
        .then(|| subject.join(" "))
}

fn stands_alone_as_subject(words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or_default();
    !phrase::points_elsewhere(first)
        && !phrase::is_fragment(first)
        && !words.iter().any(|word| is_person(word) || *word == "and")
        && !["if", "when", "as", "since", "for", "in", "by", "with", "on"]
            .iter()
            .any(|joint| joint.eq_ignore_ascii_case(first))
}

fn is_person(word: &str) -> bool {
    ["i", "you", "we", "me", "us"].iter().any(|person| person.eq_ignore_ascii_case(word))
}

/// Returns `text` with "repository#12" for the addresses of issues and pull requests.
fn with_tickets(text: &str) -> String {
    TICKET
        .replace_each(text, |found: &Captures<'_>| format!("{}#{}", &found[1], &found[2]))
        .into_owned()
}

/// A fragment that answers, with its reason.
static REASONED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"(?i)^(?:not?|yes|only)\b[^,.;]{0,40},\s+(?:because|since|as)\s+(.{20,})$")
});

/// Returns a sentence as a title.
pub(crate) fn stated(sentence: &str) -> Option<Wording> {
    stated_after(sentence, &Before::default())
}

/// Returns a sentence as a title, its pronouns told by the sentence before.
pub(crate) fn stated_after(sentence: &str, before: &Before) -> Option<Wording> {
    let plain = with_tickets(&text::plain(sentence));
    let mut rest = phrase::without_openers(&plain);
    if rest.ends_with('?') {
        return None;
    }
    let (mut aside, mut is_partial) = (None, false);
    let (mut is_suspected, mut is_recommended) = (false, false);
    for _ in 0..4 {
        if let Some(opening) = OPENING.find(rest) {
            is_recommended |= opening.as_str().to_lowercase().contains("recommendation");
            rest = &rest[opening.end()..];
        } else if let Some(cause) = CAUSE.captures(rest) {
            is_suspected |= cause.get(1).is_some();
            rest = cause.get(2)?.as_str();
        } else if let Some(reasoned) = REASONED.captures(rest) {
            rest = reasoned.get(1)?.as_str();
        } else if let Some(reason) = rest.strip_prefix("Because ").filter(|one| !one.contains(", "))
        {
            rest = reason;
        } else if let Some(fronted) = FRONTED.captures(rest) {
            let phrase = fronted.get(1)?.as_str();
            rest = fronted.get(2)?.as_str();
            is_partial |= restricts(phrase);
            aside = (places(phrase) || restricts(phrase)).then_some(phrase).or(aside);
        } else {
            break;
        }
    }
    let rest = without_hint(rest);
    if is_labelled(rest)
        || rest.starts_with("No more ")
        || phrase::is_fragment(rest)
        || foretells(rest)
        || is_meta(rest)
        || is_label_line(rest)
    {
        return None;
    }
    let told = MET.replace(rest, "").into_owned();
    let told = if told.split_whitespace().count() >= 5 { told } else { rest.to_owned() };
    let rest = resolved(&told, before);
    let advised = advice(&rest, before)?;
    let first = rest.split(' ').next().unwrap_or_default();
    let is_advice =
        matches!(advised, Some((_, true))) || is_recommended && verbs::is_imperative(first);
    let named = phrase::impersonal(&with_article(&rest));
    let said = advised.map_or(named, |(title, _)| phrase::impersonal(&title));
    // "I would keep the settings shared:" says it, "It works like this:" does not.
    if said.ends_with(':') && !is_advice && cue::weight(sentence) < 4 {
        return None;
    }
    let said = said.trim_end_matches(['.', ':', ' ']);
    let said = [" here", " with"].iter().find_map(|end| said.strip_suffix(end)).unwrap_or(said);
    if said.ends_with(" is") || said.ends_with(" are") {
        return None;
    }
    let (title, lost) = fitted(said)?;
    let mut title = as_written(title, sentence);
    if let Some(phrase) = aside
        && let aside = uncapitalised(phrase)
        && title.chars().count() + aside.chars().count() + 3 <= title::LENGTH
        && !title.contains(last_word(&aside))
        && (!restricts(phrase) || stands_alone(&format!("{title} ({aside})")))
    {
        title = format!("{title} ({aside})");
        is_partial &= !restricts(phrase);
    }
    if is_suspected && title.chars().count() + 12 <= title::LENGTH {
        title.push_str(" (suspected)");
    }
    let words = title.split_whitespace().count();
    let gated = without_known_pronouns(&title);
    let gated =
        ["Neither ", "Only "].iter().find_map(|one| gated.strip_prefix(one)).unwrap_or(&gated);
    let is_title = match is_advice {
        true => is_understood(gated, 1),
        false => {
            stands_alone(gated)
                && has_verb(&title)
                && !is_definition(&title)
                && (!title.contains(" = ") || sentence.starts_with("**"))
        }
    };
    let is_named = names(&title, sentence);
    (words >= 4 && is_title && !title.starts_with('/') && !points_at_option(&title))
        .then_some(Wording { title, is_advice, is_named, lost, is_partial })
}

/// Verbs of the procedure, with which a report of an order begins.
const ACTED: [&str; 14] = [
    "checked",
    "closed",
    "confirmed",
    "filed",
    "opened",
    "posted",
    "pulled",
    "pushed",
    "recorded",
    "reran",
    "reviewed",
    "sent",
    "spawned",
    "verified",
];

/// Returns true for a sentence about what the agent did, in the past tense: "Deleted the stale branch".
pub(crate) fn is_deed(sentence: &str) -> bool {
    let plain = text::plain(sentence);
    let rest = phrase::without_openers(&plain);
    let first = phrase::without_subject(rest).split(' ').next().unwrap_or_default();
    let has_acted = ACTED.iter().any(|acted| acted.eq_ignore_ascii_case(first));
    (has_acted || phrase::is_deed(rest)) && !foretells(rest) && !rest.ends_with('?')
}

/// Returns true if what is said ends with a hint at its detail, which is what matters.
pub(crate) fn hints(sentence: &str) -> bool {
    let plain = text::plain(sentence);
    without_hint(&plain).len() < plain.len()
}

/// Returns a line as a title that ends where a thought ends, and what it loses by that.
fn fitted(line: &str) -> Option<(String, i32)> {
    const JOINTS: [&str; 9] =
        [" if ", " unless ", " to ", " because ", " when ", " while ", " that ", " or ", " for "];
    let line = line.replace(".”", "”");
    let title = title::shaped(&line);
    let bare = title::without_asides(&line);
    if bare.chars().count() <= title::LENGTH {
        return (!title.ends_with('…')).then_some((title, 0));
    }
    let is_whole = !title.ends_with('…');
    let room = bare.char_indices().nth(title::LENGTH).map_or(bare.len(), |(at, _)| at);
    let start = &bare[..room];
    let ends = |joint: &&str| {
        let at = start.rfind(*joint)?;
        // "From a to b" and "the only one that" are no halves.
        let is_half = *joint == " to " && start[..at].contains(" from ")
            || [" one", " only", " the", " not"].iter().any(|word| start[..at].ends_with(word));
        (!is_half && start[..at].chars().count() >= CUT && is_balanced(&start[..at])).then_some(at)
    };
    // A clause is a better end than a phrase.
    let clause = [", and ", ", but ", " — ", "; "].iter().filter_map(ends).max();
    let strong = JOINTS.iter().take(if is_whole { 6 } else { 9 }).filter_map(ends).max();
    match clause.or(strong) {
        Some(end) if !is_whole || bare[..end].chars().count() > title.chars().count() => {
            Some((title::shaped(&bare[..end]), if clause.is_some() { CLAUSE } else { PHRASE }))
        }
        _ => is_whole.then_some((title, CLAUSE)),
    }
}

/// Returns true for "Context loss - The agent has …": a label without a verb, and what it stands for.
fn is_labelled(sentence: &str) -> bool {
    let label = [" - ", " — ", " – "].iter().find_map(|dash| Some(sentence.split_once(dash)?.0));
    label.is_some_and(|label| {
        label.split(' ').count() <= 4
            && !label.contains(['.', '_', '#', '/'])
            && !label.split(' ').any(is_known_verb)
    })
}

/// Returns true if a fronted phrase says where the sentence holds: "In the kiln profile".
fn places(phrase: &str) -> bool {
    let first = phrase.split(' ').next().unwrap_or_default();
    ["in", "for", "on", "under", "with", "without", "when"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(first))
        && phrase.chars().count() <= ASIDE
        && phrase.split(' ').skip(1).any(is_name)
}

/// Returns true if a fronted phrase says when the sentence holds: "When both are set".
fn restricts(phrase: &str) -> bool {
    let first = phrase.split(' ').next().unwrap_or_default();
    ["when", "without", "under"].iter().any(|word| word.eq_ignore_ascii_case(first))
}

fn last_word(text: &str) -> &str {
    text.split(' ').next_back().unwrap_or_default()
}

/// Returns a sentence without "notice the …" at its end.
fn without_hint(sentence: &str) -> &str {
    [" — notice ", " - notice ", " — note ", " - note ", " (notice ", "; note "]
        .iter()
        .find_map(|hint| sentence.split_once(hint))
        .map_or(sentence, |(said, _)| said)
}

/// Turns "It is read-only" into "The key is read-only", where the sentence before tells the subject.
fn resolved(sentence: &str, before: &Before) -> String {
    let Some((first, after)) = sentence.split_once(' ') else { return sentence.to_owned() };
    let points = ["it", "this", "that"].iter().any(|one| one.eq_ignore_ascii_case(first));
    let verb = after.split(' ').next().unwrap_or_default();
    let is_verb = is_known_verb(verb) && !names_subject("This", after);
    match &before.subject {
        Some(subject) if points && is_verb => format!("{subject} {after}"),
        _ => sentence.to_owned(),
    }
}

/// Turns "That block is outdated", which names its subject, into "The block is outdated".
fn with_article(sentence: &str) -> String {
    match sentence.split_once(' ') {
        Some((pointer @ ("That" | "This" | "These" | "Those"), after))
            if names_subject(pointer, after) && !after.starts_with(char::is_uppercase) =>
        {
            format!("The {after}")
        }
        _ => sentence.to_owned(),
    }
}

/// Returns advice and completed work in the imperative, with true for advice. `None` for words of the author that are
/// neither.
fn advice(rest: &str, before: &Before) -> Option<Option<(String, bool)>> {
    let Some(advice) = ADVICE.captures(rest) else {
        let is_of_all = rest.starts_with("We ") || rest.starts_with("we ");
        return Some(match phrase::of_action(rest) {
            Some((title, phrase::Strength::Action)) if !is_of_all => Some((title, false)),
            _ => None,
        });
    };
    let said = advice.get(3).or(advice.get(4))?.as_str();
    let first = said.split(' ').next().unwrap_or_default();
    let after = said[first.len()..].trim_start();
    let verb = match verbs::imperative_of_gerund(first) {
        Some(verb) => verb.to_lowercase(),
        None if verbs::is_imperative(first)
            || reply::is_verb(first)
            || first.eq_ignore_ascii_case("avoid") =>
        {
            first.to_lowercase()
        }
        None => return None,
    };
    let after = match (after.split_once(' '), &before.name) {
        (Some(("it" | "this" | "that", object)), Some(name)) if !object.is_empty() => {
            format!("{name} {object}")
        }
        _ => after.to_owned(),
    };
    let is_against = advice.get(1).is_some() || advice.get(2).is_some();
    Some(Some(match is_against {
        true => (format!("Do not {verb} {after}"), true),
        false => (format!("{} {after}", capitalised(&verb)), true),
    }))
}

/// Returns a title without the pronouns that stand for something it named before: what the gate need not refuse.
fn without_known_pronouns(title: &str) -> String {
    let words: Vec<&str> = title.split(' ').collect();
    let is_known = |at: usize, word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        at >= 4
            && ["it", "its", "it's", "it’s", "they", "them", "itself"]
                .iter()
                .any(|one| one.eq_ignore_ascii_case(bare))
            && words[..at - 1].iter().enumerate().any(|(at, word)| {
                let is_subject = words.get(1).is_some_and(|verb| verb.ends_with('s'));
                is_name(word) && (at > 0 || is_subject || word.contains(['_', '.', '/', '-', '#']))
                    || at > 0 && words[at - 1].eq_ignore_ascii_case("the")
            })
    };
    let kept = words.iter().enumerate().filter(|(at, word)| !is_known(*at, word));
    kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

/// Returns true if a title names something: code, a number, a proper name.
fn names(title: &str, sentence: &str) -> bool {
    let is_code = |word: &str| {
        let word = word.trim_end_matches([',', '.', ';', ':']);
        word.contains(['_', '/', '@', '#', '=']) || word.trim_matches('.').contains('.')
    };
    title.split_whitespace().next().is_some_and(is_code)
        || title.split_whitespace().skip(1).any(is_name)
        || sentence.split('`').skip(1).step_by(2).any(|code| code.len() > 1 && title.contains(code))
}

/// Returns true for "Option 1 is simpler": what it is stands elsewhere.
pub(crate) fn points_at_option(title: &str) -> bool {
    let words: Vec<&str> = title.split_whitespace().take(6).collect();
    words.windows(2).any(|pair| {
        ["option", "approach", "alternative", "choice"]
            .iter()
            .any(|one| pair[0].eq_ignore_ascii_case(one))
            && pair[1].trim_matches(|c: char| !c.is_alphanumeric()).len() <= 2
    })
}

/// Returns a title with the first letter of a name of code as it is written.
fn as_written(title: String, sentence: &str) -> String {
    let lower = uncapitalised(&title);
    let first = lower.split(' ').next().unwrap_or_default();
    let is_name = [' ', '`'].iter().any(|end| sentence.contains(&format!("`{first}{end}")));
    match lower != title && is_name {
        true => lower,
        false => title,
    }
}

/// Returns true if a noun follows "that", rather than a verb.
fn names_subject(pointer: &str, after: &str) -> bool {
    let first = after.split_whitespace().next().unwrap_or_default();
    let first = first.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    #[rustfmt::skip]
    const OTHERS: [&str; 12] = [
        "are", "can", "would", "will", "should", "could", "may", "might", "way", "one", "said", "all",
    ];
    let is_plural = first.ends_with('s') && !first.ends_with("ss");
    let agrees = is_plural == matches!(pointer, "These" | "Those");
    agrees && !OTHERS.contains(&first.as_str()) && !first.ends_with("ed") && !first.is_empty()
}

/// Returns true for "The common standard: names, models": a word and what it stands for.
fn is_definition(title: &str) -> bool {
    title.split_once(": ").is_some_and(|(name, rest)| !has_verb(name) && !has_known_verb(rest))
}

/// Returns true if one of the commonest verbs is in a statement.
pub(crate) fn has_plain_verb(statement: &str) -> bool {
    statement.split_whitespace().any(is_known_verb)
}

fn has_known_verb(statement: &str) -> bool {
    let first = statement.split_whitespace().next().unwrap_or_default();
    verbs::is_imperative(first) || has_plain_verb(statement)
}

/// Returns true if a statement has a verb that is easy to know: headings and fragments have none.
pub(crate) fn has_verb(statement: &str) -> bool {
    let is_verb = |word: &str| {
        is_known_verb(word)
            || word.len() > 4
                && word.starts_with(char::is_lowercase)
                && word.trim_end_matches([',', ';', ')']).chars().all(char::is_alphabetic)
                && (word.ends_with('s') && !word.ends_with("ss") || word.ends_with("ed"))
    };
    let first = statement.split_whitespace().next().unwrap_or_default();
    verbs::is_imperative(first)
        || statement.split_whitespace().any(is_verb)
        || !statement.is_ascii()
}

fn is_known_verb(word: &str) -> bool {
    #[rustfmt::skip]
    const VERBS: [&str; 46] = [
        "is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "can", "cannot", "can't", "could", "will",
        "won't", "would", "should", "must", "needs", "need", "may", "might", "isn't", "aren't", "wasn't", "doesn't",
        "don't", "didn't", "hasn't", "uses", "use", "supports", "support", "requires", "means", "works", "work", "fails",
        "stays", "stay", "keeps", "comes", "lives", "gets", "makes",
    ];
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).replace('’', "'");
    VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb))
}

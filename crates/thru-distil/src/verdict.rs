//! The verdict of a text: the sentence with which the agent answers, as a title.

use std::sync::LazyLock;

use regex::Regex;
use thru_core::defused;

use crate::agent_text::{foretells, is_label_line, is_meta, is_status};
use crate::gate::{hangs, is_about_course, is_understood, stands_alone, worth};
use crate::pattern;
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::reply;
use crate::report;
use crate::text::{self, capitalised, uncapitalised};
use crate::title;
use crate::verbs;

/// Bytes of a text that are looked at: a verdict stands at its beginning.
const LOOKED_AT: usize = 4 * 1024;

/// Most sentences of a text that are looked at, and statements that are kept.
const SENTENCES: usize = 14;
const STATEMENTS: usize = 6;

/// What a statement gains by standing at the beginning of its text.
const PLACES: [i32; 8] = [8, 6, 5, 4, 3, 2, 1, 1];

/// Least rank of a statement that is a title.
const LEAST: i32 = 6;

/// What an item of a list loses against a sentence.
const LISTED: i32 = 4;

/// Least worth of an item that is quoted.
const OF_ITEM: i32 = 8;

/// Least worth of a sentence that is quoted.
const QUOTED: i32 = 3;

/// A sentence as a title, and how likely it is the verdict of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    rank: i32,
    title: String,
    /// True if it is quoted: a reader needs what stands around it.
    is_quoted: bool,
}

/// Words that lead up to an answer.
static OPENING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:
          (?: (?:mostly\s+|probably\s+)?yes | yep | no | nope | correct | exactly | right | agreed | slightly | mostly | partly | (?:the\s+)?short\s+answer | in\s+short | bottom\s+line
            | (?:(?:my|the)\s+)?(?:honest\s+|short\s+|final\s+)?(?:recommendation|verdict|take|read|view|conclusion) | in\s+other\s+words ) \s*[,:;.—–-]\s+
          | (?: (?:my|the)\s+(?:honest\s+|short\s+)?(?:recommendation|verdict|take|read|view|conclusion|answer)\s+is(?:\s+(?:to|that))?
            | i(?:\s+would|['’]d)?\s+(?:think|believe|suspect|guess|say)(?:\s+that)? | it\s+(?:looks|seems)\s+(?:like|that) | looks\s+like | so | also | and | actually | technically | honestly | basically | practically ) [\s,:]+ )",
    )
});

/// Advice of the agent, up to its verb.
static ADVICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:i|we)(?:['’]d|\s+would) | (?:you|we)\s+(?:should|can|need\s+to|must|have\s+to) | i)\s+
        (?:(?:also|still|just|probably|strongly|simply|then|slightly|only)\s+)*
        (not\s+)?(?:(?:recommend|suggest|propose|advise|prefer)(?:ing)?\s+(?:to\s+)?(not\s+)?(.+) | (.+))$",
    )
});

/// A phrase before the subject, without which the sentence stands as well.
static FRONTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:In|For|With|On|At|From|After|Given|Under|As of|By|When|Without|During|Today|Currently|Because)\b[^,.;:]{2,80},\s+(.{20,})$",
    )
});

/// Returns the statements of a text that a reader understands alone, the first ones first.
pub(crate) fn statements(text: &str) -> Vec<Statement> {
    let text = text::ends(text, LOOKED_AT, 0);
    let mut found: Vec<Statement> = Vec::new();
    // What stands in lists counts where nothing stands before them.
    let mut items: Vec<Statement> = Vec::new();
    let mut seen = 0;
    for line in prose::lines(&text) {
        if line.kind == LineKind::Item && found.is_empty() {
            let first = prose::sentences(line.text).next().filter(|one| !phrase::is_deed(one));
            let quoted = first.and_then(quotation);
            let quoted = quoted.filter(|one| worth(one) >= OF_ITEM);
            items.extend(quoted.map(|title| Statement {
                rank: worth(&title) - LISTED,
                title,
                is_quoted: true,
            }));
        }
        if line.kind != LineKind::Text {
            continue;
        }
        for sentence in prose::sentences(line.text) {
            let place = seen;
            seen += 1;
            if seen > SENTENCES || found.len() >= STATEMENTS {
                break;
            }
            let place = PLACES.get(place).copied().unwrap_or_default();
            if let Some((title, is_advice)) = stated(sentence) {
                let advice = if is_advice { 3 } else { 0 };
                let is_bold = sentence.starts_with("**") || sentence.trim_end().ends_with("**");
                if is_about_course(&title) {
                    continue;
                }
                let place = place - if hangs(&title) { 4 } else { 0 };
                let rank = place + worth(&title).min(8) / 2 + advice + if is_bold { 2 } else { 0 };
                found.push(Statement { rank, title, is_quoted: false });
            } else if let Some(quoted) = quotation(sentence) {
                let rank = place + worth(&quoted);
                found.push(Statement { rank, title: quoted, is_quoted: true });
            }
        }
    }
    if found.is_empty() {
        items.truncate(STATEMENTS);
        return items;
    }
    found
}

/// Returns the statement that answers a question best.
pub(crate) fn best(statements: &[Statement], question: &str) -> Option<String> {
    let asked = reply::significant(question);
    let rank = |one: &Statement| {
        let words = reply::significant(&one.title);
        let shared = words.iter().filter(|word| asked.contains(word)).count().min(3);
        one.rank + i32::try_from(shared).unwrap_or_default()
    };
    let mut best: Option<(i32, &Statement)> = None;
    for one in statements.iter().filter(|one| !one.is_quoted) {
        let rank = rank(one);
        if rank >= LEAST && best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, one));
        }
    }
    best.map(|(_, one)| one.title.clone())
}

/// Returns the sentence that tells most, in quotation marks: the title of a text that has no better one.
pub(crate) fn excerpt(statements: &[Statement]) -> Option<String> {
    let quoted = statements.iter().filter(|one| one.is_quoted);
    // The first of equals.
    let best = quoted.reduce(|best, one| if one.rank > best.rank { one } else { best })?;
    Some(defused(&format!("“{}”", best.title)).into_owned())
}

/// Returns a sentence that tells something, as it stands.
fn quotation(sentence: &str) -> Option<String> {
    let said = text::unmarked(phrase::without_openers(sentence));
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
    let is_of_author = ["I ", "I'", "I’", "We "].iter().any(|start| said.starts_with(start));
    let is_statement = !said.ends_with(['?', ':'])
        && !said.starts_with(char::is_lowercase)
        && !said.contains(" = ")
        && !said.starts_with(|c: char| c.is_ascii_digit())
        && !said.starts_with("`/")
        && (!is_of_author || advises(said))
        && said.split_whitespace().count() >= 5
        && !report::announces(said)
        && !is_status(said)
        && !is_about_course(said)
        && states(said);
    let shown = text::cut(said.trim_end_matches(['.', ';']), title::LENGTH - 3);
    (is_statement && worth(&shown) >= QUOTED).then_some(shown)
}

/// Returns true for a sentence of the author that advises, rather than telling what the author did.
fn advises(said: &str) -> bool {
    let said = said.replace('’', "'");
    ["I'd ", "I would ", "I recommend ", "I suggest ", "I prefer ", "I don't think ", "We should "]
        .iter()
        .any(|start| said.starts_with(start))
}

/// Returns a sentence as a title, and true if it advises.
pub(crate) fn stated(sentence: &str) -> Option<(String, bool)> {
    let plain = text::plain(sentence);
    let mut rest = phrase::without_openers(&plain);
    let mut is_advice = false;
    if rest.ends_with('?') {
        return None;
    }
    let mut advised = None;
    for _ in 0..4 {
        if let Some(opening) = OPENING.as_ref()?.find(rest) {
            rest = &rest[opening.end()..];
        } else if let Some(fronted) = FRONTED.as_ref()?.captures(rest) {
            rest = fronted.get(1)?.as_str();
        } else {
            break;
        }
    }
    if rest.starts_with("No more ")
        || phrase::is_fragment(rest)
        || foretells(rest)
        || is_meta(rest)
        || is_label_line(rest)
    {
        return None;
    }
    if let Some(advice) = ADVICE.as_ref()?.captures(rest) {
        let said = advice.get(3).or(advice.get(4))?.as_str();
        let first = said.split(' ').next().unwrap_or_default();
        let after = said[first.len()..].trim_start();
        let verb = match verbs::imperative_of_gerund(first) {
            Some(verb) => verb.to_lowercase(),
            None if verbs::is_imperative(first) || reply::is_verb(first) => first.to_lowercase(),
            None => return None,
        };
        is_advice = true;
        let is_against = advice.get(1).is_some() || advice.get(2).is_some();
        advised = Some(match is_against {
            true => format!("Do not {verb} {after}"),
            false => format!("{} {after}", capitalised(&verb)),
        });
    } else if !rest.starts_with("We ")
        && !rest.starts_with("we ")
        && let Some((title, phrase::Strength::Action)) = phrase::of_action(rest)
    {
        advised = Some(title);
    }
    // "That block is outdated" names its subject.
    let named = match rest.split_once(' ') {
        Some((pointer @ ("That" | "This" | "These" | "Those"), after))
            if names_subject(pointer, after) =>
        {
            format!("The {after}")
        }
        _ => rest.to_owned(),
    };
    let said = advised.as_deref().unwrap_or(&named);
    // "I would keep the settings shared:" says it, "It works like this:" does not.
    if said.ends_with(':') && !is_advice {
        return None;
    }
    let said = said.trim_end_matches(['.', ':', ' ']);
    let title = title::shaped(said.strip_suffix(" here").unwrap_or(said));
    let title = as_written(title, sentence);
    let words = title.split_whitespace().count();
    let is_title = match is_advice {
        true => is_understood(&title, 1),
        false => stands_alone(&title) && has_verb(&title) && !is_definition(&title),
    };
    (words >= 4 && is_title && !title.starts_with('/')).then_some((title, is_advice))
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

/// Returns true for a sentence that states something by itself: no order, no entry of a list.
fn states(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or_default();
    has_verb(sentence)
        && !verbs::is_imperative(first)
        && !reply::is_verb(first)
        && !phrase::points_elsewhere(sentence)
        && !is_label_line(sentence)
        && !is_meta(sentence)
        && !sentence.starts_with(['/', '-', '{', '[', '('])
}

/// Returns true for "The common standard: names, models": a word and what it stands for.
fn is_definition(title: &str) -> bool {
    title.split_once(": ").is_some_and(|(name, rest)| !has_verb(name) && !has_known_verb(rest))
}

fn has_known_verb(statement: &str) -> bool {
    let first = statement.split_whitespace().next().unwrap_or_default();
    verbs::is_imperative(first) || statement.split_whitespace().any(is_known_verb)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, question: &str) -> String {
        best(&statements(text), question).unwrap_or_default()
    }

    #[test]
    fn the_sentence_that_answers_is_the_verdict() {
        for (text, title) in [
            (
                "No. I'd keep the ramp in the profile for now. The kiln reads it once.",
                "Keep the ramp in the profile for now",
            ),
            (
                "For this kiln, I’d start with gas, not electricity. Gas is there already.",
                "Start with gas, not electricity",
            ),
            (
                "When both `cone` and `ramp` are set, `ramp` does not call the sensor. It waits.",
                "ramp does not call the sensor",
            ),
            (
                "I would not make `cone.json` the entry point of the loader.",
                "Do not make cone.json the entry point of the loader",
            ),
            (
                "That relay is polled by the damper thread.\n\n- `relay.rs`",
                "The relay is polled by the damper thread",
            ),
            ("The common standard: cones, ramps, glazes.", ""),
            ("The worker is still firing the kiln in its worktree.", ""),
            ("Let me look at the kiln profile first.", ""),
        ] {
            assert_eq!(verdict(text, ""), title, "{text}");
        }
        // Of two statements, the one about the question.
        let text = "The glaze melts at cone six. The damper closes when the relay drops.";
        assert_eq!(
            verdict(text, "why does the damper relay drop and close?"),
            "The damper closes when the relay drops"
        );
    }

    #[test]
    fn what_hangs_on_the_conversation_is_quoted_or_nothing() {
        let quoted = |text: &str| excerpt(&statements(text));
        assert_eq!(
            quoted("The profile in `fire/` matches my readings of `kiln.toml`."),
            Some("“The profile in `fire/` matches my readings of `kiln.toml`”".to_owned())
        );
        assert_eq!(quoted("I also added a note to the kiln profile for you."), None);
        assert_eq!(quoted("- `/kiln:fire 12` — fire the kiln with its profile"), None);
    }
}

//! Standing rules and corrections in a person's own words. Pasted output, quotations and code never
//! count.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;
use crate::prose::{self, Line, LineKind};
use crate::request::is_pasted;
use crate::text::{one_line, unmarked};
use crate::title;

/// Length from which a prompt is mostly pasted or a specification, in bytes: only its ends are looked
/// at.
const LONG: usize = 1500;

/// Most sentences of one prompt that may rule.
const MOST: usize = 4;

/// A sentence by which a person corrects or rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// The sentence.
    pub(crate) sentence: String,
    /// The sentence as a title.
    pub(crate) title: String,
    /// True if it is a standing rule.
    pub(crate) is_rule: bool,
}

/// Standing rules.
static RULE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:always|never)\s+\w
        | ^(?:please\s+)?(?:don'?t|don’t|do\s+not)\s+(?:you\s+)?ever\b
        | ^from\s+now\s+on\b | ^going\s+forward\b | ^in\s+(?:the\s+)?future\b
        | ^(?:you|we|it|this|that)\s+(?:must|should|shall)\s+(?:always|never)\b
        | ^(?:we|i)\s+(?:always|never)\s+(?:use|want|need|prefer|run|write|do|commit|put|test|check|keep|name|push|mock|deploy|merge|add|call|allow|return|work|go|set)\b
        | ^we\s+(?:only\s+)?(?:use|write|name|keep|run|put|deploy|call)\b.*\b(?:not|instead|here|never|only)\b
        | ^(?:all|every|each)\s+.{3,80}\b(?:must|should|needs?\s+to|ha(?:s|ve)\s+to)\s+\w
        | ^(?:please\s+)?(?:always|never)\s+\w
        | ^(?:make|be)\s+sure\s+(?:you\s+|to\s+|that\s+you\s+|we\s+)?(?:always|never)\b
        | ^remember\s+to\s+(?:always|never)\b | ^remember:?\s+\w+.*\b(?:always|never)\b
        | ^(?:whenever|every\s+time|each\s+time)\s+you\b
        | ^(?:i\s+|we\s+|please\s+)?prefer\s+\w
        | ^(?:please\s+)?use\s+.{1,80}\b(?:instead|rather\s+than|not)\b
        | ^(?:please\s+)?(?:don'?t|don’t|do\s+not)\s+use\s+\w
        | ^(?:in|for)\s+this\s+(?:repo|project|codebase|repository)\b.{0,20}\b(?:use|always|never|don'?t|must|all|every|only)\b
        | ^(?:as\s+a\s+)?(?:general\s+)?rule:\s
        | ^(?:nie|niemals)\s+\w | ^immer\s+(?:nur\s+|erst\s+|zuerst\s+)?\w
        | ^ab\s+(?:jetzt|sofort)\b | ^von\s+(?:jetzt|nun)\s+an\b | ^(?:künftig|in\s+zukunft)\b",
    )
});

/// Standing rules anywhere in a sentence, unless it quotes others.
static RULE_ANYWHERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        \bfrom\s+now\s+on\b
        | \b(?:is|are)\s+(?:always|never)\s+(?:to\s+be\s+)?(?:allowed|ok|okay|acceptable|permitted)\b",
    )
});

/// Introductions of a rule in passing: "one more thing I saw in the logs: never …".
static BY_THE_WAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:(?:one|another)\s+(?:more\s+|last\s+)?thing | p\.?s\.? | important | reminder | note
            | noch\s+(?:was|etwas|eins) | eins\s+noch | übrigens | wichtig)
        \b [^:\x22`„“”]{0,80} :\s+",
    )
});

/// Quotations of others: "the docs say", "it said". The first group is the speaker.
static REPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        (?:^|\b([\w'’]+)[^\w\s]*\s+)(?:says?|said|states?|stated|claims?|claimed|wrote|writes)\b",
    )
});

/// Corrections of the work at hand.
static CORRECTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:no|nope|nah|wrong|incorrect|actually|instead|wait)\s?[,.:;!—–-]+\s+\w
        | ^actually\s+(?:we|i|it|you|the|that|this|don'?t|no|use|let'?s|just|make)\b
        | ^(?:make|be)\s+sure\b | ^let'?s\s+not\b | ^not\s+(?:like|that|this|the|there|here)\b
        | ^you\s+should(?:'ve|\s+have|\s+not|n'?t)\b
        | ^no\s+(?:i|it|the|that|you|we|not|don'?t|dont|need|use|just)\b
        | ^(?:uu*m+|erm?|hm+)\b.*\balready\b
        | \b(?:that'?s|thats|that’s|that\s+is|this\s+is|it'?s|its|it\s+is)\s+(?:just\s+|completely\s+|still\s+|totally\s+)?(?:wrong|incorrect|not\s+(?:right|correct|what|how|the|a|where|true|needed))\b
        | \bnot\s+what\s+(?:i|we)\b
        | \b(?:i|we)\s+(?:said|told\s+you|meant|asked\s+(?:you\s+)?(?:for|to)|already\s+(?:said|told)|explicitly|specifically)\b
        | \bim\s+just\s+referring\b | \bi'?m\s+(?:just\s+|only\s+)?(?:referring\s+to|talking\s+about)\b
        | ^(?:please\s+)?stop\s+\w+ing\b
        | ^(?:please\s+)?(?:don'?t|don’t|do\s+not)\s+\w
        | ^you\s+(?:shouldn'?t|should\s+not|didn'?t|did\s+not|forgot|missed|broke|weren'?t|were\s+not|need\s+to|must)\b
        | \b(?:i|we)\s+(?:don'?t|don’t|do\s+not|didn'?t|explicitly\s+don'?t)\s+(?:want|ask)\b
        | \b(?:i'?d|i\s+would|we'?d)\s+rather\b
        | ^\S.{2,100},\s+(?:and\s+)?not\s+\S | ^not\s+\w.{1,80}\bbut\b | \bnot\s+just\s+\S
        | \b(?:i'?ve|i\s+have|i)\s+reverted\b | ^(?:please\s+)?(?:revert|undo)\b
        | \bwon'?t\s+work\b
        | ^(?:let'?s|we|you|it|this|that|the|i|should|use|do|make|put|just)\b.*\w\s+(?:instead\s+of|rather\s+than)\s+\w
        | \b(?:has|have|had)\s+already\s+been\b
        | ^(?:(?:ok|okay|yes|yeah|sure|right)\s*,?\s+)?but\s+\w
        | ^the\s+(?:issue|problem|bug)\s+is\s+(?:only\s+|just\s+|not\s+)?(?:for|with|in|when|the|that)\b
        | ^(?:we|i)\s+need\s+an?\s+(?:new|different|separate)\s+one\b
        | \bit'?s\s+better\s+(?:not\s+)?to\b | \bbetter\s+not\s+to\b
        | \bshould(?:\s+not|n'?t)\s+\w
        | \bmust(?:\s+not|n'?t)\s+\w",
    )
});

/// Returns the rulings in a prompt.
pub(crate) fn find(prompt: &str) -> Vec<Ruling> {
    let mut rulings: Vec<Ruling> = Vec::new();
    let is_long = prompt.len() > LONG;
    let paragraphs: Vec<Vec<Line<'_>>> = paragraphs(prompt);
    let last = paragraphs.len().saturating_sub(1);
    for (number, paragraph) in paragraphs.iter().enumerate() {
        let is_end = number == 0 || number == last;
        if is_long && !is_end
            || paragraph.iter().filter(|line| is_pasted(line.text)).count() * 2 > paragraph.len()
        {
            continue;
        }
        for line in paragraph {
            let is_own = match line.kind {
                LineKind::Text => true,
                LineKind::Item => !is_long,
                LineKind::Heading | LineKind::Blank => false,
            };
            if !is_own || is_pasted(line.text) || line.text.len() > LONG {
                continue;
            }
            let mut before = (0, "");
            for (at, sentence) in prose::sentences_at(line.text) {
                if rulings.len() >= MOST {
                    return rulings;
                }
                if !is_quoted(line.text, at) {
                    let whole = line.text.get(before.0..at + sentence.len()).unwrap_or(sentence);
                    let found = ruling(sentence).or_else(|| contrast(before.1, sentence, whole));
                    rulings.extend(found);
                }
                before = (at, sentence);
            }
        }
    }
    rulings
}

fn paragraphs(prompt: &str) -> Vec<Vec<Line<'_>>> {
    let mut paragraphs = vec![Vec::new()];
    for line in prose::lines(prompt).take(2000) {
        match (line.kind, paragraphs.last_mut()) {
            (LineKind::Blank, Some(last)) if !last.is_empty() => paragraphs.push(Vec::new()),
            (LineKind::Blank, _) => {}
            (_, Some(last)) => last.push(line),
            (_, None) => {}
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Joins "No. The other one." or "It must be local. Not in the cloud.": two sentences that correct
/// together and become `both`.
fn contrast(before: &str, sentence: &str, both: &str) -> Option<Ruling> {
    let refused = before.trim_end_matches(['.', '!', ',']).to_lowercase();
    let is_refusal = ["no", "nope", "nah", "wrong", "no no"].contains(&refused.as_str());
    let lower: String = sentence.chars().take(8).collect::<String>().to_lowercase();
    let negated = sentence.split_whitespace().nth(1).unwrap_or_default();
    let is_negation = lower.starts_with("not ")
        && before.split_whitespace().count() >= 3
        && !negated.ends_with("ing")
        && !["sure", "yet", "really", "much", "too", "so", "bad"].contains(&negated);
    if !(is_refusal || is_negation)
        || sentence.ends_with('?')
        || sentence.split_whitespace().count() < 3
    {
        return None;
    }
    let whole = unmarked(both);
    let title = if is_negation { whole.as_str() } else { sentence };
    Some(Ruling { sentence: one_line(&whole, 240), title: title::shaped(title), is_rule: false })
}

fn ruling(sentence: &str) -> Option<Ruling> {
    if !(6..500).contains(&sentence.len())
        || sentence.starts_with(['"', '\'', '“', '`', '<', '{', '('])
    {
        return None;
    }
    let cleaned = unmarked(sentence);
    let bare = without_hedges(without_introduction(without_hedges(&cleaned)));
    let is_question = cleaned.ends_with('?') || asks(bare);
    let is_rule = !is_question
        && (RULE.as_ref().is_some_and(|rule| rule.is_match(bare)) || rules_anywhere(bare))
        && !is_conditional(bare);
    let is_correction = !is_question
        && !is_conditional(bare)
        && CORRECTION.as_ref().is_some_and(|correction| correction.is_match(bare));
    if !(is_rule || is_correction) || bare.split_whitespace().count() < 3 {
        return None;
    }
    Some(Ruling { sentence: one_line(&cleaned, 240), title: title::shaped(bare), is_rule })
}

/// Returns true if the sentence contains a rule anywhere, in the person's own words.
fn rules_anywhere(sentence: &str) -> bool {
    RULE_ANYWHERE.as_ref().is_some_and(|rule| {
        rule.find_iter(sentence).any(|found| {
            !is_quoted(sentence, found.start()) && !is_reported(sentence, found.start())
        })
    })
}

/// Returns true if the text at this position of the line is reported speech: "the docs say", but not "I
/// said".
fn is_reported(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    REPORT.as_ref().is_some_and(|report| {
        report.captures_iter(before).any(|found| {
            let who = found.get(1).map_or("", |who| who.as_str()).to_lowercase();
            // "I said", "as we said" are the person's own; "please say", "don't say" are requests.
            let is_own = ["i", "we", "i've", "i’ve", "already", "just", "please", "to", "always"]
                .contains(&who.as_str())
                || who.starts_with("don")
                || who.is_empty();
            !is_own
        })
    })
}

/// Returns true if a quotation is open at this position of the line.
fn is_quoted(line: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (line.get(..at), line.get(at..)) else { return false };
    let is_odd = |mark: char| before.matches(mark).count() % 2 == 1 && after.contains(mark);
    let is_open = |open: char, close: char| {
        before.matches(open).count() > before.matches(close).count() && after.contains(close)
    };
    is_odd('"')
        || is_odd('`')
        || is_open('“', '”')
        || is_open('„', '“')
        || is_open('«', '»')
        || is_open('「', '」')
        || is_open('‘', '’')
        || is_single_quoted(before, after)
}

/// Like [`is_quoted`], for single quotes, which are also apostrophes: they quote only at the edge of a
/// word.
fn is_single_quoted(before: &str, after: &str) -> bool {
    let mut is_open = false;
    let mut last = ' ';
    let mut characters = before.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\'' {
            let starts = !last.is_alphanumeric()
                && characters.peek().is_none_or(|next| next.is_alphanumeric());
            let ends = !last.is_whitespace()
                && characters.peek().is_some_and(|next| !next.is_alphanumeric());
            is_open = starts || is_open && !ends;
        }
        last = character;
    }
    is_open && after.split('\'').skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns true if the sentence is a question, with or without a question mark.
fn asks(sentence: &str) -> bool {
    #[rustfmt::skip]
    const ASKING: [&str; 14] = [
        "can you", "could you", "can we", "could we", "would you", "what", "why", "how", "is ",
        "are ", "does ", "do you", "should we", "should i",
    ];
    let lower: String = sentence.chars().take(16).collect::<String>().to_lowercase();
    ASKING.iter().any(|asking| lower.starts_with(asking)) && !lower.starts_with("what i ")
}

/// Returns true for a condition or a report, which may contain a rule's words without being one.
fn is_conditional(sentence: &str) -> bool {
    let lower = sentence.to_ascii_lowercase();
    [
        "if ",
        "it never ",
        "it always ",
        "this never ",
        "this always ",
        "don't worry",
        "do not worry",
        "no need",
        "immer noch ",
        "immer wieder ",
        "nie wieder ",
    ]
    .iter()
    .any(|start| lower.starts_with(start))
}

/// Returns the sentence without its introduction, unless that introduces a quotation.
fn without_introduction(sentence: &str) -> &str {
    let introduction = BY_THE_WAY.as_ref().and_then(|by_the_way| by_the_way.find(sentence));
    match introduction {
        Some(found) if !is_reported(sentence, found.end()) => &sentence[found.end()..],
        _ => sentence,
    }
}

/// Returns the sentence without a leading "ok," and the like.
fn without_hedges(sentence: &str) -> &str {
    const HEDGES: [&str; 28] = [
        "sorry, ", "sorry ", "hmmm ", "uuum, ", "ok ", "ok, ", "okay ", "okay, ", "and ", "but ",
        "also ", "also, ", "so ", "so, ", "please ", "pls ", "yes, ", "yeah, ", "right, ",
        "well, ", "then ", "hmm, ", "hmmm, ", "oh, ", "aber ", "und ", "bitte ", "ja, ",
    ];
    let mut rest = sentence.trim();
    for _ in 0..4 {
        let Some(hedge) = HEDGES.iter().find(|hedge| {
            rest.get(..hedge.len()).is_some_and(|start| start.eq_ignore_ascii_case(hedge))
        }) else {
            break;
        };
        rest = rest[hedge.len()..].trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prompt: &str) -> Vec<(bool, String)> {
        find(prompt).into_iter().map(|ruling| (ruling.is_rule, ruling.title)).collect()
    }

    #[test]
    fn rules_are_told_from_corrections() {
        for (prompt, is_rule) in [
            ("always run the linter before you commit", true),
            ("ok, never push to main.", true),
            ("From now on, write tests first.", true),
            ("use tabs instead of spaces", true),
            ("Prefer small functions.", true),
            ("As I said, use tabs from now on.", true),
            ("Don't call it \"the docs\" from now on", true),
            ("let's write the users' names in full from now on", true),
            ("Force pushes are never allowed here.", true),
            ("one more thing I saw: never log a full card number", true),
            ("Noch was: nie direkt auf main pushen.", true),
            ("Gut. aber bitte nie finalizer von hand entfernen, sonst bleibt etwas liegen", true),
            ("ab jetzt gilt: erst der probelauf, dann das löschen", true),
            ("immer zuerst die Tests laufen lassen", true),
            ("Please don't touch the generated files.", false),
            ("perfect. No. The other one please.", false),
            ("No, the other parser.", false),
            ("that's not the branch I meant", false),
            ("I said the second table, not the first.", false),
            ("stop adding comments everywhere", false),
            ("The label should read \"Open\", not \"Start\"", false),
        ] {
            let found = found(prompt);
            assert_eq!(found.len(), 1, "{prompt}");
            assert_eq!(found[0].0, is_rule, "{prompt}");
        }
    }

    #[test]
    fn what_is_not_the_persons_own_word_is_no_rule() {
        for prompt in [
            "see:\n```\nalways use x\n```",
            "> never do that",
            "\"always do x\" is what it prints",
            "can you always see the log?",
            "The docs say \"from now on use v2\"",
            "The docs say from now on use v2",
            "The `guide` says: from now on use v2",
            "It prints 'this is never allowed' on start",
            "the message “it's never ok, from now on fail” comes from the linter",
            "the linter said: tabs are never allowed",
            "The docs say \"Use v2. Never use v1 of it. Always ask.\"",
            "One more thing the docs say: never use v1 of it",
            "note from the linter: \"never nest loops\"",
            "immer noch derselbe Fehler beim Start",
            "fix the parser",
            "<throughline-context>",
        ] {
            assert_eq!(found(prompt), [], "{prompt}");
        }
    }

    #[test]
    fn only_the_ends_of_a_long_prompt_rule() {
        let middle = "Never use the old client.\n\n".repeat(80);
        let prompt = format!("Review this spec.\n\n{middle}Always answer in English.");
        assert_eq!(found(&prompt), [(true, "Always answer in English".to_owned())]);
    }
}

//! Standing rules and corrections in a person's own words. Pasted output, quotations and code never
//! count.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;
use crate::prose::{self, Line, LineKind};
use crate::reply;
use crate::request::is_pasted;
use crate::text::{self, TITLE, one_line, unmarked};
use crate::verbs;

/// Length from which a prompt is mostly pasted or a specification, in bytes: only its ends are looked
/// at.
const LONG: usize = 1500;

/// Most sentences of one prompt that may rule.
const MOST: usize = 4;

/// A sentence by which a person corrects, wishes or rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// The sentence.
    pub(crate) sentence: String,
    /// The sentence as a title.
    pub(crate) title: String,
    /// The force of it.
    pub(crate) force: Force,
}

/// The force of a ruling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    /// It holds from then on.
    Rule,
    /// It holds for more than the moment, perhaps for good.
    Wish,
    /// It corrects the work at hand.
    Correction,
}

/// Standing rules.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:always|never)\s+\w
        | ^(?:please\s+)?(?:don'?t|don’t|do\s+not)\s+(?:you\s+)?ever\b
        | ^from\s+now\s+on\b | ^going\s+forward\b | ^in\s+(?:the\s+)?future\b | ^as\s+of\s+now\b
        | ^(?:\S+\s+){1,6}?(?:must|should|shall)\s+(?:always|never)\b
        | ^(?:we|i)\s+(?:always|never)\s+(?:use|want|need|prefer|run|write|do|commit|put|test|check|keep|name|push|mock|deploy|merge|add|call|allow|return|work|go|set)\b
        | ^we\s+(?:only\s+)?(?:use|write|name|keep|run|put|deploy|call)\b.*\b(?:here|never|only|in\s+this\s+(?:repo|project|codebase))\b
        | ^(?:please\s+)?(?:always|never)\s+\w
        | ^(?:make|be)\s+sure\s+(?:you\s+|to\s+|that\s+you\s+|we\s+)?(?:always|never)\b
        | ^(?:please\s+)?remember(?:\s*:|,|\s+that\b|\s+to\s+(?:always|never)\b)\s*\w | ^keep\s+in\s+mind(?:\s*:|\s+that\b)\s*\w
        | ^(?:whenever|every\s+time|each\s+time)\s+you\b
        | ^(?:please\s+)?prefer\s+\w | ^(?:i|we)\s+(?:(?:always|generally|usually|strongly|really|much)\s+)?prefer\s+\w
        | ^(?:in|for)\s+this\s+(?:repo|project|codebase|repository)\b.{0,20}\b(?:use|always|never|don'?t|must|all|every|only)\b
        | ^(?:as\s+a\s+)?(?:general\s+)?rule:\s
        | ^(?:nie|niemals)\s+\w | ^immer\s+(?:nur\s+|erst\s+|zuerst\s+)?\w
        | ^ab\s+(?:jetzt|sofort)\b | ^von\s+(?:jetzt|nun)\s+an\b | ^(?:künftig|in\s+zukunft)\b",
    )
});

/// Orders about tools and style, which hold for good by their nature: "use pnpm, not npm".
static CONVENTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:please\s+)?(?:only\s+|just\s+)?(?:use|prefer|stick\s+(?:to|with)|write\s+(?:in|with)|don'?t\s+use|do\s+not\s+use|avoid|we\s+use|format\s+with|indent\s+with|test\s+with)\s+
        (?:the\s+|an?\s+)?
        (?: p?npm | yarn | bun | deno | pip | uv | poetry | pipenv | conda | nextest | jest | vitest | mocha | jasmine | pytest | unittest | rspec | minitest | junit
          | eslint | prettier | biome | black | ruff | flake8 | pylint | mypy | pyright | rubocop | gofmt | clang-format | tabs? | (?:\w+[\s-])?spaces | (?:british|american|us|uk)(?:\s+english)?\s+(?:spelling|english|english\s+spelling)
          | oxford\s+commas? | (?:single|double)\s+quotes | semicolons | (?:camel|snake|kebab|pascal)[\s_-]?case | conventional\s+commits | squash\s+merges? | merge\s+commits | trailing\s+commas | imperative(?:\s+mood)? | emojis? | docstrings | type\s+hints | arrow\s+functions | default\s+exports | named\s+exports | early\s+returns | title\s+case | sentence\s+case | tdd )
        (?: \s*[.!]?$ | \s*,?\s*\b(?:instead(?:\s+of)?|not|rather\s+than|over|everywhere|throughout|only|for\s+(?:all|every|each|indentation|indenting|tests?|testing|strings|everything|formatting|linting|packages|dependencies|installs?|package\s+management|commits?|commit\s+messages|names?|naming|comments)|in\s+(?:all|every|commit\s+messages|commits|comments|names|tests|docs|documentation|code|this\s+(?:repo|project|codebase)|the\s+(?:code|docs|tests|whole)|new\s+code)|to\s+(?:install|manage|run\s+tests|test|format|lint|indent)|when\s+\w+|as\s+(?:a|the|our)|with\s+\w+)\b )
        | ^(?:please\s+)?(?:answer|reply|respond|write|talk|speak)\s+(?:to\s+me\s+)?(?:only\s+)?in\s+(?:english|german|french|spanish|italian|dutch|portuguese|japanese|chinese|korean|russian|polish|plain\s+english)\s*[.!]?$
        | ^(?:write\s+|keep\s+)?commit\s+(?:messages|subjects)\s+(?:should\s+be\s+|must\s+be\s+|are\s+|go\s+)?(?:in|short|with|without|lower|imperative|under|below)\b",
    )
});

/// Standing rules anywhere in a sentence, unless it quotes others.
static RULE_ANYWHERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        \bfrom\s+now\s+on\b
        | \b(?:is|are)\s+(?:always|never)\s+(?:to\s+be\s+)?(?:allowed|ok|okay|acceptable|permitted)\b",
    )
});

/// Prohibitions that may hold for good.
static WISH: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:please\s+)?(?:(?:don'?t|don’t|do\s+not)\s+(?:run|use|add|write|mention|create|touch|edit|change|modify|commit|push|mock|format|rename|delete|remove|start|install|generate|put|include|rely|hard-?code|log|store|leave|introduce|duplicate|copy|skip|disable|print|import|export|call|make|show|open|build|deploy|spawn|amend|squash|bump|break|invent|guess|explain|repeat|over\w+)\s+\w
        | (?:stop|avoid|quit)\s+\w+ing\s+\w )",
    )
});

/// Words that tie a wish to the moment.
static MOMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?:yet|now|this|that|it|here|until|today|first|anything|again|so\s+far|those|these|them|for\s+the\s+moment|for\s+now|this\s+time|before|after|just)\b",
    )
});

/// Introductions of a rule in passing: "one more thing I saw in the logs: never …".
static BY_THE_WAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:(?:one|another)\s+(?:more\s+|last\s+)?thing | p\.?s\.? | important | reminder | note
            | noch\s+(?:was|etwas|eins) | eins\s+noch | übrigens | wichtig)
        \b [^:\x22`„“”]{0,80} :\s+",
    )
});

/// Quotations of others: "the docs say", "it said". The first group is the speaker.
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        (?:^|\b([\w'’]+)[^\w\s]*\s+)(?:says?|said|states?|stated|claims?|claimed|wrote|writes)\b",
    )
});

/// Corrections of the work at hand that name what is right.
static CORRECTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)
        ^(?:no|nope|nah|wrong|incorrect)\s?[,.:;!—–-]+\s+\w
        | ^you\s+should(?:'ve|\s+have|\s+not|n'?t)\b | ^you\s+(?:forgot|missed)\b
        | \b(?:i|we)\s+(?:said|told\s+you|meant|asked\s+(?:you\s+)?(?:for|to)|already\s+(?:said|told))\b
        | ^\S.{2,100},\s+(?:and\s+)?not\s+\S | ^not\s+\w.{1,80}\bbut\b | \bnot\s+just\s+\S",
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
            || reply::is_wrapped(paragraph)
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
                    let found = ruling(sentence).map(|one| Ruling {
                        title: reply::with_ground(one.title, before.1),
                        ..one
                    });
                    rulings.extend(found.or_else(|| contrast(before.1, sentence, whole)));
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

/// Joins "It must be local. Not in the cloud.": two sentences that correct together and become `both`.
fn contrast(before: &str, sentence: &str, both: &str) -> Option<Ruling> {
    let lower: String = sentence.chars().take(8).collect::<String>().to_lowercase();
    let negated = sentence.split_whitespace().nth(1).unwrap_or_default();
    let is_negation = lower.starts_with("not ")
        && before.split_whitespace().count() >= 3
        && !negated.ends_with("ing")
        && !["sure", "yet", "really", "much", "too", "so", "bad"].contains(&negated);
    if !is_negation || sentence.ends_with('?') || sentence.split_whitespace().count() < 3 {
        return None;
    }
    let whole = unmarked(both);
    Some(Ruling {
        sentence: one_line(&whole, 240),
        title: reply::titled(&whole),
        force: Force::Correction,
    })
}

fn ruling(sentence: &str) -> Option<Ruling> {
    if !(6..500).contains(&sentence.len())
        || sentence.starts_with(['"', '\'', '“', '`', '<', '{', '('])
    {
        return None;
    }
    let said = unmarked(sentence);
    let cleaned = wished(&said).unwrap_or_else(|| said.clone());
    let whole = without_hedges(without_introduction(without_hedges(&cleaned)));
    // A rule may follow in a later clause: "fix the tests; always use pytest".
    let (force, clause) = clauses(&cleaned, whole)
        .find_map(|clause| force(clause).map(|force| (force, clause)))
        .or_else(|| rules_anywhere(whole).then_some((Force::Rule, whole)))
        .filter(|(_, clause)| !(cleaned.ends_with('?') && cleaned.ends_with(*clause)))
        .filter(|_| !asks(whole))?;
    let lasts = rules_anywhere(whole);
    let force = if lasts { Force::Rule } else { force };
    // "use a mutex from now on, never a channel" is one rule.
    let contrasts = clause.starts_with("never ") || clause.starts_with("not ");
    let clause = if lasts || contrasts && whole.chars().count() <= TITLE { whole } else { clause };
    let clause = without_reminder(clause);
    Some(Ruling { sentence: one_line(&said, 240), title: reply::titled(&clause), force })
}

/// Preferences in a reminder: "remember that I'd rather do it with x than y".
static REMINDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:please\s+)?(?:remember|keep\s+in\s+mind)(?:\s*:|,|\s+that\b)\s*
        (?:(?:i|we)(?:['’]d|\s+would)\s+rather\s+\w+\s+(?:it|this|that|them)\s+(?:as|with|in|by|using)\s+(?P<one>.+?)\s+than\s+(?:as\s+|with\s+|in\s+|by\s+|using\s+)?(?P<other>.+?)[.!]?$)?",
    )
});

/// Returns a rule without the words that only ask to remember it: "Prefer x to y".
fn without_reminder(clause: &str) -> Cow<'_, str> {
    let Some(found) = REMINDED.captures(clause) else {
        return Cow::Borrowed(clause);
    };
    match (found.name("one"), found.name("other")) {
        (Some(one), Some(other)) => {
            Cow::Owned(format!("Prefer {} to {}", one.as_str(), other.as_str()))
        }
        _ => Cow::Borrowed(&clause[found.get(0).map_or(0, |all| all.end())..]),
    }
}

/// Wishes that are asked for: "could you always run the linter?".
static WISHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:\w+[,!]?\s+){0,2}?(?:(?:could|would|will)\s+(?:you|we)|can\s+(?:you|we)\s+please)\s+(?:please\s+|maybe\s+|also\s+|just\s+)*
        ((?:always|never|from\s+now\s+on|going\s+forward|in\s+(?:the\s+)?future|stop|avoid|not)\b .+? | .+?\s(?:from\s+now\s+on|going\s+forward))
        (?:,?\s+please)?\s*\?$",
    )
});

/// Returns a wish that is asked for as an order: "always run the linter".
fn wished(sentence: &str) -> Option<String> {
    let wish = WISHED.captures(sentence)?.get(1)?.as_str();
    match wish.strip_prefix("not ") {
        Some(rest) => Some(format!("don't {rest}")),
        None => Some(wish.to_owned()),
    }
}

/// Returns the clauses of a sentence, without their hedges: all of it, then what follows each joint.
fn clauses<'t>(sentence: &'t str, whole: &'t str) -> impl Iterator<Item = &'t str> {
    const JOINTS: [&str; 9] =
        ["; ", " - ", " — ", " – ", ", but ", ", and ", ", please ", ": ", ", "];
    let mut from = 0;
    let rest = std::iter::from_fn(move || {
        let tail = sentence.get(from..)?;
        let next =
            JOINTS.iter().filter_map(|joint| tail.find(joint).map(|at| at + joint.len())).min()?;
        from += next;
        Some(from)
    });
    let rest =
        rest.take(12).filter(move |at| !is_quoted(sentence, *at) && !is_reported(sentence, *at));
    std::iter::once(whole).chain(rest.map(move |at| without_hedges(&sentence[at..])))
}

/// Returns the force of a clause, if it rules.
fn force(clause: &str) -> Option<Force> {
    let words = clause.split_whitespace().count();
    if is_conditional(clause) || words < 2 || asks(clause) {
        return None;
    }
    let shows = |shape: &LazyLock<Regex>| shape.is_match(clause);
    let is_of_moment = shows(&MOMENT);
    if shows(&CONVENTION) && !is_of_moment {
        return Some(Force::Rule);
    }
    let first = clause.split_whitespace().next().unwrap_or_default();
    let lasts = text::find_ignoring_case(clause, "going forward").is_some()
        && clause.trim_end_matches(['.', '!']).len()
            <= text::find_ignoring_case(clause, "going forward").unwrap_or(0) + 13
        && (verbs::is_imperative(first)
            || ["just", "we", "only", "use"].iter().any(|word| first.eq_ignore_ascii_case(word)));
    if words >= 4 && lasts {
        return Some(Force::Rule);
    }
    let lower: String = clause.chars().take(12).collect::<String>().to_lowercase();
    let prefers = ["prefer", "i prefer", "we prefer"].iter().any(|start| lower.starts_with(start));
    if words >= 3 && shows(&RULE) && !(prefers && (is_of_moment || points_at_option(clause))) {
        return Some(Force::Rule);
    }
    // Without its verb it must name something.
    let object = clause.split_once(' ').map_or("", |(_, object)| object);
    if words >= 3 && shows(&WISH) && !is_of_moment && reply::names_something(object) {
        return Some(Force::Wish);
    }
    let corrects = words >= 3 && shows(&CORRECTION) && reply::names_something(clause);
    corrects.then_some(Force::Correction)
}

/// Returns true for "the second one": an option of a list rather than a kind of thing.
fn points_at_option(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    [
        "the first",
        "the second",
        "the third",
        "the last",
        "the latter",
        "the former",
        "option ",
        "your ",
        "the one",
    ]
    .iter()
    .any(|option| lower.contains(option))
        || lower.split_whitespace().last().is_some_and(|last| last.len() == 1)
}

/// Returns true if the sentence contains a rule anywhere, in the person's own words.
fn rules_anywhere(sentence: &str) -> bool {
    RULE_ANYWHERE.captures_iter(sentence).any(|found| {
        let start = found.whole().start;
        !is_quoted(sentence, start) && !is_reported(sentence, start)
    })
}

/// Returns true if the text at this position of the line is reported speech: "the docs say", but not "I
/// said".
fn is_reported(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    REPORT.captures_iter(before).any(|found| {
        let who = found.get(1).map_or("", |who| who.as_str()).to_lowercase();
        // "I said", "as we said" are the person's own; "please say", "don't say" are requests.
        let is_own = ["i", "we", "i've", "i’ve", "already", "just", "please", "to", "always"]
            .contains(&who.as_str())
            || who.starts_with("don")
            || who.is_empty();
        !is_own
    })
}

/// Returns true if a quotation is open at this position of the line.
pub(crate) fn is_quoted(line: &str, at: usize) -> bool {
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
    sentence.ends_with('?')
        || ASKING.iter().any(|asking| lower.starts_with(asking)) && !lower.starts_with("what i ")
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
    let introduction = BY_THE_WAY.find(sentence);
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

    fn found(prompt: &str) -> Vec<(Force, String)> {
        find(prompt).into_iter().map(|ruling| (ruling.force, ruling.title)).collect()
    }

    #[test]
    fn rules_are_told_from_corrections() {
        for (prompt, force) in [
            ("always run the linter before you commit", Force::Rule),
            ("ok, never push to main.", Force::Rule),
            ("could you always run the linter before a commit?", Force::Rule),
            ("Would you please never log a full card number?", Force::Rule),
            ("Could you write the tests first from now on, please?", Force::Rule),
            ("From now on, write tests first.", Force::Rule),
            ("use tabs instead of spaces", Force::Rule),
            ("Prefer small functions.", Force::Rule),
            ("As I said, use tabs from now on.", Force::Rule),
            ("Don't call it \"the docs\" from now on", Force::Rule),
            ("let's write the users' names in full from now on", Force::Rule),
            ("Force pushes are never allowed here.", Force::Rule),
            ("one more thing I saw: never log a full card number", Force::Rule),
            ("Noch was: nie direkt auf main pushen.", Force::Rule),
            (
                "Gut. aber bitte nie finalizer von hand entfernen, sonst bleibt etwas liegen",
                Force::Rule,
            ),
            ("ab jetzt gilt: erst der probelauf, dann das löschen", Force::Rule),
            ("immer zuerst die Tests laufen lassen", Force::Rule),
            ("fix the flaky suite; always use pytest", Force::Rule),
            ("Looks good, but never push to main", Force::Rule),
            ("Remember: the api is frozen until spring", Force::Rule),
            ("I prefer short functions", Force::Rule),
            ("use British spelling", Force::Rule),
            ("use pnpm", Force::Rule),
            ("the branch names should never contain slashes", Force::Rule),
            ("answer in German", Force::Rule),
            ("don't run the integration tests", Force::Wish),
            ("Please don't touch the generated files.", Force::Wish),
            ("No, the streaming parser of the importer.", Force::Correction),
            ("I said the second table, not the first.", Force::Correction),
            ("stop adding comments everywhere", Force::Wish),
            ("The label should read \"Open\", not \"Start\"", Force::Correction),
        ] {
            let found = found(prompt);
            assert_eq!(found.len(), 1, "{prompt}");
            assert_eq!(found[0].0, force, "{prompt}");
        }
    }

    #[test]
    fn what_is_not_the_persons_own_word_is_no_rule() {
        for prompt in [
            "see:\n```\nalways use x\n```",
            "> never do that",
            "\"always do x\" is what it prints",
            "can you always see the log?",
            "could you explain why it never stops?",
            "would it always be slower?",
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
            "don't commit it yet",
            "I prefer the second one",
            "use npm to look this one up",
            "don't know why it fails",
            "that has already been fixed",
        ] {
            assert_eq!(found(prompt), [], "{prompt}");
        }
    }

    #[test]
    fn only_the_ends_of_a_long_prompt_rule() {
        let middle = "Never use the old client.\n\n".repeat(80);
        let prompt = format!("Review this spec.\n\n{middle}Always answer in English.");
        assert_eq!(found(&prompt), [(Force::Rule, "Always answer in English".to_owned())]);
    }
}

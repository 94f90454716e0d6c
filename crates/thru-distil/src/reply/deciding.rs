//! Sentences by which a person decides.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::Regex;

use super::Decided;
use super::questions::asks;
use super::words::{is_specific, names_something, titled, without_softeners};
use crate::pattern;
use crate::prose;
use crate::rules::is_quoted;
use crate::text::{self, capitalised, one_line, unmarked};
use crate::title;
use crate::verbs;

/// Sentences that decide, without their hedges.
static DECIDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(&format!(
        r"(?ix)
        ^let(?:'|’)?s\s+(?:not\s+|just\s+|also\s+|simply\s+|only\s+|instead\s+)*(?:{VERBS})\b
        | ^(?:we|they|it|this|that|there|the\s+[\w./`-]+(?:\s+[\w./`-]+){{0,4}}|[\w./`-]+(?:\s+[\w./`-]+){{0,4}})\s+
          (?:should(?:n'?t|\s+not)?|must(?:n'?t|\s+not)?|needs?\s+to|ought\s+to|ha(?:s|ve)\s+to)\s+
          (?:not\s+|just\s+|only\s+|always\s+|also\s+|simply\s+|really\s+|probably\s+|instead\s+)*(?:be|{VERBS})\b
        | ^we\s+(?:can|could|will|'ll)\s+(?:(?:just|simply)\s+(?:{VERBS})\b|(?:{VERBS})\b.*\b(?:instead|no\s+need|since|because|as\s+(?:we|it|they)|rather\s+than|and\s+(?:use|keep|move)|no\s+longer)\b)
        | ^(?:we|i)\s+(?:really\s+|explicitly\s+|definitely\s+|also\s+|actually\s+)?(?:don(?:'|’)?t|do\s+not|won(?:'|’)?t)\s+(?:really\s+|actually\s+|even\s+)?(?:want|support|care\s+about)\b
        | ^we\s+(?:really\s+|definitely\s+|also\s+|actually\s+)?(?:don(?:'|’)?t|do\s+not)\s+(?:really\s+|actually\s+|even\s+)?(?:need|use|require)\b
        | ^(?:we|i)\s+(?:are\s+|am\s+)?no\s+longer\s+(?:need|want|use|using|support|supporting|require)\b
        | ^(?:i|we)\s+(?:don(?:'|’)?t|do\s+not)\s+(?:think|believe)\s+(?:that\s+)?(?:\S+\s+){{1,3}}?(?:needs?|should|wants?|makes?\s+sense)\b
        | ^(?:every|each|all)\s+.{{2,60}}?\b(?:must|should|needs?|ha(?:s|ve)\s+to)\s+\w
        | ^(?:anything|everything)\s+.{{2,60}}?\b(?:must|should|can)\s+be\s+\w
        | ^(?:i(?:'|’)?m\s+)?(?:thinking\s+of|leaning\s+towards?|inclined\s+to)\s+\w+
        | ^(?:please\s+)?(?:keep|use|support|limit|target|focus)\s+only\b
        | ^we\s+(?:just\s+|really\s+|definitely\s+|explicitly\s+|also\s+|would\s+|only\s+|currently\s+)?(?:want|prefer|like|chose|choose|decided|agreed?|opted?|vote|favou?r)\b
        | ^i\s+(?:just\s+|really\s+|definitely\s+|explicitly\s+|also\s+|would\s+|only\s+|still\s+)?(?:want|prefer|like|chose|choose|decided|agree\s+(?:with|on)|vote|favou?r)\b
        | ^i(?:'d|’d|\s+would|\s+had)?\s+(?:rather|much\s+rather|go\s+with)\b
        | ^(?:there(?:'|’)?s\s+|there\s+is\s+)?no\s+need\s+(?:for|to)\b
        | ^(?:please\s+)?(?:{VERBS})\s+\S.*\b(?:instead(?:\s+of)?|rather\s+than|not\s+\w|since\s|because|so\s+that|as\s+(?:it|we|they|that)\b|no\s+longer|for\s+consistency)
        | ^(?:it|that|this|which)(?:'|’)?s?\s+(?:is\s+|would\s+be\s+|might\s+be\s+)?(?:\w+\s+)?(?:better|best|nicer|simpler|cleaner|easier|safer|preferable)\s+(?:not\s+)?(?:to|if)\b
        | ^(?:the\s+)?(?:best|simplest|cleanest|better|preferred|easiest)\s+(?:\w+\s+){{1,2}}(?:is|would\s+be)\b
        | ^we\s+(?:do|go|build|ship)\s+[\w-]+-first\b
        | ^(?:it\s+)?(?:makes|make)\s+sense\s+to\s+\w
        | ^we(?:\s+are|(?:'|’)re)\s+(?:not\s+)?(?:going\s+(?:to\s+(?:{VERBS})|with)|adopting|using|switching|moving|dropping|keeping|removing|archiving|deprecating|replacing|sticking)\b",
        VERBS = VERBS
    ))
});

/// Verbs of design: what is, or is not, to be so.
const VERBS: &str = r"use|reuse|adopt|call|name|rename|keep|drop|store|persist|go\s+with|go\s+for|stick|start\s+with|begin\s+with|move|switch|replace|support|allow|avoid|align|follow|treat|rely|default|defer|postpone|skip|handle|fold|split|separate|combine|expose|deprecate|require|return|stay|live|include|exclude|limit|restrict|get\s+rid|remove|leave|target|focus|prefer|make|merge\s+into|model|put|save|write|rewrite|ignore|accept|reject|appear|reference|align|scope|group|wrap|build\s+on|get\s+this\s+in|get\s+it\s+in|implement|have|do\s+(?:the|a|an)";

/// Words of orders about the moment, which decide nothing.
static MOMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?: commit(?:ted|ting)? | push(?:ed|ing)? | pull | prs? | pull\s+requests? | rebase | merged? | ship | (?:spawn|re-?run|restart|reboot)\w* | branch(?:es)? | worktrees? | workers? | look(?:\s+at|\s+into)? | code\s+review | update\s+the\s+\w+ | you\s+to )\b",
    )
});

/// Returns the decision in a sentence: in the first of its clauses that decides.
pub(super) fn decision(sentence: &str) -> Option<Decided> {
    if !(8..600).contains(&sentence.len())
        || sentence.starts_with(['"', '\'', '“', '`', '<', '{', '('])
    {
        return None;
    }
    let cleaned = unmarked(sentence);
    // "I thought we no longer use the ramp" is a belief, and asks whether it is so.
    if text::find_ignoring_case(&cleaned, "i thought ").is_some() {
        return None;
    }
    let made = |title: String| {
        let is_clear = names_something(&title);
        // "That is new, so we need to use it" names more as a whole.
        let whole = titled(without_softeners(&cleaned));
        let hangs = ["since", "because", "given", "as", "if", "when"]
            .contains(&whole.split(' ').next().unwrap_or_default().to_lowercase().as_str());
        let title = if !is_clear && !hangs && names_something(&whole) { whole } else { title };
        let is_clear = is_clear || names_something(&title);
        Some(Decided { sentence: one_line(&cleaned, 300), title, is_clear })
    };
    let mut from = 0;
    while from < cleaned.len() {
        let clause = &cleaned[from..];
        if let Some(title) = deciding(clause) {
            return made(with_place(title, &cleaned[..from]));
        }
        let next =
            JOINTS.iter().filter_map(|joint| clause.find(joint).map(|at| at + joint.len())).min();
        let Some(next) = next else { break };
        if is_quoted(&cleaned, from + next) {
            return None;
        }
        from += next;
    }
    // People who dictate use no commas.
    let found = NEEDLESS.find(&cleaned)?;
    let is_own = !asks(&cleaned) && !is_quoted(&cleaned, found.start());
    // "We can use x and no need for y": the first half says what holds instead.
    let before = cleaned[..found.start()].strip_suffix(" and ");
    let first = before.and_then(|before| before.rfind("we ")).map(|at| &cleaned[at..]);
    let first = first.filter(|clause| DECIDED.is_match(clause));
    let first = first.map(|clause| titled(&as_decision(clause.to_owned())));
    let needless = || {
        let title = deciding(without_sequel(&cleaned[found.start()..]))?;
        Some(ordered(&cleaned[..found.start()], &title).unwrap_or(title))
    };
    is_own.then(|| first.or_else(needless)).flatten().and_then(made)
}

/// An order for what is to be so, behind whoever is to carry it out: "ask the apprentice to move the moulds".
static ORDERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(&format!(r"(?i)(?:^|\b(?:to|please|and|then)\s+)((?:{VERBS})\s+\S.{{8,}}?)\s*$"))
});

/// Returns "Move the moulds to the rack: we no longer need the shelf" for both without a mark between them: the order says
/// what holds instead.
fn ordered(before: &str, needless: &str) -> Option<String> {
    let order = ORDERED.captures(before)?.get(1)?.as_str();
    if order.ends_with([',', ';', ':', '-']) || is_of_moment(order) {
        return None;
    }
    // Whose it is was said before.
    let order = capitalised(order).replace(" their ", " the ");
    let whole = format!("{order}: {}", text::uncapitalised(needless));
    (whole.chars().count() <= title::LENGTH).then_some(whole)
}

/// Returns a decision without the remark that a person who dictates joins to it: "no need for a lid this keeps it simple".
fn without_sequel(said: &str) -> &str {
    const SEQUELS: [&str; 6] = [
        " this aligns ",
        " this keeps ",
        " this makes ",
        " this way ",
        " this will ",
        " this would ",
    ];
    let end = SEQUELS.iter().filter_map(|sequel| said.find(sequel)).min();
    end.map_or(said, |end| &said[..end])
}

/// Words of phrases that say no place: "for now", "in that case", "on the other hand".
#[rustfmt::skip]
const NO_PLACES: [&str; 17] = [
    "addition", "case", "end", "example", "fact", "future", "general", "hand", "instance", "meantime", "now", "opinion",
    "record", "short", "that", "this", "which",
];

/// Adds the phrase before a clause that says where it holds: "In the footer, I think we should use small type".
pub(crate) fn with_place(title: String, before: &str) -> String {
    let place = before.trim_end_matches([',', ' ']);
    let place = without_softeners(place);
    let mut words = place.split_whitespace();
    let is_known = title.ends_with(')');
    let first = words.next().unwrap_or_default();
    let is_one_of = |all: &[&str]| all.iter().any(|one| one.eq_ignore_ascii_case(first));
    // A reason is longer than a place.
    let most = if is_one_of(&["given"]) { 8 } else { 5 };
    let is_place = is_one_of(&["in", "on", "for", "at", "within", "given"])
        && (1..=most).contains(&words.clone().count())
        && !words.any(|word| NO_PLACES.contains(&word))
        && !place.contains(", ");
    let whole = format!("{title} ({})", text::uncapitalised(place));
    if is_place && !is_known && whole.chars().count() <= title::LENGTH { whole } else { title }
}

/// Adds what the sentence before says that both are about: "For the glaze, we need a sieve. I think we want salt".
pub(crate) fn with_lead(title: String, before: &str) -> String {
    let Some((start, _)) = before.split_once(", ").filter(|_| !is_specific(&title)) else {
        return title;
    };
    let lead = [" - ", " — ", "; "].iter().filter_map(|joint| start.rsplit_once(joint)).next();
    let lead = lead.map_or(start, |(_, lead)| lead).trim_start_matches(['-', ' ']);
    if text::begins(lead, "for ") { with_place(title, lead) } else { title }
}

/// Joints between clauses.
const JOINTS: [&str; 12] = [
    " - ",
    " — ",
    " – ",
    "; ",
    ". ",
    ", then ",
    ", so ",
    ", and ",
    " so ",
    ", ",
    " because ",
    " but ",
];

/// Returns "No longer need the mill: just use the wheel" for the second of two sentences: what it is to stand for was said before.
pub(crate) fn with_ground(title: String, before: &str) -> String {
    let first = title.split(' ').next().unwrap_or_default();
    let is_rest = ["just", "only", "simply"].iter().any(|word| word.eq_ignore_ascii_case(first));
    let ground = unmarked(before);
    let ground = without_softeners(ground.trim_end_matches(['.', '!', ' ']));
    let whole = format!("{}: {}", capitalised(ground), text::uncapitalised(&title));
    let is_ground = GROUND.is_match(ground) && !asks(ground);
    if is_rest && is_ground && whole.chars().count() <= title::LENGTH { whole } else { title }
}

/// Sentences that give something up.
static GROUND: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:(?:we|i)\s+)?(?:are\s+)?(?:no\s+longer|don['’]?t|do\s+not|no\s+need)\s+(?:need|use|using|want|for|to)\s+\w|^(?:drop|forget|skip|remove)\s+\w",
    )
});

/// Decisions against something, anywhere.
static NEEDLESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:we\s+(?:no\s+longer|don(?:'|’)?t|do\s+not)\s+(?:need|use|want|support)|no\s+need\s+for)\s+\w",
    )
});

/// Returns the title of the clause that decides in a text of one or more sentences.
pub(crate) fn decision_in(text: &str) -> Option<String> {
    prose::sentences(text).find_map(decision).filter(|one| one.is_clear).map(|one| one.title)
}

/// Returns the decision in a sentence of the agent, as a title.
pub(crate) fn concluded(sentence: &str) -> Option<String> {
    let said = without_softeners(sentence);
    let decides = DECIDED.is_match(said) && !asks(said) && !conditional(said);
    decides.then(|| titled(&as_decision(titled(said))))
}

/// Wishes to be told something: "I would like to know".
static INQUIRES: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:i|we)(?:['’]d|\s+would)?\s+(?:also\s+|just\s+|only\s+|really\s+|still\s+)?(?:like|want|love|need)\s+to\s+
        (?:know|understand|hear|learn|ask|find\s+out|be\s+sure|discuss|confirm|clarify)\b",
    )
});

/// Returns the title of a clause that decides.
fn deciding(clause: &str) -> Option<String> {
    let softened = without_softeners(clause);
    // "I think x should be y?" states rather than asks.
    let is_hedged = softened.len() < clause.trim_start().len()
        && ["i think", "i believe", "i guess"]
            .iter()
            .any(|hedge| text::find_ignoring_case(clause, hedge).is_some());
    let bare = if is_hedged { softened.trim_end_matches(['?', ' ']) } else { softened };
    if INQUIRES.is_match(bare) {
        return None;
    }
    let found = DECIDED.find(bare)?;
    let end = found.end()
        + JOINTS
            .iter()
            .filter_map(|joint| bare[found.end()..].find(joint))
            .min()
            .unwrap_or(bare.len() - found.end());
    let doubts = |words: &str| {
        let lower = format!("{} ", words.to_lowercase());
        [
            "we need to be ",
            "we should be ",
            "i need to be ",
            " whether ",
            " if ",
            " why ",
            " how ",
            " what ",
            " that should",
            "something ",
            "somehow ",
        ]
        .iter()
        .any(|doubt| lower.contains(doubt) || lower.starts_with(doubt.trim_start()))
    };
    if asks(bare) || conditional(bare) || doubts(found.as_str()) || is_of_moment(&bare[..end]) {
        return None;
    }
    let is_other = is_of_moment(bare.get(end..).unwrap_or_default());
    let title = without_start(if is_other { &bare[..end] } else { bare });
    // Without the words that lead up to it, more of a long one has room.
    let title = match title.chars().count() > title::LENGTH {
        true => Cow::Owned(as_decision(title.to_owned())),
        false => Cow::Borrowed(title),
    };
    (title.split_whitespace().count() >= 3).then(|| titled(&title))
}

/// Returns true for an order about the moment, such as "let's get this merged".
pub(crate) fn is_of_moment(clause: &str) -> bool {
    let start = &clause[..clause.floor_char_boundary(90)];
    MOMENT.is_match(start)
}

fn conditional(clause: &str) -> bool {
    let lower: String = clause.chars().take(12).collect::<String>().to_lowercase();
    ["if ", "unless ", "in case ", "when ", "suppose", "assuming "]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// Returns the clause without "let's" and the like: its title.
fn without_start(clause: &str) -> &str {
    for start in ["let's just ", "lets just ", "let’s just ", "let's ", "lets ", "let’s "] {
        if text::begins(clause, start) {
            return &clause[start.len()..];
        }
    }
    clause
}

/// Returns true for a verb of design.
pub(crate) fn is_verb(word: &str) -> bool {
    VERBS.split('|').any(|verb| verb.eq_ignore_ascii_case(word))
}

/// Returns "Switch from a to b" for "switching from a to b".
pub(crate) fn in_imperative(said: &str) -> Cow<'_, str> {
    let (first, rest) = said.split_once(' ').unwrap_or((said, ""));
    let stem = || Some(first.strip_suffix("ing")?.to_lowercase());
    let known = |verb: &String| is_verb(verb) || verbs::is_imperative(verb);
    let plain = || stem().and_then(|stem| [stem.clone(), stem + "e"].into_iter().find(known));
    match verbs::imperative_of_gerund(first).map(str::to_owned).or_else(plain) {
        Some(verb) => Cow::Owned(format!("{} {rest}", capitalised(&verb))),
        None => Cow::Borrowed(said),
    }
}

/// The way to go, as a gerund: "the other option is moving the cache".
static WAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^the\s+(?:\w+\s+)?(?:alternative|option|approach|way|solution)\s+(?:is|would\s+be)\s+([a-z]+ing)\b",
    )
});

/// How people lead up to what is to be, and what stands for it in a title.
static WISHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:
          (?:i|we)\s+(?:do\s+not|don['’]t)\s+(?:think|believe)\s+(?:that\s+)?(?:we|it|this|they)\s+(?:need|needs)\s+(?P<none>\w+)
        | (?:i|we)\s+(?:really\s+)?(?:do\s+not|don['’]t)\s+need\s+(?P<needless>[^\sa]\w*|a\w+)
        | we\s+(?:should|need\s+to|have\s+to|must|ought\s+to|can|could|will|['’]ll|are\s+going\s+to|['’]re\s+going\s+to)\s+
          (?:then\s+|also\s+|simply\s+|just\s+|probably\s+|only\s+)*(?P<not>not\s+)?(?P<verb>[a-z]+)
        | (?:i|we)(?:\s+would|['’]d)\s+(?:(?:like|prefer)\s+to|rather)\s+(?P<like>[a-z]+)
        | (?:i|we)\s+(?:just\s+|really\s+)?want\s+to\s+(?P<want>[a-z]+)
        | (?:it|that|this)(?:(?:['’]?s|\s+is|\s+would\s+be)\s+)(?:probably\s+|much\s+)?(?:better|best|safer|simpler|cleaner|easier|nicer)\s+
          (?P<worse>not\s+)?to\s+(?P<better>[a-z]+)
        )\b",
    )
});

/// Returns a title without ", maybe write it down".
fn without_afterthought(title: &str) -> &str {
    let tail = [", maybe ", ", perhaps "].iter().filter_map(|tail| title.find(tail)).min();
    tail.map(|at| &title[..at]).filter(|said| said.split(' ').count() >= 4).unwrap_or(title)
}

/// Turns "We should keep the parser" into "Keep the parser": a title says what was decided, not who spoke.
pub(crate) fn as_decision(title: String) -> String {
    let title = title::without_doubts(without_afterthought(&title));
    let way = WAY.captures(&title).and_then(|found| found.get(1));
    if let Some(way) = way
        && let Some(verb) = verbs::imperative_of_gerund(way.as_str())
    {
        return format!("{verb}{}", &title[way.end()..]);
    }
    let Some(found) = WISHED.captures(&title) else {
        return title;
    };
    let named = |name: &str| found.name(name).map(|group| group.start());
    if let Some(at) = named("none").or_else(|| named("needless")) {
        let rest = &title[at..];
        return match rest.starts_with("to ") || rest.starts_with("any") {
            true => title,
            false => format!("No need for {rest}"),
        };
    }
    let verb = ["verb", "like", "want", "better"].iter().find_map(|name| found.name(name));
    let Some(verb) = verb else { return title };
    let is_known = is_verb(verb.as_str()) || verbs::is_imperative(verb.as_str());
    match is_known {
        true if found.name("not").or_else(|| found.name("worse")).is_some() => {
            format!("Do not {}", &title[verb.start()..])
        }
        true => capitalised(&title[verb.start()..]),
        false => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Reply, lacks_object};

    fn parsed(prompt: &str) -> Reply {
        Reply::parse(prompt).unwrap_or_default()
    }

    #[test]
    fn titles_say_what_was_decided_rather_than_who_spoke() {
        for (said, title) in [
            ("We should keep the parser in its own crate", "Keep the parser in its own crate"),
            ("I don't think we need watch, it can go", "No need for watch, it can go"),
            ("We don't need the retry queue any more", "No need for the retry queue any more"),
            ("We should not store the key", "Do not store the key"),
            ("I would like to use one profile", "Use one profile"),
            ("We want the report as plain text", "We want the report as plain text"),
            ("We don't need to hurry", "We don't need to hurry"),
        ] {
            assert_eq!(as_decision(said.to_owned()), title);
        }
        assert!(lacks_object("Rename to kiln.toml") && !lacks_object("Rename the kiln to oven"));
    }

    #[test]
    fn sentences_that_decide_are_told_from_orders_and_questions() {
        for (prompt, title) in [
            ("let's use sqlite instead of a server", "Use sqlite instead of a server"),
            (
                "I think we should keep the parser in its own crate",
                "We should keep the parser in its own crate",
            ),
            ("we don't need the retry queue any more", "We don't need the retry queue any more"),
            (
                "This fails on windows - paths should be stored with slashes",
                "Paths should be stored with slashes",
            ),
            (
                "if so we can use the name and no need for an alias",
                "We can use the name and no need for an alias",
            ),
            (
                "anything in the beta can be removed at once",
                "Anything in the beta can be removed at once",
            ),
            (
                "so maybe it's better to start with one region",
                "It's better to start with one region",
            ),
            ("we want the report as plain text", "We want the report as plain text"),
            (
                "for the archive, I think we should use one file per year",
                "We should use one file per year (for the archive)",
            ),
            (
                "on the other hand, we should use one file per year",
                "We should use one file per year",
            ),
        ] {
            let titles: Vec<String> =
                parsed(prompt).decided.into_iter().map(|one| one.title).collect();
            assert_eq!(titles, [title], "{prompt}");
        }
        for prompt in [
            "commit and push",
            "run the tests",
            "continue",
            "wait",
            "too slow",
            "What is the simplest implementation?",
            "should we use sqlite",
            "also should we group the kilns by their oven",
            "wait why are the logs in a folder of their own shouldn't we keep one log per kiln",
            "shouldn't the port be a string",
            "let's get this merged",
            "let's commit it",
            "we should spawn a worker for that",
            "if it fails we should use the old one",
            "fix the login form",
            "we should use the queue, right",
            "i thought we no longer use the queue",
            "the docs say \"we should use x instead of y\"",
        ] {
            assert_eq!(parsed(prompt).decided, [], "{prompt}");
        }
    }
}

//! Replies: the way a person answers, picks or decides in a prompt, as opposed to asking for work.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::gate::is_name;
use crate::pattern;
use crate::proposed::{self, Proposed};
use crate::prose::{self, LineKind};
use crate::request::is_pasted;
use crate::rules::is_quoted;
use crate::text::{self, capitalised, one_line, unmarked};
use crate::title;
use crate::verbs;

/// Length from which a prompt is mostly pasted or a specification, in bytes.
const LONG: usize = 1500;

/// Longest text of a person that is kept, in characters.
const WORDS: usize = 480;

/// Most decisions that are kept of one prompt.
const MOST: usize = 4;

/// The form of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// "yes", "go ahead".
    Yes,
    /// "ok", which may only lead over to something else.
    Ok,
    /// "no", "don't".
    No,
    /// "1", "option B", "the second", "2 and 3", each with the words after it.
    Picks(Vec<String>),
    /// "both", "all of them".
    All,
    /// Anything else.
    #[default]
    Free,
}

/// A sentence by which a person decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The sentence.
    pub(crate) sentence: String,
    /// The sentence as a title.
    pub(crate) title: String,
    /// True if it decides without its context; else only as an answer.
    pub(crate) is_clear: bool,
}

/// A prompt as an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The form.
    pub(crate) form: Form,
    /// The words after "yes", "no" or the picked options.
    pub(crate) rest: String,
    /// The first sentence.
    pub(crate) opening: String,
    /// All of the person's own words.
    pub(crate) words: String,
    /// The sentences that decide.
    pub(crate) decided: Vec<Decided>,
    /// What the person proposes, which decides once the agent agrees.
    pub(crate) proposed: Option<Proposed>,
    /// True if the person asks or gives an order rather than answering.
    pub(crate) is_request: bool,
}

static YES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:ok(?:ay)?|ah|oh|hm+|great|perfect|cool|nice|thanks|well|good)[\s,.!]+)?
        (?: y(?:es|eah|ep|up|ea|eh|aye)?(?:\s+please|\s+sure)? | (?:that\s+|this\s+)?makes\s+sense | sure(?:\s+thing)? | of\s+course | definitely | absolutely | certainly | agreed? | correct | exactly
          | sounds\s+(?:good|great|fine|right|reasonable)(?:\s+to\s+me)? | (?:that\s+|this\s+)?looks\s+(?:good|great|fine|right)(?:\s+to\s+me)? | go\s+ahead | go\s+for\s+it | go\s+with\s+(?:it|that|your\s+\w+)
          | (?:please\s+)?do\s+(?:it|that|so|this|both|all)(?:\s+please)? | let'?s?\s+(?:do|doe|try|go\s+with|go\s+for)\s+(?:it|that|this) | make\s+it\s+so | please\s+do
          | that(?:'s|\s+is|\s+sounds?|\s+works?|\s+would\s+be|'d\s+be)?\s+(?:fine|good|great|perfect|ok|okay|right|correct|works|nice|reasonable)(?:\s+(?:to|for|with)\s+me)? | works\s+for\s+me | lgtm | approved? | ok(?:ay)? | perfect | ja | genau | gerne | passt | klingt\s+gut | mach\s+das | oui | d'accord | sí | claro )
        (?:[\s,.!;:—–-]+|$)",
    )
});

static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:ok(?:ay)?|hm+|ah|oh|sorry|well)[\s,.!]+)?
        (?: no+(?:pe)?(?:\s+thanks?|\s+thank\s+you)? | nah | not\s+(?:now|yet|really|necessary|needed) | (?:please\s+)?(?:don'?t|do\s+not|skip\s+(?:it|that)|leave\s+(?:it|that)) | wrong | nein | lieber\s+nicht )
        (?:[\s,.!;:—–-]+|$)",
    )
});

/// Options that are picked by letter, number or position.
static PICK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:ok(?:ay)?|yes|yeah|sure|hm+|well|i\s+think|let'?s|then|so|maybe|probably)[\s,.!]+)*
        (?:(?:i\s+)?(?:go\s+(?:with|for)|do|use|take|pick|choose|prefer|like|want|would\s+(?:go\s+with|prefer))\s+)?
        (?: (?:the\s+)?(?:options?|approach|choice|alternative|number|variant|plan|\#)\s*([a-h]|\d{1,2})\b
          | (?:the\s+)?(first|second|third|fourth|fifth|last|former|latter)(?:\s+(?:one|option|approach|choice))?\b
          | \(?([a-h]|\d{1,2})\)?(?:[.,;:!)]|\s+[—–-]|\s+(?:and|or|please|does|is|seems|sounds|looks|but|because|since|with|for\s+now)\b|\s*$) )",
    )
});

/// Further options after the first pick: "1 and 3", "1, 2".
static PICK_ON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(r"(?ix)^\s*(?:,|and|\+|&|,\s*and)\s*(?:option\s+|\#)?([a-h]|\d{1,2})\b[).]?")
});

/// Sentences that decide, without their hedges.
static DECIDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
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
        | ^(?:please\s+)?(?:focus|keep|use|support|limit|target)\s+only\b
        | ^we\s+(?:just\s+|really\s+|definitely\s+|explicitly\s+|also\s+|would\s+|only\s+|currently\s+)?(?:want|prefer|like|chose|choose|decided|agreed?|opted?|vote|favou?r)\b
        | ^i\s+(?:just\s+|really\s+|definitely\s+|explicitly\s+|also\s+|would\s+|only\s+|still\s+)?(?:want|prefer|like|chose|choose|decided|agree\s+(?:with|on)|vote|favou?r)\b
        | ^i(?:'d|’d|\s+would|\s+had)?\s+(?:rather|much\s+rather|go\s+with|love\s+to)\b
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
static MOMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?: commit(?:ted|ting)? | push(?:ed|ing)? | pull | prs? | pull\s+requests? | rebase | merged? | ship | (?:spawn|re-?run|restart|reboot)\w* | branch(?:es)? | worktrees? | workers? | look(?:\s+at|\s+into)? | code\s+review | update\s+the\s+\w+ | you\s+to )\b",
    )
});

/// Proposals about how to go on, which decide nothing about the work.
static PROCEDURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:go\s+ahead\s+(?:and|with)\s+|just\s+|now\s+|also\s+|please\s+|then\s+|yes,?\s+)*
        (?: commit | push | pull | merge | rebase | open\s+(?:a|the|another)?\s*(?:draft\s+)?(?:pr|pull) | create\s+(?:a|the|another)?\s*(?:draft\s+|new\s+)?(?:pr|pull|branch|commit) | ship | publish | deploy | release
          | run | re-?run | test | check | verify | validate | try | retry | start | restart | stop | kill | continue | proceed | resume | keep\s+going | finish | move\s+on
          | show | view | see | explain | walk | tell | elaborate | look | review | investigate | dig | explore | search | find | read | inspect | analy[sz]e | debug | diagnose | trace | monitor
          | do\s+(?:that|it|this|so) | help | discuss | talk | clarify | ask | wait | done | next | skip\s+ahead | more\s+questions? | save | give | send | pick\s+(?:that|this|it)\s+up | open | close | clean\s+up | delete\s+(?:the\s+)?(?:branch|worktree) | anything | something | create\s+context | generate\s+(?:a\s+)?(?:test|report|summary)
          | confirm | double.check | git )\b",
    )
});

/// Returns true if the text only says how to go on.
pub(crate) fn is_procedure(text: &str) -> bool {
    PROCEDURE.as_ref().is_some_and(|shape| shape.is_match(text.trim()))
}

/// Returns true if the sentence is a question, with or without a question mark.
pub(crate) fn asks(sentence: &str) -> bool {
    #[rustfmt::skip]
    const ASKING: [&str; 62] = [
        "can", "could", "what", "whats", "what's", "why", "how", "hows", "is", "isn't", "are", "aren't", "does",
        "doesn't", "do", "did", "didn't", "should", "shouldn't", "would", "wouldn't", "will", "won't", "was", "were",
        "has", "have", "haven't", "which", "who", "where", "when", "whether", "any", "hy", "wait,", "wondering",
        "explain", "tell", "describe", "show", "check", "investigate", "find", "look", "confirm", "verify", "review",
        "analyse", "analyze", "compare", "summarize", "summarise", "list", "kannst", "könntest", "was", "warum",
        "wie", "wieso", "gibt", "soll",
    ];
    let lower = sentence.to_lowercase();
    let mut words = lower.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_imperative = first == "do"
        && ["not", "the", "a", "it", "that", "this", "so", "both"].contains(&second)
        || first == "have" && !["you", "we", "they", "i"].contains(&second)
        || first == "what" && second == "i"
        || first == "any" && lower.contains(" should ")
        || first == "when" && lower.contains(',');
    let ends_open = lower.ends_with('?')
        || lower.ends_with(" right")
        || lower.ends_with(" or not")
        || lower.ends_with(" correct")
        || lower.contains("do you think")
        || lower.contains("do you know")
        || lower.contains("let me know")
        || lower.contains("question is");
    ends_open || ASKING.contains(&first) && !is_imperative
}

impl Reply {
    /// Parses a prompt. Returns `None` if it is no answer of a few words.
    pub(crate) fn parse(prompt: &str) -> Option<Self> {
        if prompt.len() > 4 * LONG {
            return None;
        }
        let is_long = prompt.len() > LONG;
        let mut own: Vec<String> = Vec::new();
        let mut decided: Vec<Decided> = Vec::new();
        let mut proposed = None;
        let mut pasted = 0;
        for paragraph in paragraphs(prompt) {
            if is_wrapped(&paragraph) {
                pasted += paragraph.len();
                continue;
            }
            for line in paragraph {
                if line.text.len() > LONG || is_pasted(line.text) && !line.text.starts_with('[') {
                    pasted += 1;
                    continue;
                }
                for (at, sentence) in prose::sentences_at(line.text) {
                    own.push(one_line(sentence, WORDS));
                    if decided.len() < MOST && !is_long && !is_quoted(line.text, at) {
                        let found = decision(sentence);
                        if found.is_none() && proposed.is_none() {
                            proposed = proposed::of_sentence(sentence);
                        }
                        decided.extend(found);
                    }
                }
            }
        }
        let opening = own.first()?.clone();
        let mut words = one_line(&unmarked(&own.join(" ")), WORDS);
        let (form, rest) = if is_long { (Form::Free, String::new()) } else { form(&words) };
        let is_request = form == Form::Free && asks(without_softeners(&opening));
        // Of a prompt with other things in it, only what decides.
        if (pasted > 0 || own.join(" ").chars().count() > WORDS) && !decided.is_empty() {
            let sentences: Vec<&str> = decided.iter().map(|one| one.sentence.as_str()).collect();
            words = one_line(&sentences.join(" "), WORDS);
        }
        let is_empty = form == Form::Free
            && decided.is_empty()
            && proposed.is_none()
            && (is_long || is_request);
        (!is_empty).then_some(Self { form, rest, opening, words, decided, proposed, is_request })
    }
}

/// Returns the paragraphs of prose in a prompt.
fn paragraphs(prompt: &str) -> Vec<Vec<prose::Line<'_>>> {
    let mut paragraphs = vec![Vec::new()];
    for line in prose::lines(prompt).take(60) {
        match line.kind {
            LineKind::Blank => paragraphs.push(Vec::new()),
            LineKind::Text | LineKind::Item => {
                if let Some(last) = paragraphs.last_mut() {
                    last.push(line);
                }
            }
            // "#1 please" is no heading.
            LineKind::Heading if prompt.len() < 200 => {
                if let Some(last) = paragraphs.last_mut() {
                    last.push(line);
                }
            }
            LineKind::Heading => {}
        }
    }
    paragraphs
}

/// Returns true if the lines of a paragraph were broken by a program: no person typed it so.
pub(crate) fn is_wrapped(paragraph: &[prose::Line<'_>]) -> bool {
    let breaks = paragraph.windows(2).filter(|pair| {
        matches!(pair, [line, next] if line.kind == LineKind::Text
            && next.kind == LineKind::Text
            && line.text.len() >= 50
            && !line.text.ends_with(['.', '!', '?', ':', ';'])
            && next.text.starts_with(|c: char| c.is_lowercase() || c == '`' || c == '('))
    });
    paragraph.len() >= 3 && breaks.count() * 2 >= paragraph.len()
}

/// Returns the form of an answer, and the words after its first ones.
fn form(words: &str) -> (Form, String) {
    let rest = |at: usize| {
        words[at..]
            .trim_start_matches([' ', ',', '.', '!', ';', ':', '—', '–', '-', ')'])
            .to_owned()
    };
    let lower = words.to_lowercase();
    for all in ["both", "all of them", "all of the above", "all three", "all"] {
        if let Some(after) = lower.strip_prefix(all)
            && (after.is_empty()
                || after.starts_with([',', '.', '!', ';', ' ']) && after.len() < 60)
        {
            return (Form::All, rest(all.len().min(words.len())));
        }
    }
    if let Some(found) = PICK.as_ref().and_then(|pick| pick.captures(words)) {
        let label = found.iter().skip(1).flatten().next();
        if let Some(label) = label {
            let mut labels = vec![label.as_str().to_lowercase()];
            let mut end = label.end();
            while labels.len() < 8
                && let Some(next) = PICK_ON.as_ref().and_then(|pick| pick.captures(&words[end..]))
                && let Some(label) = next.get(1)
            {
                labels.push(label.as_str().to_lowercase());
                end += label.end();
            }
            let after = rest(end);
            let noun = ["one", "option", "approach", "choice"].iter().find(|noun| {
                after
                    .strip_prefix(**noun)
                    .is_some_and(|more| !more.starts_with(char::is_alphanumeric))
            });
            let after = noun.map_or(after.as_str(), |noun| &after[noun.len()..]);
            let after = after.trim_start_matches([' ', ',', '.', ';', ':', '-']).to_owned();
            return (Form::Picks(labels), after);
        }
    }
    if let Some(found) = NO.as_ref().and_then(|no| no.find(words)) {
        return (Form::No, rest(found.end()));
    }
    // "ok, yes, do it": several in a row.
    let mut end = 0;
    while let Some(found) = YES.as_ref().and_then(|yes| yes.find(&words[end..]))
        && found.end() > 0
    {
        end += found.end();
    }
    if end > 0 {
        let said = words[..end].trim_matches([' ', ',', '.', '!', ';', ':', '—', '–', '-']);
        let is_ok = ["ok", "okay", "perfect", "y"].iter().any(|ok| said.eq_ignore_ascii_case(ok));
        return (if is_ok { Form::Ok } else { Form::Yes }, rest(end));
    }
    (Form::Free, String::new())
}

/// Returns the decision in a sentence: in the first of its clauses that decides.
fn decision(sentence: &str) -> Option<Decided> {
    if !(8..600).contains(&sentence.len())
        || sentence.starts_with(['"', '\'', '“', '`', '<', '{', '('])
    {
        return None;
    }
    let cleaned = unmarked(sentence);
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
            return made(title);
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
    let found = NEEDLESS.as_ref()?.find(&cleaned)?;
    let is_own = !asks(&cleaned) && !is_quoted(&cleaned, found.start());
    // "We can use x and no need for y": the first half says what holds instead.
    let before = cleaned[..found.start()].strip_suffix(" and ");
    let first = before.and_then(|before| before.rfind("we ")).map(|at| &cleaned[at..]);
    let first = first.filter(|clause| DECIDED.as_ref().is_some_and(|one| one.is_match(clause)));
    let first = first.map(|clause| titled(&as_decision(clause.to_owned())));
    is_own.then(|| first.or_else(|| deciding(&cleaned[found.start()..]))).flatten().and_then(made)
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

/// Decisions against something, anywhere.
static NEEDLESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
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
    let decides = DECIDED.as_ref()?.is_match(said) && !asks(said) && !conditional(said);
    decides.then(|| titled(&as_decision(titled(said))))
}

/// Returns the title of a clause that decides.
fn deciding(clause: &str) -> Option<String> {
    let softened = without_softeners(clause);
    // "I think x should be y?" states rather than asks.
    let is_hedged = softened.len() < clause.trim_start().len()
        && ["i think", "i believe", "i guess"]
            .iter()
            .any(|hedge| text::find_ignoring_case(clause, hedge).is_some());
    let bare = if is_hedged { softened.trim_end_matches(['?', ' ']) } else { softened };
    let found = DECIDED.as_ref()?.find(bare)?;
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
    MOMENT.as_ref().is_some_and(|moment| moment.is_match(start))
}

fn conditional(clause: &str) -> bool {
    let lower: String = clause.chars().take(12).collect::<String>().to_lowercase();
    ["if ", "unless ", "in case ", "when ", "suppose", "assuming "]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// Returns the clause without "I think", "so maybe" and the like.
pub(crate) fn without_softeners(clause: &str) -> &str {
    #[rustfmt::skip]
    const SOFT: [&str; 69] = [
        "so", "ok", "okay", "yes", "yeah", "yep", "nope", "sure", "right", "well", "also", "and", "but", "then",
        "hmm", "hmmm", "hm", "um", "uh", "ah", "ahh", "oh", "maybe", "perhaps", "probably", "basically", "actually",
        "personally", "obviously", "anyway", "honestly", "instead", "i think", "i believe", "i guess", "i suppose",
        "i feel like", "i suggest", "i'd say", "i would say", "i mean", "in that case", "for now", "in my opinion",
        "imo", "imho", "it seems", "seems like", "looks like", "sounds like", "it seems like", "please", "wait",
        "sorry", "no,", "because", "i know", "i kind of feel like", "i kind of think", "that means", "this means", "which means",
        "in which case", "going forward", "my preference is to", "that", "agreed", "great", "good",
    ];
    let mut rest = clause.trim_start();
    for _ in 0..6 {
        let soft = SOFT.iter().filter(|soft| {
            rest.get(..soft.len()).is_some_and(|start| start.eq_ignore_ascii_case(soft))
                && rest[soft.len()..].starts_with([' ', ',', '.', '!', ':', '…', '-'])
        });
        let Some(soft) = soft.max_by_key(|soft| soft.len()) else { break };
        // "That should be x" has "that" as its subject.
        let after = rest[soft.len()..].trim_start_matches([' ', ',', '.', '!', ':', '…', '-']);
        let is_subject = *soft == "that"
            && ["is", "should", "would", "must", "was", "needs", "'s"]
                .iter()
                .any(|verb| after.starts_with(verb));
        if after.is_empty() || is_subject {
            break;
        }
        rest = after;
    }
    rest
}

/// Returns the clause without "let's" and the like: its title.
fn without_start(clause: &str) -> &str {
    for start in ["let's just ", "lets just ", "let’s just ", "let's ", "lets ", "let’s "] {
        if clause.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start)) {
            return &clause[start.len()..];
        }
    }
    clause
}

/// Turns a clause into a title that ends with a whole thought wherever possible.
pub(crate) fn titled(clause: &str) -> String {
    titled_in(clause, title::LENGTH)
}

/// Like [`titled`], in so many characters.
pub(crate) fn titled_in(clause: &str, longest: usize) -> String {
    let clause = without_addresses(clause);
    let shaped = title::shaped(&clause);
    if !shaped.ends_with('…') && shaped.chars().count() <= longest {
        return shaped;
    }
    let plain = text::plain(&clause);
    let room = plain.char_indices().nth(longest).map_or(plain.len(), |(at, _)| at);
    let start = &plain[..room];
    let last = |ends: &[&str], least: usize| {
        ends.iter().filter_map(|end| start.rfind(end)).filter(|at| *at >= least).max()
    };
    const THOUGHTS: [&str; 16] = [
        ". ",
        "; ",
        ": ",
        " - ",
        " — ",
        " – ",
        ", ",
        " because ",
        " since ",
        " so that ",
        " given ",
        " which ",
        " where ",
        " so ",
        " but ",
        " whereas ",
    ];
    let end = last(&THOUGHTS, longest / 3)
        .or_else(|| {
            last(&[" and ", " instead of ", " rather than ", " when ", " as "], longest / 2)
        })
        .or_else(|| last(&[" with ", " for ", " in ", " from "], longest / 2));
    match end {
        Some(end) => capitalised(start[..end].trim_end_matches([',', ';', ':', '-', ' '])),
        None => text::cut(&shaped, longest),
    }
}

/// Returns the clause without the addresses of pages.
fn without_addresses(clause: &str) -> Cow<'_, str> {
    if !clause.contains("http") {
        return Cow::Borrowed(clause);
    }
    let is_address = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    Cow::Owned(clause.split(' ').filter(|word| !is_address(word)).collect::<Vec<_>>().join(" "))
}

/// Returns true for a verb of design.
pub(crate) fn is_verb(word: &str) -> bool {
    VERBS.split('|').any(|verb| verb.eq_ignore_ascii_case(word))
}

/// Returns true for a question that is answered with more than yes or no.
pub(crate) fn asks_openly(question: &str) -> bool {
    const OPEN: [&str; 8] = ["what", "which", "where", "when", "who", "why", "how", "or"];
    let first = question.split_whitespace().next().unwrap_or_default().to_lowercase();
    OPEN.contains(&first.trim_end_matches("'s"))
}

/// Words of questions about how things should be.
static DECIDABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?: should | prefer(?:ence|red)? | want | like | rather | ok(?:ay)? | acceptable | fine\s+with | happy\s+with | which\s+(?:one|of|\w+\s+(?:should|would)) | name | call\s+it | default | go\s+with | keep | allowed? | sollen | soll | möchtest )\b",
    )
});

/// Questions about the conversation, or about what a person sees.
static TALK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?: work\s+on\s+next | do\s+next | next\s+step | tackle | anything\s+else | something\s+else | clarify | discuss | explore | talk | look\s+like | happen(?:s|ed|ing)? | see(?:ing)? | show(?:s|ing)? | share | paste | confirm | check | try | test | more\s+detail | proceed | continue | start\s+with | right\s+now | help | excited | concern | intuition | think(?:ing)? | stuck | another\s+shot )\b",
    )
});

/// Returns true if a question asks how things should be.
pub(crate) fn asks_for_decision(question: &str) -> bool {
    let shows = |shape: &LazyLock<Option<Regex>>| {
        shape.as_ref().is_some_and(|shape| shape.is_match(question))
    };
    shows(&DECIDABLE) && !shows(&TALK)
}

/// Returns true for an order: its first word is an imperative.
pub(crate) fn is_order(answer: &str) -> bool {
    let bare = without_softeners(answer);
    let first = bare.split_whitespace().next().unwrap_or_default();
    is_procedure(bare) || verbs::is_imperative(first) && !is_verb(first)
}

/// Returns true for more than "ah" or "hmm".
pub(crate) fn says_anything(answer: &str) -> bool {
    let bare = without_softeners(answer);
    bare.chars().any(char::is_numeric)
        || bare.split_whitespace().any(|word| word.len() > 3)
        || ["no", "yes", "off", "on"].iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// Returns true for an option that only says how to go on.
pub(crate) fn is_housekeeping(head: &str) -> bool {
    const STARTS: [&str; 14] = [
        "commit", "push", "merge", "continue", "proceed", "stop", "wait", "done", "skip", "retry",
        "rebase", "pull", "nothing", "cancel",
    ];
    let first = head.split_whitespace().next().unwrap_or_default();
    STARTS.iter().any(|start| first.eq_ignore_ascii_case(start))
        && head.split_whitespace().count() <= 4
}

/// Returns true for words that say what to do instead.
pub(crate) fn says_what(words: &str) -> bool {
    words.split_whitespace().count() >= 3
        && names_something(words)
        && !asks(words)
        && !is_procedure(words)
        && !is_of_moment(words)
}

/// Returns true if a title names something, so that it can stand alone.
pub(crate) fn names_something(title: &str) -> bool {
    #[rustfmt::skip]
    const EMPTY: [&str; 95] = [
        "makes", "sense", "own",
        "a", "about", "actually", "all", "also", "an", "and", "any", "anything", "are", "as", "at", "be", "better", "both", "but",
        "by", "can", "current", "currently", "do", "done", "don't", "everything", "first", "fine", "for", "from", "get", "go",
        "good", "have", "here", "i", "in", "instead", "is", "it", "its", "it's", "just", "keep", "later", "let", "let's", "like",
        "make", "more", "need", "new", "no", "not", "now", "of", "on", "one", "only", "or", "other", "our", "out", "put", "should", "so", "some", "something",
        "start", "stay", "sure", "than", "that", "the", "them", "then", "there", "these", "they", "thing", "things", "this",
        "those", "to", "up", "use", "want", "way", "we", "will", "with", "would", "you", "your",
    ];
    let lower = title.to_lowercase();
    let mut words =
        lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_' | '-' | '.' | '/')));
    let first = words.clone().next().unwrap_or_default();
    let is_pointing = !["better", "nicer", "simpler", "cleaner", "easier", "safer"]
        .iter()
        .any(|word| lower.contains(word))
        && ["it", "this", "that", "they", "these", "those", "it's", "that's"].contains(&first);
    let named = words.by_ref().filter(|word| word.len() > 1 && !EMPTY.contains(word)).count();
    named >= if is_pointing { 4 } else { 2 }
}

/// How people lead up to what is to be, and what stands for it in a title.
static WISHED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:
          (?:i|we)\s+(?:do\s+not|don['’]t)\s+(?:think|believe)\s+(?:that\s+)?(?:we|it|this|they)\s+(?:need|needs)\s+(?P<none>\w+)
        | (?:i|we)\s+(?:really\s+)?(?:do\s+not|don['’]t)\s+need\s+(?P<needless>[^\sa]\w*|a\w+)
        | we\s+(?:should|need\s+to|have\s+to|must|ought\s+to|can|could|will|['’]ll|are\s+going\s+to|['’]re\s+going\s+to)\s+
          (?:then\s+|also\s+|simply\s+|just\s+|probably\s+|only\s+)*(?P<not>not\s+)?(?P<verb>[a-z]+)
        | (?:i|we)(?:\s+would|['’]d)\s+(?:(?:like|prefer)\s+to|rather)\s+(?P<like>[a-z]+)
        | (?:i|we)\s+(?:just\s+|really\s+)?want\s+to\s+(?P<want>[a-z]+)
        )\b",
    )
});

/// Turns "We should keep the parser" into "Keep the parser": a title says what was decided, not who spoke.
pub(crate) fn as_decision(title: String) -> String {
    let Some(found) = WISHED.as_ref().and_then(|wished| wished.captures(&title)) else {
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
    let verb = ["verb", "like", "want"].iter().find_map(|name| found.name(name));
    let Some(verb) = verb else { return title };
    let is_known = is_verb(verb.as_str()) || verbs::is_imperative(verb.as_str());
    match is_known {
        true if found.name("not").is_some() => format!("Do not {}", &title[verb.start()..]),
        true => capitalised(&title[verb.start()..]),
        false => title,
    }
}

/// Returns true for "Rename to x" and "Keep as it is": the verb has no object.
pub(crate) fn lacks_object(title: &str) -> bool {
    let mut words = title.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default().to_lowercase();
    let is_verbal = is_verb(first) || verbs::is_imperative(first);
    is_verbal
        && matches!(
            second.as_str(),
            "to" | "as" | "in" | "into" | "it" | "that" | "this" | "both" | "only"
        )
        || !is_specific(title)
            && (title.split_whitespace().count() <= 3
                || ["No need for", "Agreed"].iter().any(|start| title.starts_with(start))
                    && title.split_whitespace().count() <= 6)
}

/// Returns true for "Avoid inventing our own": what it ends with was named before.
pub(crate) fn dangles(title: &str) -> bool {
    const OBJECTS: [&str; 6] = ["own", "it", "them", "this", "that", "these"];
    let last = title.split_whitespace().last().unwrap_or_default().trim_end_matches([',', '.']);
    OBJECTS.iter().any(|object| last.eq_ignore_ascii_case(object))
}

/// Returns true if two texts share a word that carries meaning.
pub(crate) fn alike(a: &str, b: &str) -> bool {
    let known = significant(a);
    significant(b).iter().any(|word| word.len() >= 4 && known.contains(word))
}

/// Returns true if two texts share so many words that carry meaning.
pub(crate) fn shares(a: &str, b: &str, least: usize) -> bool {
    let known = significant(a);
    significant(b).iter().filter(|word| known.contains(word)).count() >= least
}

/// Returns true if a text says more than a title does.
pub(crate) fn says_more(text: &str, title: &str) -> bool {
    let known = significant(title);
    significant(text).iter().any(|word| !known.contains(word))
}

/// Returns the first question in a text, without what follows it.
pub(crate) fn question_of(text: &str) -> &str {
    text.find('?').map_or(text, |at| &text[..=at])
}

/// Returns a question without its first words: "Should I commit?" becomes "commit?".
pub(crate) fn offered(question: &str) -> String {
    let lower = question.to_lowercase();
    let start =
        ["should i ", "shall i ", "do you want me to ", "want me to ", "would you like me to "];
    start.iter().find_map(|start| lower.strip_prefix(start)).unwrap_or(&lower).to_owned()
}

/// Returns true if a title names a file, a name from code, a number or a proper name.
pub(crate) fn is_specific(title: &str) -> bool {
    title.split_whitespace().enumerate().any(|(at, word)| {
        let is_code = word.contains(['_', '/', '`', '@', '='])
            || word.trim_end_matches(['.', ',']).contains('.');
        is_code || at > 0 && is_name(word)
    })
}

/// Returns true for "call ours x" and "fold it in": a word at the beginning stands for what was just spoken of.
pub(crate) fn points_early(title: &str) -> bool {
    #[rustfmt::skip]
    const POINTING: [&str; 10] = ["it", "its", "ours", "them", "they", "their", "these", "those", "here", "there"];
    let words = title.split_whitespace().take(4);
    let mut words = words.map(|word| word.trim_matches([',', '.', ';', ':', '!', '?']));
    words.any(|word| POINTING.iter().any(|one| one.eq_ignore_ascii_case(word)))
}

/// Returns the words of a text that carry its meaning, in lower case and without endings.
pub(crate) fn significant(text: &str) -> Vec<String> {
    #[rustfmt::skip]
    const EMPTY: [&str; 40] = [
        "the", "and", "for", "with", "that", "this", "you", "want", "just", "into", "from", "have", "are", "was",
        "not", "but", "can", "will", "would", "should", "could", "also", "then", "than", "now", "keep", "use", "using",
        "like", "let", "lets", "ok", "yes", "yeah", "via", "its", "our", "your", "option", "approach",
    ];
    let lower = text.to_lowercase();
    let mut words: Vec<String> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3 && !EMPTY.contains(word))
        .map(|word| word.trim_end_matches("ing").trim_end_matches('s').to_owned())
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(prompt: &str) -> Reply {
        Reply::parse(prompt).unwrap_or_default()
    }

    #[test]
    fn short_answers_have_a_form() {
        for (prompt, form, rest) in [
            ("yes", Form::Yes, ""),
            ("yeah that would be great", Form::Yes, ""),
            ("ok, do it", Form::Yes, ""),
            ("Sure. But keep the old endpoint", Form::Yes, "But keep the old endpoint"),
            ("go ahead", Form::Yes, ""),
            ("sounds good to me!", Form::Yes, ""),
            ("no, use the queue", Form::No, "use the queue"),
            ("nope", Form::No, ""),
            ("B", Form::Picks(vec!["b".into()]), ""),
            ("2", Form::Picks(vec!["2".into()]), ""),
            ("let's go with option A please", Form::Picks(vec!["a".into()]), "please"),
            ("the second one", Form::Picks(vec!["second".into()]), ""),
            ("1 and 3", Form::Picks(vec!["1".into(), "3".into()]), ""),
            (
                "2 seems simpler, we can extend it later",
                Form::Picks(vec!["2".into()]),
                "seems simpler, we can extend it later",
            ),
            ("both", Form::All, ""),
            ("a new page for the settings", Form::Free, ""),
            ("3 files are missing", Form::Free, ""),
        ] {
            let reply = parsed(prompt);
            assert_eq!((reply.form, reply.rest.as_str()), (form, rest), "{prompt}");
        }
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
            "shouldn't the port be a string",
            "let's get this merged",
            "let's commit it",
            "we should spawn a worker for that",
            "if it fails we should use the old one",
            "fix the login form",
            "we should use the queue, right",
            "the docs say \"we should use x instead of y\"",
        ] {
            assert_eq!(parsed(prompt).decided, [], "{prompt}");
        }
    }
}

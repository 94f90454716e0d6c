//! Replies: the way a person answers, picks or decides in a prompt, as opposed to asking for work.

mod deciding;
mod questions;
mod words;

use std::sync::LazyLock;

use crate::pattern::Regex;

pub(crate) use self::deciding::{
    as_decision, concluded, decision_in, in_imperative, is_of_moment, is_verb, with_ground,
    with_lead, with_place,
};
pub(crate) use self::questions::{
    agreed_to, asks, asks_for_decision, asks_openly, is_procedure, offered, question_of,
};
pub(crate) use self::words::{
    alike, dangles, hedges, is_about_option, is_hedged, is_housekeeping, is_order, is_relative,
    is_specific, is_thin, lacks_object, names_something, points, points_early, says_anything,
    says_more, says_what, shares, significant, suspects, titled, titled_in, without_softeners,
};
use crate::pattern;
use crate::proposed::{self, Proposed};
use crate::prose::{self, LineKind};
use crate::request::is_pasted;
use crate::rules::is_quoted;
use crate::text::{one_line, unmarked};

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

static YES: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:ok(?:ay)?|ah|oh|hm+|great|perfect|cool|nice|thanks|well|good)[\s,.!]+)?
        (?: y(?:es|eah|ep|up|ea|eh|aye)?(?:\s+please|\s+sure)? | (?:that\s+|this\s+)?makes\s+sense | sure(?:\s+thing)? | of\s+course | definitely | absolutely | certainly | agreed? | correct | exactly
          | sounds\s+(?:good|great|fine|right|reasonable)(?:\s+to\s+me)? | (?:that\s+|this\s+)?looks\s+(?:good|great|fine|right)(?:\s+to\s+me)? | go\s+ahead | go\s+for\s+it | go\s+with\s+(?:it|that|your\s+\w+)
          | (?:please\s+)?do\s+(?:it|that|so|this|both|all)(?:\s+please)? | let'?s?\s+(?:do|doe|try|go\s+with|go\s+for)\s+(?:it|that|this) | make\s+it\s+so | please\s+do
          | that(?:'s|\s+is|\s+sounds?|\s+works?|\s+would\s+be|'d\s+be)?\s+(?:fine|good|great|perfect|ok|okay|right|correct|works|nice|reasonable)(?:\s+(?:to|for|with)\s+me)? | works\s+for\s+me | lgtm | approved? | ok(?:ay)? | perfect | ja | genau | gerne | passt | klingt\s+gut | mach\s+das | oui | d'accord | sí | claro )
        (?:[\s,.!;:—–-]+|$)",
    )
});

static NO: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:ok(?:ay)?|hm+|ah|oh|sorry|well)[\s,.!]+)?
        (?: no+(?:pe)?(?:\s+thanks?|\s+thank\s+you)? | nah | not\s+(?:now|yet|really|necessary|needed) | (?:please\s+)?(?:don'?t|do\s+not|skip\s+(?:it|that)|leave\s+(?:it|that)) | wrong | nein | lieber\s+nicht )
        (?:[\s,.!;:—–-]+|$)",
    )
});

/// Options that are picked by letter, number or position.
static PICK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:ok(?:ay)?|yes|yeah|sure|hm+|well|i\s+think|let'?s|then|so|maybe|probably)[\s,.!]+)*
        (?:(?:i\s+)?(?:go\s+(?:with|for)|do|use|take|pick|choose|prefer|like|want|would\s+(?:go\s+with|prefer))\s+)?
        (?: (?:the\s+)?(?:options?|approach|choice|alternative|number|variant|plan|\#)\s*([a-h]|\d{1,2})\b
          | (?:the\s+)?(first|second|third|fourth|fifth|last|former|latter)(?:\s+(?:one|option|approach|choice))?\b
          | \(?([a-h]|\d{1,2})\)?(?:[.,;:!)]|\s+[—–-]|\s+(?:and|or|please|does|is|seems|sounds|looks|but|because|since|with|for\s+now)\b|\s*$) )",
    )
});

/// Further options after the first pick: "1 and 3", "1, 2".
static PICK_ON: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"(?ix)^\s*(?:,|and|\+|&|,\s*and)\s*(?:option\s+|\#)?([a-h]|\d{1,2})\b[).]?")
});

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
                let mut before = "";
                for (at, sentence) in prose::sentences_at(line.text) {
                    own.push(one_line(sentence, WORDS));
                    if decided.len() < MOST && !is_long && !is_quoted(line.text, at) {
                        let found = deciding::decision(sentence);
                        if found.is_none() && proposed.is_none() {
                            proposed = proposed::of_sentence(sentence);
                        }
                        if let Some(one) = found {
                            let title = with_lead(with_ground(one.title, before), before);
                            // What it replaces is told with it.
                            decided.retain(|known: &Decided| !title.starts_with(&known.title));
                            decided.push(Decided { title, ..one });
                        }
                    }
                    before = sentence;
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

/// Returns true for "yes" and "yeah, sure", without more.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(form(answer), (Form::Yes, rest) if rest.is_empty())
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
    if let Some(found) = PICK.captures(words) {
        let label = found.iter().skip(1).flatten().next();
        if let Some(label) = label {
            let mut labels = vec![label.as_str().to_lowercase()];
            let mut end = label.end();
            while labels.len() < 8
                && let Some(next) = PICK_ON.captures(&words[end..])
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
    if let Some(found) = NO.find(words) {
        return (Form::No, rest(found.end()));
    }
    // "ok, yes, do it": several in a row.
    let mut end = 0;
    while let Some(found) = YES.find(&words[end..])
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
    fn a_title_that_is_cut_holds_only_what_can_be_shown() {
        let clause = "keep the \u{1a}polling of the mount, which is late";
        assert_eq!(titled_in(clause, 32), "Keep the polling of the mount");
    }
}

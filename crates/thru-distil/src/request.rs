//! The request in a prompt, as opposed to everything else in it.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::answers::{self, Plan, plan_title};
use crate::exchange;
use crate::gate::stands_alone;
use crate::pattern;
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::reply::Reply;
use crate::report;
use crate::rules::{self, Ruling};
use crate::text::{self, one_line, unmarked};
use crate::{title, undone, verbs};

/// Longest request kept, in characters.
const REQUEST: usize = 300;

/// A prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// The request; `None` if the prompt only drives the client.
    pub(crate) text: Option<String>,
    /// The request as a title, where it has an imperative.
    pub(crate) title: Option<String>,
    /// The first sentence as a title, of any kind.
    pub(crate) fallback: Option<String>,
    /// The question or the trouble in it, where a reader understands it alone.
    pub(crate) topic: Option<String>,
    /// The heading of the plan that the prompt hands over.
    pub(crate) plan: Option<String>,
    /// The beginning of that plan.
    pub(crate) context: Option<String>,
    /// The plan that the person approved by handing it over.
    pub(crate) approved: Option<Box<Plan>>,
    /// Corrections, wishes and standing rules in the prompt.
    pub(crate) rulings: Vec<Ruling>,
    /// The sentence that says that the person took the agent's work back.
    pub(crate) took_back: Option<String>,
    /// Keys of the failures that it shows.
    pub(crate) failures: Vec<u64>,
    /// True if it says that the same fails again.
    pub(crate) fails_again: bool,
    /// True if it asks how something was decided before.
    pub(crate) asks_back: bool,
    /// The prompt as an answer.
    pub(crate) reply: Option<Box<Reply>>,
    /// True if it says too little to be the topic of a session.
    pub(crate) is_slight: bool,
}

impl Request {
    /// Parses a prompt.
    pub(crate) fn parse(prompt: &str) -> Self {
        let prompt = text::without_fenced(prompt);
        let prompt = prompt.trim();
        if prompt.is_empty() || is_noise(prompt) {
            return Self { is_slight: true, ..Self::default() };
        }
        let looked_at = text::ends(prompt, 16 * 1024, 2 * 1024);
        let plan = hands_over_plan(&looked_at).then(|| plan_title(&looked_at)).flatten();
        let plan = plan.map(as_work);
        let sentences = asking_sentences(&looked_at);
        let title = match command_request(prompt) {
            Some(arguments) => phrase::of_request(arguments),
            None => sentences
                .iter()
                .take(4)
                .filter(|sentence| !is_hollow(sentence))
                .flat_map(|sentence| {
                    // Where the whole is about who speaks, its first clause may not be: "can you x, my y is".
                    let clause = sentence.split([',', ';']).next().unwrap_or_default();
                    let is_polite = phrase::without_courtesy(clause).len() < clause.len();
                    let clause = if is_polite { clause } else { sentence };
                    [sentence.clone(), phrase::impersonal(sentence), phrase::impersonal(clause)]
                })
                .filter_map(|sentence| phrase::of_request(&sentence))
                .find(|title| stands_alone(title)),
        };
        let title = title.filter(|title| stands_alone(title));
        let fallback = sentences
            .iter()
            .find(|sentence| sentence.split_whitespace().count() >= 3)
            .filter(|sentence| !gives_role(sentence))
            .map(|sentence| title::shaped(phrase::without_courtesy(sentence)));
        // What an agent wrote for another is no person's word.
        let is_own = plan.is_none() && !is_brief(prompt);
        let rulings = if is_own { rules::find(&looked_at) } else { Vec::new() };
        let reply = if is_own { Reply::parse(prompt).map(Box::new) } else { None };
        let approved = plan.is_some() && approves(prompt);
        let approved = approved.then(|| Box::new(answers::plan_in(&looked_at)));
        let shown = match command_request(prompt) {
            Some(_) => text::ends(prompt, 2 * REQUEST, 0).into_owned(),
            None => plan.clone().unwrap_or_else(|| sentences.join(" ")),
        };
        let request = one_line(&unmarked(&shown), REQUEST);
        let words = request.split_whitespace().count();
        Self {
            text: Some(request).filter(|request| request.contains(char::is_alphanumeric)),
            title,
            fallback,
            topic: if is_own { exchange::topic(&sentences) } else { None },
            is_slight: plan.is_none() && (words < 4 || is_housekeeping(prompt)),
            context: plan.as_ref().map(|_| report::of_text(&looked_at)),
            plan,
            approved,
            rulings,
            failures: undone::failures(prompt),
            fails_again: undone::still_fails(prompt),
            asks_back: ASKED_BACK.is_match(prompt),
            took_back: undone::by_person(prompt).map(|words| one_line(words, 160)),
            reply,
        }
    }
}

/// Questions about an earlier decision: "how did we decide where the logs live?"
static ASKED_BACK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:[^?.!\n]{0,40}\b)?(?:how|why|what|when|where|which|who)\b[^?.!\n]{0,60}\b(?:(?:did|have|had)\s+(?:we|you|i|they)\s+(?:\w+\s+)?(?:agree|choose|chosen|decide|pick|settle)|(?:was|were)\s+(?:it\s+)?(?:agreed|chosen|decided|settled))",
    )
});

/// Demands that agents make of each other, and programs of agents.
static DEMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)\b(?:reply|respond|answer|return|output)\s+(?:with\s+)?(?:exactly|only|just|nothing\s+but)\b
        | \b(?:do\s+not|don'?t)\s+(?:add|include|write)\s+(?:any\s+)?(?:other\s+)?(?:markdown|explanations?|commentary|extra|preamble|prose)\b
        | \bno\s+(?:extra|additional|other)\s+(?:text|commentary|prose)\b | \bexact\s+(?:marker|token|string)\b
        | \[\[\s*\#\#  | ^@\[\w+\]: | \bmessage\s+from\s+another\s+agent\b | <(?:task|instructions|context|summary|rules|role)>",
    )
});

/// Reviews by others, handed over.
static REVIEW: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:here(?:'s| is)\s+)?(?:more\s+|new\s+|the\s+|some\s+)?(?:(?:pr|code|reviewer|review|coderabbit|copilot|claude|gpt|codex|gemini)(?:'s)?\s+){1,2}(?:feedback|review|comments?|findings|suggestions)\b|^in\s+\S+\s+around\s+lines?\s+\d",
    )
});

/// Labels of the parts of a brief.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?im)^(?:\#+\s+|\*\*)?(?:role|goals?|tasks?|scope|constraints?|requirements|deliverables?|acceptance(?:\s+criteria)?|context|background|rules|output(?:\s+format)?|report(?:\s+back)?|return|instructions|hard\s+rules|non-goals|out\s+of\s+scope|verification|done\s+when|definition\s+of\s+done|steps|guidelines|workflow|your\s+(?:task|job|role|part))\s*(?:\*\*)?:",
    )
});

/// Returns the title that a request gives to its session, if a reader understands it alone: the part that an agent is to play is
/// none.
pub fn title_of(request: &str) -> Option<String> {
    let parsed = Request::parse(request);
    parsed.title.or(parsed.fallback.filter(|title| stands_alone(title)))
}

/// Returns a request as a title, unless it gives its reader a part to play.
pub(crate) fn first_line(request: &str) -> Option<String> {
    (!gives_role(request)).then(|| title::shaped(request))
}

/// Returns true if a text begins with the part that its reader is to play.
fn gives_role(text: &str) -> bool {
    let opening: String = text.chars().take(12).collect::<String>().to_lowercase();
    ["you are a ", "you are an ", "you are the ", "you're a ", "act as "]
        .iter()
        .any(|role| opening.starts_with(role))
}

/// Returns true if a prompt is a brief: written by an agent or a program rather than by a person.
fn is_brief(prompt: &str) -> bool {
    let start = &prompt[..prompt.floor_char_boundary(4000)];
    let opening: String = start.chars().take(200).collect::<String>().to_lowercase();
    let takes_over = prompt.len() > 500
        && ["taking over", "hand-off", "handoff", "handover"]
            .iter()
            .any(|word| opening.contains(word));
    let headings =
        start.lines().filter(|line| line.starts_with('#') && line.contains("# ")).count();
    let lines = start.lines().filter(|line| !line.trim().is_empty());
    let (items, all) = lines.fold((0, 0), |(items, all), line| {
        let is_item = line.trim_start().starts_with(['-', '*', '•'])
            || line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        (items + usize::from(is_item), all + 1)
    });
    let is_list = items >= 8 && items * 10 >= all * 6;
    let reviews = REVIEW.is_match(prompt);
    let parts = || PART.captures_iter(start).take(2).count();
    gives_role(prompt)
        || takes_over
        || is_list
        || reviews
        || headings >= 2 && prompt.len() > 400
        || headings >= 1 && opening.starts_with('#')
        || parts() >= 2
        || DEMAND.is_match(start)
}

/// Returns true if the prompt has the agent carry out a plan that was agreed on.
fn approves(prompt: &str) -> bool {
    let first = prompt.lines().next().unwrap_or_default().to_lowercase();
    first.contains("following plan") || first.contains("this plan")
}

/// Returns true if a sentence only points at other sentences: "Find out why and fix it."
fn is_hollow(sentence: &str) -> bool {
    #[rustfmt::skip]
    const EMPTY: [&str; 48] = [
        "a", "again", "ahead", "all", "and", "both", "can", "check", "do", "find", "fix", "go", "handle",
        "how", "i", "implement", "in", "into", "investigate", "is", "it", "just", "let", "look", "make",
        "me", "now", "on", "out", "please", "see", "so", "solve", "sure", "that", "the", "them", "then",
        "these", "this", "try", "up", "we", "what", "why", "work", "works", "you",
    ];
    let mut words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.all(|word| EMPTY.contains(&word.to_lowercase().as_str()))
}

/// Turns a plan's heading into a title of work: "Cache" becomes "Implement Cache", "Add a cache" stays.
fn as_work(heading: String) -> String {
    let heading = match heading.split_once(": ") {
        Some((label, rest)) if label.split(' ').count() == 1 && title::is_kind(label) => {
            text::capitalised(rest)
        }
        _ => heading,
    };
    let first = heading.split(' ').next().unwrap_or_default();
    match verbs::is_imperative(first) || first.ends_with("ing") {
        true => heading,
        false => title::shaped(&format!("Implement {heading}")),
    }
}

/// Returns true if the prompt only drives the client or was written by a machine.
fn is_noise(prompt: &str) -> bool {
    const MACHINE: [&str; 8] = [
        "<system-reminder",
        "<task-notification",
        "<teammate-message",
        "<local-command",
        "<command-",
        "[Request interrupted",
        "This session is being continued from",
        "Base directory for this skill:",
    ];
    MACHINE.iter().any(|start| prompt.starts_with(start))
        || prompt.starts_with('/')
            && command_request(prompt).is_none()
            && !prompt.trim().contains(' ')
        || prompt.starts_with("! ")
}

/// Returns the text after a slash command that asks for work.
fn command_request(prompt: &str) -> Option<&str> {
    const CLIENT: [&str; 12] = [
        "clear",
        "compact",
        "model",
        "config",
        "cost",
        "resume",
        "exit",
        "quit",
        "context",
        "agents",
        "mcp",
        "permissions",
    ];
    let (name, rest) = prompt.strip_prefix('/')?.split_once(char::is_whitespace)?;
    let asks = !name.contains('/') && !CLIENT.contains(&name) && !rest.trim().is_empty();
    asks.then(|| rest.trim())
}

/// Returns true for "commit", "update the changelog", "continue": work, but not the topic of a session.
fn is_housekeeping(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    let words = lower.split_whitespace().count();
    words <= 6
        && [
            "commit",
            "comit",
            "push",
            "continue",
            "changelog",
            "proceed",
            "resume",
            "go ahead",
            "/exit",
        ]
        .iter()
        .any(|word| lower.contains(word))
}

fn hands_over_plan(prompt: &str) -> bool {
    let start: String = prompt.chars().take(400).collect::<String>().to_lowercase();
    let first = start.lines().next().unwrap_or_default();
    first.contains("following plan")
        || first.contains("this plan") && start.contains("\n#")
        || first.starts_with("# ")
}

/// Returns the sentences that ask: prose outside pasted output, from the beginning of the prompt.
fn asking_sentences(prompt: &str) -> Vec<String> {
    let prompt = command_request(prompt).unwrap_or(prompt);
    let mut sentences = Vec::new();
    let mut length = 0;
    for line in prose::lines(prompt) {
        if !matches!(line.kind, LineKind::Text | LineKind::Item | LineKind::Heading)
            || is_pasted(line.text)
        {
            continue;
        }
        for sentence in prose::sentences(line.text) {
            if title::is_label(sentence) && sentence.split_whitespace().count() > 1 {
                continue;
            }
            length += sentence.len();
            sentences.push(one_line(sentence, REQUEST));
        }
        if length >= REQUEST || sentences.len() > 12 {
            break;
        }
    }
    if sentences.is_empty() {
        // Nothing but output was pasted: its first line gives the topic.
        sentences
            .extend(prompt.lines().map(|line| one_line(line, 160)).find(|line| !line.is_empty()));
    }
    sentences
}

/// Returns true if the line was printed by a machine rather than written by a person.
pub(crate) fn is_pasted(line: &str) -> bool {
    const PRINTED: [&str; 16] = [
        "at ", "$ ", "> ", "❯", "➜", "error:", "Error:", "warning:", "WARN", "INFO", "DEBUG",
        "ERROR", "[", "+", "=>", "npm ",
    ];
    if PRINTED.iter().any(|start| line.starts_with(start)) {
        return true;
    }
    let (mut letters, mut all) = (0usize, 0usize);
    for character in line.chars().take(200) {
        all += 1;
        letters += usize::from(character.is_alphabetic() || character == ' ');
    }
    let looks_dated = line.len() > 10 && line.as_bytes().iter().take(4).all(u8::is_ascii_digit);
    all > 20 && letters * 10 < all * 7 || looks_dated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_found() {
        let request = Request::parse(
            "ok, can you fix the tab handling in the parser?\n\n```\nnever do x\n```",
        );
        assert_eq!(request.title.as_deref(), Some("Fix the tab handling in the parser"));
        assert_eq!(
            request.text.as_deref(),
            Some("ok, can you fix the tab handling in the parser?")
        );
        assert_eq!(Request::parse("/clear").text, None);
        assert_eq!(
            Request::parse("/review fix the tab handling").title.as_deref(),
            Some("Fix the tab handling")
        );
    }

    #[test]
    fn a_sentence_that_only_points_is_no_title() {
        let request =
            Request::parse("Two agents lose entries in the index. Find out why and fix it.");
        assert_eq!(request.title, None);
        assert_eq!(request.fallback.as_deref(), Some("Two agents lose entries in the index"));
        let request = Request::parse("You are the third keeper of the index, after two others.");
        assert_eq!((request.title, request.fallback), (None, None));
    }

    #[test]
    fn a_part_to_play_is_no_title() {
        let role = "You are the new kiln keeper who takes over from an older one.\n\nRole:\n- Watch the damper only.";
        assert_eq!(title_of(role), None);
        assert_eq!(first_line(role), None);
        assert_eq!(
            title_of("Move the glaze ramp into the kiln profile").as_deref(),
            Some("Move the glaze ramp into the kiln profile")
        );
    }

    #[test]
    fn questions_about_earlier_decisions_are_known() {
        for prompt in [
            "How did we decide where the glazes are kept? I would like to know",
            "ok, and why was it decided to fire at cone six?",
        ] {
            assert!(Request::parse(prompt).asks_back, "{prompt}");
        }
        for prompt in ["How do we decide where the glazes go?", "We decided to fire at cone six."] {
            assert!(!Request::parse(prompt).asks_back, "{prompt}");
        }
    }

    #[test]
    fn a_plan_goes_by_its_heading() {
        let request = Request::parse(
            "Implement the following plan:\n\n# Plan: Cache the index\n\n## Context\nAlways slow. Never use x.",
        );
        assert_eq!(request.plan.as_deref(), Some("Cache the index"));
        assert_eq!(request.text.as_deref(), Some("Cache the index"));
        assert!(request.rulings.is_empty());
    }
}

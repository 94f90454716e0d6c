//! The end of a text of the agent: work that it names as remaining, questions that it leaves to the
//! person, and its words about the checks.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::{Regex, Set};

use crate::pattern;
use crate::prose::{self, LineKind};
use crate::text::{one_line, unmarked};

/// Most steps and questions that are kept of one text.
const STEPS: usize = 5;
const QUESTIONS: usize = 4;

/// Longest step and question, in characters.
const STEP: usize = 200;
const QUESTION: usize = 240;

/// Most sentences of a text that are looked at.
const SENTENCES: usize = 400;

/// Statements about remaining work and about the checks in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remaining {
    /// Remaining work.
    pub(crate) steps: Vec<String>,
    /// Steps that it leaves to the person.
    pub(crate) for_person: Vec<String>,
    /// Questions at its end.
    pub(crate) questions: Vec<String>,
    /// True if it says that it stopped before the end.
    pub(crate) is_partial: bool,
    /// True if it says that something blocks the work.
    pub(crate) is_blocked: bool,
    /// True if it says that something fails.
    pub(crate) says_failed: bool,
    /// True if it says that what fails failed before, or is about something else.
    pub(crate) excuses: bool,
    /// The sentence that says that work was taken back.
    pub(crate) reverted: Option<String>,
}

/// A heading or the beginning of a sentence that introduces remaining work.
static OPENS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(concat!(
        r"(?i)^(?:(?:the|my|our|suggested|recommended|immediate|natural|planned|concrete|only|still|main|two|three)\s+)*",
        r"(?:next(?:\s+(?:steps?|tasks?|actions?|up|phase|items?|moves?|session|time))?|tomorrow|(?:still|yet)\s+to\s+(?:do|come)|to\s+finish",
        r"|(?:remaining|outstanding|unfinished|pending|deferred|open|left[- ]?over)\s+(?:\w+\s+)?(?:work|steps?|tasks?|items?|issues?|todos?|gaps?|pieces?|parts?|problems?|failures?|blockers?|points?|ends|bugs?)",
        r"|remaining|outstanding|deferred|still\s+(?:to\s+do|open|missing|needed|pending|outstanding)|to\s+do|todos?|to-dos?",
        r"|left\s+(?:to\s+do|open|undone)|follow[- ]?ups?(?:\s+(?:items?|work|tasks?|steps?))?|future\s+work",
        r"|what(?:['’]s|\s+is|\s+remains|\s+still)\s+(?:next|left|missing|open|remaining|needed)(?:\s+to\s+do)?|what\s+remains(?:\s+to\s+do|\s+open)?",
        r"|not\s+(?:yet\s+)?(?:done|implemented|finished|covered|addressed|started|wired|verified|tested)(?:\s+yet)?)",
        r"(\s+(?:after|once|when|for|to|before|in|on|from)\b[^.:!?]*)?\s*(?:\([^)]*\))?\s*[:*_]*\s*(:|—|–|-{1,2}|$)",
    ))
});

/// The same in the middle of a sentence: "I stopped here; next: …".
static OPENS_WITHIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)[;,.—–-]\s*(?:the\s+)?(?:next(?:\s+steps?|\s+up)?|remaining|still\s+to\s+do|left\s+to\s+do|todo)\s*:\s+",
    )
});

/// Headings of suggestions, which are no work that remains.
static SUGGESTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:optional|possible|potential|nice[- ]to[- ]have|future (?:improvements?|enhancements?|ideas?)|ideas?|if you (?:want|like|wish))\b",
    )
});

/// Sentences about remaining work, by the part that says so.
static REMAINS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(concat!(
        r"(?i)\bstill\s+(?:needs?|has\s+to|have\s+to|requires?|must|to\s+be|to\s+do|missing|open|pending|outstanding|fails?|failing|broken|stale|unresolved|unfinished|uncommitted|unmerged|unpushed|blocked|not)\b",
        r"|(?:\bnot|n['’]t)\b(?:[^.;:!?]|[.:]\S)*\byet\b",
        r"|\byet\s+to\s+be\b|\bremains?\s+(?:to\s+be|open|pending|missing|un(?:implemented|resolved|finished|tested|verified|merged|addressed|handled|solved|fixed|done))\b|\bleft\s+(?:to\s+(?:do|implement|fix|wire|test|write)|undone|unfinished)\b",
        r"|^(?:the\s+|one\s+|only\s+|main\s+)*(?:remaining|outstanding|missing)\s+(?:[\w-]+\s+)?(?:work|steps?|pieces?|parts?|issues?|tasks?|things?|items?|todos?|problems?|bugs?|blockers?|questions?|tests?|gaps?|failures?)\s+(?:is|are)\b",
        r"|^(?:the\s+)?next\s+(?:step|task|thing|piece|move)\s+(?:is|would\s+be|will\s+be)\b|^next,?\s+(?:i|we)(?:['’]ll|['’]d|\s+will|\s+would|\s+need)\b",
        r"|\b(?:i|we)(?:['’]ve)?\s+(?:have\s+)?(?:stopped|paused)\s+(?:here|at|before|after|short)\b",
        r"|^(?:i|we)(?:['’]ll|\s+will|['’]d|\s+would)\b.*\bnext\b\.?$|^ready\s+(?:for|to)\s.+\bwhen(?:ever)?\s+you\b",
        r"|\b(?:i|we)(?:['’]d|\s+would|['’]ll|\s+will)\b[^.;!?]*\b(?:after|once|when)\s+(?:this|the|that|it|they)\b[^.;!?]*\b(?:lands?|merges?|(?:is|are)\s+(?:merged|released|deployed|done)|ships?)\b",
    ))
});

/// Parts of a sentence before which nothing is remaining: causes, conditions, the past, the good end.
static ASIDE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^\W*status\b|\b(?:pre-?existing|unrelated)\b|\b(?:because|since|when|which|where|if|while|whose|was|were|had|until now|so that|in case|unless|even though)\b|\b(?:nothing|none|no longer|no\s+(?:open|remaining|outstanding|pending))\b|^(?:now|let me|let['’]s|i['’]ll|i['’]m|i will|looking|checking|waiting)\b",
    )
});

/// The agent's words about the work: failed, excused, blocked, taken back.
static CLAIMS: LazyLock<Set> = LazyLock::new(|| {
    pattern::set(&[
        r"(?i)\b(?:fails?|failed|failing|failures?|broken|red)\b|\b(?:not|n['’]t)\s+(?:pass|compile|build|succeed)",
        r"(?i)\bpre-?existing\b|\bunrelated\b|\bnot\s+(?:related|caused)\b|\bflak(?:y|es?)\b|\balready\s+(?:fail|broken|red)|\bknown\s+(?:failures?|issues?|flakes?)\b|\bexpected\s+(?:failures?|to\s+fail)|\bsame\s+(?:failures?|errors?)\s+(?:on|as|without|before)\b|\b(?:before|without)\s+(?:my|these|the|our)\s+changes?\b|\bnot\s+(?:from|part\s+of)\s+(?:my|this|these)\b",
        r"(?i)\b(?:i['’]?m|i\s+am|we['’]?re|work\s+is|now)\s+(?:blocked|stuck)\b|\bblocked\s+(?:by|on)\b|\b(?:cannot|can['’]?t|unable\s+to|not\s+able\s+to)\s+(?:proceed|continue|go\s+on|finish|complete)\b|\b(?:i|we)\s+(?:cannot|can['’]?t|could\s+not|couldn['’]t)\b[^;!?]*\b(?:because|until|without)\b",
        r"(?i)\b(?:i['’]ve|i\s+have|i|we|was|were|been|changes?|edits?)\s+(?:\w+\s+)?(?:reverted|undid|undone|rolled\s+back|backed\s+out|discarded)\b|^(?:reverted|rolled\s+back|backed\s+out|undid)\b",
    ])
});

/// Counts of failures that are none.
static NO_FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:0|no|zero|without|any)\s+(?:\w+\s+)?(?:fail(?:ed|ures?|ing)?|errors?)\b|\bno longer fail|\bfixed\b|\bused to fail",
    )
});

/// Questions that fit any conversation.
static EMPTY_QUESTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\banything else\b|\bwhat (?:would you like|do you want|should (?:i|we)) (?:me )?(?:to )?(?:do|work on|tackle)?(?: next)?\s*\?|\bhow can i help\b|\bsounds? good\?|\bmakes? sense\?|\bready to (?:continue|start|begin|go)\?|\b(?:does|do) (?:this|that|it) (?:help|work for you)\?|^(?:right|ok|okay|yes|no|why|really)\?$",
    )
});

/// Returns true if a heading or a line introduces remaining work.
pub(crate) fn opens(line: &str) -> bool {
    after_opening(line).is_some()
}

/// Returns the text after the words that introduce remaining work; empty if a list follows.
fn after_opening(line: &str) -> Option<String> {
    // Bold may end before the words about when: "**Next up** after the release:".
    let line = match line.contains("**") {
        true => Cow::Owned(line.replace("**", "")),
        false => Cow::Borrowed(line),
    };
    let line = line.as_ref();
    let start = line.find(|c: char| c.is_alphanumeric())?;
    let line = &line[start..];
    let found = OPENS.captures(line)?;
    let whole = found.get(0)?;
    // "Open - close" and "to do" in a sentence open nothing.
    let mark = found.get(2).map_or("", |mark| mark.as_str());
    let rest = line[whole.end()..].trim_start_matches(['*', '_', ':', ' ']);
    let is_clear = mark == ":" || whole.as_str().contains(':') || rest.is_empty();
    (is_clear && !SUGGESTS.is_match(whole.as_str())).then(|| rest.to_owned())
}

/// The list that the lines belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Report,
    /// Remaining work; true once a step was found.
    Remaining(bool),
    /// Suggestions, options, quotations of others.
    Aside,
}

impl Remaining {
    /// Parses a text without injected parts.
    pub(crate) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let mut part = Part::Report;
        let mut last_lines: Vec<(LineKind, &str)> = Vec::new();
        let mut sentences = 0;
        for line in prose::lines(text) {
            match line.kind {
                LineKind::Blank => {}
                LineKind::Heading => {
                    part = match (after_opening(line.text), is_suggestion(line.text)) {
                        (Some(_), _) => Part::Remaining(false),
                        (None, true) => Part::Aside,
                        (None, false) => Part::Report,
                    };
                }
                LineKind::Item => match part {
                    Part::Remaining(_) => {
                        found.add_step(line.text);
                        part = Part::Remaining(true);
                    }
                    Part::Report => found.line(line.text, &mut sentences),
                    Part::Aside => {}
                },
                LineKind::Text => found.text(line.text, &mut part, &last_lines, &mut sentences),
            }
            last_lines.push((line.kind, line.text));
        }
        found.questions = questions(&last_lines);
        if found.questions.is_empty() {
            found.questions.extend(choice(&last_lines));
        }
        found
    }

    fn text(
        &mut self,
        line: &str,
        part: &mut Part,
        before: &[(LineKind, &str)],
        sentences: &mut usize,
    ) {
        if let Some(rest) = after_opening(line) {
            *part = Part::Remaining(false);
            if rest.chars().any(char::is_alphanumeric) {
                self.add_step(&rest);
                *part = Part::Report;
            }
            return;
        }
        let is_after_blank = before.last().is_some_and(|(kind, _)| *kind == LineKind::Blank);
        match *part {
            Part::Remaining(had_step) if !(line.ends_with(':') || had_step && is_after_blank) => {
                self.add_step(line);
                *part = Part::Remaining(true);
            }
            _ => {
                *part = if is_suggestion(line) && line.ends_with(':') {
                    Part::Aside
                } else {
                    Part::Report
                };
                self.line(line, sentences);
            }
        }
    }

    /// Looks at the sentences of a line outside a list of remaining work.
    fn line(&mut self, line: &str, sentences: &mut usize) {
        for sentence in prose::sentences(line) {
            *sentences += 1;
            if *sentences > SENTENCES || sentence.len() > 600 {
                return;
            }
            self.claims(sentence);
            if sentence.ends_with('?') {
                continue;
            }
            if let Some(rest) = after_opening(sentence).filter(|rest| !rest.is_empty()) {
                self.add_step(&rest);
            } else if let Some(within) = OPENS_WITHIN.find(sentence) {
                self.add_step(&sentence[within.end()..]);
                self.is_partial |= stopped(sentence);
            } else if is_for_person(sentence) {
                if self.for_person.len() < 2 {
                    self.for_person.push(one_line(&unmarked(sentence), STEP));
                }
            } else if remains(sentence) {
                self.add_step(sentence);
                self.is_partial |= stopped(sentence);
            }
        }
    }

    fn claims(&mut self, sentence: &str) {
        let found = CLAIMS.matches(sentence);
        if !found.contains(&true) {
            return;
        }
        let has_failure = found[0] && !NO_FAILURE.is_match(sentence);
        self.says_failed |= has_failure;
        self.excuses |= found[1];
        self.is_blocked |= found[2]
            && !["was ", "were ", "had ", "no longer"].iter().any(|past| sentence.contains(past));
        if found[3] && self.reverted.is_none() && !sentence.ends_with('?') {
            self.reverted = Some(one_line(&unmarked(sentence), STEP));
        }
    }

    fn add_step(&mut self, step: &str) {
        let step = one_line(&unmarked(step), STEP);
        let step = step.trim_end_matches(':').trim();
        let words = step.split_whitespace().count();
        // A command alone is a step, another word alone is none.
        let says_something = words >= 2 || step.starts_with('`') && step.len() > 4;
        let is_none = {
            let lower = step.to_ascii_lowercase();
            ["none", "nothing", "n/a", "no further", "no open", "no remaining", "all done"]
                .iter()
                .any(|none| lower.starts_with(none))
        };
        // "Todos: 2 pending" counts, and names nothing.
        let counts = step.starts_with(|c: char| c.is_ascii_digit()) && step.contains("pending");
        if says_something && !counts && !is_none && !is_offer(step) && self.steps.len() < STEPS {
            let step = step.to_owned();
            if !self.steps.contains(&step) {
                self.steps.push(step);
            }
        }
    }
}

/// Returns true if a sentence says that work remains, as its main statement.
fn remains(sentence: &str) -> bool {
    let Some(found) = REMAINS.find(sentence) else {
        return false;
    };
    let before = &sentence[..found.start()];
    let is_of_others = CLAIMS.matches(sentence)[1];
    !is_offer(sentence)
        && !is_of_others
        && !is_said_aside(before, found.as_str())
        && sentence.split_whitespace().count() >= 5
        && !ASIDE.is_match(before)
}

/// Returns true for remarks in brackets, and for "We are not measuring it yet", which tells a plan.
fn is_said_aside(before: &str, cue: &str) -> bool {
    let is_bracketed = before.rfind('(').is_some_and(|at| !before[at..].contains(')'));
    let subject = before.trim_end().to_ascii_lowercase();
    let is_plan = ["we're", "we are", "i'm", "i am", "we’re", "i’m"].contains(&subject.as_str())
        && cue.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("not"));
    is_bracketed || is_plan
}

/// Returns true if a sentence tells the person what to do, beyond trying the result.
fn is_for_person(sentence: &str) -> bool {
    static FOR_PERSON: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)^(?:you(?:['’]ll|\s+will)(?:\s+still)?\s+(?:need|have)\s+to|remember\s+to|don['’]t\s+forget\s+to|before\s+(?:merging|deploying|releasing),?\s)",
        )
    });
    static TRYING: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)\b(?:restart|reload|refresh|re-?run|re-?open|try|wait|log\s+(?:in|out)|clear|reinstall)\b",
        )
    });
    FOR_PERSON.is_match(sentence) && !TRYING.is_match(sentence)
}

/// Returns true if a sentence says that the agent stopped before the end.
fn stopped(sentence: &str) -> bool {
    static STOPPED: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(r"(?i)\b(?:i|we)(?:['’]ve)?\s+(?:have\s+)?(?:stopped|paused)\b")
    });
    STOPPED.is_match(sentence)
}

/// Returns true for "If you want, I can …" and "Let me know whether …".
fn is_offer(sentence: &str) -> bool {
    static OFFER: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)^(?:if\s+you|let\s+me\s+know|want\s+me|would\s+you|shall\s+i|should\s+i|do\s+you|feel\s+free|say\s+the\s+word|happy\s+to|i\s+can\s+(?:also\s+)?|i\s+could)\b|\bif\s+you(?:['’]d)?\s+(?:want|like|prefer|wish)\b|\?$",
        )
    });
    OFFER.is_match(sentence)
}

/// Returns true for the heading of a list of suggestions or options.
fn is_suggestion(heading: &str) -> bool {
    let lower = heading.to_ascii_lowercase();
    SUGGESTS.is_match(heading)
        || lower.contains("option") && lower.trim_end_matches(['*', ':']).split(' ').count() < 6
}

/// Returns the questions at the end of a text: its last sentence, and the items of its last lists.
fn questions(lines: &[(LineKind, &str)]) -> Vec<String> {
    let mut lines = lines.iter().filter(|(kind, _)| *kind != LineKind::Blank).rev().take(16);
    let Some((_, last)) = lines.next() else { return Vec::new() };
    let sentences: Vec<&str> = prose::sentences(last).collect();
    let asks = |sentence: &str| unmarked(sentence).trim_end_matches(['"', ')', '_']).ends_with('?');
    let Some(question) = sentences.last().filter(|sentence| asks(sentence)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // A list of questions, each an item.
    let listed: Vec<&str> = lines
        .clone()
        .filter(|(kind, text)| *kind == LineKind::Item && asks(text))
        .map(|(_, text)| *text)
        .take(QUESTIONS - 1)
        .collect();
    let says_little = question.split_whitespace().count() <= 8
        && question.split(|c: char| !c.is_alphanumeric()).any(|word| {
            ["it", "this", "that", "these", "them", "those", "ahead", "proceed"]
                .contains(&word.to_ascii_lowercase().as_str())
        });
    let before = match sentences.len().checked_sub(2).and_then(|at| sentences.get(at)) {
        Some(before) => Some(*before),
        None => lines.clone().next().and_then(|(_, line)| prose::sentences(line).last()),
    };
    let question = match before.filter(|before| says_little && !before.ends_with([':', '?'])) {
        Some(before) => format!("{before} {question}"),
        None => (*question).to_owned(),
    };
    found.extend(listed.iter().rev().map(|text| one_line(&unmarked(text), QUESTION)));
    let question = one_line(&unmarked(&question), QUESTION);
    let is_empty = EMPTY_QUESTION.is_match(&question);
    if !is_empty && question.split_whitespace().count() >= 3 && !found.contains(&question) {
        found.push(question);
    }
    found
}

/// Returns the choice that a text leaves to the person as a list of options.
fn choice(lines: &[(LineKind, &str)]) -> Option<String> {
    static TAKEN: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)\bi(?:['’]ve)?\s+(?:went|gone|go)\s+with\b|\bi(?:['’]ve)?\s+(?:chose|chosen|picked|took|used)\b",
        )
    });
    let is_head = |(kind, text): &(LineKind, &str)| {
        let head = text.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        matches!(kind, LineKind::Text | LineKind::Heading)
            && text.trim_end_matches('*').ends_with(':')
            && head.split_whitespace().count() <= 6
            && ["option", "ways forward", "you can either"].iter().any(|word| head.contains(word))
    };
    let at = lines.iter().rposition(is_head)?;
    let after = lines.get(at + 1..)?.iter().filter(|(kind, _)| *kind != LineKind::Blank);
    let items: Vec<String> = after
        .take_while(|(kind, _)| *kind == LineKind::Item)
        .take(4)
        .map(|(_, text)| {
            let first = prose::sentences(text).next().unwrap_or(text);
            one_line(&unmarked(first), 70).trim_end_matches(['.', ':']).to_owned()
        })
        .collect();
    let is_taken = lines.iter().any(|(_, line)| TAKEN.is_match(line));
    (items.len() >= 2 && !is_taken)
        .then(|| one_line(&format!("Options: {}", items.join("; ")), QUESTION))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steps(text: &str) -> Vec<String> {
        Remaining::parse(text).steps
    }

    #[test]
    fn lists_of_remaining_work_are_read() {
        for head in [
            "## Next steps",
            "**Next steps:**",
            "Next steps:",
            "**What's left**",
            "Remaining work:",
            "Still to do:",
            "### Not done yet",
            "**Next up** after the release:",
            "TODO:",
            "Outstanding issues:",
            "What remains:",
            "## Remaining",
            "Follow-ups:",
        ] {
            let text = format!(
                "The cache works.\n\n{head}\n1. Wire it into `server.py`\n2. Measure the hit rate\n\nThanks."
            );
            assert_eq!(
                steps(&text),
                ["Wire it into `server.py`", "Measure the hit rate"],
                "{head}"
            );
        }
    }

    #[test]
    fn single_steps_are_read_where_they_are_said() {
        for (text, step) in [
            ("Done so far. Next: wire it into server.py", "wire it into server.py"),
            ("I stopped here; next: add the index.", "add the index."),
            (
                "The importer still needs a test for empty files.",
                "The importer still needs a test for empty files.",
            ),
            (
                "The migration is written. It has not been run on staging yet.",
                "It has not been run on staging yet.",
            ),
            ("**Next up:**\n\n`make release`\n\nThe rest is done.", "`make release`"),
            (
                "I did not start the jobs of `v4.13` yet, they come after the rename.",
                "I did not start the jobs of `v4.13` yet, they come after the rename.",
            ),
            (
                "The parser is done. I'll wire it into `server.py` next.",
                "I'll wire it into `server.py` next.",
            ),
            (
                "Next session: measure the hit rate of the cache.",
                "measure the hit rate of the cache.",
            ),
            ("Ready to push when you are.", "Ready to push when you are."),
            (
                "The only remaining piece is the retry loop.",
                "The only remaining piece is the retry loop.",
            ),
            (
                "I'd close ticket 12 once this branch lands.",
                "I'd close ticket 12 once this branch lands.",
            ),
        ] {
            assert_eq!(steps(text), [step], "{text}");
        }
    }

    #[test]
    fn what_is_over_or_only_offered_does_not_remain() {
        for text in [
            "It failed because the file was not loaded yet.",
            "Nothing is left to do.",
            "**Next steps:** None, all done.",
            "Everything still works and passes.",
            "If you want, I can still do the index, which is not there yet.",
            "Want me to also add an index?",
            "## Possible next steps\n- Add an index\n- Add a cache",
            "Options:\n1. Keep the map\n2. Use a tree",
            "Now the test still fails, let me look.",
            "The next page shows the rest.",
            "Remaining budget: 12 calls",
            "Todos: 2 pending",
            "We're not measuring the hit rate yet, only the time.",
            "Keep the old names (probably not removed yet) in the list.",
            "The unrelated change in `a.ts` is not committed yet.",
            "`a.ts` remains unstaged.",
            "The only remaining difference is the pre-existing file.",
        ] {
            assert_eq!(steps(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_the_person_must_do_is_kept_apart() {
        let of = |text| Remaining::parse(text).for_person;
        let step = "You'll need to add the key to the secrets of the repository.";
        assert_eq!(of(step), [step]);
        assert_eq!(of("You'll need to restart the server to see it."), [""; 0]);
        assert_eq!(of("You need to call it twice."), [""; 0]);
    }

    #[test]
    fn questions_are_read_with_what_they_are_about() {
        let of = |text| Remaining::parse(text).questions;
        assert_eq!(
            of("I've updated both samples. Want me to commit this?"),
            ["I've updated both samples. Want me to commit this?"]
        );
        assert_eq!(
            of("Two things first.\n1. Which port should it take?\n2. Should the old path stay?"),
            ["Which port should it take?", "Should the old path stay?"]
        );
        assert_eq!(of("Done. Anything else?"), [""; 0]);
        assert_eq!(
            of(
                "The registry refuses the upload.\n\nOptions:\n1. Raise the quota. It costs.\n2. Leave the old file\n\nNothing was deleted."
            ),
            ["Options: Raise the quota; Leave the old file"]
        );
        assert_eq!(of("Why? Because it is slow."), [""; 0]);
    }

    #[test]
    fn claims_about_checks_are_read() {
        let of = Remaining::parse;
        for passed in [
            "All 12 tests pass.",
            "14 passed, 0 failed.",
            "The failing test is fixed.",
            "There are no failures.",
        ] {
            assert!(!of(passed).says_failed, "{passed}");
        }
        for failed in ["Two tests fail.", "The build is still broken.", "It does not compile."] {
            assert!(of(failed).says_failed, "{failed}");
        }
        for excused in
            ["The login test fails on main, too: it is pre-existing.", "One flaky test failed."]
        {
            assert!(of(excused).excuses, "{excused}");
        }
        assert!(of("I'm blocked: the token has expired.").is_blocked);
        assert!(of("I cannot proceed without access to the registry.").is_blocked);
        assert!(of("We cannot publish it now because the registry refuses the file.").is_blocked);
        assert!(!of("A client cannot call this because it is private.").is_blocked);
        assert!(!of("The hook was blocked by a missing file, which is there now.").is_blocked);
        assert_eq!(
            of("That made it slower, so I reverted it.").reverted.as_deref(),
            Some("That made it slower, so I reverted it.")
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "((#|-|1\\.|\\*\\*|next|steps?|remaining|still|not|yet|what's left|[:;.?!*`]|é|日本|if you|\n|\n\n) ?)*") {
            let found = Remaining::parse(&text);
            prop_assert!(found.steps.len() <= STEPS && found.questions.len() <= QUESTIONS);
            for line in found.steps.iter().chain(&found.questions).chain(&found.reverted) {
                prop_assert!(line.chars().count() <= QUESTION && !line.contains('\n'), "{line:?}");
            }
        }
    }
}

//! The beginning of the agent's answer to a person: whether it agrees, and how it says the same again. People leave out
//! what was just spoken of; the agent names it.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::agent_text::foretells;
use crate::event::Action;
use crate::gate::stands_alone;
use crate::pattern;
use crate::phrase;
use crate::prose::{self, LineKind};
use crate::reply;
use crate::session::Session;
use crate::text::{self, one_line, unmarked};
use crate::wording;

/// Most sentences that are kept of the beginning of a text.
const SENTENCES: usize = 4;

/// Longest sentence that is kept, in characters.
const LENGTH: usize = 240;

/// Words that a restatement shares with what it says again.
const SAME: usize = 2;

/// Events after a prompt among which the answer is looked for.
const REACH: usize = 24;

/// The beginning of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    /// True if it agrees.
    pub(crate) agrees: bool,
    /// True if it begins with "yes".
    pub(crate) confirms: bool,
    /// True if it agrees with a doubt: "that is probably the best way".
    is_tentative: bool,
    /// What it says that the agent does now, as a title.
    pub(crate) announced: Option<String>,
    /// Its statements, without the words of agreement.
    statements: Vec<String>,
}

/// Words of agreement at the beginning of an answer.
static AGREES: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:(?:yes|yeah|ah|oh|ok(?:ay)?|perfect|great|hm+)\b[\s,.!—–-]*)*
        (?:.{0,60}?[,;]\s+(?:and\s+)?)??
        (?: i\s+(?:fully\s+|completely\s+|totally\s+)?agree(?:\s+(?:with\s+(?:you|that|this)|that))? | agreed | got\s+it | understood | confirmed | exactly(?:\s+right)?
          | (?:i\s+think\s+)?(?:you['’]re|you\s+are|your\s+instinct\s+is)\s+(?:absolutely\s+|completely\s+|not\s+)?(?:right|correct|wrong)
          | (?:that(?:['’]s|\s+is)\s+(?:a\s+)?)?(?:good|great|fair|clean|sensible|valid)\s+(?:catch|call|point|idea|addition|thinking|enough|challenge|question|separation|instinct)
          | that(?:['’]s|\s+is)\s+(?:probably\s+|likely\s+)?(?:the\s+)?(?:right|correct|crux|better|best|cleaner|cleanest|simpler|simplest)(?:\s+\w+){0,3} | right | (?:that\s+)?makes\s+(?:total\s+|perfect\s+)?sense | absolutely )
        (?:\s*[,.:;!—–-]+\s*|\s+$|$|\s+(?P<on>with|to|on)\s+)",
    )
});

impl Opening {
    /// Reads the beginning of a text.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let mut opening = Self::default();
        // The items of a list say what follows from the answer.
        let lines = prose::lines(text).filter(|line| line.kind == LineKind::Text).take(SENTENCES);
        let sentences = lines.flat_map(|line| prose::sentences(line.text)).take(SENTENCES);
        let start: String = text.trim_start().chars().take(4).collect::<String>().to_lowercase();
        opening.confirms = ["yes.", "yes,", "yes ", "yes:", "yes—"].contains(&start.as_str());
        for (number, sentence) in sentences.enumerate() {
            let said = unmarked(sentence).replace(" *", " ").replace("* ", " ");
            let mut said = said.as_str();
            if number == 0
                && let Some(found) = AGREES.find(said)
            {
                opening.agrees = true;
                opening.is_tentative =
                    [" probably ", " likely "].iter().any(|doubt| found.as_str().contains(doubt));
                said = &said[found.end()..];
            }
            let said = reply::without_softeners(said);
            if opening.announced.is_none() {
                opening.announced = announcement(said);
            }
            let states = !said.ends_with(['?', ':'])
                && !announces(said)
                // What is wrong with the other way is no decision.
                && !reply::is_about_option(said)
                && said.split_whitespace().count() >= 4
                && reply::names_something(said);
            if states {
                opening.statements.push(one_line(said, LENGTH));
            }
        }
        let is_empty = !opening.agrees
            && !opening.confirms
            && opening.announced.is_none()
            && opening.statements.is_empty();
        (!is_empty).then_some(opening)
    }

    /// Returns the statement about the same as a person's words.
    pub(crate) fn about(&self, words: &str) -> Option<&str> {
        self.statements.iter().map(String::as_str).find(|said| reply::alike(words, said))
    }

    /// Returns the statement that says a person's words again, if the agent agrees with them.
    pub(crate) fn restates(&self, words: &str) -> Option<&str> {
        self.agrees.then(|| self.about(words)).flatten()
    }

    /// Returns true if the agent agrees with a person's proposal, or does what it says.
    pub(crate) fn takes_up(&self, words: &str) -> bool {
        if self.is_tentative || self.about(words).is_some_and(has_reservation) {
            return false;
        }
        let announces = self.announced.as_deref().is_some_and(|done| reply::alike(words, done));
        self.confirms || announces || self.restates(words).is_some()
    }

    /// Returns a person's proposal as the agent recommends it in its own words.
    pub(crate) fn recommends(&self, words: &str) -> Option<String> {
        let advice = wording::stated(self.about(words)?).filter(|said| said.is_advice)?;
        Some(advice.title)
    }

    /// Returns a person's wish as the agent says it again: "You want the kiln to fire alone, not by a timer".
    pub(crate) fn wishes(&self, words: &str) -> Option<String> {
        const SAID: [(&str, &str); 4] = [
            ("you want ", "We want "),
            ("you would like ", "We would like "),
            ("you prefer ", "We prefer "),
            ("you need ", "We need "),
        ];
        let wish = |said: &String| {
            let same = reply::shares(said, words, SAME);
            let (you, we) = SAID.iter().find(|(you, _)| text::begins(said, you))?;
            same.then(|| reply::titled(&format!("{we}{}", &said[you.len()..])))
        };
        self.statements.iter().filter(|_| self.agrees).find_map(wish)
    }

    /// Returns what the agent takes up in place of the option that a person picked, if it agrees and clearly speaks of another
    /// way that the question named: "1" may be the first of two lists. `Some(None)` if that cannot be told alone.
    pub(crate) fn takes_instead(&self, option: &str, question: &str) -> Option<Option<String>> {
        let said = self.statements.first().filter(|_| self.agrees)?;
        let (known, asked) = (reply::significant(said), reply::significant(question));
        let option = reply::significant(option);
        let shared = |words: &[String]| words.iter().filter(|word| known.contains(word)).count();
        let is_other =
            shared(&asked) >= shared(&option) + SAME && shared(&option) * 2 <= option.len();
        is_other.then(|| {
            order_of(said).or_else(|| Some(reply::titled(said)).filter(|title| stands_alone(title)))
        })
    }

    /// Returns the decision that the agent draws from a person's words, if it agrees with them.
    pub(crate) fn concludes(&self, words: &str) -> Option<String> {
        let own = self.statements.iter().filter(|said| reply::alike(words, said));
        own.filter(|_| self.agrees).find_map(|said| reply::concluded(said))
    }
}

/// Returns "Store the glaze by its name" for "storing the glaze by its name is the quick fix".
fn order_of(said: &str) -> Option<String> {
    let ends = [" is the ", " is a ", " is fine", " is enough"];
    let end = ends.iter().filter_map(|end| said.find(end)).min()?;
    let gerund = &said[..end];
    let order = reply::in_imperative(gerund);
    let title = reply::titled(&order);
    (order != gerund && stands_alone(&title)).then_some(title)
}

/// Returns what the agent says that it does now, as far as a reader understands it.
fn announcement(said: &str) -> Option<String> {
    let whole = reply::in_imperative(&phrase::of_announcement(said)?).into_owned();
    let first = whole.split_once(" and ").map(|(first, _)| first.to_owned());
    let is_told = |title: &String| stands_alone(title) && title.split(' ').count() >= 4;
    [Some(whole), first].into_iter().flatten().find(is_told)
}

/// Returns true for agreement that holds in some cases only: "if the frost comes early".
fn has_reservation(said: &str) -> bool {
    let mut words = said.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ["if", "unless", "depends"].iter().any(|one| word.eq_ignore_ascii_case(one)))
}

/// Returns true for a sentence that only says what the agent does next.
fn announces(said: &str) -> bool {
    let lower: String = said.chars().take(8).collect::<String>().to_lowercase();
    foretells(said) || ["let me ", "i'm ", "i’m ", "i am "].iter().any(|me| lower.starts_with(me))
}

/// Returns the beginning of the agent's answer to what stands at this place, and the place of the answer.
pub(crate) fn after<'s>(session: &'s Session<'_>, place: usize) -> Option<(usize, &'s Opening)> {
    let events = session.events.iter().enumerate().skip(place + 1).take(REACH);
    let mut answers = events.filter(|(_, event)| !event.is_subagent);
    let (at, answer) = answers.find(|(_, event)| {
        matches!(event.action, Action::Asked(_) | Action::Answered(_) | Action::Wrote(_))
    })?;
    Some((at, answer.agent_text()?.opening.as_deref()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_says_again_what_a_person_meant() {
        for (words, text, restated) in [
            (
                "Thinking of the lazy option for now",
                "Agreed — lazy rotation of the token for now, immediate rotation later. I'll note it.",
                Some("lazy rotation of the token for now, immediate rotation later."),
            ),
            (
                "no need for compatibility",
                "I agree. Compatibility with the old layout pulls complexity into the reader.",
                Some("Compatibility with the old layout pulls complexity into the reader."),
            ),
            ("we do containers first", "You're right - I missed that. I'll look.", None),
            ("use the queue", "The queue drops the oldest jobs.", None),
        ] {
            let opening = Opening::of_text(text).unwrap_or_default();
            assert_eq!(opening.restates(words), restated, "{text}");
        }
    }

    #[test]
    fn an_objection_leads_to_the_agents_conclusion() {
        let opening = Opening::of_text(
            "Right — that's the crux. So we should avoid building our own merge editor.",
        )
        .unwrap_or_default();
        assert_eq!(
            opening.concludes("the second one needs a merge editor, which is heavy").as_deref(),
            Some("Avoid building our own merge editor")
        );
    }
}

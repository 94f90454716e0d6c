//! The title of an answered question: what was asked and what was chosen.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::answers::DialogAnswer;
use crate::gate::is_balanced;
use crate::pattern;
use crate::prose;
use crate::reply;
use crate::restated::Opening;
use crate::text::{self, TITLE, capitalised, uncapitalised};
use crate::title::{shaped, without_asides};

use super::{is_empty_header, leaves_it};

/// Least room that an explanation needs in a title, in characters.
const LEAST: usize = 20;

/// Fewest words with a meaning of a question that stands without what was said before it.
const TELLING: usize = 3;

/// The subject of a question about how it should be.
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:do\s+you\s+want|would\s+you\s+like|should|shall|does|do)\s+(?:the|an?|this|our|your)\s+(.{2,60}?)\s+
        (?:to\s+)?(?:be|come|display|have|include|return|show|stay|support|take|use)\b",
    )
});

/// The parts of a title.
pub(super) struct Parts<'t> {
    pub(super) answer: &'t DialogAnswer,
    /// The question, or the one before if it only asks for an approach.
    pub(super) question: Option<&'t str>,
    /// The heading of the plan that the questions led to.
    pub(super) plan: Option<&'t str>,
    /// The topic of the branch.
    pub(super) topic: Option<&'t str>,
}

impl Parts<'_> {
    /// Returns the title of an answer that is one of the options: its question, else what that is about, and the option.
    pub(super) fn title(&self) -> String {
        let chosen = self.chosen();
        let fits = |title: &String| title.chars().count() <= TITLE;
        if let Some(title) = self.echoed(&chosen).filter(fits) {
            return title;
        }
        let is_bare = !chosen.contains(' ');
        // A question that only asks for a taste is named by its header.
        let tells = |asked: &String| self.header().is_none() || super::subject_words(asked) > 1;
        let answered = self.forms().into_iter().filter(tells).find_map(|asked| {
            let whole = format!("{asked} → {chosen}");
            // "CSV" says more with what it stands for, if need be beside the header.
            let is_asked = !is_bare || reply::alike(&asked, &chosen);
            let headed = || self.explained(&format!("{}: {chosen}", self.header()?));
            let explained = || self.explained(&whole).filter(fits).or_else(headed);
            (!is_asked).then(explained).flatten().or(Some(whole)).filter(fits)
        });
        if let Some(answered) = answered {
            return self.with_plan(answered);
        }
        let topic = self.question.and_then(topic).map(|topic| format!("{topic}: {chosen}"));
        if let Some(title) = topic.filter(fits) {
            return self.explained_with_plan(title);
        }
        let halved = self.halves(&chosen).into_iter().map(|asked| format!("{asked} → {chosen}"));
        if let Some(title) = halved.chain(self.led(&chosen)).find(fits) {
            return title;
        }
        match self.header() {
            Some(header) => self
                .on_topic(header, &chosen)
                .filter(fits)
                .unwrap_or_else(|| self.explained_with_plan(format!("{header}: {chosen}"))),
            None => self.explained_with_plan(chosen),
        }
    }

    /// Returns an option behind a header of one word, such as "Design", with the topic of the branch: the header alone does
    /// not say of what.
    fn on_topic(&self, header: &str, chosen: &str) -> Option<String> {
        let topic = self.topic.filter(|_| self.plan.is_none() && !header.contains(' '))?;
        let mut others = self.answer.others.iter().filter_map(|other| lettered(other));
        let over = match (lettered(super::chosen(self.answer)), others.next(), others.next()) {
            (Some(_), Some(other), None) => format!(" over {other}"),
            _ => String::new(),
        };
        Some(format!("{header}: {chosen}{over} ({topic})"))
    }

    /// Returns the title of an answer that is none of the options.
    pub(super) fn in_own_words(&self, opening: Option<&Opening>) -> String {
        if let Some(option) = self.answer.repeated.as_deref() {
            let bare = ["Yes — ", "Yes, ", "Yes: ", "No — ", "No, ", "No: "]
                .iter()
                .find_map(|start| option.strip_prefix(start));
            return reply::titled(super::without_mark(bare.unwrap_or(option)));
        }
        let said = self.answer.answer.as_str();
        // "We can discuss it later, but right now it is x": what holds comes last.
        let held = said
            .split_once(", but ")
            .map(|(_, held)| held)
            .filter(|held| held.split_whitespace().count() >= 3 && !reply::asks(held));
        let about = |sentence: &&str| {
            self.question.is_some_and(|asked| reply::alike(asked, sentence)) && !goes_on(sentence)
        };
        let sentences: Vec<&str> = prose::sentences(held.unwrap_or(said)).collect();
        let telling = sentences.iter().copied().skip(1).rfind(about).filter(|_| held.is_none());
        let telling = telling.or(sentences.first().copied()).unwrap_or(said);
        let telling = telling.split(", while ").next().unwrap_or(telling);
        let telling = telling.trim_end_matches(['.', '!', ' ']);
        let asked = self.forms().into_iter().chain(self.halves(telling));
        let answered = asked
            .map(|asked| format!("{asked} → {telling}"))
            .find(|whole| whole.chars().count() <= TITLE);
        // "Once done, x" goes on from the sentence before.
        let decided = reply::decision_in(said).filter(|title| !goes_on(title));
        decided.or_else(|| opening?.concludes(said)).or(answered).unwrap_or_else(|| {
            match self.header() {
                Some(header) => reply::titled(&format!("{header}: {telling}")),
                None => reply::titled(telling),
            }
        })
    }

    fn header(&self) -> Option<&str> {
        self.answer.header.as_deref().filter(|header| !is_empty_header(header))
    }

    /// Returns the option as it is told: "Both" with the two that it stands for.
    fn chosen(&self) -> String {
        let chosen = super::chosen(self.answer);
        let chosen = lettered(chosen).unwrap_or(chosen);
        let lower = chosen.to_lowercase();
        let is_both = lower == "both" || lower.ends_with(" both") || lower.starts_with("both ");
        let others = self.answer.others.iter().map(String::as_str);
        let others: Vec<&str> = others.filter(|other| !leaves_it(other)).collect();
        let [one, other] = others.as_slice() else { return chosen.to_owned() };
        if !is_both || chosen.split(' ').count() > 2 {
            return chosen.to_owned();
        }
        // "In both: plan prompt and execution prompt".
        let lead = lower.strip_suffix("both").unwrap_or_default();
        let named = |option: &str| {
            let option = super::without_mark(option.trim_end_matches(" only"));
            let starts = !lead.is_empty() && text::begins(option, lead);
            option[if starts { lead.len() } else { 0 }..].to_owned()
        };
        format!("{chosen}: {} and {}", named(one), named(other))
    }

    /// Returns the question in the forms that ask all of it, the longest first.
    fn forms(&self) -> Vec<String> {
        let Some(question) = self.question else { return Vec::new() };
        let bare = without_asides(question).replace(" ?", "?");
        // "It" may be what the lead names.
        let led = without_lead(&bare).filter(|led| !led.contains(" it ") && !is_there(led));
        let supposed = supposed(question);
        let forms = [Some(question.to_owned()), Some(bare.clone()), led, supposed];
        forms.into_iter().flatten().filter(|asked| self.stands_alone(asked)).collect()
    }

    /// Returns the question without its second half: a choice between two names the first. Not where only the second is what
    /// the answer speaks of.
    fn halves(&self, chosen: &str) -> Vec<String> {
        let halved = |asked: String| {
            [", or ", " or ", ", "].iter().find_map(|joint| {
                let (half, rest) = asked.split_once(joint)?;
                let is_of_rest = reply::alike(rest, chosen) && !reply::alike(half, chosen);
                (half.split_whitespace().count() >= 4 && reply::asks(half) && !is_of_rest)
                    .then(|| format!("{half}?"))
            })
        };
        self.forms().into_iter().filter_map(halved).filter(|half| is_balanced(half)).collect()
    }

    /// Returns true if a question needs nothing of what was said before it.
    fn stands_alone(&self, asked: &str) -> bool {
        let is_first = prose::sentences(&self.answer.question).count() < 2;
        let points = points(asked) || without_lead(asked).is_some_and(|rest| points(&rest));
        !points && (is_first || super::subject_words(asked) >= TELLING)
    }

    /// Returns what a question is about with an option that only says the question again: "Should the export page show a
    /// plain list?" and "Plain list".
    fn echoed(&self, chosen: &str) -> Option<String> {
        let question = self.question.filter(|question| !question.contains(" or "))?;
        let asked = reply::significant(question);
        let told = reply::significant(chosen);
        let is_echo = !told.is_empty() && told.iter().all(|word| asked.contains(word));
        let subject = SUBJECT.captures(question)?.get(1)?.as_str();
        (is_echo && subject.contains(' '))
            .then(|| self.with_plan(format!("{}: {}", capitalised(subject), uncapitalised(chosen))))
    }

    /// Returns what led up to a question that does not stand alone, and the option.
    fn led(&self, chosen: &str) -> Option<String> {
        let asked = self.question?;
        let before = self.answer.question.split(asked).next()?;
        let lead = prose::sentences(before).last()?;
        let lead = without_lead(lead).unwrap_or_else(|| lead.to_owned());
        // What only says how it is now is no topic.
        let lead = ["There's a ", "There is a ", "There's an ", "There is an "]
            .iter()
            .find_map(|start| lead.strip_prefix(start))?;
        let is_told = super::subject_words(lead) >= TELLING && !points(lead);
        is_told.then(|| format!("{} → {chosen}", shaped(lead)))
    }

    /// Returns a title with the heading of the plan, and as much of the option's meaning as there is room for.
    fn explained_with_plan(&self, start: String) -> String {
        let title = self.with_plan(start);
        self.explained(&title).filter(|_| !title.ends_with(')')).unwrap_or(title)
    }

    /// Returns a title with the heading of the plan, unless that adds nothing or there is no room.
    fn with_plan(&self, title: String) -> String {
        let Some(plan) = self.plan else { return title };
        let whole = format!("{title} ({plan})");
        let is_new = !reply::shares(&title, plan, 2);
        if is_new && whole.chars().count() <= TITLE { whole } else { title }
    }

    /// Returns the beginning of a title with what the option means, up to the end of a thought.
    fn explained(&self, start: &str) -> Option<String> {
        let room = TITLE.checked_sub(start.chars().count() + 2).filter(|room| *room >= LEAST)?;
        let meaning = self.answer.meaning.as_deref()?;
        let told = within(meaning, room)?;
        // What is in the title already says it.
        let is_new = reply::says_more(told, start);
        is_new.then(|| format!("{start}: {told}"))
    }
}

/// Returns "the red one" for "Option A: the red one".
fn lettered(option: &str) -> Option<&str> {
    let (label, said) = option.strip_prefix("Option ")?.split_once(": ")?;
    (label.len() == 1).then_some(said)
}

/// Returns the beginning of an explanation that fits and ends with a thought; a comma may stand in a list.
fn within(meaning: &str, room: usize) -> Option<&str> {
    let whole = meaning.trim_end_matches(['.', ' ']);
    if whole.chars().count() <= room && !whole.ends_with('…') {
        return Some(whole);
    }
    const THOUGHTS: [&str; 8] = [". ", "; ", " — ", " – ", " - ", ", so ", ", which ", ", but "];
    const PHRASES: [&str; 5] = [" from ", " for ", " with ", " in ", " without "];
    let start = &whole[..whole.char_indices().nth(room + 1).map_or(whole.len(), |(at, _)| at)];
    let ends = |joints: &[&str]| joints.iter().filter_map(|joint| start.rfind(joint)).max();
    let told = &start[..ends(&THOUGHTS).or_else(|| ends(&PHRASES))?];
    let is_whole = is_balanced(told) && !told.contains(": ") && told.split(' ').count() >= 3;
    is_whole.then_some(told)
}

/// Returns a text without the phrase before it: "With sheets in mind, should it be CSV?".
fn without_lead(text: &str) -> Option<String> {
    let rest = [", ", ": ", " — "].iter().filter_map(|joint| text.split_once(joint));
    let rest = rest.filter(|(lead, _)| lead.split(' ').count() <= 12).map(|(_, rest)| rest);
    let is_whole = |rest: &&str| {
        let leads_on = ["or ", "and "].iter().any(|joint| rest.starts_with(joint));
        !leads_on && (!text.ends_with('?') || reply::asks(rest.trim_end_matches('?')))
    };
    rest.into_iter().find(is_whole).map(capitalised)
}

/// Returns true for "Should there be one list or two?": what of was said before.
fn is_there(asked: &str) -> bool {
    ["should there be ", "is there ", "are there "].iter().any(|there| text::begins(asked, there))
}

/// Returns "If the seal is broken" for "What should happen if the seal is broken?".
fn supposed(question: &str) -> Option<String> {
    const STARTS: [&str; 4] =
        ["what should happen ", "what happens ", "what should we do ", "what should it do "];
    let start = STARTS.iter().find(|start| text::begins(question, start))?;
    let case = question[start.len()..].trim_end_matches(['?', ' ']);
    ["if ", "when "].iter().any(|one| case.starts_with(one)).then(|| capitalised(case))
}

/// Returns what a question says that it is about, before it asks: "For the daily export, should it …".
fn topic(question: &str) -> Option<String> {
    const LEADS: [&str; 8] =
        ["For ", "In ", "On ", "During ", "Regarding ", "About ", "When ", "As for "];
    let lead = LEADS.iter().find(|lead| question.starts_with(**lead))?;
    let (topic, _) = [", ", ": "].iter().filter_map(|joint| question.split_once(joint)).min()?;
    let told = match *lead {
        "When " => topic,
        _ => topic.strip_prefix(lead)?,
    };
    let told = ["the ", "a ", "an ", "this "]
        .iter()
        .find_map(|one| told.strip_prefix(one))
        .unwrap_or(told);
    (super::subject_words(told) >= 2 && !points(told)).then(|| capitalised(told))
}

/// Returns true if a word at the beginning stands for what was said before; "should there be" does not.
fn points(text: &str) -> bool {
    reply::points_early(&uncapitalised(text).replace("there ", ""))
}

/// Returns true for a sentence that goes on from the one before.
fn goes_on(title: &str) -> bool {
    let first = title.split(' ').next().unwrap_or_default();
    ["once", "then", "after", "afterwards", "otherwise"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(first.trim_end_matches(',')))
}

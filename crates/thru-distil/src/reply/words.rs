//! The words of decisions: as a title, and by what they name.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::Regex;

use super::deciding::{is_of_moment, is_verb};
use super::questions::{asks, is_procedure};
use crate::gate::{is_finished, is_name};
use crate::pattern;
use crate::text::{self, capitalised};
use crate::title;
use crate::verbs;

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
    if let Some(said) = without_denial(&clause) {
        return titled_in(&said, longest);
    }
    let plain = text::one_line(&text::plain(&clause), 4 * longest);
    let room = plain.char_indices().nth(longest).map_or(plain.len(), |(at, _)| at);
    let start = &plain[..room];
    let last = |ends: &[&str], least: usize| {
        let places = ends.iter().flat_map(|end| start.match_indices(end));
        let places = places.map(|(at, _)| at).filter(|at| *at >= least);
        places.filter(|at| is_finished(&start[..*at])).max()
    };
    const THOUGHTS: [&str; 22] = [
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
        // People who dictate use no full stops.
        " it should ",
        " they should ",
        " this aligns ",
        " this makes ",
        " this will ",
        " this way ",
    ];
    let end = last(&THOUGHTS, longest / 3)
        .or_else(|| {
            last(&[" and ", " instead of ", " rather than ", " when ", " as "], longest / 2)
        })
        .or_else(|| last(&[" with ", " for ", " in ", " from "], longest / 2))
        .or_else(|| participle(start, longest / 2))
        // The aim may go, but not the half of a way.
        .or_else(|| last(&[" to "], longest / 3).filter(|end| !start[..*end].contains(" from ")));
    match end {
        Some(end) => {
            let told = &start[..end];
            // A bracket that is cut goes.
            let is_open = told.matches('(').count() > told.matches(')').count();
            let whole = told.rfind(" (").filter(|at| is_open && *at >= longest / 3);
            let told = &told[..whole.unwrap_or(told.len())];
            capitalised(told.trim_end_matches([',', ';', ':', '-', ' ']))
        }
        None => text::cut(&shaped, longest),
    }
}

/// Returns the place of the last phrase that a participle begins: "in the archive lying beside the log".
fn participle(said: &str, least: usize) -> Option<usize> {
    let mut blanks = said.match_indices(' ').map(|(at, _)| at).filter(|at| *at >= least);
    blanks.rfind(|at| {
        let word = said[at + 1..].split(' ').next().unwrap_or_default();
        word.len() > 5 && word.ends_with("ing") && is_finished(&said[..*at])
    })
}

/// What should not be, and what should be in its place.
static DENIED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(.{3,60}?\s(?:should|must))(?:n['’]?t|\s+not)\s.{3,80}?[\s,;.]\s*(?:it|they|but|instead\s+(?:it|they))\s+(?:should|must)\s+(.{8,})$",
    )
});

/// Turns "The logs should not be in a, they should be in b" into "The logs should be in b": where there is no room for both,
/// what holds says more.
fn without_denial(clause: &str) -> Option<String> {
    let said = DENIED.captures(clause)?;
    Some(format!("{} {}", said.get(1)?.as_str(), said.get(2)?.as_str()))
}

/// Returns the clause without the addresses of pages.
fn without_addresses(clause: &str) -> Cow<'_, str> {
    if !clause.contains("http") {
        return Cow::Borrowed(clause);
    }
    let is_address = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
    Cow::Owned(clause.split(' ').filter(|word| !is_address(word)).collect::<Vec<_>>().join(" "))
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

/// Returns true for "Rename to x" and "Keep as it is": the verb has no object.
pub(crate) fn lacks_object(title: &str) -> bool {
    let mut words = title.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default().to_lowercase();
    let is_verbal = is_verb(first) || verbs::is_imperative(first);
    is_relative(title)
        || is_verbal
            && matches!(
                second.as_str(),
                "to" | "as" | "in" | "into" | "it" | "that" | "this" | "both" | "only"
            )
        || !is_specific(title)
            && (title.split_whitespace().count() <= 3
                || ["No need for", "Agreed"].iter().any(|start| title.starts_with(start))
                    && title.split_whitespace().count() <= 6)
}

/// Returns true for "Deletion should be left to others" and "Best workaround is x": of or for what was said before.
pub(crate) fn is_relative(title: &str) -> bool {
    let mut words = title.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_bare = ["tion", "ment", "ance"].iter().any(|end| first.ends_with(end))
        && ["should", "must", "needs", "is"].contains(&second);
    let lower = title.to_lowercase();
    is_bare
        || ["alternative is ", "solution is ", "workaround is "]
            .iter()
            .any(|noun| lower.contains(noun))
}

/// Returns true for "Avoid inventing our own": what it ends with was named before.
pub(crate) fn dangles(title: &str) -> bool {
    const OBJECTS: [&str; 6] = ["own", "it", "them", "this", "that", "these"];
    let last = title.split_whitespace().last().unwrap_or_default().trim_end_matches([',', '.']);
    OBJECTS.iter().any(|object| last.eq_ignore_ascii_case(object))
}

/// Returns true for "The issue is the cache, I think": a person who looks for a cause decides nothing.
pub(crate) fn suspects(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let said = without_softeners(&lower);
    let said =
        ["the ", "this ", "that "].iter().find_map(|one| said.strip_prefix(one)).unwrap_or(said);
    let mut words = said.split_whitespace().take(6);
    let is_cause =
        |word: &str| ["issue", "problem", "bug", "cause", "culprit", "error"].contains(&word);
    words.by_ref().take(2).any(is_cause)
        && words.any(|word| ["is", "was", "seems", "might"].contains(&word))
        || ["issue's ", "problem's "].iter().any(|one| said.starts_with(one))
}

/// Returns true for "maybe we should use x": it decides once the agent takes it up.
pub(crate) fn hedges(sentence: &str) -> bool {
    hedge(&sentence.to_lowercase()).is_some()
}

/// Returns true if a sentence hedges the decision that is made of it; "use x, maybe document it" does not.
pub(crate) fn is_hedged(sentence: &str, decision: &str) -> bool {
    let lower = sentence.to_lowercase();
    let start: String = decision.to_lowercase().chars().take(12).collect();
    let decided = lower.find(start.trim_end()).unwrap_or(lower.len());
    hedge(&lower).is_some_and(|at| at < decided)
}

fn hedge(lower: &str) -> Option<usize> {
    let hedges = ["maybe", "perhaps", "possibly", "not sure", "i guess"];
    hedges.iter().filter_map(|hedge| lower.find(hedge)).min()
}

/// Returns true for "Use a framework" and "We want the opinion of the team": a kind of thing in few words, and no name.
pub(crate) fn is_thin(title: &str) -> bool {
    // "Use a kind of brown" is no more than a hint.
    let lower = title.to_lowercase();
    let rough = ["a kind of ", "some kind of ", "a sort of ", "some sort of ", "something like "];
    if rough.iter().any(|rough| lower.contains(rough)) {
        return true;
    }
    let chooses = [" not ", " instead", " either ", " over ", " than ", "no longer"];
    let is_kind = title.split(' ').skip(1).take(2).any(|word| ["a", "an", "the"].contains(&word));
    is_kind
        && !is_specific(title)
        && significant(title).len() <= 2
        && !chooses.iter().any(|one| title.contains(one))
}

/// Returns true if a title stands for something that it does not name: "call ours x", "handle this via y".
pub(crate) fn points(title: &str) -> bool {
    let counts = ["The two ", "The three ", "Both of ", "These two ", "Those two "];
    if counts.iter().any(|start| title.starts_with(start)) {
        return true;
    }
    let mut words = title.split_whitespace().skip(1);
    let is_object = words.next().is_some_and(|word| ["this", "that"].contains(&word))
        && words.next().is_none_or(|next| {
            ["as", "by", "for", "here", "in", "now", "on", "then", "to", "via", "with"]
                .contains(&next)
        });
    is_object || points_early(title) || dangles(title) && !title.contains(", ")
}

/// Returns true for "The polling approach costs a thread": a statement about one of the ways to go.
pub(crate) fn is_about_option(statement: &str) -> bool {
    let mut words = statement.split_whitespace().map(|word| word.trim_end_matches([',', ':']));
    words.next().is_some_and(|first| ["The", "This", "That"].contains(&first))
        && words.take(5).any(|word| ["approach", "option", "alternative", "way"].contains(&word))
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

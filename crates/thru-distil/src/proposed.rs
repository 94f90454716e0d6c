//! Proposals of a person in the form of a question or a doubt: "shouldn't we use x?", "x should be y, right?". They
//! decide once the agent agrees.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;
use crate::reply;
use crate::text::{capitalised, one_line, unmarked};

/// Longest sentence that is looked at, in bytes.
const LONGEST: usize = 400;

/// A proposal of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposed {
    /// The sentence.
    pub(crate) sentence: String,
    /// The proposal as a title.
    pub(crate) title: String,
    /// True if it is a statement that only asks to be confirmed: "x should be y, right?".
    pub(crate) is_statement: bool,
}

static PROPOSES: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)(?:^|[\s,;.—–-])(?:
          (?: should(?:n['’]?t)? | can['’]?t | couldn['’]?t | why\s+(?:don['’]?t|not) | what\s+if | how\s+about ) \s+ we \s+
          (?:also\s+|just\s+|not\s+|rather\s+|simply\s+)*(?P<verb>[a-z]+\s+\S.{5,})
        | (?:should(?:n['’]?t)?) \s+ (?P<subject>(?:(?:the|a|an|this|that|it|all|each|every)\b[^,;]{0,60}?|[\w./`-]+[._/][\w./`-]+)) \s+ (?P<be>(?:be|have|go|live|use|stay|return|allow|support|come|hold|keep|reference|contain|include|point|store|show)\s+\S.{3,})
        | (?:we|you)\s+might\s+want\s+(?:to\s+(?P<want>[a-z]+\s+\S.{3,})|(?P<thing>[^\st].{3,}))
        | (?:maybe|perhaps)\s+(?P<good>\S.{3,80}?\s+(?:is|would\s+be|might\s+be)\s+(?:an?\s+|the\s+)?(?:good|better|best|right|simpler|cleaner|easier)\b.*)
        | (?P<right>\S.{8,}\s(?:should|must|needs?\s+to|ought\s+to|has\s+to|have\s+to)\s.{5,}?)[\s,]+(?:right|correct|no)
        )\s*\??\s*$",
    )
});

/// Returns what a sentence proposes.
pub(crate) fn of_sentence(sentence: &str) -> Option<Proposed> {
    if !(16..LONGEST).contains(&sentence.len())
        || reply::is_procedure(reply::without_softeners(sentence))
    {
        return None;
    }
    let said = unmarked(sentence);
    let found = PROPOSES.captures(&said)?;
    let group = |name: &str| {
        let text = found.name(name)?.as_str();
        Some(text.trim_end_matches(['?', ' ', '.', ',']).to_owned())
    };
    let title = group("verb")
        .or_else(|| Some(format!("{} should {}", group("subject")?, group("be")?)))
        .or_else(|| group("want"))
        .or_else(|| Some(format!("Use {}", group("thing")?)))
        .or_else(|| group("good"))
        .or_else(|| group("right"))?;
    // "If x, then y": only y is proposed.
    let title = title.split_once(" then ").map_or(title.as_str(), |(_, then)| then);
    let title = reply::titled(reply::without_softeners(title));
    let decides = !reply::is_procedure(&title)
        && !reply::is_of_moment(&title)
        && reply::names_something(&title);
    let is_statement = found.name("right").is_some();
    decides.then(|| Proposed {
        is_statement,
        sentence: one_line(&said, LONGEST),
        title: capitalised(&title),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_propose_are_told_from_questions() {
        for (said, title) in [
            (
                "shouldn't we keep one log per case in the output folder?",
                "Keep one log per case in the output folder",
            ),
            ("wait, why don't we store the keys in the vault", "Store the keys in the vault"),
            (
                "given few use it, maybe a hard break is a good option",
                "A hard break is a good option",
            ),
            (
                "if they merge it then deletion should be handled outside of the client right",
                "Deletion should be handled outside of the client",
            ),
            (
                "looks like we might want registry.example/base:1.5 ?",
                "Use registry.example/base:1.5",
            ),
            ("should the port be a string?", "The port should be a string"),
            (
                "also should index.json reference run.jsonl so that readers stay",
                "index.json should reference run.jsonl so that readers stay",
            ),
            (
                "also this means we need to move the page to the new index right",
                "We need to move the page to the new index",
            ),
        ] {
            let found = of_sentence(said).map(|one| one.title);
            assert_eq!(found.as_deref(), Some(title), "{said}");
        }
        for said in [
            "should we push it now?",
            "what does the flag do?",
            "is the port a string?",
            "shouldn't we merge it?",
        ] {
            assert_eq!(of_sentence(said), None, "{said}");
        }
    }
}

//! Decisions in the agent's prose: only sentences that name both the choice and its reason or the
//! alternative. Recognised by sentence shape, so never more than likely.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;
use crate::phrase;
use crate::reply;
use crate::text::{one_line, unmarked};

/// A choice and the sentence that makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The sentence as a title.
    pub(crate) title: String,
    /// The sentence.
    pub(crate) sentence: String,
    /// True if the sentence names the alternative that was rejected.
    pub(crate) is_trade_off: bool,
}

static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:(?:i|we)(?:'ve|’ve| have)? (?:chose|chosen|decided|opted|picked|settled|went with|switched)|(?:i['’]m|we['’]re|i am|we are) (?:going with|using|switching to|choosing)|going with|decided (?:to|on|against)|opted (?:for|to)|settled on|switched (?:from|to)|chose (?:to )?)\b.{3,120}?\b(because|since|instead of|rather than|so that|in favou?r of|over the|to avoid)\b.{6,}",
    )
});

/// Statements of a design: with the alternative and the reason.
static DESIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)(?:^|[:—–-]\s+)((?:[\w`'’./()-]+\s+){0,6}?(?:used|uses|kept|keeps|made|makes|stored|stores|put|puts|moved|moves|replaced|replaces|implemented|adopted|adopts|named|renamed|wrapped|modell?ed|returns|reads|writes|passes)\s[^,;]{3,120}?\b(instead of|rather than|in favou?r of)\b.{3,160}?(?:\b(?:because|since|so|as|which|to\s+(?:\w+ly\s+)?(?:avoid|keep|prevent|reduce|allow|handle|support|make|preserve|ensure|stay|save|simplify|match))\b|\s[—–-]\s|:\s).{6,})",
    )
});

/// Changes from one thing to another, with the reason.
static CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:(switch(?:ed|ing)\s+from\s+.{3,160}?\s(to)\s.{6,})|((?:changed|switched|moved)\s+to\s+.{3,80}?\b(instead)\b[,\s]+(?:which|because|since|as|so|to)\b.{6,}))",
    )
});

/// Words of which one stands in every choice: most sentences have none.
static CUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)because|since|instead|rather than|so that|favou?r of|over the|to avoid|switch|(?:changed|moved) to",
    )
});

/// Words that give a reason.
static REASON: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"(?i)\b(?:because|since|so|which|as|avoids?|instead)\b|\s[—–-]\s")
});

/// Words about how the agent goes about its work rather than about the work.
static PROCESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:workflow|workers?|says|said|message|skills?|guidance|worktrees?|subagents?|pane|rebase|commit(?:ted|ting)?|push(?:ed|ing)?|branch(?:es)?|tickets?|issues?|search(?:ed|ing)?|grep|check(?:ed|ing)|verif(?:y|ied|ying)|inspect(?:ed|ing)?|guess(?:ing)?|assum(?:e|ing)|rerun|re-run|wait(?:ed|ing)?|monitor\w*|my|prompt|request(?:ed)?|question|previously|used to|was using|were using)\b",
    )
});

/// Words that rule a sentence out as a decision.
static DOUBT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r#"(?i)\?$|^(?:if|unless|whether|when|should|could|would|maybe|perhaps)\b|\b(?:if you|could|might|would|may|should|didn't|did not|haven't|not yet|let me know|you (?:can|chose|decided|switched)|user (?:chose|decided))\b|^["'>]"#,
    )
});

/// Returns the decision that a sentence states, if any.
pub(crate) fn parse(sentence: &str) -> Option<Choice> {
    if !(24..400).contains(&sentence.len()) || !CUE.is_match(sentence) {
        return None;
    }
    let found = SHAPE.captures(sentence);
    let (start, reason) = match found {
        Some(found) => (0, found.get(1)?),
        None => {
            let change = || {
                REASON.find(sentence)?;
                CHANGE.captures(sentence)
            };
            let found = DESIGN.captures(sentence).or_else(change)?;
            let mut groups = found.iter().flatten().skip(1);
            (groups.next()?.start(), groups.next()?)
        }
    };
    // The reason itself may be uncertain.
    let chosen = sentence.get(..reason.start())?;
    let is_process = PROCESS.is_match(sentence);
    if sentence.ends_with(['?', ':']) || DOUBT.is_match(chosen) || is_process {
        return None;
    }
    let reason = reason.as_str().to_ascii_lowercase();
    let cleaned = unmarked(phrase::without_openers(sentence));
    let from = unmarked(phrase::without_openers(sentence.get(start..)?));
    #[rustfmt::skip]
    const SUBJECTS: [&str; 12] = [
        "I've ", "I’ve ", "We've ", "I have ", "We have ", "I ", "We ", "I'm ", "I’m ", "We're ", "I also ", "Also ",
    ];
    let bare = SUBJECTS.iter().find_map(|subject| from.strip_prefix(subject)).unwrap_or(&from);
    let title = reply::titled(&reply::in_imperative(bare));
    // A title that ends before the alternative tells no choice.
    let has_object = reply::names_something(&title)
        && !phrase::points_elsewhere(&title)
        && !title.ends_with('…');
    has_object.then(|| Choice {
        title,
        sentence: one_line(&cleaned, 320),
        is_trade_off: !matches!(reason.as_str(), "because" | "since" | "so that"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_slots_are_needed() {
        assert!(
            parse("I went with SQLite instead of Postgres, as there is no server here.").is_some()
        );
        assert!(parse("We're going with polling because the mount sends no events.").is_some());
        for text in [
            "I implemented a token bucket instead of a leaky bucket because bursts are fine here.",
            "The reader uses a ring buffer rather than a list, so nothing is copied.",
            "The fix was switching from the styled list (which needs a provider) to the plain one.",
            "Changed to `npm install` instead, which is more reliable in containers.",
            "Kept the old column name instead of renaming it to avoid a migration.",
        ] {
            assert!(parse(text).is_some(), "{text}");
        }
        for text in [
            "I'm using the review skill because you asked for one.",
            "I kept waiting instead of killing it, so the suite could finish.",
            "I went with SQLite for the store.",
            "Should we have decided on SQLite instead of Postgres?",
            "Should we go with polling because the mount sends no events?",
            "If you decided to use SQLite rather than Postgres, tell me.",
            "I could have chosen SQLite instead of Postgres there.",
            "The table is used instead of the list in this view.",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

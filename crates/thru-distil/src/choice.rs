//! Decisions in the agent's prose: only sentences that name both the choice and its reason or the
//! alternative. Recognised by sentence shape, so never more than likely.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;
use crate::phrase;
use crate::text::{one_line, unmarked};
use crate::title;

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

static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:(?:i|we)(?:'ve|’ve| have)? (?:chose|chosen|decided|opted|picked|settled|went with|switched)|(?:i'm|we're|i am|we are) (?:going with|using|switching to|choosing)|going with|decided (?:to|on|against)|opted (?:for|to)|settled on|switched (?:from|to)|chose (?:to )?)\b.{3,120}?\b(because|since|instead of|rather than|so that|in favou?r of|over the|to avoid)\b.{6,}",
    )
});

/// Words that rule a sentence out as a decision.
static DOUBT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern::regex(
        r#"(?i)\?$|^(?:if|unless|whether|when|should|could|would|maybe|perhaps)\b|\b(?:if you|could|might|would|may|should|didn't|did not|haven't|not yet|let me know|you (?:can|chose|decided|switched)|user (?:chose|decided))\b|^["'>]"#,
    )
});

/// Returns the decision that a sentence states, if any.
pub(crate) fn parse(sentence: &str) -> Option<Choice> {
    if !(24..400).contains(&sentence.len()) {
        return None;
    }
    let found = SHAPE.as_ref()?.captures(sentence)?;
    let reason = found.get(1)?;
    // The reason itself may be uncertain.
    let chosen = sentence.get(..reason.start())?;
    if sentence.ends_with('?') || DOUBT.as_ref()?.is_match(chosen) {
        return None;
    }
    let reason = reason.as_str().to_ascii_lowercase();
    let cleaned = unmarked(phrase::without_openers(sentence));
    let bare = ["I've ", "We've ", "I have ", "We have ", "I ", "We ", "I'm ", "We're "]
        .iter()
        .find_map(|subject| cleaned.strip_prefix(subject))
        .unwrap_or(&cleaned);
    Some(Choice {
        title: title::shaped(bare),
        sentence: one_line(&cleaned, 240),
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

//! Signs of what the author of a text holds for its point, and what for a side matter.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;
use crate::text::unmarked;

/// What a heading, or a line that leads up to a list, says of what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is what the text is written for.
    Point,
    /// It says nothing of it.
    #[default]
    Plain,
    /// It is about how to go on, how it was checked, or where it stands.
    Aside,
}

/// Longest heading with a role, in bytes.
const HEADING: usize = 90;

static ASIDE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:alternatives?|approach(?:es)?|background|blockers?|caveats?|checks?|concerns?|either|examples?|files?|flags?|history|historical|later|legacy|limitations?|next|notes?|older|optional|options|outstanding|pending|questions?|recent|references?|remaining|risks?|scope|sources?|steps?|tests?|todos?|touch(?:es|ed)?|usage|validat\w+|verif\w+)\b",
    )
});

static POINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:answer|best|better|bottom\s+line|cause|cleaner|clos(?:e|ing)|conclusions?|confirmed|decided|decisions?|findings?|fix|key|problem|ready|reasons?|recommend\w*|results?|rule|should|solution|verdict|why|would)\b",
    )
});

/// Beginnings and words with which an author marks the point.
static STRONG: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:root\s+cause|verdict|conclusion|bottom\s+line|short\s+answer|in\s+short|confirmed|key\s+(?:insight|finding|point|takeaway)
            |(?:(?:my|the)\s+)?(?:revised\s+|short\s+)?(?:recommendation|answer|fix|solution)) \s*(?:\(.{0,40}\))?\s*[:,—–-]
        | ^(?:the|that|this|its?)\s+(?:(?:root|real|actual|likely|main|key|only|core|most\s+likely)\s+)?(?:cause|reason|problem|issue|answer|fix|catch|culprit)\s+(?:is|was|might|may|seems)\b
        | ^(?:it|this|that)\s+means\b | \bthe\s+only\b | \bnot\s+(?:an?\s+|the\s+)?[^,.;]{2,40},\s+but\b",
    )
});

/// Beginnings and words of conclusions and contrasts.
static MILD: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:so|therefore|thus|hence|instead|in\s+fact)\b|\b(?:instead|rather\s+than|means\s+that)\b|,\s+so\s+\S+\s+(?:\S+\s+)?(?:cannot|can't|won't|does|doesn't|never)\b",
    )
});

/// Beginnings of side matters.
static SIDE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:additionally|also|separately|older|historically|note\s+that|one\s+(?:note|caveat|nuance|thing)|for\s+(?:reference|example|now)|(?:the\s+)?same\s+applies
            |similarly|meanwhile|in\s+the\s+meantime|related|optionally|(?:local|side)\s+note|e\.g|otherwise|longer[\s-]term)\b
        | ^(?:\S+\s+)?(?:docs?|documentation)\s+(?:also\s+)?(?:says?|describes?|mentions?)\b | ^\S+\s+also\s+(?:said|says)\b",
    )
});

/// Words about what was there before, and about what else there is.
static ASIDES: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(r"(?i)\b(?:already|also|formerly|historically|legacy|previously)\b")
});

/// Beginnings of sentences that take back the one before, or come to what is wrong.
static TURNS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:but|however|yet|still,|nevertheless|that\s+said|the\s+catch|the\s+(?:real\s+|actual\s+|main\s+|underlying\s+)?(?:issue|problem|cause|blocker|gap|culprit)\s+(?:is|was|might|may|could|seems|appears|remains))\b",
    )
});

/// Returns true for a sentence before which the point was not yet told: "But today it is tied to a run".
pub(crate) fn turns(sentence: &str) -> bool {
    shows(&TURNS, &unmarked(sentence))
}

/// A line that leads up to what could be rather than to what is.
static SUPPOSES: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"(?i)\b(?:would|could|might|proposed|imagine|suppose)\b"));

/// Returns true for "So the flow would be:".
pub(crate) fn supposes(lead: &str) -> bool {
    shows(&SUPPOSES, lead)
}

fn shows(sign: &LazyLock<Regex>, text: &str) -> bool {
    sign.is_match(text)
}

/// Returns the role of what stands under a heading or behind a line that leads up to it.
pub(crate) fn role(heading: &str) -> Role {
    match heading.len() {
        HEADING.. => Role::Plain,
        _ if shows(&ASIDE, heading) => Role::Aside,
        _ if shows(&POINT, heading) => Role::Point,
        _ => Role::Plain,
    }
}

/// Returns what the words of a sentence say of its weight: positive for the point, negative for a side matter.
pub(crate) fn weight(sentence: &str) -> i32 {
    let said = unmarked(sentence);
    let point = match (shows(&STRONG, &said), shows(&MILD, &said)) {
        (true, _) => 4,
        (false, true) => 2,
        (false, false) => 0,
    };
    let aside = match (shows(&SIDE, &said), shows(&ASIDES, &said)) {
        (true, _) => 5,
        (false, true) => 2,
        (false, false) => 0,
    };
    point - aside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_weighs_more_than_what_stands_beside_it() {
        for point in [
            "Root cause: the relay is polled",
            "The likely reason is the relay",
            "**The only** relay that closes is the second one",
            "This means the damper never opens",
            "So the kiln needs a second relay",
        ] {
            assert!(weight(point) > 0, "{point}");
        }
        for aside in [
            "Also the glaze list is cached",
            "The docs also say that relays close",
            "The same applies to cone 6",
            "The kiln already has a relay",
        ] {
            assert!(weight(aside) < 0, "{aside}");
        }
        assert_eq!(weight("The damper closes when the relay drops"), 0);
    }

    #[test]
    fn a_sentence_that_turns_is_known() {
        for turning in
            ["But today the kiln is cold", "However, cone 6 melts", "The real issue is the relay"]
        {
            assert!(turns(turning), "{turning}");
        }
        for going_on in ["Butter melts first", "The issue list is long", "It is cold today"] {
            assert!(!turns(going_on), "{going_on}");
        }
        assert!(supposes("So the flow would be") && !supposes("The flow is"));
    }

    #[test]
    fn headings_tell_the_role_of_what_follows() {
        assert_eq!(role("Verdict on cone 6"), Role::Point);
        assert_eq!(role("What I'd recommend instead"), Role::Point);
        assert_eq!(role("Recommended next steps"), Role::Aside);
        assert_eq!(role("What the ramp actually touches"), Role::Aside);
        assert_eq!(role("Glazes"), Role::Plain);
    }
}

//! What a statement lacks as a title: what it leaves open, what it is relative to, and what of it holds no longer tomorrow.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::pattern;

/// Words of doubt, and beginnings of advice against something, which leaves open what to do.
static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:probably|perhaps|maybe|might|may|could|likely|seems?|appears?)\b|^(?:do\s+not|don['’]t|avoid)\b",
    )
});

/// Returns true for a statement of which its author is not sure, and for advice against something.
pub(crate) fn is_open(title: &str) -> bool {
    OPEN.is_match(title) || title.ends_with("(suspected)")
}

/// The shape of a verdict without its reason.
const VERDICT: &str = r"\b(?:is|are|would\s+be)\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:poor|good|bad|better|best|fine|right|wrong|safer?|sound|valid|viable|reasonable|sensible|confusing|defensible)(?:\s+(?:fit|choice|option|idea|default|approach|candidate|name|way))?$";

static BARE: LazyLock<Regex> = LazyLock::new(|| pattern::regex(&format!("(?i){VERDICT}")));

/// Returns true for a verdict without its reason: "The relay is a poor fit".
pub(crate) fn is_bare_verdict(title: &str) -> bool {
    BARE.is_match(title)
}

/// Statements that tell little later: a verdict without its reason, what is still to be done, how it goes at the moment,
/// what a command printed, and what is said for effect.
static SLIGHTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(&format!(
        r"(?x)(?i:{VERDICT})
        | \b(?i:needs?\s+to)\b
        | ^.{{0,24}}\b(?i:is|are)\s+(?i:now\s+)?[a-z]+ing\b.{{0,20}}$
        | ^(?i:the\s+|a\s+)?(?i:dry.?run|search|grep|output|command|check|run|query|probe|scan)\s+(?i:showe?[ds]?|shows|returned|found|printed|reported)\b
        | \b(?:IS|ARE|NOT|ALL|EVERY|ALWAYS|NEVER)\b",
    ))
});

/// Returns true for a statement that tells little later.
pub(crate) fn is_slight(title: &str) -> bool {
    SLIGHTS.is_match(title)
}

/// Returns true if a statement is about one among others that it does not name: "The closest issue is x", "The trap is y".
pub(crate) fn is_relative(title: &str) -> bool {
    const RELATIVE: [&str; 12] = [
        "alternative",
        "anti-pattern",
        "antipattern",
        "catch",
        "caveat",
        "difference",
        "downside",
        "mistake",
        "remedy",
        "risk",
        "trap",
        "workaround",
    ];
    const AMONG: [&str; 12] = [
        "best",
        "cleanest",
        "closest",
        "easiest",
        "intended",
        "nearest",
        "next",
        "only",
        "right",
        "safest",
        "simplest",
        "supported",
    ];
    const JOINTS: [&str; 8] = ["for", "from", "in", "of", "on", "that", "to", "with"];
    let lower = title.to_lowercase();
    let subject: Vec<&str> = lower.split(' ').take_while(|word| !is_copula(word)).collect();
    let is_whole = subject.len() == lower.split(' ').count();
    let subject = subject.strip_prefix(&["the"]).unwrap_or(&subject);
    !is_whole
        && !subject.iter().any(|word| JOINTS.contains(word))
        && (subject.first().is_some_and(|first| AMONG.contains(first))
            || subject.last().is_some_and(|noun| RELATIVE.contains(noun)))
}

/// Returns true if a question asks how two names from code differ.
pub(crate) fn compares(question: &str) -> bool {
    let lower = question.to_lowercase();
    let compares = ["differ", "versus", " vs ", " vs. ", "compare"];
    compares.iter().any(|word| lower.contains(word)) && names(question).count() >= 2
}

/// Returns true if a question compares two names, and a statement tells of one.
pub(crate) fn tells_one_of_two(title: &str, question: &str) -> bool {
    compares(question) && names(question).any(|name| !title.contains(name))
}

fn names(question: &str) -> impl Iterator<Item = &str> {
    question.split_whitespace().map(bare_name).filter(|word| is_code(word))
}

fn is_copula(word: &str) -> bool {
    ["is", "are", "was", "were", "would"].contains(&word)
}

/// Findings that something was not done so far.
static LACK: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:not|no|never|nothing)\b.*\b(?:built|configured|covered|done|implemented|integrated|logged|planned|scoped|started|tested|tracked|wired)\b",
    )
});

/// Returns true for "The relay is not wired anywhere": it is over once it was done.
pub(crate) fn tells_a_lack(title: &str) -> bool {
    LACK.is_match(title)
}

/// Words of advice about a ticket or a pull request that is over tomorrow.
static PASSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)\b(?:#\d+|PRs?|issues?|tickets?|pull\s+requests?|as|candidates?|close[ds]?|first|for\s+now|immediate|keep|leave|merge[ds]?|next|not|now|only|open|ready|rebase|review|the|to|today|treat|yet|wait|and|before|after|until|it)\b|#\d+",
    )
});

/// Returns true for advice that names a ticket and nothing else: "Keep #12 open for now".
pub(crate) fn is_passing(advice: &str) -> bool {
    let names_ticket = advice.split(' ').any(|word| word.starts_with('#'));
    names_ticket && !PASSING.replace_all(advice, "").contains(char::is_alphanumeric)
}

/// Returns a word without the marks around it.
pub(crate) fn bare_name(word: &str) -> &str {
    word.trim_matches(['`', '“', '”', '"', '(', ')', ',', ':', '.', '?', '!'])
}

/// Returns true for a name from code.
pub(crate) fn is_code(word: &str) -> bool {
    word.contains(['.', '_', '/', '@', '#']) && !word.contains("://") && word.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_one_among_others_is_relative() {
        for relative in ["The closest relay is kiln-2", "The trap is a relay that fire polls twice"]
        {
            assert!(is_relative(relative), "{relative}");
        }
        for whole in [
            "The closest relay to the damper is kiln-2",
            "The difference between both cones is the glaze",
            "The relay is the closest one to the damper",
            "The only relay of the shed fails",
        ] {
            assert!(!is_relative(whole), "{whole}");
        }
    }

    #[test]
    fn what_was_lacking_is_over_once_it_was_done() {
        for lack in ["The relay is not wired anywhere", "No work has been started on the damper"] {
            assert!(tells_a_lack(lack), "{lack}");
        }
        assert!(!tells_a_lack("The relay does not reach the damper"));
    }

    #[test]
    fn advice_about_a_ticket_alone_is_passing() {
        for passing in ["Keep #12 open for now", "Treat #12 as the only immediate merge candidate"]
        {
            assert!(is_passing(passing), "{passing}");
        }
        for lasting in ["Keep the relay of #12 in the profile", "Keep the damper open for now"] {
            assert!(!is_passing(lasting), "{lasting}");
        }
    }

    #[test]
    fn what_tells_little_later_is_slight() {
        for slight in [
            "Stage 12 is a poor fit",
            "The glaze of the burner needs to be stored and shown",
            "Kilns are firing in the yard",
            "Dry-run showed 309 cones that would be deleted",
            "Gas really IS cheaper than wood",
        ] {
            assert!(is_slight(slight), "{slight}");
        }
        for telling in [
            "The damper relay is a better sensor than the burner",
            "The kiln needs write access to the log",
            "The relay is polled by the damper thread while the kiln is firing at cone six",
            "The search index holds no glazes",
        ] {
            assert!(!is_slight(telling), "{telling}");
        }
    }
}

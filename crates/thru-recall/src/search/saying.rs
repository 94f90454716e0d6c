//! Texts that say nothing by themselves: announcements, orders and questions.

/// Words with which an agent says what it does next.
const BEGINNINGS: [&str; 17] = [
    "let me ",
    "now let me ",
    "now let's ",
    "let's ",
    "now i'll ",
    "i'll ",
    "i will ",
    "now i need ",
    "now i have ",
    "i now have ",
    "now update ",
    "first, let me ",
    "next, ",
    "now the ",
    "i'm checking ",
    "i'm reading ",
    "i'm going to ",
];

/// Longest line of intent, and what may stand before its announcement, in bytes.
const LONGEST_INTENT: usize = 160;
const BEFORE_INTENT: usize = 50;

/// Returns true if a text only says what comes next, as a heading or in words: "Good, that works. Now let me update `x`:".
/// What it led to stands beside it.
pub(super) fn is_intent(text: &str) -> bool {
    const ENDS: [&str; 3] = [". ", "! ", "? "];
    let text = text.trim();
    if text.len() > LONGEST_INTENT || text.contains('\n') {
        return false;
    }
    if text.starts_with('#') {
        return true;
    }
    let lower = text.to_lowercase().replace('’', "'");
    let precedes = lower.strip_suffix(':').is_some_and(|said| !said.contains([':', ';']));
    let is_clause = !ENDS.iter().any(|end| lower.contains(end));
    if is_clause && (precedes || lower.starts_with("now ")) {
        return true;
    }
    let last = lower.trim_end_matches(['.', ':', '!']);
    let last = [". ", "! ", ": "].iter().filter_map(|end| last.rfind(end)).max();
    let sentence = last.filter(|at| *at <= BEFORE_INTENT).map_or(0, |at| at + 2);
    BEGINNINGS
        .iter()
        .any(|beginning| [&lower, &lower[sentence..]].iter().any(|one| one.starts_with(beginning)))
}

/// Words of the longest order that says nothing of what it is about: "commit", "go on".
const LONGEST_ORDER: usize = 2;

/// Returns true for an order that only makes sense where it was given.
pub(crate) fn is_order(text: &str) -> bool {
    text.split_whitespace().take(LONGEST_ORDER + 1).count() <= LONGEST_ORDER
}

/// Returns true if a text asks at least as much as it says: the answer is in what follows.
pub(super) fn is_asking(text: &str) -> bool {
    let (mut asked, mut said) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace().map(|word| word.trim_end_matches(['*', '"', ')']));
        while let Some(word) = words.next() {
            let is_last = words.clone().next().is_none();
            let is_number = word.trim_end_matches('.').chars().all(|c| c.is_ascii_digit());
            if word.ends_with('?') {
                asked += 1;
            } else if is_last || word.ends_with(['.', '!']) && !is_number {
                said += 1;
            }
        }
    }
    asked > 0 && asked >= said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_told_from_answers() {
        for (text, wanted) in [
            ("Now let me update `x`:", true),
            ("Good catch. Let me check how it is configured.", true),
            ("Good, review committed. Now let me create tasks.", true),
            ("I’m checking the parser now", true),
            ("These are the changes to the parser:", true),
            ("Now fix the parser in `x`.", true),
            ("Now it works. The parser was wrong.", false),
            ("The parser was wrong. These are the changes:", false),
            (
                "The cause is the lock that two writers take at the same time. Let me mend it.",
                false,
            ),
            (
                "Let me know whether the first plan or the second one suits.\nThe first is shorter.",
                false,
            ),
            ("The lock was the cause.", false),
            ("## The cause of the lock", true),
            ("## The cause\n\nTwo writers took the lock.", false),
        ] {
            assert_eq!(is_intent(text), wanted, "{text}");
        }
    }

    #[test]
    fn orders_that_say_nothing_are_told_from_others() {
        for (text, wanted) in [("commit", true), ("Go on.", true), ("use the lock", false)] {
            assert_eq!(is_order(text), wanted, "{text}");
        }
    }

    #[test]
    fn questions_are_told_from_answers() {
        for (text, wanted) in [
            ("Which of the two locks do you mean?", true),
            ("Good. Which of the two?", true),
            ("1. Should the lock stay?\n2. Or **which** one goes?\n\nThen I go on.", true),
            ("The lock was the cause. It is gone now. Should I commit that?", false),
            ("The cause was the lock in search.rs.", false),
            ("", false),
        ] {
            assert_eq!(is_asking(text), wanted, "{text}");
        }
    }
}

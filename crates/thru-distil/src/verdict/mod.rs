//! The verdict of a text: the sentence with which the agent answers, as a title.

mod reader;

pub(crate) use self::reader::statements;
use crate::lacking::{
    bare_name, is_bare_verdict, is_code, is_open, is_passing, is_relative, tells_one_of_two,
};
use crate::reply;
use crate::text;
use crate::title;

/// Least rank of a statement that is a title.
const LEAST: i32 = 5;

/// Least rank of a statement that is most likely the point of its text.
const SURE: i32 = 12;

/// The beginning of the title of advice.
pub(crate) const RECOMMENDED: &str = "Recommended: ";

/// Most words shared with the question that count.
const SHARED: usize = 5;

/// A sentence as a title, and how likely it is the verdict of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    rank: i32,
    title: String,
    /// True if it says what the agent would do, not how things are.
    is_advice: bool,
    /// True if a reader needs more of the text: what holds instead, when it holds, what it points at.
    is_half: bool,
}

/// Returns the statement that answers a question best.
pub(crate) fn best(statements: &[Statement], question: &str) -> Option<String> {
    chosen(statements, question)
        .filter(|(rank, _)| *rank >= LEAST)
        .map(|(_, one)| one.title.clone())
}

/// Returns the statement that answers a question best, if it is most likely the point of the text and leaves nothing
/// open. Advice is told as such: the person may not follow it.
pub(crate) fn sure(statements: &[Statement], question: &str) -> Option<String> {
    let (_, one) = chosen(statements, question).filter(|(rank, _)| *rank >= SURE)?;
    let is_partial = one.is_half
        || !one.is_advice && (is_relative(&one.title) || is_bare_verdict(&one.title))
        || tells_one_of_two(&one.title, question);
    if is_open(&one.title) || is_partial || one.is_advice && is_passing(&one.title) {
        return None;
    }
    if !one.is_advice {
        return Some(one.title.clone());
    }
    let title = format!("{RECOMMENDED}{}", text::uncapitalised(&one.title));
    (title.chars().count() <= title::LENGTH).then_some(title)
}

fn chosen<'s>(statements: &'s [Statement], question: &str) -> Option<(i32, &'s Statement)> {
    let asked = reply::significant(question);
    let topic = question.split_whitespace().map(bare_name).find(|word| is_code(word));
    let rank = |one: &Statement| {
        let shared = |text: &str| {
            reply::significant(text).iter().filter(|word| asked.contains(word)).count()
        };
        let subject: Vec<&str> = one.title.split(' ').take(4).collect();
        let of_topic = topic.is_some_and(|topic| subject.iter().any(|one| bare_name(one) == topic));
        let of_subject = match shared(&subject.join(" ")) {
            _ if of_topic => 8,
            0 => 0,
            _ => 2,
        };
        one.rank + i32::try_from(shared(&one.title).min(SHARED)).unwrap_or_default() + of_subject
    };
    let mut best: Option<(i32, &Statement)> = None;
    for one in statements {
        let rank = rank(one);
        if best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, one));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, question: &str) -> String {
        best(&statements(text), question).unwrap_or_default()
    }

    #[test]
    fn the_sentence_that_answers_is_the_verdict() {
        for (text, title) in [
            (
                "No. I'd keep the ramp in the profile for now. The kiln reads it once.",
                "Keep the ramp in the profile for now",
            ),
            (
                "For this kiln, I’d start with gas, not electricity. Gas is there already.",
                "Start with gas, not electricity",
            ),
            (
                "When both `cone` and `ramp` are set, `ramp` does not call the sensor. It waits.",
                "ramp does not call the sensor (when both cone and ramp are set)",
            ),
            (
                "I would not make `cone.json` the entry point of the loader.",
                "Do not make cone.json the entry point of the loader",
            ),
            (
                "That relay is polled by the damper thread.\n\n- `relay.rs`",
                "The relay is polled by the damper thread",
            ),
            ("The common standard: cones, ramps, glazes.", ""),
            ("The worker is still firing the kiln in its worktree.", ""),
            ("Let me look at the kiln profile first.", ""),
        ] {
            assert_eq!(verdict(text, ""), title, "{text}");
        }
        // Of two statements, the one about the question.
        let text = "The glaze melts at cone six. The damper closes when the relay drops.";
        assert_eq!(
            verdict(text, "why does the damper relay drop and close?"),
            "The damper closes when the relay drops"
        );
    }

    #[test]
    fn only_what_is_most_likely_the_point_is_sure() {
        let told = |text: &str, question: &str| sure(&statements(text), question);
        let question = "should the damper of `kiln-2` get a relay of its own?";
        for (text, title) in [
            (
                "The damper of `kiln-2` has no relay of its own. It is driven by `fire`.",
                Some("The damper of kiln-2 has no relay of its own: it is driven by fire"),
            ),
            (
                "I would give the damper of `kiln-2` a relay of its own.",
                Some("Recommended: give the damper of kiln-2 a relay of its own"),
            ),
            ("I would not give the damper of `kiln-2` a relay of its own.", None),
            ("The damper of `kiln-2` probably has no relay of its own.", None),
            ("The glaze melts at cone six.", None),
            ("That damper relay of `kiln-2` is driven by `fire`.", None),
            ("The closest relay is `kiln-2-damper`, which `fire` drives.", None),
            (
                "When the damper of `kiln-2` was closed by hand and the log of the last firing is kept for the relay, `kiln-2` gets a relay of its own.",
                None,
            ),
            ("The damper of `kiln-2` might be driven by the relay of `fire`.", None),
            (
                "The damper of `kiln-2` is not driven by `fire`. It is driven by a relay in the shed that `kiln-1` shares with the glaze mill.",
                Some(
                    "The damper of kiln-2 is driven by a relay in the shed that kiln-1 shares with the glaze mill",
                ),
            ),
            (
                "The damper of `kiln-2` does not use a relay.\n\nIt is driven by `fire`:\n\n- by day",
                Some("The damper of kiln-2 does not use a relay: it is driven by fire"),
            ),
            (
                "The damper of `kiln-2` has a relay of its own. But `fire` never reads it today.",
                None,
            ),
            (
                "The damper of `kiln-2` has a relay of its own.\n\nHowever, `fire` never reads it.",
                None,
            ),
        ] {
            assert_eq!(told(text, question).as_deref(), title, "{text}");
        }
    }

    #[test]
    fn a_verdict_without_its_reason_is_not_sure() {
        let told = |text: &str| sure(&statements(text), "should Bay 2.1 hold the relay, too?");
        let reason = "Its goal is to dry what the glaze mill leaves, by day, with the doors open and with no fire in any of the kilns beside it.";
        assert_eq!(told(&format!("**Bay 2.1 is a poor fit.** {reason}")), None);
        assert!(told(&format!("**Bay 2.1 is full of moulds.** {reason}")).is_some());
    }

    #[test]
    fn a_comparison_is_told_with_both_sides() {
        let text = "`kiln.toml` holds the ramp of each cone in the shed.\n\nThe other one is read at night.";
        let told = |question: &str| sure(&statements(text), question);
        assert_eq!(told("what is the difference between `kiln.toml` and `cone.toml`?"), None);
        assert_eq!(
            told("what is in `kiln.toml`?").as_deref(),
            Some("kiln.toml holds the ramp of each cone in the shed")
        );
    }

    #[test]
    fn the_point_is_told_rather_than_what_stands_beside_it() {
        for (text, title) in [
            (
                "The trap is not “two relays at one damper.” The trap is **a relay that `fire` polls twice**.",
                "The trap is a relay that fire polls twice",
            ),
            (
                "The relay at the `damper` is named `relay-2`. It is **read-only** since March.",
                "The relay at the damper is named relay-2: it is read-only since March",
            ),
            (
                "The kiln already reads `cone.toml`.\n\nRoot cause: `glaze.toml` overrides the cone with:\n\n- `cone = 6`",
                "glaze.toml overrides the cone",
            ),
            (
                "`ramp.toml` holds the ramp today. So I would remove it with the next profile, not now.",
                "Remove ramp.toml with the next profile, not now",
            ),
            (
                "Not yet ready as it is, because the PR is still a draft and the damper opens late.\n\nSee PR #12.",
                "PR #12 is still a draft and the damper opens late",
            ),
            (
                "**#31 verdict**\n\n- Recommendation: keep open until the damper closes in time.",
                "#31: keep open until the damper closes in time",
            ),
            (
                "I found several.\n\n**Recommend closing**\n- `kiln-7`: done by the new ramp.\n- `kiln-9`: superseded.",
                "Recommend closing: kiln-7, kiln-9",
            ),
        ] {
            assert_eq!(verdict(text, ""), title, "{text}");
        }
    }

    #[test]
    fn what_could_be_is_no_statement() {
        let items =
            "\n1. The `kiln-2` relay opens the damper\n2. The `fire` thread polls the relay";
        assert_eq!(verdict(&format!("So the flow would be:{items}"), ""), "");
        assert_eq!(
            verdict(
                &format!("The relays today:{items}"),
                "which relay opens the damper of kiln-2?"
            ),
            "The kiln-2 relay opens the damper"
        );
    }

    #[test]
    fn a_denial_is_told_with_what_holds() {
        assert_eq!(
            verdict(
                "`kiln-2` does not keep the last ramp. For each cone, it stores every ramp apart:",
                ""
            ),
            "kiln-2 does not keep the last ramp: for each cone, it stores every ramp apart"
        );
    }

    #[test]
    fn a_short_statement_is_told_with_its_reason() {
        assert_eq!(
            verdict("Stage 12 is a poor fit. Its goal is the `ramp` of the damper.", ""),
            "Stage 12 is a poor fit: its goal is the ramp of the damper"
        );
    }
}

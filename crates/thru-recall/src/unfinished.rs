//! Work that a session left open, and later sessions that did it.

use std::collections::HashSet;

use thru_core::{Digest, Summary, WorkOutcome, file_name};

/// Share of the words of an open step that a later session must name, and the fewest words to go by.
const SHARE: f64 = 0.6;
const WORDS: usize = 3;

/// Number of later sessions that did something else, after which people have moved on.
const MOVED_ON: usize = 3;

/// Files that any work touches.
const COMMON: [&str; 9] = [
    "CHANGELOG.md",
    "README.md",
    "CLAUDE.md",
    "AGENTS.md",
    "package.json",
    "Cargo.toml",
    "Cargo.lock",
    "pnpm-lock.yaml",
    "STATE.md",
];

/// Words that say nothing about the subject of a step.
#[rustfmt::skip]
const EMPTY: [&str; 40] = [
    "about", "after", "again", "also", "before", "change", "changes", "commit", "decide", "done",
    "finish", "finished", "from", "have", "implement", "into", "make", "more", "need", "needs", "next",
    "only", "open", "plan", "proposed", "push", "still", "that", "them", "then", "there", "this", "update",
    "when", "will", "with", "work", "would", "your", "yet",
];

/// Returns the first step, or else question, that a session left open and no later one took up; `None` if
/// nothing is left. The inner `None` stands for a session that did not finish and named no step.
pub(crate) fn still_open<'s>(earlier: &'s Summary, later: &[&Summary]) -> Option<Option<&'s str>> {
    let digest = &earlier.digest;
    let is_known = !digest.next_steps.is_empty() || !digest.open_questions.is_empty();
    let did = |summary: &&&Summary| {
        summary.digest.outcome == WorkOutcome::Completed && !summary.digest.files.is_empty()
    };
    if later.iter().any(|summary| continues(digest, &summary.digest))
        || later.iter().filter(did).count() >= MOVED_ON
    {
        return None;
    }
    let is_open = |text: &str| !was_done(text, later);
    if !is_known {
        return is_open(&earlier.title).then_some(None);
    }
    let steps = digest.next_steps.iter().chain(&digest.open_questions);
    steps.map(|step| step.text.as_str()).find(|step| is_open(step)).map(Some)
}

/// Returns true if a later session did what a step names.
pub(crate) fn was_done(step: &str, later: &[&Summary]) -> bool {
    let numbered = numbered(step);
    let words = words(step);
    words.len() >= WORDS && later.iter().any(|summary| share(&words, &deeds(summary)) >= SHARE)
        || !numbered.is_empty()
            && is_command(step)
            && later.iter().any(|summary| {
                summary.digest.outcome == WorkOutcome::Completed
                    && told(summary).any(|text| !numbered.is_disjoint(&self::numbered(text)))
            })
}

/// Returns true if a step names a slash command: all that it says is the number of what is to be done.
fn is_command(step: &str) -> bool {
    step.split([' ', '`']).any(|word| word.strip_prefix('/').is_some_and(|name| name.contains(':')))
}

/// The numbered things that a text names: "phase 14", "step-3".
fn numbered(text: &str) -> HashSet<(String, String)> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words
        .windows(2)
        .filter(|pair| {
            pair[1].chars().all(|c| c.is_ascii_digit())
                && !pair[0].chars().all(|c| c.is_ascii_digit())
        })
        .map(|pair| (pair[0].to_owned(), pair[1].to_owned()))
        .collect()
}

/// Returns true if a later session went on with the same files and came to an end.
fn continues(earlier: &Digest, later: &Digest) -> bool {
    let is_over = later.outcome == WorkOutcome::Completed || later.state.is_some();
    is_over && share_files(earlier, later)
}

/// Returns true if two sessions changed the same files, apart from those that any work touches.
pub(crate) fn share_files(earlier: &Digest, later: &Digest) -> bool {
    let files: Vec<&String> =
        earlier.files.iter().filter(|file| !COMMON.contains(&file_name(file))).collect();
    let again = files.iter().filter(|file| later.files.iter().any(|other| is_same(file, other)));
    let again = again.count();
    // One file of several may be in the way of any work.
    again > 0 && (again == files.len() || again >= 2 && again * 2 >= files.len())
}

/// Returns true if two paths name the same file, perhaps in two worktrees.
fn is_same(a: &str, b: &str) -> bool {
    let ends = |path: &'_ str| -> Vec<String> {
        path.rsplit(['/', '\\']).take(3).map(str::to_owned).collect()
    };
    a == b || ends(a) == ends(b)
}

/// Returns the words of what a session did.
fn deeds(summary: &Summary) -> HashSet<String> {
    told(summary).flat_map(words).collect()
}

/// The texts that tell what a session did.
fn told(summary: &Summary) -> impl Iterator<Item = &str> {
    let digest = &summary.digest;
    let is_over = digest.outcome == WorkOutcome::Completed || digest.state.is_some();
    let asked = digest.request.iter().map(|one| one.text.as_str()).chain([summary.title.as_str()]);
    digest.completed.iter().map(|one| one.text.as_str()).chain(asked.filter(move |_| is_over))
}

/// Returns the words of a text that say what it is about, without their endings.
pub(crate) fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3);
    let words = words.map(str::to_lowercase).filter(|word| !EMPTY.contains(&word.as_str()));
    words.map(|word| stem(&word)).collect()
}

fn stem(word: &str) -> String {
    let ending = ["ing", "ed", "es", "s", "e"]
        .into_iter()
        .find(|ending| word.strip_suffix(ending).is_some_and(|stem| stem.chars().count() >= 4));
    ending.and_then(|ending| word.strip_suffix(ending)).unwrap_or(word).to_owned()
}

pub(crate) fn share(words: &HashSet<String>, of: &HashSet<String>) -> f64 {
    words.iter().filter(|word| of.contains(*word)).count() as f64 / words.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use thru_core::{Id, SessionSections, Statement};

    use super::*;

    fn said(text: &str) -> Statement {
        Statement { text: text.to_owned(), sources: Vec::new() }
    }

    fn summary(title: &str, outcome: WorkOutcome, files: &[&str], steps: &[&str]) -> Summary {
        Summary {
            id: Id::derive(&[title.as_bytes()]),
            title: title.to_owned(),
            digest: Digest {
                next_steps: steps.iter().map(|step| said(step)).collect(),
                files: files.iter().map(|file| (*file).to_owned()).collect(),
                outcome,
                ..Digest::default()
            },
            turns: Vec::new(),
            sections: SessionSections::default(),
            at: None,
            raw_tokens: 0,
        }
    }

    #[test]
    fn a_step_that_a_later_session_did_is_done() {
        let plan = summary(
            "Plan the upload limits",
            WorkOutcome::InProgress,
            &[],
            &["Decide on the proposed plan: Limit the size of uploads"],
        );
        let open = "Decide on the proposed plan: Limit the size of uploads";
        assert_eq!(still_open(&plan, &[]), Some(Some(open)));
        let other = summary("Add a dark theme", WorkOutcome::Completed, &[], &[]);
        assert_eq!(still_open(&plan, &[&other]), Some(Some(open)));
        let done = summary("Limit upload size", WorkOutcome::Completed, &[], &[]);
        assert_eq!(still_open(&plan, &[&other, &done]), None);
        let begun = summary("Limit upload size", WorkOutcome::InProgress, &[], &[]);
        assert_eq!(still_open(&plan, &[&begun]), Some(Some(open)));
    }

    #[test]
    fn a_numbered_step_is_done_where_a_later_session_ended_it() {
        let step = "Ready for `/plan:execute-phase 14` whenever you want to continue.";
        let begun = summary("Plan", WorkOutcome::InProgress, &[], &[step]);
        let other = summary("Review of phase 13", WorkOutcome::Completed, &[], &[]);
        assert!(still_open(&begun, &[&other]).is_some());
        let ended = summary("Address the review of Phase 14", WorkOutcome::Completed, &[], &[]);
        assert_eq!(still_open(&begun, &[&ended]), None);
        let told = summary("Plan", WorkOutcome::InProgress, &[], &["Ask for the keys of phase 14"]);
        assert!(still_open(&told, &[&ended]).is_some());
    }

    #[test]
    fn work_that_a_later_session_went_on_with_is_done() {
        let files = ["/p/src/upload.ts", "/p/src/form.ts", "/p/package.json"];
        let begun = summary("Uploads", WorkOutcome::InProgress, &files, &["Not finished: uploads"]);
        let ended = summary(
            "Finish it",
            WorkOutcome::Completed,
            &["/p/.worktrees/x/p/src/upload.ts", "/p/src/form.ts"],
            &[],
        );
        assert_eq!(still_open(&begun, &[&ended]), None);
        let one = summary("Rename", WorkOutcome::Completed, &["/p/src/form.ts"], &[]);
        assert!(still_open(&begun, &[&one]).is_some());
        assert_eq!(still_open(&begun, &[&one, &one, &one]), None);
        let beside = summary("Rename", WorkOutcome::Completed, &["/p/package.json"], &[]);
        assert!(still_open(&begun, &[&beside]).is_some());
    }

    proptest! {
        #[test]
        fn nothing_later_closes_nothing(title in ".{0,60}", step in ".{0,60}") {
            let open = summary(&title, WorkOutcome::Blocked, &["/p/a.rs"], &[&step]);
            prop_assert_eq!(still_open(&open, &[]), Some(Some(step.as_str())));
            let unrelated = summary("", WorkOutcome::Completed, &[], &[]);
            prop_assert!(still_open(&open, &[&unrelated]).is_some());
        }
    }
}

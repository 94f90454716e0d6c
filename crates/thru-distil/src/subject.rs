//! The subjects of commits as titles.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::gate::stands_alone;
use crate::object::names_code;
use crate::pattern;
use crate::reply;
use crate::text::{self, TITLE, capitalised};
use crate::title::{LENGTH, shaped, without_asides};

/// Turns a commit subject into a title: "feat(parser): read dates" becomes "Read dates (parser)".
pub(crate) fn of_commit(subject: &str) -> String {
    let (_, scope, rest) = conventional(subject);
    let title = capitalised(rest);
    match scope {
        Some(scope)
            if !rest.to_lowercase().contains(&scope.to_lowercase())
                && rest.chars().count() + scope.chars().count() + 3 <= TITLE =>
        {
            shaped(&format!("{title} ({scope})"))
        }
        _ => shaped(&title),
    }
}

/// Subjects that name a kind of work rather than the work: "Address review findings", "Fix CI".
static VAGUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:address|resolve|fix|apply|handle|incorporate|respond\s+to|clean\s+up|cleanup|update|format|lint|tweak|adjust|improve|polish)\b
        (?:.*\b(?:issues?|findings?|feedback|comments?|problems?|errors?|bugs?|failures?|reviews?|ci|lint|changes|things|tests?|code|files?|fixes|failing)\b|(?:\s+\w+){0,2}$)",
    )
});

/// Vague verbs of subjects: without a name behind them, the message's body tells which change it was.
static LOOSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:update|align|standardi[sz]e|clarify|refresh|simplify|rework|refine|enhance|improve|adjust|tidy|harden|strengthen|tighten|stabili[sz]e|streamline|optimi[sz]e)\b",
    )
});

/// Verbs of subjects that name what called for the change, not the change: "Address review findings".
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:address|resolve|apply|respond\s+to|incorporate|handle)\b.*\b(?:issues?|findings?|feedback|comments?|reviews?|suggestions?)\b",
    )
});

/// The grade of a point in a list of findings: "CRITICAL: ", "H1: ".
static GRADE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"^(?:[A-Z]{1,8}-?\d{0,3}(?:/[A-Z0-9-]+)*|(?i:critical|high|medium|low|major|minor)):\s+",
    )
});

/// The grade of a further point on the same line.
static NEXT: LazyLock<Regex> =
    LazyLock::new(|| pattern::regex(r"\s[A-Z]{1,8}-?\d{1,3}(?:/[A-Z0-9-]+)*:\s"));

/// Subjects of commits that only keep books about the work: plans, states and lists of tasks.
static BOOKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?ix)^(?:
          (?:capture|log|mark|record|refresh|save|sync|track|update)\b.*\b(?:activity|backlog|checklist|context|index|log|milestones?|progress|roadmap|state|status|todos?|tracker)\b
        | (?:close|complete|finali[sz]e|finish)\b.*\b(?:milestone|phase|plans?|task)\b )",
    )
});

/// Returns true for the subject of a commit that tells of the books, not of the work: "docs: update STATE.md".
pub(crate) fn keeps_books(subject: &str) -> bool {
    let (kind, _, rest) = conventional(subject);
    let is_aside =
        kind.is_some_and(|kind| ["docs", "chore"].iter().any(|one| kind.eq_ignore_ascii_case(one)));
    is_aside && BOOKS.is_match(rest)
}

/// Subjects that begin or end the work rather than do it: "plan x", "complete x".
static FRAMING: LazyLock<Regex> = LazyLock::new(|| {
    pattern::regex(
        r"(?i)^(?:plan|start|begin|close|complete|finali[sz]e|finish|summari[sz]e|wrap\s+up)\b",
    )
});

/// Returns true for the subject of a document's commit that begins or ends the work of another commit: both have one scope.
pub(crate) fn frames(subject: &str, other: &str) -> bool {
    let (kind, scope, rest) = conventional(subject);
    let (other_kind, other_scope, _) = conventional(other);
    let is_document =
        |kind: Option<&str>| kind.is_some_and(|kind| ["docs", "chore"].contains(&kind));
    scope.is_some()
        && scope == other_scope
        && is_document(kind)
        && !is_document(other_kind)
        && FRAMING.is_match(rest)
}

/// Returns true for the subject of a commit that only saves where the work stands: "checkpoint: before the audit".
pub(crate) fn only_saves(subject: &str) -> bool {
    subject.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("checkpoint"))
}

/// Least room for the detail of a vague subject, in characters.
const DETAIL: usize = 24;

/// Returns the title of a commit; where it only names a kind of work, with the beginning of the message's body.
pub(crate) fn with_detail(title: String, body: Option<&str>) -> String {
    let shows = |shape: &LazyLock<Regex>| shape.is_match(&title);
    let Some(body) = body else { return title };
    if shows(&CALLED) {
        return called(&title, body).unwrap_or(title);
    }
    let room = LENGTH.saturating_sub(title.chars().count() + 2);
    if names_code(&title) || room < DETAIL || ![&VAGUE, &LOOSE, &BOOKS].into_iter().any(shows) {
        return title;
    }
    let detail = text::uncapitalised(&reply::titled_in(start_of(body), room));
    match detail.ends_with('…') || detail.split(' ').count() < 3 {
        true => title,
        false => format!("{title}: {detail}"),
    }
}

/// Returns the title of a commit with the pull request that was merged with it, where that tells of something else: the branch
/// held more than the commit.
pub(crate) fn with_merge(title: &str, number: u64, pull: &str) -> Option<String> {
    let (_, _, told) = conventional(pull);
    let whole = format!("{title}; merged #{number}: {}", text::uncapitalised(told));
    (!reply::shares(title, told, 2) && whole.chars().count() <= LENGTH).then_some(whole)
}

/// Returns true for the title of a commit that names a kind of work, and nothing of this one.
pub(crate) fn is_vague(title: &str) -> bool {
    let shows = |shape: &LazyLock<Regex>| shape.is_match(title);
    !reply::is_specific(title) && !title.contains(": ") && (shows(&VAGUE) || shows(&CALLED))
}

/// Returns true for the title of a commit with a vague verb and no detail: "Clarify the retries (guide)".
pub(crate) fn is_loose(title: &str) -> bool {
    !title.contains(": ") && LOOSE.is_match(title)
}

/// Returns the title of a commit that names what called for it: with the change, or the change alone where there is no
/// room for both.
fn called(title: &str, body: &str) -> Option<String> {
    let call = title.split(" (").next().unwrap_or(title);
    let room = LENGTH.checked_sub(call.chars().count() + 2).filter(|room| *room >= DETAIL);
    let point = without_asides(without_grade(start_of(body)));
    let detail = room.map(|room| reply::titled_in(&point, room));
    let told = detail.filter(|told| !told.ends_with('…') && told.split(' ').count() >= 4);
    let told = told.map(|told| format!("{call}: {}", text::uncapitalised(&told)));
    told.or_else(|| first_point(body))
}

/// Returns the first point, or else sentence, of a commit's body.
fn start_of(body: &str) -> &str {
    let first = body.split(['\n', ';']).next().unwrap_or(body);
    let first = first.split(". ").next().unwrap_or(first);
    // "H1: close the relay H2: log the ramp" are two.
    let next = NEXT.find(first).map_or(first.len(), |at| at.start());
    &first[..next]
}

/// Returns the first point of a commit's body as a title of its own: the change itself, without its grade.
pub(crate) fn first_point(body: &str) -> Option<String> {
    let point = shaped(without_grade(start_of(body)));
    let tells = point.split(' ').count() >= 4 && stands_alone(&point);
    (tells && !point.ends_with('…')).then_some(point)
}

fn without_grade(point: &str) -> &str {
    let grade = GRADE.find(point).map_or(0, |grade| grade.end());
    &point[grade..]
}

/// Splits a conventional commit subject into type, scope and description.
pub(crate) fn conventional(subject: &str) -> (Option<&str>, Option<&str>, &str) {
    let whole = (None, None, subject);
    let Some((head, rest)) = subject.split_once(": ") else { return whole };
    let head = head.trim_end_matches('!');
    let (kind, scope) = match head.split_once('(') {
        Some((kind, scope)) => (kind, scope.strip_suffix(')')),
        None => (head, None),
    };
    #[rustfmt::skip]
    const TYPES: [&str; 13] = [
        "feat", "fix", "docs", "chore", "refactor", "perf", "test", "tests", "style", "build",
        "ci", "revert", "wip",
    ];
    match TYPES.contains(&kind.to_ascii_lowercase().as_str()) && !rest.trim().is_empty() {
        true => (Some(kind), scope, rest.trim()),
        false => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vague_subject_is_told_with_the_beginning_of_its_body() {
        let told = |subject: &str, body| with_detail(of_commit(subject), body);
        let body = Some("Drop the unused cache; ignore generated files");
        assert_eq!(
            told("fix: resolve CI audit issues", body),
            "Resolve CI audit issues: drop the unused cache"
        );
        assert_eq!(told("feat: read dates with zones", body), "Read dates with zones");
        assert_eq!(told("fix: errors of parser.rs", body), "Errors of parser.rs");
        assert_eq!(told("fix CI", None), "Fix CI");
        let body =
            Some("H1: Close the damper relay before the burner of kiln 2 is lit H2: log the ramp");
        assert_eq!(
            told(
                "fix(kiln): address review findings of the second audit of the burner and its damper relay",
                body
            ),
            "Close the damper relay before the burner of kiln 2 is lit"
        );
        assert_eq!(
            told("docs: clarify the ramp", Some("Say that a ramp of 0 holds the kiln.")),
            "Clarify the ramp: say that a ramp of 0 holds the kiln"
        );
    }

    #[test]
    fn commits_that_keep_the_books_are_known() {
        for books in [
            "docs(07): complete the firing plan",
            "docs: update STATE.md after the audit",
            "chore: mark task 4 done in the tracker",
        ] {
            assert!(keeps_books(books), "{books}");
        }
        for work in [
            "feat: update the status bar",
            "docs: add the firing plan",
            "Complete the task queue",
            "docs: describe the state machine",
        ] {
            assert!(!keeps_books(work), "{work}");
        }
        assert!(only_saves("Checkpoint: before the audit") && !only_saves("Check the relay"));
    }

    #[test]
    fn conventional_subjects_lose_their_prefix() {
        assert_eq!(
            of_commit("feat(parser): read dates with zones"),
            "Read dates with zones (parser)"
        );
        assert_eq!(of_commit("Merge: a and b"), "Merge: a and b");
    }
}

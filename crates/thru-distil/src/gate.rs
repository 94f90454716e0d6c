//! The gate that every title passes: a reader who knows nothing else has to understand it.

use crate::agent_text::is_status;
use crate::text;
use crate::text::is_emoji;
use crate::title;

/// Words of the conversation, in lower case: a title with one of these is about who speaks.
#[rustfmt::skip]
const PERSONS: [&str; 23] = [
    "i", "i'm", "i'll", "i've", "i'd", "me", "my", "mine", "we", "we're", "we'll", "we've", "we'd", "us", "our", "let's",
    "you", "you're", "you'll", "you've", "you'd", "your", "please",
];

/// Words that stand for something the title does not name, in lower case.
#[rustfmt::skip]
const POINTERS: [&str; 17] = [
    "it's", "this", "these", "those", "they're", "he", "she", "here", "here's", "there", "there's", "that's",
    "everything", "something", "latter", "former", "accordingly",
];

/// Words that join others, in lower case: a title neither begins nor ends with one.
#[rustfmt::skip]
const CONNECTING: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "because", "but", "by", "can", "for", "from", "if", "into", "is",
    "not", "of", "on", "or", "so", "than", "that", "then", "to", "via", "when", "where", "which", "while",
    "will", "with", "without",
];

/// Other words that a title does not end with, in lower case: the rest is missing.
#[rustfmt::skip]
const UNFINISHED: [&str; 11] = [
    "above", "after", "be", "before", "below", "has", "have", "its", "the", "was", "were",
];

/// Other words that a title does not begin with, in lower case: it would hang on what was said before.
#[rustfmt::skip]
const HANGING: [&str; 64] = [
    "across", "actually", "after", "again", "all", "almost", "also", "although", "another", "based", "before",
    "both", "could", "currently", "did", "does", "during", "each", "either", "even", "except", "finally",
    "first", "given", "good", "great", "how", "however", "in", "instead", "just", "like", "many", "maybe",
    "meanwhile", "most", "mostly", "neither", "next", "none", "nothing", "now", "ok", "okay", "once", "one",
    "only", "partly", "per", "same", "see", "should", "since", "slightly", "some", "still", "such", "under",
    "what", "who", "whose", "why", "would", "yes",
];

/// Verbs of the procedure, in lower case: what begins with one says how the agent worked, not what came of it.
#[rustfmt::skip]
const PROCEDURE: [&str; 14] = [
    "audit", "continue", "finish", "inspect", "investigate", "look", "monitor", "proceed", "rerun", "spawn", "summarise",
    "summarize", "track", "wait",
];

/// Words that all work has, in lower case: they tell nothing of this one.
#[rustfmt::skip]
const COMMON: [&str; 150] = [
    "action", "actions", "add", "added", "address", "adjust", "again", "agent", "agents", "all", "and", "apply",
    "approach", "as", "at", "basic", "branch", "bug", "bugs", "build", "by", "change", "changed", "changes", "check",
    "checks", "ci", "clean", "cleanup", "code", "codebase", "commit", "commits", "complete", "completed",
    "components", "comprehensive", "config", "configuration", "continue", "correct", "create", "created", "current",
    "detailed", "details", "do", "docs", "document", "documentation", "done", "ensure", "error", "errors",
    "existing", "feature", "features", "feedback", "file", "files", "final", "finalize", "findings", "finish",
    "first", "fix", "fixed", "fixes", "followups", "for", "from", "full", "function", "functionality", "further",
    "generate", "get", "handle", "implement", "implementation", "improve", "improvements", "in", "inspect",
    "instructions", "integrate", "into", "issue", "issues", "items", "keep", "latest", "logic", "main", "make",
    "merge", "minor", "more", "need", "needed", "needs", "new", "next", "of", "on", "open", "phase", "plan",
    "plans", "pr", "prepare", "problem", "proceed", "project", "properly", "pull", "push", "ready", "related",
    "remaining", "remove", "repo", "repository", "request", "requested", "relevant", "requirements", "research", "review",
    "run", "running", "scope", "session", "setup", "step", "steps", "suite", "support", "task", "tasks", "test",
    "tests", "the", "to", "ui", "update", "updated", "use", "verify", "write",
];

/// Words that only join others, in lower case.
#[rustfmt::skip]
const JOINING: [&str; 42] = [
    "a", "also", "an", "are", "be", "been", "before", "being", "both", "but", "can", "could", "does", "had", "has",
    "have", "if", "is", "its", "no", "not", "now", "only", "or", "should", "so", "still", "than", "that", "their",
    "them", "then", "they", "was", "were", "when", "where", "which", "while", "will", "with", "without",
];

/// Words that a statement begins with whose subject was named before, in lower case.
#[rustfmt::skip]
const VAGUE: [&str; 45] = [
    "actual", "blocker", "change", "changes", "clean", "config", "current", "diff", "difference", "end", "existing",
    "file", "final", "first", "fix", "good", "issue", "key", "latest", "likely", "literal", "main", "naming", "new",
    "old", "only", "option", "original", "other", "problem", "real", "reason", "recommended", "relevant", "remaining", "repo",
    "result", "same", "second", "stance", "updated", "useful", "whole", "work", "wording",
];

/// Words about the course of the work, which is over when the session is, in lower case.
#[rustfmt::skip]
const PASSING: [&str; 11] = [
    "brief", "briefs", "handoff", "merge", "merged", "outstanding", "pushed", "queued", "rebased", "session", "switched",
];

/// Words about how the agent goes about its work, in lower case.
#[rustfmt::skip]
const COURSE: [&str; 23] = [
    "checkout", "checkouts", "coordinator", "coordinators", "dispatch", "dispatched", "fast-forwarded", "pane", "panes",
    "placeholder", "prompt file", "spawn", "spawned", "spawning", "subagent", "subagents", "takeover", "tmux", "tracker",
    "worker", "workers", "worktree", "worktrees",
];

/// Fewest words that tell something in a title.
const TELLING: usize = 2;

/// Least worth of a finding that is a title.
const FINDING: i32 = 3;

/// Returns true if a reader who sees nothing else understands the title: it names its subject, is no part of a
/// conversation and is not cut in the middle of a phrase.
pub(crate) fn stands_alone(title: &str) -> bool {
    let first = title.split_whitespace().take(2).map(bare).collect::<Vec<_>>();
    let forbidden = first.first().is_some_and(|word| forbids(word, first.get(1)));
    !forbidden && is_understood(title, TELLING)
}

/// Like [`stands_alone`], for titles with so many words that not all work has; they may forbid.
pub(crate) fn is_understood(title: &str, least: usize) -> bool {
    let text = title.trim_end_matches('…').trim_end();
    let words: Vec<String> =
        text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let is_of_talk = |(at, word): (usize, &String)| match word.as_str() {
        // "Renew certificates before they expire" names what "they" stands for.
        "they" | "them" | "its" => at < 3,
        "it" => {
            !(at > 4
                && matches!(words[at - 1].as_str(), "of" | "for" | "with" | "before" | "after"))
        }
        word => PERSONS.contains(&word) || POINTERS.contains(&word),
    };
    (words.len() >= 2 || !text.is_ascii())
        && !text.ends_with([':', '?', ',', ';', '-', '–', '—', '('])
        && !text.starts_with('“')
        && !text.contains("http")
        && !text.chars().any(is_emoji)
        && is_balanced(text)
        && !CONNECTING.contains(&first.as_str())
        && !HANGING.contains(&first.as_str())
        && !PROCEDURE.contains(&first.as_str())
        && !CONNECTING.contains(&last.as_str())
        && !UNFINISHED.contains(&last.as_str())
        && !words.iter().enumerate().any(is_of_talk)
        && !words.iter().any(|word| is_hash(word))
        && !title::is_label(text)
        && !is_status(text)
        && !is_list_of_files(text)
        && !is_banner(text)
        && telling(text) >= least
}

/// Returns a word in lower case without the marks around it.
fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.replace('’', "'").to_lowercase()
}

/// Returns true for the name of a commit: a reader learns nothing from it.
fn is_hash(word: &str) -> bool {
    word.len() >= 7
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns true for "Do not edit files": an order about the work, not its subject.
fn forbids(first: &str, second: Option<&String>) -> bool {
    matches!(first, "don't" | "dont" | "never" | "avoid" | "stop")
        || first == "do" && second.is_some_and(|word| word == "not")
}

pub(crate) fn is_balanced(text: &str) -> bool {
    text.matches('(').count() == text.matches(')').count()
        && text.matches('"').count().is_multiple_of(2)
        && text.matches('“').count() == text.matches('”').count()
}

/// Returns true if a question or a report of trouble names its subject, whoever speaks.
pub(crate) fn is_about_something(topic: &str) -> bool {
    let words: Vec<String> = topic.split_whitespace().map(bare).collect();
    // "How hard would it be to x" says what it is.
    let is_told = |at: usize| words.iter().skip(at + 1).take(3).any(|word| word == "to");
    let points = |(at, word): (usize, &String)| match word.as_str() {
        "it" | "its" | "that" | "they" | "them" => at < 4 && !is_told(at),
        "there" => at == 0 || !["is", "are"].contains(&words[at - 1].as_str()),
        "your" => true,
        "you" | "you're" => at < 1,
        word => POINTERS.contains(&word),
    };
    !words.iter().enumerate().any(points)
        && words.len() >= 3
        && is_finished(topic.trim_end_matches('?'))
        && is_balanced(topic)
        && !topic.contains("http")
        && words.iter().map(|word| weight(word)).sum::<usize>() > TELLING
}

/// Returns how much a word of a question tells: nothing if all work or all talk has it, and more if it is a name of code.
fn weight(word: &str) -> usize {
    const TALK: [&str; 14] = [
        "any", "did", "do", "how", "right", "should", "that", "there", "what", "what's", "whats",
        "who", "why", "would",
    ];
    let is_empty = telling(word) == 0
        || [PERSONS.as_slice(), HANGING.as_slice(), TALK.as_slice()]
            .iter()
            .any(|words| words.contains(&word));
    match is_empty {
        true => 0,
        false => 1 + 2 * usize::from(word.contains(['_', '/', '.', ':'])),
    }
}

/// Returns true if no word is missing at the end.
pub(crate) fn is_finished(said: &str) -> bool {
    let last = said.split_whitespace().last().map(bare).unwrap_or_default();
    !UNFINISHED.contains(&last.as_str()) && !["it", "any", "we", "i"].contains(&last.as_str())
}

/// Returns true if a text has a word that not all work has.
pub(crate) fn tells(text: &str) -> bool {
    telling(text) > 0
}

/// Returns the number of words that are not common to all work.
fn telling(text: &str) -> usize {
    let is_telling = |word: &String| {
        word.len() > 1
            && !word.bytes().all(|byte| byte.is_ascii_digit())
            && !COMMON.contains(&word.as_str())
            && !JOINING.contains(&word.as_str())
    };
    // Scripts that do not part words by blanks say as much in one run of characters.
    let dense = text.chars().filter(|c| *c >= '\u{2e80}' && c.is_alphabetic()).count();
    text.split_whitespace().map(bare).filter(is_telling).count() + dense / 3
}

/// Returns true for words that look like code, like a number or like a proper name.
pub(crate) fn is_name(word: &str) -> bool {
    let word = word.trim_matches([',', ';', '(', ')', '"', '\'', '.', ':']);
    word.contains(['_', '/', '.', '@', '`', '='])
        || word.chars().any(|c| c.is_ascii_digit())
        || word.chars().skip(1).any(char::is_uppercase)
        || word.chars().next().is_some_and(char::is_uppercase) && word.len() > 2
}

/// Returns how much a statement tells a later reader: its words that not all work has and its names, less what makes it
/// vague, passing or cut.
pub(crate) fn worth(statement: &str) -> i32 {
    let words: Vec<String> = statement.split_whitespace().map(bare).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let names = statement.split_whitespace().skip(1).filter(|word| is_name(word)).count();
    let told = telling(statement).min(7) + 2 * names.min(3);
    let second = words.get(1).map_or("", String::as_str);
    let is_vague = is_vague(words.first().map_or("", String::as_str), second);
    i32::try_from(told).unwrap_or_default()
        - if is_vague { 3 } else { 0 }
        - if has(&PASSING) || has(&COURSE) || words.iter().any(|word| is_hash(word)) {
            4
        } else {
            0
        }
        - if is_balanced(statement) && statement.matches('`').count().is_multiple_of(2) {
            0
        } else {
            4
        }
        - if statement.starts_with(|c: char| c.is_alphanumeric() || c == '`') { 0 } else { 4 }
        - if has(&PERSONS) || has(&POINTERS) { 3 } else { 0 }
        - if statement.ends_with('…') { 5 } else { 0 }
}

/// Returns true if the subject was named before: "The change", "The blocker".
fn is_vague(first: &str, second: &str) -> bool {
    match first {
        "the" => VAGUE.contains(&second),
        first => VAGUE.contains(&first),
    }
}

/// Returns true for a statement whose subject was named before.
pub(crate) fn hangs(statement: &str) -> bool {
    let mut words = statement.split_whitespace().map(bare);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    is_vague(&first, &second)
}

/// Returns true if a sentence tells of how the agent goes about its work: workers, checkouts, git.
pub(crate) fn is_about_course(sentence: &str) -> bool {
    let mut words = sentence.split([' ', '/']).map(bare);
    words.any(|word| COURSE.contains(&word.as_str()) || is_hash(&word))
        || [
            " is working",
            " are working",
            "origin/",
            "local main",
            "local `main`",
            "Git status",
            "git status",
            "orking tree",
        ]
        .iter()
        .any(|state| sentence.contains(state))
}

/// Returns true if a finding tells enough to be a title: "the naming is confusing" says nothing later.
pub(crate) fn is_telling_finding(finding: &str) -> bool {
    stands_alone(finding) && worth(finding) >= FINDING
}

/// Returns true for "PHASE 3 ► PLANNED": a heading of a program.
fn is_banner(text: &str) -> bool {
    let long = text.split_whitespace().filter(|word| word.len() > 3);
    let (mut upper, mut all) = (0, 0);
    for word in long {
        all += 1;
        upper += usize::from(
            word.chars().all(|c| c.is_uppercase() || !c.is_alphabetic())
                && word.chars().any(char::is_alphabetic),
        );
    }
    text.contains(['►', '▶', '━', '│']) || upper >= 2 && upper * 2 > all
}

/// Returns true for "a.rs, b.rs and c.rs": names without a statement about them.
fn is_list_of_files(text: &str) -> bool {
    let (mut files, mut all) = (0, 0);
    for part in text.split([',', ' ']).filter(|part| !part.is_empty() && *part != "and") {
        all += 1;
        files += usize::from(part.contains('.') && !part.ends_with('.') || part.contains('/'));
    }
    files >= 2 && files * 3 >= all * 2
}

/// Returns true for work on the changelog, which tells of other work.
pub(crate) fn is_note(title: &str) -> bool {
    text::find_ignoring_case(title, "changelog").is_some()
}

/// Returns true for "Draft the plan at docs/plans/7.md": where it is says nothing of what it is.
pub(crate) fn names_only_path(title: &str) -> bool {
    let rest = title.split_once(' ').map_or("", |(_, rest)| rest);
    let is_path = |word: &&str| word.contains('/') && word.contains('.');
    let words: Vec<&str> = rest.split(' ').filter(|word| !is_path(word)).collect();
    rest.split(' ').any(|word| is_path(&word)) && !tells(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_names_its_subject() {
        for title in [
            "Move the glaze ramp into the kiln profile",
            "Refuse cones above the profile's limit",
            "Retry uploads with a token bucket",
            "kiln fire refuses unknown profiles",
            "釉薬の温度設定を読み込む",
            "Read dates with zones (parser)",
            "Renew certificates a day before they expire",
        ] {
            assert!(stands_alone(title), "{title}");
        }
    }

    #[test]
    fn a_part_of_a_conversation_is_no_title() {
        for title in [
            "I'm moving the glaze ramp into its module",
            "Update the doc to make this explicit",
            "Update tests and run verification",
            "Apply the changes:",
            "Move the ramp to the…",
            "Not for the kiln profiles at hand",
            "The workers are done, and you can merge",
            "kiln.rs, glaze.rs, cone.rs",
            "Should the kiln cool faster?",
            "Implement the next phase",
            "All tests pass now in the kiln module",
            "Open https://example.org/kiln/pull/7",
        ] {
            assert!(!stands_alone(title), "{title}");
        }
    }
}

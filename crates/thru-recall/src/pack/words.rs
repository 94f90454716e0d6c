//! The cues of a prompt: telling words, files, identifiers; and the prompts that say nothing at all.

use crate::tiers::WARM_WORDS;

/// Answers and nudges: they say nothing about what to remember.
const SMALL_TALK: &[&str] = &[
    "continue", "go", "on", "ahead", "please", "yes", "yep", "yeah", "y", "no", "nope", "n", "ok",
    "okay", "k", "thanks", "thank", "you", "thx", "ty", "great", "good", "nice", "perfect", "cool",
    "awesome", "done", "next", "proceed", "do", "it", "that", "this", "sure", "fine", "right",
    "correct", "lgtm", "again", "retry", "try", "stop", "wait", "hi", "hello", "hey", "keep",
    "going", "sounds", "looks", "works", "now", "and", "the", "so", "well", "job", "work", "very",
    "much", "a", "lot", "hmm", "run", "tests", "test", "commit", "push", "start", "begin", "let",
    "s", "lets", "us", "me", "all", "of", "them", "both", "first", "second", "one", "two",
    "option", "just", "what", "is", "are", "why", "how", "weiter", "ja", "nein", "danke", "gut",
    "bitte", "mach", "super", "oui", "non", "merci", "si", "gracias", "vale", "continua", "sigue",
];

/// Prefixes of texts that a machine wrote in the user's name, or that address the client itself.
const NOT_PROMPTS: &[&str] = &[
    "<task-notification",
    "<system-reminder",
    "<local-command",
    "<command-",
    "<bash-",
    "<teammate-message",
    "<ide_",
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being continued",
    "! ",
];

/// The words with which Claude Code hands an approved plan to a fresh conversation.
const APPROVED_PLAN: &str = "Implement the following plan:";

/// Words that occur in prompts on any subject: they neither count nor are missed.
const GENERIC: &[&str] = &[
    "actually",
    "add",
    "added",
    "adding",
    "address",
    "addressed",
    "addressing",
    "aligns",
    "already",
    "also",
    "always",
    "another",
    "anything",
    "back",
    "based",
    "basically",
    "believe",
    "best",
    "better",
    "big",
    "branch",
    "branches",
    "bug",
    "call",
    "called",
    "can",
    "cannot",
    "case",
    "change",
    "changed",
    "changelog",
    "changes",
    "changing",
    "check",
    "checkout",
    "checks",
    "ci",
    "clean",
    "cleanup",
    "code",
    "come",
    "comment",
    "comments",
    "commit",
    "commits",
    "committed",
    "confirm",
    "conflict",
    "conflicts",
    "context",
    "continue",
    "cool",
    "could",
    "create",
    "created",
    "current",
    "currently",
    "day",
    "days",
    "default",
    "delete",
    "difference",
    "different",
    "directory",
    "display",
    "does",
    "done",
    "dont",
    "each",
    "edit",
    "either",
    "else",
    "ensure",
    "error",
    "errors",
    "etc",
    "even",
    "every",
    "everything",
    "example",
    "examples",
    "existing",
    "explain",
    "extend",
    "fail",
    "failed",
    "failing",
    "fails",
    "feedback",
    "feel",
    "file",
    "files",
    "find",
    "finding",
    "findings",
    "first",
    "fix",
    "fixed",
    "fixes",
    "fixing",
    "folder",
    "folders",
    "follow",
    "following",
    "forget",
    "full",
    "function",
    "get",
    "gets",
    "getting",
    "git",
    "give",
    "gives",
    "go",
    "goes",
    "going",
    "good",
    "got",
    "guess",
    "handle",
    "happen",
    "happens",
    "help",
    "hmm",
    "idea",
    "implement",
    "implementing",
    "instead",
    "investigate",
    "investigating",
    "issue",
    "issues",
    "just",
    "keep",
    "know",
    "last",
    "later",
    "latest",
    "least",
    "less",
    "let",
    "like",
    "line",
    "lines",
    "list",
    "little",
    "long",
    "look",
    "looks",
    "lot",
    "main",
    "make",
    "makes",
    "making",
    "many",
    "master",
    "may",
    "maybe",
    "mean",
    "merge",
    "merged",
    "merging",
    "message",
    "method",
    "might",
    "more",
    "most",
    "much",
    "must",
    "name",
    "names",
    "need",
    "needed",
    "needs",
    "never",
    "new",
    "next",
    "nice",
    "nothing",
    "now",
    "number",
    "ok",
    "old",
    "one",
    "only",
    "open",
    "option",
    "options",
    "origin",
    "our",
    "output",
    "outstanding",
    "part",
    "perhaps",
    "plan",
    "please",
    "point",
    "possible",
    "pr",
    "practice",
    "practices",
    "pretty",
    "previous",
    "previously",
    "problem",
    "prs",
    "pull",
    "push",
    "pushed",
    "pushing",
    "put",
    "question",
    "quick",
    "quickly",
    "quite",
    "rather",
    "read",
    "ready",
    "really",
    "reason",
    "rebase",
    "rebased",
    "recently",
    "remote",
    "remove",
    "removed",
    "removing",
    "rename",
    "repo",
    "request",
    "requests",
    "resolve",
    "resolved",
    "review",
    "reviewed",
    "reviewing",
    "right",
    "run",
    "running",
    "runs",
    "said",
    "same",
    "say",
    "second",
    "see",
    "seem",
    "seems",
    "separate",
    "set",
    "should",
    "show",
    "side",
    "simple",
    "since",
    "small",
    "something",
    "somewhere",
    "soon",
    "sorry",
    "sort",
    "spawn",
    "stale",
    "start",
    "started",
    "status",
    "step",
    "still",
    "stop",
    "stuff",
    "support",
    "supports",
    "supposed",
    "sure",
    "take",
    "takes",
    "task",
    "tasks",
    "tell",
    "test",
    "tests",
    "then",
    "thing",
    "things",
    "think",
    "third",
    "thought",
    "thoughts",
    "three",
    "time",
    "times",
    "today",
    "todo",
    "todos",
    "together",
    "told",
    "too",
    "tried",
    "try",
    "trying",
    "turn",
    "two",
    "type",
    "types",
    "update",
    "updated",
    "use",
    "used",
    "user",
    "uses",
    "using",
    "value",
    "values",
    "version",
    "via",
    "wait",
    "want",
    "wants",
    "way",
    "well",
    "whether",
    "whole",
    "will",
    "without",
    "work",
    "working",
    "works",
    "worktree",
    "worktrees",
    "would",
    "write",
    "writes",
    "wrong",
    "yesterday",
    "yet",
];

/// Phrases that ask about earlier work.
const PAST: &[&str] = &[
    "last time",
    "so far",
    "last session",
    "previous session",
    "yesterday",
    "left off",
    "leave off",
    "what did we",
    "what did you do",
    "what have we",
    "what was done",
    "did we already",
    "catch me up",
    "letztes mal",
    "zuletzt",
    "bisher",
    "gestern",
];

/// First words of questions, with or without a question mark.
const QUESTION: &[&str] = &[
    "what", "what's", "why", "how", "when", "where", "who", "which", "whose", "is", "are", "was",
    "were", "did", "does", "do", "has", "have", "had", "can", "could", "should", "would", "will",
    "warum", "wieso", "wie", "wann", "wo", "wer", "welche", "welcher", "welches", "haben",
    "hatten", "pourquoi", "comment", "quand", "où", "qui", "quel", "quelle", "qué", "por", "cómo",
    "cuándo", "dónde", "quién", "cuál",
];

/// Words before the beginning of a question.
const OPENING: &[&str] = &[
    "ah", "ahh", "also", "and", "btw", "but", "hey", "hi", "hm", "hmm", "hmmm", "oh", "ok", "okay",
    "right", "so", "sorry", "then", "um", "wait", "well", "yeah", "yes", "und", "aber", "et",
    "mais", "alors", "y", "pero",
];

/// Words of time: they point to the past.
const TIME: &[&str] = &[
    "ago",
    "again",
    "already",
    "before",
    "earlier",
    "last",
    "lately",
    "past",
    "previous",
    "previously",
    "recent",
    "recently",
    "remember",
    "since",
    "today",
    "yesterday",
    "week",
    "month",
    "once",
    "damals",
    "früher",
    "gestern",
    "heute",
    "letzte",
    "letzten",
    "schon",
    "vorher",
    "wieder",
    "zuletzt",
    "avant",
    "hier",
    "déjà",
    "antes",
    "ayer",
    "ya",
];

/// Words in the output of a failed program.
const FAILURE: &[&str] = &[
    "crash",
    "crashed",
    "crashes",
    "error",
    "errors",
    "exception",
    "fail",
    "failed",
    "failing",
    "fails",
    "failure",
    "fatal",
    "fehler",
    "panic",
    "panicked",
    "traceback",
];

/// Files that have no extension.
const FILES: &[&str] = &["Dockerfile", "Jenkinsfile", "Justfile", "Makefile", "Procfile"];

/// A long prompt states its subject at its beginning.
const LONGEST_PROMPT: usize = 600;
/// Characters that a person types, from which on a prompt is a brief of its own.
const LONGEST_TYPED: usize = 1_000;
/// Items of a list that is handed over, if they are most of a prompt.
const HANDED_OVER: usize = 5;
/// Maximum number of files and identifiers that are searched for.
const MOST_CUES: usize = 6;

/// The cues by which a prompt leads to memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cues {
    /// Its telling words, each once, as written.
    pub(crate) words: Vec<String>,
    /// Files that it names.
    pub(crate) files: Vec<String>,
    /// Numbers of issues and pull requests of more than one digit, which stand in the words as well.
    pub(crate) references: Vec<String>,
    /// Unambiguous names: `snake_case`, `CamelCase`, `a::b`, hashes, error codes.
    pub(crate) identifiers: Vec<String>,
    /// True if it asks about earlier work.
    pub(crate) asks_about_past: bool,
    /// The cue that calls for memories; `None` if the prompt is only an order.
    pub(crate) call: Option<&'static str>,
}

/// Returns the reason to answer a prompt with silence whatever is remembered, if there is one.
pub fn deserves_silence(prompt: &str) -> Option<&'static str> {
    if prompt.trim_start().starts_with(APPROVED_PLAN) {
        return Some("an approved plan says what it needs");
    }
    let typed = prompt.lines().filter(|line| !is_printed(line));
    if typed.map(|line| line.chars().count()).sum::<usize>() > LONGEST_TYPED {
        return Some("a long prompt says what it needs");
    }
    if hands_over(prompt) {
        return Some("a list that is handed over says what it needs");
    }
    is_no_request(prompt)
}

/// Returns true for a prompt that is mostly a list: the tasks or the report of another conversation.
fn hands_over(prompt: &str) -> bool {
    let is_item = |line: &&str| {
        let line = line.trim_start();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        ["- ", "* ", "• "].iter().any(|mark| line.starts_with(mark))
            || rest.len() < line.len() && rest.starts_with(['.', ')'])
    };
    let items: Vec<&str> = prompt.lines().filter(is_item).collect();
    items.len() >= HANDED_OVER
        && items.iter().map(|item| item.len()).sum::<usize>() * 2 > prompt.len()
}

/// Returns the reason why a prompt asks for nothing, if it asks for nothing.
pub(crate) fn is_no_request(prompt: &str) -> Option<&'static str> {
    let prompt = prompt.trim();
    if prompt.is_empty() {
        return Some("an empty prompt");
    }
    if NOT_PROMPTS.iter().any(|start| prompt.starts_with(start)) || is_slash_command(prompt) {
        return Some("a command or a machine's turn");
    }
    let words = || prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    if words().all(|word| SMALL_TALK.contains(&word.to_lowercase().as_str())) {
        return Some("small talk");
    }
    None
}

/// Returns true if a prompt calls for memories at all; otherwise it needs no query embedding.
pub fn calls_for_memory(prompt: &str) -> bool {
    deserves_silence(prompt).is_none() && cues(prompt).call.is_some()
}

/// `/clear`, `/review the parser`; not `/home/ada/x` or `// a comment`.
fn is_slash_command(prompt: &str) -> bool {
    let first = prompt.split_whitespace().next().unwrap_or_default();
    first.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Reads the cues of a prompt.
pub(crate) fn cues(prompt: &str) -> Cues {
    let beginning: String = prompt.chars().take(LONGEST_PROMPT).collect();
    let lower = beginning.to_lowercase();
    let mut cues = Cues {
        asks_about_past: PAST.iter().any(|phrase| lower.contains(phrase)),
        ..Cues::default()
    };
    let inside = |c: char| !c.is_alphanumeric();
    let tokens = beginning.lines().flat_map(|line| {
        let is_typed = !is_printed(line);
        line.split_whitespace().map(move |token| (token, is_typed))
    });
    for (token, is_typed) in tokens {
        let is_reference = token.contains("://") || token.starts_with('#');
        let token = end_of_address(token);
        let token = token.trim_matches(|c: char| inside(c) && !matches!(c, '_' | '/'));
        let token = token.trim_matches('/').trim_end_matches("()");
        if is_reference && is_issue(token) {
            push(&mut cues.words, token);
            if token.len() > 1 {
                push(&mut cues.references, token);
            }
        }
        if token.is_empty() || is_number(token) {
            continue;
        }
        let names = !is_measure(token);
        if names && is_file(token) {
            push(&mut cues.files, token);
        } else if names && is_identifier(token) {
            push(&mut cues.identifiers, token);
        }
        let lower = token.to_lowercase();
        // Every project has a changelog, and every commit may change it.
        let stem = if is_file(token) { lower.split('.').next() } else { None };
        let word = stem.unwrap_or(&lower).trim_end_matches("'s");
        // What a terminal printed names files and things in the code, and its words say little.
        if is_typed && token.chars().count() > 1 && !GENERIC.contains(&word) {
            push(&mut cues.words, token);
        }
    }
    // The rest after analysis: stop words do not count either.
    cues.words.retain(|word| !crate::query::is_stop_word(&word.to_lowercase()));
    cues.files.truncate(MOST_CUES);
    cues.identifiers.truncate(MOST_CUES);
    cues.references.truncate(MOST_CUES);
    cues.call = call(&lower, &cues);
    cues
}

/// Returns true for a line that a terminal or a log printed, pasted into a prompt.
fn is_printed(line: &str) -> bool {
    const FRAMES: [char; 4] = ['│', '┃', '➜', '❯'];
    const STARTS: [&str; 9] =
        ["$ ", "at ", "[", "hint:", "error:", "fatal:", "warning:", "error[", "file \""];
    let line = line.trim_start();
    let lower = line.to_lowercase();
    // `chunk.js:31200`, `lib.rs:4:17`
    let is_place = |word: &str| {
        let mut parts = word.trim_end_matches([')', ',', ':']).split(':');
        let is_name = parts.next().is_some_and(|name| name.contains('.') && !name.contains('@'));
        let numbers: Vec<&str> = parts.collect();
        let is_number = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        is_name && !numbers.is_empty() && numbers.iter().all(is_number)
    };
    line.contains(FRAMES)
        || STARTS.iter().any(|start| lower.starts_with(start))
        || line.split_whitespace().take(2).any(is_place)
}

/// Returns the cue that calls for memories: a file, an identifier, a question, a failure, a time, or
/// length.
fn call(lower: &str, cues: &Cues) -> Option<&'static str> {
    let words: Vec<&str> = words(lower).collect();
    let holds = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let mut begins = words.iter().skip_while(|word| OPENING.contains(word));
    let begins_as_question = match (begins.next(), begins.next()) {
        // "Can you add a button" is an order.
        (Some(&("can" | "could" | "will" | "would")), Some(&"you")) => false,
        (first, _) => first.is_some_and(|word| QUESTION.contains(word)),
    };
    if !cues.files.is_empty() {
        Some("a file")
    } else if !cues.identifiers.is_empty() {
        Some("an identifier")
    } else if !cues.references.is_empty() {
        Some("an issue")
    } else if begins_as_question || lower.contains(['?', '？', '吗', '嗎']) {
        Some("a question")
    } else if holds(FAILURE) {
        Some("a failure")
    } else if cues.asks_about_past || holds(TIME) {
        Some("a time")
    } else if words.len() > WARM_WORDS {
        Some("its length")
    } else {
        None
    }
}

/// The last part of an address: the others are those of every address of the host.
fn end_of_address(token: &str) -> &str {
    let Some((_, path)) = token.split_once("://") else { return token };
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns true for the number of an issue or a pull request.
fn is_issue(token: &str) -> bool {
    (1..=6).contains(&token.len()) && token.chars().all(|c| c.is_ascii_digit())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'')
        .filter(|word| !word.is_empty())
}

fn push(list: &mut Vec<String>, token: &str) {
    if !list.iter().any(|known| known == token) {
        list.push(token.to_owned());
    }
}

/// Returns true for numbers, dates and versions: they occur everywhere.
fn is_number(token: &str) -> bool {
    token
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':' | '/' | ',' | '%' | '+'))
}

/// Returns true for a number with its unit: `170K`, `2.56M`, `90ms`. The beginning of a hash is none.
fn is_measure(token: &str) -> bool {
    let unit = token.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_hash = token.len() >= 7 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_number = token.starts_with(|c: char| c.is_ascii_digit());
    has_number && unit.len() <= 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic()) && !is_hash
}

pub(super) fn is_file(token: &str) -> bool {
    let name = token.rsplit('/').next().unwrap_or(token);
    if FILES.contains(&name) {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let is_extension = (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.chars().any(|c| c.is_ascii_lowercase());
    !stem.is_empty() && is_extension && !token.contains("::") && !token.contains('(')
}

fn is_identifier(token: &str) -> bool {
    let characters = || token.chars().filter(char::is_ascii_alphanumeric);
    let length = characters().count();
    if length < 4 || !token.chars().all(|c| c.is_ascii_alphanumeric() || "_:.-()".contains(c)) {
        return false;
    }
    let has_digit = characters().any(|c| c.is_ascii_digit());
    let has_letter = characters().any(|c| c.is_ascii_alphabetic());
    let joined = token.trim_matches('_').contains('_') || token.contains("::");
    let inner_capital = token
        .chars()
        .zip(token.chars().skip(1))
        .any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    joined
        || inner_capital
        || (has_digit && has_letter && !token.contains('-'))
        || token.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nudges_and_machine_turns_are_answered_with_silence() {
        for prompt in [
            "continue",
            "Thanks!",
            "yes, do it",
            "/clear",
            "/review the parser",
            "<task-notification>x",
            "ok go ahead",
            " ",
            "run the tests again",
            "Implement the following plan:\n\n# Plan: Cache the index",
            "Next:\n- Mend the pump\n- Paint it\n1. Look at tank.rs\n2. Test it\n3. Push it",
        ] {
            assert!(deserves_silence(prompt).is_some(), "{prompt}");
        }
        for prompt in ["why does the lock fail", "fix E0502", "// TODO in main.rs", "/home/ada/x"] {
            assert_eq!(deserves_silence(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn what_a_terminal_printed_is_not_what_a_prompt_says() {
        let cues = cues(
            "The gauge shows nothing\n➜ rocket ✗ make flash\nerror: no probe was found in tank.js\n\
             at fill (pump) with TankError",
        );
        assert_eq!(cues.words, ["gauge", "shows"]);
        assert_eq!(
            (cues.files, cues.identifiers),
            (vec!["tank.js".to_owned()], vec!["TankError".to_owned()])
        );
    }

    #[test]
    fn only_some_prompts_call_for_memories() {
        for (prompt, call) in [
            ("add a button to src/page.rs", Some("a file")),
            ("rename take_lock", Some("an identifier")),
            ("E0502 in the importer", Some("an identifier")),
            ("look at #41", Some("an issue")),
            ("why does the lock wait", Some("a question")),
            ("the lock waits?", Some("a question")),
            ("ok so how do I start the lock", Some("a question")),
            ("warum wartet die Sperre", Some("a question")),
            ("アップロードの方針は何だった？", Some("a question")),
            ("fix the lock as last week", Some("a time")),
            ("the lock waits again", Some("a time")),
            ("make the lock wait for as long as the other process needs", Some("its length")),
            ("make the lock wait", None),
            ("ok, can you make the lock wait", None),
            ("center the heading with css", None),
        ] {
            assert_eq!(cues(prompt).call, call, "{prompt}");
        }
    }

    #[test]
    fn cues_are_what_a_prompt_is_about() {
        insta::assert_debug_snapshot!(
            cues("please fix `RetryBudget::next_pause()` in src/uploader.rs, it fails since 4f0c2d1 (2026-03-01)"),
            @r#"
        Cues {
            words: [
                "RetryBudget::next_pause",
                "src/uploader.rs",
                "4f0c2d1",
            ],
            files: [
                "src/uploader.rs",
            ],
            references: [],
            identifiers: [
                "RetryBudget::next_pause",
                "4f0c2d1",
            ],
            asks_about_past: false,
            call: Some(
                "a file",
            ),
        }
        "#
        );
        assert!(cues("what did we do last time?").asks_about_past);
        let sizes = cues("prompts of 170K, 2.56M in all, 2.5k each and 1500ms; since 12345ab");
        assert_eq!((sizes.files, sizes.identifiers), (vec![], vec!["12345ab".to_owned()]));
    }
}

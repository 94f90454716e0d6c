//! Commits and pull requests that a shell call made.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::Regex;
use thru_core::{WorkRecord, git_order};

use crate::landing;
use crate::pattern;
use crate::shell::{CommandLine, Simple};
use crate::text::one_line;

/// Longest part of a commit body that is kept, in characters, and the least for which it is cut where a sentence ends.
const BODY: usize = 320;
const ENOUGH: usize = 100;

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Its short hash, if git told it.
    pub(crate) hash: Option<String>,
    /// Its branch, if git told it.
    pub(crate) branch: Option<String>,
    /// The first line of its message.
    pub(crate) subject: String,
    /// The rest of its message, without trailers.
    pub(crate) body: Option<String>,
    /// The issues that its message closes.
    pub(crate) closes: Vec<u64>,
}

impl Commit {
    /// Returns true if its subject says that the work is not finished.
    pub(crate) fn is_unfinished(&self) -> bool {
        let start = self.subject.get(..3).unwrap_or_default();
        start.eq_ignore_ascii_case("wip") || self.subject.to_ascii_lowercase().contains("[wip]")
    }

    /// Returns the fact that describes the commit, with its subject or without.
    pub(crate) fn fact(&self, with_subject: bool) -> String {
        WorkRecord::Commit.statement(&match (&self.hash, &self.branch) {
            (Some(hash), Some(branch)) if with_subject => {
                format!(" {hash} on {branch}: {}", self.subject)
            }
            (Some(hash), Some(branch)) => format!(" {hash} on {branch}"),
            _ => format!(": {}", self.subject),
        })
    }
}

/// Returns the commits that a successful shell call made.
pub(crate) fn parse(line: &CommandLine, result: &str) -> Vec<Commit> {
    let calls: Vec<&Simple> = line.commands.iter().filter(|command| is_commit(command)).collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let messages = messages(&calls, line);
    let mut printed = printed_in(result);
    if !printed.is_empty() {
        for commit in &mut printed {
            let own = messages.iter().find(|message| message.contains(&commit.subject));
            commit.body = own.and_then(|message| body(message));
            commit.closes = closes(own.unwrap_or(&commit.subject.as_str()));
        }
        return printed;
    }
    if says_nothing_was_committed(result) {
        return Vec::new();
    }
    let is_quiet =
        result.trim().is_empty() || calls.iter().any(|call| has_flag(&call.words, 'q', "--quiet"));
    if !is_quiet && !result.contains("changed") && !result.contains("create mode") {
        return Vec::new();
    }
    let commits = messages.iter().filter_map(|message| {
        let subject = message.lines().map(str::trim).find(|line| !line.is_empty())?;
        let (body, closes) = (body(message), closes(message));
        let (hash, branch) = (logged(result, subject), None);
        Some(Commit { hash, branch, subject: one_line(subject, 160), body, closes })
    });
    let mut commits: Vec<Commit> = commits.collect();
    let pushes = |command: &Simple| git(command, "push").is_some();
    let last = line.commands.iter().rposition(is_commit).unwrap_or_default();
    if line.commands.iter().skip(last).any(pushes)
        && let (Some((branch, Some(hash))), Some(commit)) =
            (landing::pushed(result), commits.last_mut())
    {
        (commit.hash, commit.branch) = (Some(hash.to_owned()), Some(one_line(branch, 60)));
    }
    commits
}

/// Returns the hash of a commit that git made quietly, where a log below it tells its subject: `1a2b3c4 Mend the pump`.
fn logged(result: &str, subject: &str) -> Option<String> {
    result.lines().take(50).find_map(|line| {
        let (hash, rest) = line.trim().split_once(' ')?;
        (is_hash(hash) && rest.trim() == subject).then(|| hash.to_owned())
    })
}

/// Returns true for the hash of a commit, whole or short.
pub(crate) fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the subject of the first commit that a command line calls for.
pub(crate) fn intended(line: &CommandLine) -> Option<String> {
    let calls: Vec<&Simple> = line.commands.iter().filter(|command| is_commit(command)).collect();
    let message = messages(&calls, line).into_iter().next()?;
    let subject = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(one_line(subject, 160))
}

/// Returns true if a command is `git commit`, with any options before the subcommand.
pub(crate) fn is_commit(command: &Simple) -> bool {
    git(command, "commit")
        .is_some_and(|words| !words.iter().any(|word| matches!(*word, "--dry-run" | "--help")))
}

/// Returns the words of a command from `git` on, if it runs git.
pub(crate) fn from_git(command: &Simple) -> Option<&[String]> {
    let start = command
        .words
        .iter()
        .take(3)
        .position(|word| word == "git" || word.ends_with("/git"))
        .filter(|_| !command.is_looking())?;
    command.words.get(start..)
}

/// Returns the words after a subcommand of git, if the command is that one.
pub(crate) fn git<'c>(command: &'c Simple, subcommand: &str) -> Option<Vec<&'c str>> {
    let (order, rest) = git_order(from_git(command)?.get(1..)?)?;
    (order == subcommand).then(|| rest.iter().map(String::as_str).collect())
}

/// Returns the commits that git printed in a result.
pub(crate) fn printed_in(result: &str) -> Vec<Commit> {
    result.lines().filter_map(printed).take(50).collect()
}

/// Parses `[branch 1a2b3c4] subject`, as git prints it.
fn printed(line: &str) -> Option<Commit> {
    let inner = line.trim().strip_prefix('[')?;
    let (head, subject) = inner.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let branch = branch.trim_end_matches("(root-commit)").trim();
    let is_branch = !branch.is_empty() && branch.len() < 120;
    (is_hash(hash) && is_branch && !subject.trim().is_empty()).then(|| Commit {
        hash: Some(hash.to_owned()),
        branch: Some(one_line(branch, 60)),
        subject: one_line(subject, 160),
        body: None,
        closes: Vec::new(),
    })
}

/// Returns the issues that a message closes: "Closes #12", "fixes #3".
fn closes(message: &str) -> Vec<u64> {
    static CLOSES: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d{1,9})\b")
    });
    if !message.contains('#') {
        return Vec::new();
    }
    CLOSES.captures_iter(message).take(20).filter_map(|found| found[1].parse().ok()).collect()
}

/// Renames as the old and the new path, and the paths of all files that are named.
pub(crate) type PrintedPaths = (Vec<(String, String)>, Vec<String>);

/// Returns the paths that git prints with a commit: of files that were made, deleted and renamed.
pub(crate) fn printed_paths(result: &str) -> PrintedPaths {
    let (mut renamed, mut paths) = (Vec::new(), Vec::new());
    for line in result.lines().filter(|line| line.starts_with(' ')).take(500) {
        let line = line.trim();
        let made =
            ["create mode ", "delete mode "].iter().find_map(|start| line.strip_prefix(start));
        if let Some((_, path)) = made.and_then(|rest| rest.split_once(' ')) {
            paths.push(path.to_owned());
        } else if let Some((both, _)) =
            line.strip_prefix("rename ").and_then(|rest| rest.rsplit_once(" ("))
            && let Some((from, to)) = both_paths(both)
        {
            paths.push(to.clone());
            renamed.push((from, to));
        }
    }
    (renamed, paths)
}

/// Returns both paths of `src/{a.rs => b.rs}` and of `a.rs => b.rs`.
fn both_paths(text: &str) -> Option<(String, String)> {
    let Some((before, rest)) = text.split_once('{') else {
        let (from, to) = text.split_once(" => ")?;
        return Some((from.to_owned(), to.to_owned()));
    };
    let (middle, after) = rest.split_once('}')?;
    let (from, to) = middle.split_once(" => ")?;
    // A folder that is left out leaves two separators.
    let whole = |part: &str| format!("{before}{part}{after}").replace("//", "/");
    Some((whole(from), whole(to)))
}

fn says_nothing_was_committed(result: &str) -> bool {
    [
        "nothing to commit",
        "no changes added to commit",
        "nothing added to commit",
        "fatal: ",
        "hook failed",
        "error: ",
    ]
    .iter()
    .any(|refusal| result.contains(refusal))
}

/// Returns true if the words of a command hold a flag, alone or among other short ones.
pub(crate) fn has_flag(words: &[impl AsRef<str>], short: char, long: &str) -> bool {
    words.iter().map(AsRef::as_ref).any(|word| {
        word == long || word.starts_with('-') && !word.starts_with("--") && word.contains(short)
    })
}

/// Returns the messages given on the command line, for each call that has one.
fn messages<'l>(calls: &[&'l Simple], line: &'l CommandLine) -> Vec<&'l str> {
    let mut documents = line.documents.iter().map(String::as_str);
    calls.iter().filter_map(|call| message(call, &mut documents)).collect()
}

fn message<'l>(call: &'l Simple, documents: &mut impl Iterator<Item = &'l str>) -> Option<&'l str> {
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        let is_message_flag = word == "--message"
            || word.starts_with('-')
                && !word.starts_with("--")
                && word.ends_with('m')
                && word.len() <= 5;
        let text = match word.strip_prefix("--message=") {
            Some(text) => text,
            None if is_message_flag => words.next()?,
            None => continue,
        };
        return match text.trim_start().starts_with("$(cat") {
            true => documents.next(),
            false => Some(text),
        };
    }
    let from_document = call.words.iter().any(|word| word == "-F" || word.starts_with("--file"));
    if from_document { documents.next() } else { None }
}

/// Returns the first sentences or items of a message after its subject.
fn body(message: &str) -> Option<String> {
    let mut lines = message.lines().map(str::trim).skip_while(|line| line.is_empty());
    lines.next()?;
    let mut body = String::new();
    let mut is_paragraph = true;
    for line in lines {
        let is_trailer = line.starts_with("Co-Authored-By:")
            || line.starts_with("Signed-off-by:")
            || line.contains("Generated with");
        if is_trailer || body.len() > BODY * 2 {
            break;
        }
        let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        let item = item.or_else(|| is_labelled(line).then_some(line));
        // A heading; the end of a sentence over several lines may look like one.
        if line.is_empty() || line.ends_with(':') && (is_paragraph || item.is_some()) {
            is_paragraph = true;
            continue;
        }
        if !body.is_empty() {
            let ends = body.ends_with(['.', '!', ';', ':']);
            body.push_str(match (ends, item.is_some(), is_paragraph) {
                (false, true, _) => "; ",
                (false, false, true) => ". ",
                _ => " ",
            });
        }
        body.push_str(item.unwrap_or(line));
        is_paragraph = false;
    }
    let body = one_line(&body, BODY * 2);
    (body.split_whitespace().count() >= 4).then(|| shortened(&body).into_owned())
}

/// Returns true for a line that begins with the mark of a finding: "H1: close the relay".
fn is_labelled(line: &str) -> bool {
    let label = line.split_once(": ").map_or("", |(label, _)| label);
    label.starts_with(|c: char| c.is_ascii_uppercase())
        && label.ends_with(|c: char| c.is_ascii_digit())
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Returns the sentences and items of a body that there is room for.
fn shortened(body: &str) -> Cow<'_, str> {
    if body.chars().count() <= BODY {
        return Cow::Borrowed(body);
    }
    let room = body.char_indices().nth(BODY).map_or(body.len(), |(at, _)| at);
    let ends = [". ", "; ", "! "].iter().filter_map(|end| body[..room].rfind(end));
    match ends.max().filter(|end| *end >= ENOUGH) {
        Some(end) => Cow::Borrowed(body[..=end].trim_end_matches(';')),
        None => Cow::Owned(one_line(body, BODY)),
    }
}

/// A pull request that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PullRequest {
    /// Its URL.
    pub(crate) address: String,
    /// The title given on the command line.
    pub(crate) title: Option<String>,
}

/// Returns the pull request that a successful shell call opened.
pub(crate) fn pull_request(line: &CommandLine, result: &str) -> Option<PullRequest> {
    let call = line.commands.iter().find(|command| {
        let has = |wanted: &str| command.words.iter().any(|word| word == wanted);
        matches!(command.program(), "gh" | "glab") && has("create") && (has("pr") || has("mr"))
    })?;
    let is_address = |word: &&str| {
        word.starts_with("https://")
            && (word.contains("/pull/") || word.contains("/merge_requests/"))
    };
    let address = one_line(result.split_whitespace().find(is_address)?, 160);
    let mut words = call.words.iter();
    let named = words.by_ref().any(|word| word == "--title" || word == "-t");
    let title = words.next().filter(|_| named).map(|title| one_line(title, 160));
    Some(PullRequest { address, title: title.filter(|title| !title.is_empty()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    fn facts(command: &str, result: &str) -> Vec<String> {
        parse(&shell::parse(command), result).iter().map(|commit| commit.fact(true)).collect()
    }

    #[test]
    fn commits_are_read_from_what_git_prints() {
        assert_eq!(
            facts(
                "git add -A && git -C /x commit -qm 'a' ; git commit -m b",
                "[main abc1234] Add a\n 1 file changed\n[fix/x (root-commit) def5678] Add b"
            ),
            ["Committed abc1234 on main: Add a", "Committed def5678 on fix/x: Add b"]
        );
    }

    #[test]
    fn quiet_commits_are_read_from_their_messages() {
        assert_eq!(facts("git commit -q -m \"Add c\n\nbody\"", ""), ["Committed: Add c"]);
        assert_eq!(
            facts("git commit -q -m \"$(cat <<'EOF'\nAdd d\n\nbody\nEOF\n)\"", ""),
            ["Committed: Add d"]
        );
        let line = shell::parse(
            "git commit -q -m \"Add c\n\nWhy it is there.\n- one\n- two\n\nCo-Authored-By: X\"",
        );
        assert_eq!(parse(&line, "")[0].body.as_deref(), Some("Why it is there. one; two"));
        let body = |text: &str| body(&format!("Add c\n\n{text}"));
        assert_eq!(
            body("Kilns:\n- Read the cone of kilns that\n  are hot:\n  all of them\nH1: Close it\nH2: Log it").as_deref(),
            Some("Read the cone of kilns that are hot: all of them; H1: Close it; H2: Log it")
        );
        let long = "The damper closes a second too early because its relay is polled. ".repeat(9);
        assert!(body(&long).is_some_and(|body| body.ends_with("is polled.") && body.len() > 200));
        let line = shell::parse("git commit -q -m 'Add c (#4)\n\nFixes #12, closes: #3'");
        assert_eq!(parse(&line, "")[0].closes, [12, 3]);
        assert_eq!(facts("git commit -q -F - <<'EOF'\nAdd e\nEOF", ""), ["Committed: Add e"]);
    }

    #[test]
    fn a_quiet_commit_has_the_hash_that_a_log_or_a_push_tells() {
        let told = |command: &str, result: &str| {
            let commit = parse(&shell::parse(command), result).pop()?;
            Some((commit.hash?, commit.branch))
        };
        let log = "git commit -qm 'Mend the pump' && git log --oneline -1";
        assert_eq!(told(log, "abc1234 Mend the pump"), Some(("abc1234".to_owned(), None)));
        assert_eq!(told(log, "abc1234 Mend the valve"), None);
        let push = "git commit -q -m 'Mend the pump' && git push origin fix/pump 2>&1 | tail -1";
        let main = Some("fix/pump".to_owned());
        assert_eq!(
            told(push, "To git.example\n   0aa1234..abc1234  fix/pump -> fix/pump"),
            Some(("abc1234".to_owned(), main))
        );
        assert_eq!(told("git push; git commit -qm x", "   0aa1234..abc1234  a -> a"), None);
    }

    #[test]
    fn what_was_not_committed_is_no_commit() {
        for (command, result) in [
            ("git commit -m x", "On branch main\nnothing to commit, working tree clean"),
            ("echo 'git commit'", "[main abc1234] x"),
            ("git log --oneline", "abc1234 git commit"),
            ("git commit -m x", "✖ lint failed"),
        ] {
            assert_eq!(facts(command, result), [""; 0], "{command}");
        }
    }

    #[test]
    fn pull_requests_are_read() {
        let line = shell::parse("gh pr create --title x --body y");
        assert_eq!(
            pull_request(&line, "Warning\nhttps://git.example/o/r/pull/7\n"),
            Some(PullRequest {
                address: "https://git.example/o/r/pull/7".to_owned(),
                title: Some("x".to_owned()),
            })
        );
        assert_eq!(
            pull_request(&shell::parse("gh pr view"), "https://git.example/o/r/pull/7"),
            None
        );
    }
}

//! Commits and pull requests: what a shell call made of the work in its repository.

use crate::shell::{CommandLine, Simple};
use crate::text::one_line;

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// Its short hash and its branch, where git printed them.
    pub(crate) place: Option<(String, String)>,
    /// The first line of its message.
    pub(crate) subject: String,
}

impl Commit {
    /// What is said of it.
    pub(crate) fn fact(&self) -> String {
        match &self.place {
            Some((hash, branch)) => format!("Committed {hash} on {branch}: {}", self.subject),
            None => format!("Committed: {}", self.subject),
        }
    }
}

/// The commits that a successful shell call made.
pub(crate) fn of(line: &CommandLine, result: &str) -> Vec<Commit> {
    let calls: Vec<&Simple> = line.commands.iter().filter(|command| is_commit(command)).collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let printed: Vec<Commit> = result.lines().filter_map(printed).take(50).collect();
    if !printed.is_empty() {
        return printed;
    }
    if says_nothing_was_committed(result) {
        return Vec::new();
    }
    let is_quiet =
        result.trim().is_empty() || calls.iter().any(|call| has_flag(call, 'q', "--quiet"));
    if !is_quiet && !result.contains("changed") && !result.contains("create mode") {
        return Vec::new();
    }
    calls
        .iter()
        .filter_map(|call| message(call, line))
        .map(|subject| Commit { place: None, subject })
        .collect()
}

/// Whether a command is `git commit`, with whatever options before the subcommand.
fn is_commit(command: &Simple) -> bool {
    if command.program() != "git" && !command.words.iter().take(3).any(|word| word == "git") {
        return false;
    }
    let start = command.words.iter().position(|word| word == "git" || word.ends_with("/git"));
    let mut words = command.words.iter().skip(start.map_or(1, |at| at + 1));
    while let Some(word) = words.next() {
        match word.as_str() {
            "commit" => {
                return !command.words.iter().any(|word| word == "--dry-run" || word == "--help");
            }
            "-C" | "-c" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            _ => return false,
        }
    }
    false
}

/// `[branch 1a2b3c4] subject`, as git prints it.
fn printed(line: &str) -> Option<Commit> {
    let inner = line.trim().strip_prefix('[')?;
    let (head, subject) = inner.split_once("] ")?;
    let (branch, hash) = head.rsplit_once(' ')?;
    let is_hash =
        (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let branch = branch.trim_end_matches("(root-commit)").trim();
    let is_branch = !branch.is_empty() && branch.len() < 120;
    (is_hash && is_branch && !subject.trim().is_empty()).then(|| Commit {
        place: Some((hash.to_owned(), one_line(branch, 60))),
        subject: one_line(subject, 160),
    })
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

fn has_flag(call: &Simple, short: char, long: &str) -> bool {
    call.words.iter().any(|word| {
        word == long || word.starts_with('-') && !word.starts_with("--") && word.contains(short)
    })
}

/// The first line of the message in the command line.
fn message(call: &Simple, line: &CommandLine) -> Option<String> {
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
        let text = match text.trim_start().starts_with("$(cat") {
            true => line.documents.first().map(String::as_str).unwrap_or_default(),
            false => text,
        };
        let subject = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        return Some(one_line(subject, 160));
    }
    let from_document = call.words.iter().any(|word| word == "-F" || word.starts_with("--file"));
    let document = line.documents.first().filter(|_| from_document)?;
    document
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(|subject| one_line(subject, 160))
}

/// A pull request that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PullRequest {
    /// Where it is.
    pub(crate) address: String,
    /// What the command line calls it.
    pub(crate) title: Option<String>,
}

/// The pull request that a successful shell call opened.
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
        of(&shell::parse(command), result).iter().map(Commit::fact).collect()
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
        assert_eq!(facts("git commit -q -F - <<'EOF'\nAdd e\nEOF", ""), ["Committed: Add e"]);
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

//! The way of work from the folder to the main branch: commits, pushes, pull requests, merges. The last
//! step of each says where the work stands.

use std::sync::LazyLock;

use crate::pattern::Regex;

use crate::checks::Status;
use crate::commits::{self, Commit};
use crate::event::{Action, Event};
use crate::pattern;
use crate::shell::{CommandLine, Simple};
use crate::subject;
use crate::text::{cut, one_line, shown_name};

/// Longest line about the state of the work, in characters.
const STATE: usize = 240;
/// Characters of the subject of a commit, or of the title of a pull request.
const SUBJECT: usize = 72;

/// A step of work on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// Commits were pushed: to this branch and with this hash, if they are known.
    Pushed(Option<String>, Option<String>),
    /// A pull request was opened.
    Opened {
        /// Its number.
        number: Option<u64>,
        /// Its title, if the command gave one.
        title: Option<String>,
        /// True for a draft.
        is_draft: bool,
    },
    /// A pull request is no longer a draft.
    Ready(Option<u64>),
    /// A pull request was merged.
    Merged(Option<u64>),
    /// A pull request, perhaps of another session, was seen to be merged.
    SeenMerged(Option<u64>),
    /// A pull request will be merged once its checks pass.
    Queued(Option<u64>),
    /// A pull request was closed without a merge.
    Closed(Option<u64>),
    /// So many commits were taken back.
    TakenBack(usize),
}

impl Landing {
    /// Returns the branch to which it pushed, if that is known.
    pub(crate) fn branch(&self) -> Option<&str> {
        match self {
            Self::Pushed(branch, _) => branch.as_deref(),
            _ => None,
        }
    }

    /// Returns the number of the pull request that it merged, if it merged one.
    pub(crate) fn merged(&self) -> Option<Option<u64>> {
        match self {
            Self::Merged(number) | Self::Queued(number) => Some(*number),
            _ => None,
        }
    }
}

/// Most pull requests whose titles are read from one output.
const LISTED: usize = 20;

/// Returns the numbers and titles of the pull requests that an output of GitHub's tool shows.
pub(crate) fn titles(line: &CommandLine, result: &str) -> Vec<(u64, String)> {
    let shows = |command: &Simple| {
        let has = |wanted: &str| command.words.iter().any(|word| word == wanted);
        has("gh") && has("pr") && (has("view") || has("list"))
    };
    if !line.commands.iter().any(shows) || !result.contains("\"title\"") {
        return Vec::new();
    }
    let Some(start) = result.find(['{', '[']) else { return Vec::new() };
    let mut values = serde_json::Deserializer::from_str(&result[start..]).into_iter();
    let Some(Ok::<serde_json::Value, _>(value)) = values.next() else { return Vec::new() };
    let all = match &value {
        serde_json::Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let titled = |one: &serde_json::Value| {
        Some((one.get("number")?.as_u64()?, one_line(one.get("title")?.as_str()?, 160)))
    };
    all.iter().take(LISTED).filter_map(titled).collect()
}

/// Returns the steps that a shell call took.
pub(crate) fn parse(line: &CommandLine, result: &str, is_done: bool) -> Vec<Landing> {
    let calls = line.commands.iter().take(40);
    calls.filter_map(|command| step(command, line, result, is_done)).collect()
}

fn step(command: &Simple, line: &CommandLine, result: &str, is_done: bool) -> Option<Landing> {
    if let Some(arguments) = commits::git(command, "push") {
        return push(&arguments, result, is_done);
    }
    if let Some(arguments) = commits::git(command, "reset").filter(|_| is_done) {
        return arguments.iter().find_map(|word| taken_back(word)).map(Landing::TakenBack);
    }
    let at = command.words.iter().take(3).position(|word| word == "gh" || word == "glab")?;
    let mut words = command.words.iter().skip(at + 1).map(String::as_str);
    if !words.by_ref().take(3).any(|word| word == "pr" || word == "mr") {
        return None;
    }
    let words: Vec<&str> = words.collect();
    let (verb, rest) = words.split_first()?;
    let number = || rest.iter().find_map(|word| number_of(word));
    match *verb {
        "create" => {
            let opened = commits::pull_request(line, result).filter(|_| is_done)?;
            let is_draft = rest.contains(&"--draft") || rest.contains(&"-d");
            let number = number_of(&opened.address);
            Some(Landing::Opened { number, title: opened.title, is_draft })
        }
        "ready" if is_done => Some(Landing::Ready(number())),
        "merge" => {
            let number = number().or_else(|| numbered(result));
            let is_later = result.contains("will be automatically merged")
                || result.contains("added to the merge queue")
                || rest.contains(&"--auto") && !says_merged(result);
            match is_done || says_merged(result) {
                true if is_later => Some(Landing::Queued(number)),
                true => Some(Landing::Merged(number)),
                false => None,
            }
        }
        "close" if is_done => Some(Landing::Closed(number())),
        "view" | "status" if is_done => {
            let is_merged = ["\"state\":\"MERGED\"", "\"state\": \"MERGED\"", "state:\tMERGED"]
                .iter()
                .any(|state| result.contains(state));
            is_merged.then(|| Landing::SeenMerged(number().or_else(|| json_number(result))))
        }
        _ => None,
    }
}

/// Returns the number of commits between the one checked out and the one that is named from there: `HEAD~2`, `HEAD^`.
fn taken_back(word: &str) -> Option<usize> {
    let behind = word.strip_prefix("HEAD")?;
    match behind.strip_prefix('~') {
        Some("") => Some(1),
        Some(number) => number.parse().ok(),
        None => {
            Some(behind.len()).filter(|number| *number > 0 && behind.bytes().all(|b| b == b'^'))
        }
    }
}

/// Returns true if GitHub's tool says that it merged.
fn says_merged(result: &str) -> bool {
    result
        .lines()
        .take(200)
        .any(|line| line.contains("erged pull request") || line.contains("was already merged"))
}

fn push(arguments: &[&str], result: &str, is_done: bool) -> Option<Landing> {
    let has = |option: &str| arguments.contains(&option);
    let is_other = has("--delete") || has("-d") || has("--dry-run") || has("-n") || has("--tags");
    let is_refused = result.contains("[rejected]")
        || result.contains("[remote rejected]")
        || result.contains("failed to push");
    if is_other || is_refused || !is_done {
        return None;
    }
    let named = || {
        let mut plain = arguments.iter().filter(|word| !word.starts_with('-')).skip(1);
        let name = plain.next()?.rsplit(':').next()?;
        (name != "HEAD" && !name.is_empty()).then_some(name)
    };
    if arguments.iter().any(|word| word.starts_with(':') && word.len() > 1) {
        return None;
    }
    let (branch, hash) =
        pushed(result).map_or_else(|| (named(), None), |(branch, hash)| (Some(branch), hash));
    let branch = branch.map(|branch| one_line(branch, 80));
    Some(Landing::Pushed(branch.filter(|branch| !branch.contains('$')), hash.map(str::to_owned)))
}

/// Returns the branch that git says it pushed, and its last commit: `1a2b3c4..5d6e7f8  main -> main`.
pub(crate) fn pushed(result: &str) -> Option<(&str, Option<&str>)> {
    result.lines().rev().take(60).find_map(|line| {
        let (before, branch) = line.split_once(" -> ")?;
        let is_update = before.contains("..") || before.contains("[new branch]");
        let hash = before.rsplit("..").next().and_then(|after| after.split_whitespace().next());
        let hash = hash.filter(|hash| commits::is_hash(hash));
        is_update.then(|| Some((branch.split_whitespace().next()?, hash))).flatten()
    })
}

/// Returns the number in `12`, `#12` and `…/pull/12`.
fn number_of(word: &str) -> Option<u64> {
    let last = match word.split_once("/pull/").or_else(|| word.split_once("/merge_requests/")) {
        Some((_, rest)) => rest.split(['/', '#', '?']).next().unwrap_or_default(),
        None => word.strip_prefix('#').unwrap_or(word),
    };
    last.parse().ok()
}

/// Returns the first "#12" of a text.
fn numbered(text: &str) -> Option<u64> {
    let (_, after) = text.split_once('#')?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    after.get(..digits)?.parse().ok()
}

fn json_number(text: &str) -> Option<u64> {
    let (_, after) = text.split_once("\"number\":")?;
    let after = after.trim_start();
    after.get(..after.bytes().take_while(u8::is_ascii_digit).count())?.parse().ok()
}

/// Returns the pull request that the agent says is merged.
pub(crate) fn said_merged(text: &str) -> Option<u64> {
    static MERGED: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)(?:\b(?:pr|pull request|mr)\s*#?(\d+)\b[^.;!?\n]*?\b(?:(?:has|have|had)\s+been|was|is|are|now|got)\s+(?:now\s+|already\s+|successfully\s+)?(?:squash[- ]?|auto-?)?merged\b|\bmerged\s+(?:the\s+)?(?:pr|pull request|mr)\s*#?(\d+)\b|\b(?:pr|pull request)\s+merged:?\s*\S*?/pull/(\d+))",
        )
    });
    static NOT: LazyLock<Regex> = LazyLock::new(|| {
        pattern::regex(
            r"(?i)\b(?:not|once|when|until|after|before|if|ready|can|should|must|will|to be|isn['’]t)\b|\?",
        )
    });
    if !text.contains("erged") {
        return None;
    }
    let found = MERGED.captures(text)?;
    let whole = found.get(0)?.as_str();
    if NOT.is_match(whole) {
        return None;
    }
    found.iter().skip(1).flatten().next()?.as_str().parse().ok()
}

/// Returns a subject as the titles of memories tell it, in quotation marks and behind a blank, so that it can be left out beside
/// such a title; nothing for one that only keeps books.
fn named(subject: &str) -> String {
    match subject::keeps_books(subject) {
        true => String::new(),
        false => format!(" \"{}\"", cut(&subject::of_commit(subject).replace('"', "'"), SUBJECT)),
    }
}

/// The state of the work so far.
#[derive(Debug, Default)]
struct Standing {
    /// The commits that were made and not taken back.
    commits: Vec<Commit>,
    /// The branch and the hash that were pushed last, and the number of commits at that time.
    pushed: Option<(Option<String>, Option<String>, usize)>,
    /// The pull request, what became of it, and the number of commits at that time.
    request: Option<(Option<u64>, &'static str, usize)>,
    /// The title of the pull request that was opened.
    title: Option<String>,
    /// Files changed since the last commit.
    since: Vec<String>,
    places: Vec<usize>,
}

impl Standing {
    fn take(&mut self, landing: &Landing) {
        let known = self.request.as_ref().and_then(|(number, ..)| *number);
        let (number, state) = match landing {
            Landing::Pushed(branch, hash) => {
                let since = self.pushed.as_ref().map_or(0, |(.., commits)| *commits);
                // A push without its hash brings the commits made since the last one.
                let own = self.commits.last().filter(|_| self.commits.len() > since);
                let own = own.and_then(|commit| commit.hash.clone());
                self.pushed = Some((branch.clone(), hash.clone().or(own), self.commits.len()));
                return;
            }
            Landing::TakenBack(number) => {
                self.commits.truncate(self.commits.len().saturating_sub(*number));
                return;
            }
            Landing::SeenMerged(number) if number.is_some() && *number == known => {
                (known, "merged")
            }
            Landing::SeenMerged(_) => return,
            Landing::Opened { number, title, is_draft } => {
                self.title = title.as_deref().map(named);
                (*number, if *is_draft { "opened as a draft" } else { "opened" })
            }
            Landing::Ready(number) => (number.or(known), "ready for review"),
            Landing::Merged(number) => (number.or(known), "merged"),
            Landing::Queued(number) => (number.or(known), "set to merge when its checks pass"),
            Landing::Closed(number) => (number.or(known), "closed without a merge"),
        };
        if number != known && !matches!(landing, Landing::Opened { .. }) {
            self.title = None;
        }
        self.request = Some((number, state, self.commits.len()));
    }

    fn line(&self) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        let later = |then: usize| self.commits.len() > then;
        // One that only keeps books says nothing of the work.
        let of_work = |commit: &&Commit| !subject::keeps_books(&commit.subject);
        let last = self.commits.iter().rfind(of_work).or(self.commits.last());
        let commit = last.map(|commit| match (&commit.hash, &commit.branch) {
            (Some(hash), Some(branch)) => {
                format!("committed {hash}{} on {branch}", named(&commit.subject))
            }
            _ => format!("committed{}", named(&commit.subject)),
        });
        let request = self.request.as_ref();
        if let Some((number, state, _)) = request {
            let number = number.map_or_else(String::new, |number| format!(" #{number}"));
            let title = self.title.as_deref().unwrap_or_default();
            parts.push(format!("PR{number}{title} {state}"));
        }
        let told = request.map_or(0, |(.., commits)| *commits);
        if request.is_none() || later(told) {
            let pushed =
                self.pushed.as_ref().filter(|(.., commits)| *commits == self.commits.len());
            match pushed {
                Some((branch, hash, _)) => {
                    let is_last = |commit: &&Commit| match (&commit.hash, hash) {
                        (Some(own), Some(hash)) => {
                            own.starts_with(hash.as_str()) || hash.starts_with(own.as_str())
                        }
                        _ => true,
                    };
                    let last = last.filter(is_last);
                    let name = last.map_or_else(String::new, |commit| named(&commit.subject));
                    let hash = hash.as_ref().map_or_else(String::new, |hash| format!(" {hash}"));
                    let to = branch.as_ref().map_or_else(String::new, |to| format!(" to {to}"));
                    parts.push(format!("pushed{hash}{name}{to}"));
                }
                None => parts.extend(commit.filter(|_| later(told))),
            }
        }
        if parts.is_empty() {
            return None;
        }
        if !self.since.is_empty() {
            let mut names: Vec<String> = Vec::new();
            for name in self.since.iter().map(|file| shown_name(file)) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let more = if names.len() > 3 { ", …" } else { "" };
            names.truncate(3);
            parts.push(format!("{}{more} changed since, not committed", names.join(", ")));
        }
        Some(cut(&parts.join("; "), STATE))
    }
}

/// Returns the line about the state of the work at the end of these events, and its places.
pub(crate) fn state(events: &[Event]) -> Option<(String, Vec<usize>)> {
    let mut standing = Standing::default();
    for (at, event) in events.iter().enumerate() {
        for file in &event.modified {
            if !is_aside(file) && !standing.since.contains(file) && standing.since.len() < 20 {
                standing.since.push(file.clone());
            }
        }
        let (landings, commits) = match &event.action {
            Action::Ran(run) => (run.landings.as_slice(), run.commits.as_slice()),
            Action::Landed(landing) => (std::slice::from_ref(landing), [].as_slice()),
            Action::Wrote(text) => {
                let merged = text.merged.filter(|number| {
                    let known = standing.request.as_ref();
                    known.map_or(standing.pushed.is_some(), |(known, state, _)| {
                        *known == Some(*number) && *state != "merged"
                    })
                });
                if let Some(number) = merged {
                    standing.take(&Landing::Merged(Some(number)));
                    standing.places.push(at);
                }
                continue;
            }
            _ => continue,
        };
        // A commit in the background, or one whose output was filtered.
        if event.run().is_some_and(|run| run.tries_commit && !matches!(run.status, Status::Red(_)))
        {
            standing.since.clear();
        }
        if !commits.is_empty() {
            standing.commits.extend_from_slice(commits);
            standing.since.clear();
            standing.places.clear();
            standing.places.push(at);
        }
        for landing in landings {
            standing.take(landing);
            standing.places.push(at);
        }
    }
    let mut places = std::mem::take(&mut standing.places);
    places.drain(..places.len().saturating_sub(4));
    Some((standing.line()?, places))
}

/// Returns true for files that no commit of a project would hold: temporary ones, and those in folders
/// that tools keep for themselves.
pub(crate) fn is_aside(file: &str) -> bool {
    const SHARED: [&str; 6] =
        [".github", ".gitlab", ".circleci", ".planning", ".storybook", ".worktrees"];
    let mut folders = file.split(['/', '\\']);
    folders.next_back();
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let is_secret = name.starts_with(".env") && !name.contains("example");
    is_secret
        || file.starts_with(['~', '$'])
        || ["/tmp/", "/private/tmp/", "/var/folders/"].iter().any(|start| file.starts_with(start))
        || folders
            .any(|folder| folder.starts_with('.') && folder.len() > 2 && !SHARED.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell;

    fn steps(command: &str, result: &str) -> Vec<Landing> {
        parse(&shell::parse(command), result, true)
    }

    #[test]
    fn pushes_are_read() {
        let to = |branch: &str| vec![Landing::Pushed(Some(branch.to_owned()), None)];
        assert_eq!(steps("git push origin main", "   6c0..b02  main -> main"), to("main"));
        assert_eq!(
            steps("git push", " + 1234567...89abcde fix/a -> fix/a (forced update)"),
            [Landing::Pushed(Some("fix/a".to_owned()), Some("89abcde".to_owned()))]
        );
        assert_eq!(
            steps("git -C /x push -u origin HEAD", " * [new branch]  HEAD -> fix/a"),
            to("fix/a")
        );
        assert_eq!(steps("git add . && git commit -qm x && git push -q origin dev", ""), to("dev"));
        assert_eq!(steps("git push -q", ""), [Landing::Pushed(None, None)]);
        for (command, result) in [
            ("git push", " ! [rejected] main -> main (fetch first)"),
            ("git push --dry-run", "a..b main -> main"),
            ("git reset src/kiln.rs", ""),
            ("git reset --hard origin/main", ""),
            ("git push origin --delete x", " - [deleted] x"),
            ("git push origin :x", " - [deleted] x"),
            ("echo git push", ""),
        ] {
            assert_eq!(steps(command, result), [], "{command}");
        }
    }

    #[test]
    fn commits_that_are_taken_back_are_counted() {
        for (command, number) in [
            ("git reset --soft HEAD~1", 1),
            ("git reset HEAD~3", 3),
            ("git reset --hard HEAD^^", 2),
        ] {
            assert_eq!(steps(command, ""), [Landing::TakenBack(number)], "{command}");
        }
        let commit = |subject: &str| Commit {
            hash: Some(format!("{:07x}", subject.len())),
            branch: Some("main".to_owned()),
            subject: subject.to_owned(),
            body: None,
            closes: Vec::new(),
        };
        let mut standing = Standing::default();
        standing.commits.extend([commit("Fire in two stages"), commit("checkpoint: review")]);
        standing.take(&Landing::TakenBack(1));
        let line = standing.line().unwrap();
        assert_eq!(line, "committed 0000012 \"Fire in two stages\" on main");
        standing.commits.push(commit("docs: update STATE.md with progress"));
        assert_eq!(standing.line().unwrap(), line);
        standing.take(&Landing::TakenBack(2));
        assert_eq!(standing.line(), None);
    }

    #[test]
    fn pull_requests_are_followed() {
        assert_eq!(
            steps("gh pr create --draft -t x -b y", "https://git.example/o/r/pull/7"),
            [Landing::Opened { number: Some(7), title: Some("x".to_owned()), is_draft: true }]
        );
        assert_eq!(steps("gh pr merge 7 --squash", ""), [Landing::Merged(Some(7))]);
        assert_eq!(
            steps("gh pr merge --auto", "Pull request #7 will be automatically merged"),
            [Landing::Queued(Some(7))]
        );
        assert_eq!(
            parse(
                &shell::parse("gh pr merge 7 -d"),
                "✓ Merged pull request o/r#7\nfailed to delete",
                false
            ),
            [Landing::Merged(Some(7))]
        );
        assert_eq!(
            steps("gh pr view 7 --json state", "{\"state\":\"MERGED\"}"),
            [Landing::SeenMerged(Some(7))]
        );
        assert_eq!(steps("gh pr view 7", "state:\tOPEN"), []);
        assert_eq!(parse(&shell::parse("gh pr merge 7"), "not mergeable", false), []);
        assert_eq!(
            steps("gh pr ready 7 && gh pr merge 7", ""),
            [Landing::Ready(Some(7)), Landing::Merged(Some(7))]
        );
    }

    #[test]
    fn merges_are_read_from_words() {
        for text in [
            "Done. PR #12 has been squash merged to main.",
            "Merged PR #12 and deleted the branch.",
            "PR merged: https://git.example/o/r/pull/12",
        ] {
            assert_eq!(said_merged(text), Some(12), "{text}");
        }
        for text in [
            "PR #12 is not merged yet.",
            "PR #12 can be merged once it is green.",
            "Is PR #12 merged?",
            "Unmerged: PR #12",
        ] {
            assert_eq!(said_merged(text), None, "{text}");
        }
    }
}

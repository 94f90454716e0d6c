//! The share of certain events of a session that its observations hold. Events are looked up in
//! the passages by simple means of its own, so that distilling cannot agree with itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;
use regex::Regex;
use thru_core::{
    Access, Id, Observation, ObservationType, Outcome, Passage, PassageKind, Speaker, Statement,
};

use super::history::Session;
use crate::metrics::percent;

/// The longest prompt, in bytes, that is looked at for corrections: longer ones are briefs.
const LONGEST_CORRECTION: usize = 1500;

/// Characters of a command that say which one it is.
const COMMAND_HEAD: usize = 30;

/// Characters of a commit's hash that name it.
const HASH: usize = 7;

/// Characters of a passage that are shown.
const SHOWN: usize = 400;

/// A certain event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    ModifiedFile,
    Commit,
    Fix,
    Answer,
    Correction,
}

/// One thing that surely happened, and how an observation shows that it knows.
struct Event {
    what: What,
    /// The passage that shows it.
    passage: Id,
    is_of_subagent: bool,
    proof: Proof,
}

/// The text an observation must have to cover an event.
enum Proof {
    /// This path among the changed files.
    Modified(String),
    /// One of these texts in its title or facts.
    Says([String; 2]),
    /// Both the failed and the green run of a command among its sources, or the head of the command
    /// in its text.
    Fixed { failed: Vec<Id>, command: String },
    /// The passage among its sources, as a decision.
    Decided,
    /// The passage among its sources, as a person's word.
    Said,
}

/// The number of events that are covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    known: usize,
    of: usize,
}

/// Covered and missed events of all sessions.
#[derive(Debug)]
pub(super) struct Coverage {
    patterns: Patterns,
    /// By event, and whether a subagent did it.
    shares: BTreeMap<(What, bool), Share>,
    /// Session and passage of events that are not covered.
    misses: Vec<(What, String, Id)>,
}

impl Coverage {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { patterns: Patterns::new()?, shares: BTreeMap::new(), misses: Vec::new() })
    }

    /// Compares a session with its observations.
    pub(super) fn add(&mut self, session: &Session, observations: &[Observation]) {
        for event in self.patterns.events(&session.passages) {
            let is_known = observations.iter().any(|observation| event.is_known_to(observation));
            let share = self.shares.entry((event.what, event.is_of_subagent)).or_default();
            share.of += 1;
            share.known += usize::from(is_known);
            if !is_known {
                self.misses.push((event.what, session.short(), event.passage));
            }
        }
    }

    /// Prints what the observations of a session do not know of, for reading by hand.
    pub(super) fn explain(&self, session: &Session, observations: &[Observation]) {
        for event in self.patterns.events(&session.passages) {
            if observations.iter().any(|observation| event.is_known_to(observation)) {
                continue;
            }
            let passage = session.passages.iter().find(|passage| passage.id == event.passage);
            let text = passage.map_or("", |passage| passage.text.as_str());
            let head: String = text.chars().take(SHOWN).collect();
            println!("MISSED ({}): {} {head:?}", event.what.name(), event.passage);
        }
    }

    /// Prints a table, and what was missed if asked for: ids only.
    pub(super) fn print(&self, misses: bool) {
        println!("| coverage | known, % | of |\n|---|---|---|");
        for ((what, is_of_subagent), share) in &self.shares {
            let by = if *is_of_subagent { " (by subagents)" } else { "" };
            let known = percent((share.of > 0).then(|| share.known as f64 / share.of as f64));
            println!("| {}{by} | {known} | {} |", what.name(), share.of);
        }
        if misses {
            println!("\nMisses:\n");
            for (what, session, passage) in &self.misses {
                println!("- {}: {session} {passage}", what.name());
            }
        }
        println!();
    }
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            Self::ModifiedFile => "modified files",
            Self::Commit => "commits",
            Self::Fix => "failed-then-fixed commands",
            Self::Answer => "answers to questions",
            Self::Correction => "corrections by the user",
        }
    }
}

impl Event {
    fn is_known_to(&self, observation: &Observation) -> bool {
        let cites = |id: &Id| cited(observation).any(|source| source == id);
        match &self.proof {
            Proof::Modified(path) => observation.files_modified.contains(path),
            Proof::Says(texts) => {
                let facts = observation.facts.iter().map(|fact| fact.text.as_str());
                std::iter::once(observation.title.as_str())
                    .chain(facts)
                    .any(|said| texts.iter().any(|text| said.contains(text.as_str())))
            }
            Proof::Fixed { failed, command } => {
                let head: String = command.chars().take(COMMAND_HEAD).collect();
                (cites(&self.passage) && failed.iter().any(cites))
                    || statements(observation).any(|statement| statement.text.contains(&head))
            }
            Proof::Decided => observation.kind == ObservationType::Decision && cites(&self.passage),
            Proof::Said => observation.speaker == Speaker::Person && cites(&self.passage),
        }
    }
}

fn statements(observation: &Observation) -> impl Iterator<Item = &Statement> {
    observation.narrative.iter().chain(&observation.facts)
}

/// Every passage that an observation names.
fn cited(observation: &Observation) -> impl Iterator<Item = &Id> {
    let by_statements = statements(observation).flat_map(|statement| &statement.sources);
    observation.sources.iter().chain(by_statements)
}

/// The patterns of events.
#[derive(Debug)]
struct Patterns {
    commit: Regex,
    committed: Regex,
    change_directory: Regex,
    redirection: Regex,
    shortened: Regex,
    fence: Regex,
    correction: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        Ok(Self {
            commit: Regex::new(r"\bgit\b[^|;&\n]*\scommit\b")?,
            committed: Regex::new(r"(?m)^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$")?,
            change_directory: Regex::new(r#"^cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*&&\s*"#)?,
            redirection: Regex::new(r"\s*2>&1")?,
            shortened: Regex::new(r"\s*\|\s*(?:tail|head|grep)\b.*$")?,
            fence: Regex::new(r"(?s)```.*?(?:```|$)")?,
            correction: Regex::new(concat!(
                r"(?i)\b(?:always|never|from now on|instead of|don['’]t|do not|stop|wrong|not what",
                r"|I said|should(?:n['’]t| not) have)\b|\bno,",
            ))?,
        })
    }

    fn events(&self, passages: &[Passage]) -> Vec<Event> {
        let mut events = modified_files(passages);
        events.extend(self.fixes(passages));
        for passage in passages {
            let event = |what, proof| Event {
                what,
                passage: passage.id,
                is_of_subagent: passage.agent_id.is_some(),
                proof,
            };
            let has_succeeded = passage.outcome == Some(Outcome::Succeeded);
            if let Some(command) = &passage.command
                && has_succeeded
                && self.commit.is_match(command)
            {
                events.extend(self.committed.captures_iter(&passage.text).map(|found| {
                    let hash = found[1].chars().take(HASH).collect();
                    event(What::Commit, Proof::Says([hash, found[2].trim().to_owned()]))
                }));
            }
            if passage.tool.as_deref() == Some("AskUserQuestion") && has_succeeded {
                events.push(event(What::Answer, Proof::Decided));
            }
            if passage.kind == PassageKind::Human && self.is_correction(&passage.text) {
                events.push(event(What::Correction, Proof::Said));
            }
        }
        events
    }

    /// Commands that failed and, in the same conversation, later did not: the first time for each.
    fn fixes(&self, passages: &[Passage]) -> Vec<Event> {
        let mut failed: HashMap<(Option<&str>, String), Vec<Id>> = HashMap::new();
        let mut fixed = BTreeSet::new();
        let mut events = Vec::new();
        for passage in passages {
            let Some(command) = passage.command.as_deref() else { continue };
            let command = self.bare(command);
            let key = (passage.agent_id.as_deref(), command.clone());
            match passage.outcome {
                Some(Outcome::Failed) => failed.entry(key).or_default().push(passage.id),
                Some(Outcome::Succeeded) => {
                    let Some(failed) = failed.get(&key) else { continue };
                    if fixed.insert(key) {
                        let proof = Proof::Fixed { failed: failed.clone(), command };
                        events.push(Event {
                            what: What::Fix,
                            passage: passage.id,
                            is_of_subagent: passage.agent_id.is_some(),
                            proof,
                        });
                    }
                }
                _ => {}
            }
        }
        events
    }

    /// A command without what only says where it runs and how much of its output is shown.
    fn bare(&self, command: &str) -> String {
        let command = self.change_directory.replace(command.trim(), "");
        let command = self.redirection.replace_all(&command, "");
        self.shortened.replace(&command, "").trim().to_owned()
    }

    /// Returns true if a prompt looks like a correction, sentence by sentence. What a client
    /// put in, a command or a brief is none.
    fn is_correction(&self, prompt: &str) -> bool {
        if prompt.len() > LONGEST_CORRECTION || prompt.starts_with(['<', '/']) {
            return false;
        }
        let prose = self.fence.replace_all(prompt, "\n");
        prose.split(['.', '!', '?', '\n']).any(|sentence| self.correction.is_match(sentence))
    }
}

/// Files that a call changed which did not fail: each once, with the last such call.
fn modified_files(passages: &[Passage]) -> Vec<Event> {
    let mut last: BTreeMap<&str, (&Passage, bool)> = BTreeMap::new();
    for passage in passages.iter().filter(|p| p.outcome == Some(Outcome::Succeeded)) {
        for file in passage.files.iter().filter(|file| file.access == Access::Modified) {
            let is_of_subagent = passage.agent_id.is_some();
            let all_by_subagents =
                last.get(file.path.as_str()).is_none_or(|(_, by_subagents)| *by_subagents);
            last.insert(&file.path, (passage, all_by_subagents && is_of_subagent));
        }
    }
    last.into_iter()
        .map(|(path, (passage, is_of_subagent))| Event {
            what: What::ModifiedFile,
            passage: passage.id,
            is_of_subagent,
            proof: Proof::Modified(path.to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use thru_core::{FileTouch, SessionId};

    use super::*;

    fn passage(n: u8, kind: PassageKind, text: &str) -> Passage {
        Passage {
            id: Id::from_bytes([n; Id::BYTES]),
            session: SessionId::new("s"),
            turn: 1,
            ordinal: n.into(),
            kind,
            agent_id: None,
            text: text.to_owned(),
            tool: None,
            call: None,
            command: None,
            files: Vec::new(),
            written: None,
            outcome: None,
            records: Vec::new(),
            lines: Vec::new(),
            timestamp: None,
            copied_from: None,
        }
    }

    fn shell(n: u8, command: &str, text: &str, outcome: Outcome) -> Passage {
        Passage {
            tool: Some("Bash".to_owned()),
            command: Some(command.to_owned()),
            outcome: Some(outcome),
            ..passage(n, PassageKind::Tool, text)
        }
    }

    fn observation(sources: &[u8]) -> Observation {
        let id = Id::from_bytes([0; Id::BYTES]);
        Observation {
            sources: sources.iter().map(|n| Id::from_bytes([*n; Id::BYTES])).collect(),
            ..Observation::new(id, 1, ObservationType::Change, "Something".to_owned())
        }
    }

    fn events(passages: &[Passage]) -> Vec<Event> {
        Patterns::new().unwrap().events(passages)
    }

    #[test]
    fn commands_are_the_same_without_their_wrapping() {
        let patterns = Patterns::new().unwrap();
        for command in [
            "cargo test",
            "cd /a/b && cargo test",
            "cd \"/a b\" && cargo test 2>&1 | tail -20",
            "cargo test 2>&1 | grep -E \"a|b\" | head",
        ] {
            assert_eq!(patterns.bare(command), "cargo test", "{command}");
        }
    }

    #[test]
    fn corrections_are_short_and_outside_of_code() {
        let patterns = Patterns::new().unwrap();
        for (prompt, expected) in [
            ("No, use the other one", true),
            ("Please don't touch main.rs", true),
            ("that's not what I meant", true),
            ("you shouldn’t have deleted it", true),
            ("Knock it off", false),
            ("Add a parser", false),
            ("Look:\n```\nnever\n```\nthanks", false),
            ("<note>never</note>", false),
        ] {
            assert_eq!(patterns.is_correction(prompt), expected, "{prompt}");
        }
        assert!(!patterns.is_correction(&"never ".repeat(300)));
    }

    #[test]
    fn commits_are_known_by_hash_or_subject() {
        let run = shell(
            1,
            "cd /x && git add -A && git commit -m 'Mend it'",
            "Bash\n[main (root-commit) 4f0c2d1] Mend it\n 2 files changed",
            Outcome::Succeeded,
        );
        let found = events(&[run]);
        assert_eq!(found.len(), 1);
        let mut known = observation(&[]);
        assert!(!found[0].is_known_to(&known));
        known.title = "Committed 4f0c2d1".to_owned();
        assert!(found[0].is_known_to(&known));
        known.title = "Mend it".to_owned();
        assert!(found[0].is_known_to(&known));
        let failed = shell(2, "git commit", "[main 4f0c2d1] Mend it", Outcome::Failed);
        assert!(events(&[failed]).is_empty());
    }

    #[test]
    fn a_fix_is_known_by_both_runs_or_by_its_command() {
        let runs = [
            shell(1, "cargo test", "", Outcome::Succeeded),
            shell(2, "cargo test 2>&1 | tail -3", "", Outcome::Failed),
            shell(3, "cd /x && cargo test", "", Outcome::Succeeded),
            shell(4, "cargo test", "", Outcome::Succeeded),
        ];
        let found = events(&runs);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].passage, runs[2].id);
        assert!(found[0].is_known_to(&observation(&[2, 3])));
        assert!(!found[0].is_known_to(&observation(&[3])));
        let mut told = observation(&[]);
        told.facts.push(Statement { text: "`cargo test` passes".to_owned(), sources: Vec::new() });
        assert!(found[0].is_known_to(&told));
    }

    #[test]
    fn files_answers_and_corrections() {
        let file = |path: &str, access| FileTouch { path: path.to_owned(), access };
        let mut edit = passage(1, PassageKind::Tool, "Edit");
        edit.files = vec![file("/a.rs", Access::Modified), file("/b.rs", Access::Read)];
        edit.outcome = Some(Outcome::Succeeded);
        let mut failed = edit.clone();
        failed.files = vec![file("/c.rs", Access::Modified)];
        failed.outcome = Some(Outcome::Failed);
        let mut asked = passage(2, PassageKind::Tool, "AskUserQuestion");
        asked.tool = Some("AskUserQuestion".to_owned());
        asked.outcome = Some(Outcome::Succeeded);
        let said = passage(3, PassageKind::Human, "Never do that.");
        let found = events(&[edit, failed, asked, said]);
        let kinds: Vec<What> = found.iter().map(|event| event.what).collect();
        assert_eq!(kinds, [What::ModifiedFile, What::Answer, What::Correction]);

        let mut known = observation(&[2, 3]);
        assert!(found.iter().all(|event| !event.is_known_to(&known)));
        known.files_modified.push("/a.rs".to_owned());
        known.kind = ObservationType::Decision;
        known.speaker = Speaker::Person;
        assert!(found.iter().all(|event| event.is_known_to(&known)));
    }
}

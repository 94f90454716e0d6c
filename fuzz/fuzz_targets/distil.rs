//! Distilling a session with arbitrary passages: it is deterministic, and produces only what can be
//! shown and has a source.
//!
//! An input is a list of passages separated by `0x1e`. The first three bytes of each select its kind;
//! the rest is its text. In a tool call, the first line is the command or the file.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use thru_core::{
    Access, Agent, Distillate, FileTouch, Id, Outcome, PassageKind, SessionFacts, SessionId,
    SessionKey, Statement, Timestamp,
};
use thru_distil::{Distiller, Moment};
use thru_fuzz::lossy;
use thru_graph::{SessionCourse, SessionOpening, extract, fold};

/// Maximum characters of a title and of any other text.
const TITLE: usize = thru_core::TITLE_LENGTH;
const STATEMENT: usize = 400;
/// Maximum number of passages. More find nothing new and take long.
const MOST: usize = 60;

const TOOLS: [&str; 12] = [
    "Bash",
    "PowerShell",
    "Edit",
    "Write",
    "Read",
    "AskUserQuestion",
    "ExitPlanMode",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "Task",
    "mcp__x__y",
];

fuzz_target!(|data: &[u8]| {
    let moments = moments(data);
    let distilled = distil(&moments, BTreeSet::new());
    assert_eq!(distilled, distil(&moments, BTreeSet::new()), "the same passages, another memory");
    check(&moments, &distilled);

    // A merge can be undone, and the observation then stands alone.
    let merged = distilled.observations.iter().flat_map(|one| &one.merged);
    let apart: BTreeSet<Id> = merged.map(|merged| merged.id).collect();
    if !apart.is_empty() {
        let parted = distil(&moments, apart.clone());
        check(&moments, &parted);
        let ids: BTreeSet<Id> = parted.observations.iter().map(|one| one.id).collect();
        assert!(apart.is_subset(&ids), "a merge could not be taken back");
    }
});

/// Returns passages in the order of a transcript: those of subagents last, with turns that only
/// increase.
fn moments(data: &[u8]) -> Vec<Moment> {
    let mut moments: Vec<Moment> = Vec::new();
    let mut turn = 0;
    for (number, record) in data.split(|&byte| byte == 0x1e).take(MOST).enumerate() {
        let &[what, how, when, ref rest @ ..] = record else { continue };
        let kind = PassageKind::ALL[usize::from(what) % PassageKind::ALL.len()];
        let is_subagent = what & 0x40 != 0;
        if !is_subagent && (kind == PassageKind::Human || when & 1 != 0) {
            turn += 1;
        }
        // A damaged transcript may repeat an id.
        let id = if when & 0x40 != 0 { 0 } else { number as u64 };
        let text = lossy(rest);
        let is_tool = kind == PassageKind::Tool;
        let tool = is_tool.then(|| TOOLS[usize::from(how) % TOOLS.len()]);
        let (first, _) = text.split_once('\n').unwrap_or((&text, ""));
        let is_shell = matches!(tool, Some("Bash" | "PowerShell"));
        let access = match tool {
            Some("Edit" | "Write") => Some(Access::Modified),
            Some("Read") => Some(Access::Read),
            _ => None,
        };
        let touch = |access| FileTouch { path: first.to_owned(), access };
        moments.push(Moment {
            id: Id::derive(&[&id.to_le_bytes()]),
            turn: if is_subagent { 0 } else { turn },
            kind,
            is_subagent,
            tool: tool.map(str::to_owned),
            command: is_shell.then(|| first.to_owned()),
            outcome: is_tool.then_some(match how >> 4 & 3 {
                0 | 1 => Outcome::Succeeded,
                2 => Outcome::Failed,
                _ => Outcome::Pending,
            }),
            at: Timestamp::from_second(i64::from(when) * 61).ok().filter(|_| when & 2 == 0),
            files: access.map(touch).into_iter().collect(),
            length: text.len() as u64,
            text,
        });
    }
    moments.sort_by_key(|moment| moment.is_subagent);
    moments
}

fn distil(moments: &[Moment], kept_apart: BTreeSet<Id>) -> Distillate {
    let session = SessionKey {
        agent: Agent::ClaudeCode,
        id: SessionId::new("a1a1a1a1-0000-4000-8000-000000000001"),
    };
    // Titles are foreign text as well.
    let title = moments.first().map(|moment| moment.text.clone());
    let facts = SessionFacts {
        agent_title: title.clone(),
        user_title: title.filter(|title| title.len() % 2 == 1),
        ..SessionFacts::default()
    };
    let mut distiller = Distiller::new(&session, &facts, kept_apart);
    for moment in moments {
        distiller.add(moment.clone());
    }
    let (distilled, steps) = distiller.finish_with_steps();
    let openings = extract(&SessionCourse {
        key: &session,
        title: None,
        directory: Some("/p/kiln"),
        first_branch: None,
        branch: Some("main"),
        steps: &steps,
        edits: &[],
        refined: &[],
        observations: &distilled.observations,
    });
    let placed = openings.into_iter().enumerate().map(|(place, opening)| SessionOpening {
        session: session.id.to_string(),
        place: place as u32,
        opening,
    });
    for fact in fold("kiln", placed.collect()) {
        assert!(!fact.evidence.is_empty(), "a fact without a record");
        assert!(fact.end.is_none_or(|end| end.at > fact.from), "a fact that ends before it begins");
    }
    distilled
}

fn check(moments: &[Moment], distilled: &Distillate) {
    let given: BTreeSet<Id> = moments.iter().map(|moment| moment.id).collect();
    let cited = |sources: &[Id]| {
        assert!(!sources.is_empty(), "an observation without a source");
        assert!(sources.iter().all(|id| given.contains(id)), "a source that was not given");
    };
    let statement = |statement: &Statement| {
        is_a_line(&statement.text, STATEMENT);
        cited(&statement.sources);
    };
    let mut ids = BTreeSet::new();
    for observation in &distilled.observations {
        assert!(ids.insert(observation.id), "two observations with one id");
        is_a_title(&observation.title);
        cited(&observation.sources);
        observation.narrative.iter().chain(&observation.facts).for_each(statement);
        for merged in &observation.merged {
            assert!(ids.insert(merged.id), "merged twice, or still there");
            is_a_title(&merged.title);
        }
        // Whatever the claim, only what a person typed or answered is a rule.
        if observation.is_rule {
            let of_person = |id: &Id| {
                moments.iter().any(|moment| {
                    let answered =
                        matches!(moment.tool.as_deref(), Some("AskUserQuestion" | "ExitPlanMode"));
                    moment.id == *id
                        && (moment.kind == PassageKind::Human
                            || answered
                            || moment.outcome == Some(Outcome::Failed))
                })
            };
            assert!(
                observation.sources.iter().any(of_person),
                "a rule that no person gave: {observation:?}"
            );
        }
    }
    if let Some(summary) = &distilled.summary {
        is_a_title(&summary.title);
        let turns = summary.turns.iter().map(|(_, digest)| digest);
        for digest in std::iter::once(&summary.digest).chain(turns) {
            digest.statements().for_each(statement);
        }
    }
}

/// Checks that a title is a line, or none where no line is sure to be the point.
fn is_a_title(title: &str) {
    if !title.is_empty() {
        is_a_line(title, TITLE);
    }
}

/// Checks that a text is one line that can be shown: not empty, not too long, without control or hidden
/// characters.
fn is_a_line(text: &str, longest: usize) {
    assert!(!text.trim().is_empty(), "an empty line");
    assert!(text.chars().count() <= longest, "longer than {longest}: {text:?}");
    assert!(!text.chars().any(char::is_control), "control characters: {text:?}");
    let is_hidden = |c| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    assert!(!text.chars().any(is_hidden), "hidden characters: {text:?}");
    assert!(thru_core::defused(text) == text, "a tag that steers: {text:?}");
}

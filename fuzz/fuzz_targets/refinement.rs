//! Parsing and grounding an arbitrary answer of a model: nothing results that cannot be shown, cites an
//! unknown source, or is a rule.
//!
//! An input is a text of a turn, `0x1e`, and an answer.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use thru_core::{
    Access, Agent, FileTouch, Id, Outcome, PassageKind, SessionId, Statement, TITLE_LENGTH,
    WorkOutcome, is_invisible,
};
use thru_distil::refine::{
    ActivityProfile, Limits, Material, SessionAnswer, SessionInput, SessionMaterial, TurnAnswer,
    TurnFacts, TurnInput, TurnMoment, ground_session, ground_turn,
};
use thru_fuzz::lossy;

/// Maximum characters of a statement.
const STATEMENT: usize = 600;

fuzz_target!(|data: &[u8]| {
    let text = lossy(data);
    let (recorded, answer) = text.split_once('\u{1e}').unwrap_or(("", &text));
    let moments = moments(recorded);
    let input = TurnInput::new(&moments, Limits::TURN);
    let request = input.request(&ActivityProfile::from_moments(&moments));
    assert!(request.tokens() <= Limits::TURN.request, "too much is sent");
    let inside = request.user.to_lowercase().matches("/recorded-turn>").count()
        - request.user.to_lowercase().matches("(/recorded-turn>").count();
    assert!(inside >= 1, "the fence is not closed");
    assert!(!input.record().to_lowercase().contains("</recorded-turn"), "the fence was closed");

    let material = Material::from_moments(&moments);
    let given: BTreeSet<Id> = moments.iter().map(|moment| moment.passage).collect();
    let session = SessionId::new("a1a1a1a1-0000-4000-8000-000000000001");
    let about = TurnFacts {
        agent: Agent::ClaudeCode,
        session: &session,
        content_key: b"key",
        turn: 1,
        at: None,
        raw_tokens: 0,
        outcome: WorkOutcome::Completed,
    };
    if let Ok(answer) = TurnAnswer::from_text(answer) {
        let mut grounded = ground_turn(&answer, &input, &material, &about);
        assert_eq!(grounded, ground_turn(&answer, &input, &material, &about), "not the same twice");
        let mut ids = BTreeSet::new();
        for observation in &grounded.observations {
            assert!(ids.insert(observation.id), "two observations with one id");
            assert!(!observation.is_rule, "a model ruled");
            check(&observation.title, TITLE_LENGTH);
            cited(&observation.sources, &given);
            let statements = observation.narrative.iter().chain(&observation.facts);
            statements.for_each(|one| statement(one, &given));
            let files = observation.files_read.iter().chain(&observation.files_modified);
            files.for_each(|file| {
                assert!(moments.iter().any(|m| m.files.iter().any(|touch| touch.path == *file)));
            });
        }
        grounded.digest.statements().for_each(|one| statement(one, &given));
        grounded.digest.texts(&mut |_| {});
    }
    if let Ok(answer) = SessionAnswer::from_text(answer) {
        let known = SessionMaterial { title: recorded.to_owned(), ..SessionMaterial::default() };
        let input = SessionInput::new(&known, Limits::SESSION);
        assert!(
            !input.record().to_lowercase().contains("</recorded-session"),
            "the fence was closed"
        );
        let grounded = ground_session(&answer, &input, &material, WorkOutcome::Completed).session;
        if !grounded.title.is_empty() {
            check(&grounded.title, TITLE_LENGTH);
        }
        grounded.digest.statements().for_each(|one| statement(one, &given));
        let told = &grounded.sections;
        let lists = [&told.topics, &told.outcomes, &told.context].into_iter().flatten();
        let decisions = told.key_decisions.iter().map(|one| &one.decision);
        let errors = told.errors_resolved.iter().map(|one| &one.error);
        lists.chain(decisions).chain(errors).for_each(|one| statement(one, &given));
    }
});

/// Returns a turn in which the text was asked, read, written, run and said.
fn moments(recorded: &str) -> Vec<TurnMoment> {
    let first = recorded.lines().next().unwrap_or_default().to_owned();
    let moment = |number: u8, kind, tool: Option<&str>, access: Option<Access>| TurnMoment {
        passage: Id::derive(&[&[number]]),
        kind,
        is_subagent: false,
        tool: tool.map(str::to_owned),
        command: (tool == Some("Bash")).then(|| first.clone()),
        outcome: tool.map(|_| if number == 3 { Outcome::Failed } else { Outcome::Succeeded }),
        files: access.map(|access| FileTouch { path: first.clone(), access }).into_iter().collect(),
        text: match tool {
            Some(tool) => format!("{tool}\n{recorded}"),
            None => recorded.to_owned(),
        },
    };
    vec![
        moment(0, PassageKind::Human, None, None),
        moment(1, PassageKind::Tool, Some("Read"), Some(Access::Read)),
        moment(2, PassageKind::Tool, Some("Edit"), Some(Access::Modified)),
        moment(3, PassageKind::Tool, Some("Bash"), None),
        moment(4, PassageKind::Tool, Some("Task"), None),
        moment(5, PassageKind::Assistant, None, None),
    ]
}

fn statement(statement: &Statement, given: &BTreeSet<Id>) {
    check(&statement.text, STATEMENT);
    cited(&statement.sources, given);
}

fn cited(sources: &[Id], given: &BTreeSet<Id>) {
    assert!(!sources.is_empty(), "an observation without a source");
    assert!(sources.iter().all(|id| given.contains(id)), "a source that was not given");
}

/// Checks that a text is one line that can be shown and does not steer.
fn check(text: &str, longest: usize) {
    assert!(!text.trim().is_empty(), "an empty line");
    assert!(text.chars().count() <= longest, "longer than {longest}: {text:?}");
    assert!(!text.chars().any(|c| c.is_control() || is_invisible(c)), "hidden: {text:?}");
    let lower = text.to_lowercase();
    for tag in ["throughline-context", "recorded-turn", "recorded-session", "system-reminder"] {
        assert!(!lower.contains(tag), "a fence: {text:?}");
    }
}

//! Distilled text, for reading by hand. Goes to standard output and nowhere else.

use thru_core::{Digest, Distillate, Observation, Speaker, Statement};

/// Prints all of a session.
pub(super) fn print_session(session: &str, distillate: &Distillate) {
    for observation in &distillate.observations {
        print_observation(session, observation);
    }
    let Some(summary) = &distillate.summary else {
        println!("{session}: no summary");
        return;
    };
    println!("=== {session} summary: {}", summary.title);
    print_digest(&summary.digest);
    for (turn, digest) in &summary.turns {
        println!("--- turn {turn}");
        print_digest(digest);
    }
}

/// Prints one observation.
pub(super) fn print_observation(session: &str, observation: &Observation) {
    let speaker = if observation.speaker == Speaker::Person { ", by a person" } else { "" };
    let rule = if observation.is_rule { ", rule" } else { "" };
    println!(
        "--- {session}:{} {} [{}{speaker}{rule}, {:?} certainty, {} raw tokens]",
        observation.turn,
        observation.id,
        observation.kind,
        observation.certainty,
        observation.raw_tokens,
    );
    println!("{}", observation.title);
    if let Some(statement) = &observation.narrative {
        print_statement("  ", statement);
    }
    for statement in &observation.facts {
        print_statement("  - ", statement);
    }
    let concepts: Vec<&str> = observation.concepts.iter().map(|concept| concept.as_str()).collect();
    let merged: Vec<String> =
        observation.merged.iter().map(|merged| merged.title.clone()).collect();
    let sources: Vec<String> = observation.sources.iter().map(ToString::to_string).collect();
    for (name, values) in [
        ("concepts", concepts.join(", ")),
        ("modified", observation.files_modified.join(", ")),
        ("read", observation.files_read.join(", ")),
        ("merged", merged.join(" | ")),
        ("sources", sources.join(" ")),
    ] {
        if !values.is_empty() {
            println!("  {name}: {values}");
        }
    }
    println!();
}

fn print_digest(digest: &Digest) {
    for (name, statements) in [
        ("request", digest.request.as_slice()),
        ("investigated", &digest.investigated),
        ("learned", &digest.learned),
        ("completed", &digest.completed),
        ("next steps", &digest.next_steps),
        ("decisions", &digest.decisions),
        ("open questions", &digest.open_questions),
    ] {
        if !statements.is_empty() {
            println!("{name}:");
        }
        for statement in statements {
            print_statement("  - ", statement);
        }
    }
    if !digest.files.is_empty() {
        println!("files: {}", digest.files.join(", "));
    }
    println!("outcome: {}\n", digest.outcome.as_str());
}

fn print_statement(bullet: &str, statement: &Statement) {
    println!("{bullet}{} [{}]", statement.text, statement.sources.len());
}

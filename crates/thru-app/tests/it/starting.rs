//! What a starting session is told of facts.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use thru_app::ask::context::{AskContext, ContextMoment, context};
use thru_core::FixedClock;

use crate::home::{Home, call};
use crate::records::{Author, ONE, TWO, file};

/// The lines of a pack about facts, at noon of the day of the history.
fn told(home: &Home) -> Vec<String> {
    let mut app = home.app_in(&home.project());
    app.clock = Arc::new(FixedClock("2026-03-01T12:00:00Z".parse().unwrap()));
    let asked = AskContext { project: None, moment: ContextMoment::Start, session: None };
    let pack = context(&app, &asked, call()).unwrap();
    let lines = pack.text.get().lines();
    let parts = ["failed last", "fails: ", "Changed since"];
    let is_of_facts = |line: &&str| parts.iter().any(|part| line.contains(part));
    lines.filter(is_of_facts).map(str::to_owned).collect()
}

#[test]
fn a_start_tells_what_failed_last_and_what_others_changed() {
    let home = Home::new();
    let project = home.project();
    fs::create_dir(project.join(".git")).unwrap();
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/fix/kiln\n").unwrap();
    let directory = project.to_string_lossy().into_owned();
    let check = "npm run typecheck";
    let failure = "src/kiln.ts(3,1): error TS2304: Cannot find name 'cone'.";
    let edit = |name: &str, old: &str, new: &str| json!({ "file_path": format!("{directory}/{name}"), "old_string": old, "new_string": new });
    let mut red = Author::of(ONE).in_directory(&directory);
    red.asks("Name the cone")
        .calls("t1", "Edit", edit("src/kiln.ts", "a", "b"))
        .gets("t1", "The file has been updated.")
        .runs("t2", &format!("{check} 2>&1 | tail -20"))
        .gets("t2", failure);
    let of_branch = |author: &Author| author.text().replace("\"main\"", "\"fix/kiln\"");
    home.write(&file(ONE), of_branch(&red));
    let mut other = Author::of(TWO).in_directory(&directory).starting_at_record(600);
    other
        .asks("Take the new zod")
        .calls("t1", "Edit", edit("package.json", "\"zod\": \"^3.22.0\"", "\"zod\": \"^4.0.0\""))
        .gets("t1", "The file has been updated.");
    home.write(&file(TWO), other.text());
    home.import();
    insta::assert_snapshot!(told(&home).join("\n"), @"
    - Next: `npm run typecheck` fails: src/kiln.ts(3,1): error TS2304: Cannot find name 'cone'.
    - Changed since, in other sessions: zod ^4.0.0
    ");
    // It passes.
    red.runs("t3", check).gets("t3", "");
    home.write(&file(ONE), of_branch(&red));
    home.import();
    insta::assert_snapshot!(told(&home).join("\n"), @"- Changed since, in other sessions: zod ^4.0.0");
}

//! `thru import --from`: the memories of other programs.

use thru_app::Result;
use thru_app::ingest::foreign::{self, ForeignPlan, ImportForeign};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, one_line, plural};

/// Names listed before the rest is only counted.
const SHOWN: usize = 10;

/// The manner of an import.
#[derive(Clone, Copy)]
pub(crate) struct Wishes {
    /// True if the user is not asked.
    pub(crate) yes: bool,
    /// True if nothing is imported.
    pub(crate) dry_run: bool,
    /// True if the answer is JSON.
    pub(crate) json: bool,
}

pub(crate) fn run(
    request: &ImportForeign,
    wishes: Wishes,
    environment: &Environment,
) -> Result<Outcome> {
    let (app, shown) = (&environment.app, environment.progress_unless(wishes.json));
    let planned = match wishes.dry_run {
        true => foreign::plan(app, request)?,
        false => foreign::plan_locked(app, request, shown.call())?,
    };
    if wishes.json {
        let plan = if wishes.dry_run { planned.plan } else { planned.import(shown.call())? };
        return environment.answer(true, &plan, |_| {});
    }
    let mut page = environment.page();
    describe(&mut page, &planned.plan, request, environment);
    let coming = planned.plan.coming();
    if wishes.dry_run || coming == 0 {
        return page.print();
    }
    if environment.terminal.interactive && !wishes.yes {
        page.print()?;
        if !shared::ask(environment, "Import them?", true)? {
            page.line("Nothing was changed.");
            return page.end(Outcome::Nothing);
        }
    }
    planned.import(shown.call())?;
    let memories = plural(coming, "memory");
    page.line(format!(
        "Imported {memories}, which searches mark \"from {}\". New sessions are given only what you agree to \
         (`thru edit ID --agree`).",
        request.source
    ));
    page.print()
}

fn describe(
    page: &mut Page,
    plan: &ForeignPlan,
    request: &ImportForeign,
    environment: &Environment,
) {
    let places: Vec<String> = plan.paths.iter().map(|path| environment.shown(path)).collect();
    let mut parts = vec![
        (plan.observations, plural(plan.observations, "observation")),
        (plan.summaries, plural(plan.summaries, "summary")),
        (plan.notes, plural(plan.notes, "note")),
    ];
    let sessions = plural(plan.sessions, "session");
    parts.push((plan.prompts, format!("{} of {sessions}", plural(plan.prompts, "prompt"))));
    let parts: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, part)| part).collect();
    let found = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
    page.line(format!("{} in {}: {found}.", request.source, places.join(", ")));
    let mut memories = vec![match plan.coming() {
        0 => "Nothing new".to_owned(),
        coming => format!("{} to import", plural(coming, "memory")),
    }];
    let rest = [
        (plan.changed, "changed there since"),
        (plan.known, "here already"),
        (plan.forgotten, "forgotten here"),
        (plan.private, "private"),
        (plan.empty, "without text"),
    ];
    memories.extend(
        rest.iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{} {what}", count(*number))),
    );
    page.line(format!("{}.", memories.join(", ")));
    if plan.prompts_here > 0 {
        let prompts = plural(plan.prompts_here, "prompt");
        page.line(format!("{prompts} left out: the transcripts of their sessions are here."));
    }
    if !plan.unknown_projects.is_empty() {
        let names: Vec<&str> =
            plan.unknown_projects.iter().take(SHOWN).map(String::as_str).collect();
        let more = if plan.unknown_projects.len() > SHOWN { ", …" } else { "" };
        let projects = plural(plan.unknown_projects.len() as u64, "project");
        page.line(format!(
            "{projects} not known here yet: {}{more}. `thru import` first reads the agents' history and so places them; \
             `thru projects merge` joins them later.",
            names.join(", ")
        ));
    }
    if !plan.problems.is_empty() {
        let files = plural(plan.problems.len() as u64, "file");
        page.toned(Tone::Bad, &format!("{files} left out:"));
        for (path, problem) in plan.problems.iter().take(SHOWN) {
            page.line(format!("  {}: {}", environment.shown(path), one_line(problem, 200)));
        }
    }
}

//! Plans of installations and what became of them, for people and programs.

use std::path::Path;

use similar::TextDiff;
use thru_agents::hooks::Adapter;
use thru_agents::setup::{Change, Form, Plan};
use thru_app::setup::{Backup, Changes, Client, Note, Prepared};
use thru_app::{App, Result};
use thru_redact::Report;

use crate::ui::{Page, Tone, plural};

/// One line about an agent's program.
pub(crate) fn tell_client(page: &mut Page, adapter: &Adapter, client: &Client, environment: &App) {
    let name = adapter.agent.display_name();
    let version = client.version.map_or_else(|| "of unknown version".to_owned(), |v| v.to_string());
    page.line(match &client.program {
        Some(program) => format!("{name} {version}, {}.", environment.shown(program)),
        None if client.has_home => format!(
            "{name} has a home here ({}); its program is not on your PATH.",
            environment.shown(environment.homes.home(adapter.agent))
        ),
        None => {
            format!("{name} was not found on this machine. Its hooks are ready for when it is.")
        }
    });
}

/// The changes of a plan, a line per file.
pub(crate) fn tell_plan(page: &mut Page, plan: &Plan, environment: &App) {
    for change in &plan.changes {
        page.line(format!("  - {}", sentence(change, environment, Tense::Future)));
    }
}

/// The changes that were made, and the files that were left alone.
pub(crate) fn tell(page: &mut Page, changes: &Changes, environment: &App) {
    tell_made(page, changes, environment);
    tell_foreign(page, &changes.plan, environment);
}

/// The changes that were made, a line each.
pub(crate) fn tell_made(page: &mut Page, changes: &Changes, environment: &App) {
    for (change, backup) in changes.made() {
        let sentence = sentence(change, environment, Tense::Past);
        let copy = match backup {
            Some(Backup::Made(copy)) => format!(" A copy from before is {}.", name_of(copy)),
            Some(Backup::Kept(copy)) => {
                format!(" The copy from before, {}, differs from it and stays.", name_of(copy))
            }
            None => String::new(),
        };
        page.line(format!("{sentence}.{copy}"));
    }
}

/// The files in our folders that stay.
pub(crate) fn tell_foreign(page: &mut Page, plan: &Plan, environment: &App) {
    for path in &plan.foreign {
        let shown = environment.shown(path);
        page.line(format!("{shown} was not written by Throughline and was left where it is."));
    }
    for path in &plan.edited {
        let shown = environment.shown(path);
        page.line(format!("{shown} was changed since it was written, and was left as it is."));
    }
}

/// The name of a file that lies beside one whose path was given.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The time from which sessions are recorded, unless something keeps hooks from running; and the notes.
pub(crate) fn tell_effect(page: &mut Page, prepared: &Prepared) {
    let Prepared { adapter, client, notes, form, is_new, .. } = prepared;
    let is_blocked = notes.iter().any(|note| note.is_bad);
    // A settings file that had the hooks before changes nothing for sessions.
    if !is_blocked && client.is_here() && (*is_new || *form == Form::Plugin) {
        page.line(match form {
            // Only some agents watch their files.
            Form::Settings if !adapter.setup.has_form(Form::Plugin) => {
                "Its sessions that start from now on are recorded."
            }
            Form::Settings => "Sessions are recorded from now on, running ones included.",
            Form::Plugin => {
                "Sessions that start from now on are recorded; in others, type `/reload-plugins`."
            }
        });
    }
    tell_notes(page, notes);
}

/// The notes, each on a line.
pub(crate) fn tell_notes(page: &mut Page, notes: &[Note]) {
    for note in notes {
        page.line(match note.is_bad {
            true => page.paint(Tone::Bad, &note.text),
            false => note.text.clone(),
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    Future,
    Past,
}

/// `Added 10 hooks to ~/.claude/settings.json`.
fn sentence(change: &Change, environment: &App, tense: Tense) -> String {
    let (before, after) = (change.had.hooks, change.has.hooks);
    let the_server = "the MCP server";
    let told = match (change.had.serves, change.has.serves) {
        (false, true) => Some(("add", "Added", format!("{the_server} to "))),
        (true, false) => Some(("take", "Took", format!("{the_server} out of "))),
        (true, true) => Some(("renew", "Renewed", format!("{the_server} in "))),
        (false, false) => None,
    };
    // A file of the plugin is ours alone.
    let told = told.filter(|_| change.is_shared);
    let (future, past, rest) = match (before, after, &change.before, &change.after) {
        (0, 0, ..) if told.is_some() => told.unwrap_or_default(),
        (0, 0, None, _) => ("write", "Wrote", String::new()),
        (0, 0, _, None) => ("remove", "Removed", String::new()),
        (0, 0, ..) => ("renew", "Renewed", String::new()),
        (0, ..) => ("add", "Added", format!("{} to ", plural(after, "hook"))),
        (_, 0, ..) => ("take", "Took", format!("{} out of ", plural(before, "hook"))),
        _ => ("renew", "Renewed", format!("{} in ", plural(after, "hook"))),
    };
    let verb = if tense == Tense::Past { past } else { future };
    let shown = environment.shown(&change.path);
    match (change.had.allows, change.has.allows, before == after) {
        (false, true, true) => {
            let verb = if tense == Tense::Past { "Allowed" } else { "allow" };
            format!("{verb} agents to search and read the memory without asking, in {shown}")
        }
        (false, true, false) => {
            format!("{verb} {rest}{shown}, with the permission to search and read the memory")
        }
        _ => format!("{verb} {rest}{shown}"),
    }
}

/// The changes of a plan, as `diff -u` shows them. Secrets in lines nearby are taken out.
pub(crate) fn difference(page: &mut Page, plan: &Plan, environment: &App) -> Result<()> {
    let intake = environment.intake()?;
    for change in &plan.changes {
        let shown = environment.shown(&change.path);
        let name = |text: &Option<String>| match text {
            Some(_) => shown.clone(),
            None => "/dev/null".to_owned(),
        };
        let before = change.before.as_deref().unwrap_or_default();
        let after = change.after.as_deref().unwrap_or_default();
        let difference = TextDiff::from_lines(before, after)
            .unified_diff()
            .context_radius(2)
            .header(&name(&change.before), &name(&change.after))
            .to_string();
        let difference = intake.redactor().clean_text(&difference, &mut Report::default());
        page.gap();
        let columns = page.folded_to();
        for line in difference.get().lines().flat_map(|line| thru_ui::fold::change(line, columns)) {
            page.line(match line.as_bytes().first() {
                Some(b'+') => page.paint(Tone::Good, &line),
                Some(b'-') => page.paint(Tone::Bad, &line),
                _ => line,
            });
        }
    }
    Ok(())
}

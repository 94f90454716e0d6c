//! What several commands do alike: finding a project or a session by what was typed, asking, waiting
//! for another process.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use thru_core::ProjectKey;
use thru_intake::{Intake, IntakeError, IntakeLock, identity};
use thru_journal::journal::Journal;
use thru_store::{ProjectName, SessionFilter, SessionRow, Store, StoreError};

use crate::environment::{Environment, host, project_settings};
use crate::failure::advised;
use crate::ui::plural;

/// Something in the user's own configuration that has no effect is an error here; hooks go on with it.
/// A project's file comes with whatever was cloned: what it says wrongly is only mentioned.
pub(crate) fn refuse_notes(environment: &Environment) -> Result<()> {
    for note in &environment.notes {
        if note.is_of_project() {
            let text = crate::ui::printable(&note.to_string());
            let _ = writeln!(std::io::stderr(), "note: {text}.");
        } else {
            return Err(advised(
                note.to_string(),
                "correct the file, or use `thru config set`; `thru config show` lists the settings",
            ));
        }
    }
    Ok(())
}

/// Opens the store to read; one that an older version wrote is upgraded first, and what hooks recorded
/// meanwhile is brought in, unless somebody else is at it.
pub(crate) fn open_store(environment: &Environment) -> Result<Store> {
    let store = open_store_as_it_is(environment)?;
    // What is there can be read all the same: from a disk that nobody can write to, say.
    let _ = bring_in_news(environment, &store);
    Ok(store)
}

/// The same, without looking for what hooks recorded.
pub(crate) fn open_store_as_it_is(environment: &Environment) -> Result<Store> {
    let store = match Store::open_to_read(&environment.layout) {
        // Nobody brought in yet what hooks recorded.
        Err(StoreError::Missing { .. }) if has_records(environment) => {
            let intake = environment.intake()?;
            intake.drain(&lock(&intake)?, SESSIONS)?;
            Store::open_to_read(&environment.layout)?
        }
        opened => opened?,
    };
    if store.schema_version()? == thru_store::SCHEMA_VERSION {
        return Ok(store);
    }
    drop(store);
    let intake = environment.intake()?;
    let lock = lock(&intake)?;
    intake.upgrade(&lock, &mut migration_progress(environment))?;
    Ok(Store::open_to_read(&environment.layout)?)
}

fn has_records(environment: &Environment) -> bool {
    let journal = Journal::open(environment.layout.journal(), &host());
    journal.and_then(|journal| journal.size()).is_ok_and(|size| size > 0)
}

/// Sessions that are distilled before a question is answered; more are left to the next intake.
const SESSIONS: usize = 50;

fn bring_in_news(environment: &Environment, store: &Store) -> Result<()> {
    if Intake::news(&environment.layout, &host(), store)? > 0 {
        let intake = environment.intake()?;
        if let Some(lock) = intake.try_lock(Duration::ZERO)? {
            intake.drain(&lock, SESSIONS)?;
        }
    }
    Ok(())
}

/// Shows how an upgrade of the store gets on.
pub(crate) fn migration_progress(environment: &Environment) -> impl FnMut(&str, u64, u64) + use<> {
    let visible = environment.terminal.errors;
    let mut bar: Option<ProgressBar> = None;
    move |what, done, total| {
        if visible {
            let bar = bar.get_or_insert_with(|| {
                ProgressBar::new(total).with_style(bar_style("{pos}/{len}"))
            });
            bar.set_message(format!("Upgrading the memory: {what}"));
            bar.set_position(done);
            if done >= total {
                bar.finish_and_clear();
            }
        }
    }
}

/// The look of every progress bar.
pub(crate) fn bar_style(figures: &str) -> ProgressStyle {
    let template = format!("{{msg}} {{bar:24}} {figures}");
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Shows how far files were gone through, to whoever watches.
pub(crate) fn files_bar(
    environment: &Environment,
    doing: &'static str,
    quiet: bool,
) -> ProgressBar {
    match environment.terminal.errors && !quiet {
        true => ProgressBar::new(0).with_style(bar_style("{pos}/{len} files")).with_message(doing),
        false => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
    }
}

/// What is said where vectors of what was taken out may be left.
pub(crate) const UNSWEPT: &str = "Vectors were not swept: run `thru rebuild`.";

/// Whether vectors may be left of what was taken out, which is no failure: it was taken out.
///
/// # Errors
/// Those of the outcome, but that one.
pub(crate) fn is_unswept<T>(outcome: Result<T, IntakeError>) -> Result<bool, IntakeError> {
    match outcome {
        Err(IntakeError::NotSwept) => Ok(true),
        outcome => outcome.map(|_| false),
    }
}

/// Takes the intake lock; where another process holds it, says so and waits.
pub(crate) fn lock(intake: &Intake) -> Result<IntakeLock> {
    let mut told = false;
    let lock = intake.lock(&mut |holder| {
        if !told {
            let process = holder.map_or_else(String::new, |number| format!(" (process {number})"));
            let _ = writeln!(
                std::io::stderr(),
                "Another `thru` is writing to this memory{process}; waiting for it to finish."
            );
            told = true;
        }
        true
    })?;
    Ok(lock)
}

/// Takes the intake lock where nobody sees that we wait: not for ever, for who holds it may never let go
/// of it.
pub(crate) fn lock_within(intake: &Intake, patience: Duration) -> Result<IntakeLock> {
    let deadline = Instant::now() + patience;
    Ok(intake.lock(&mut |_| Instant::now() < deadline)?)
}

/// Gives hooks the rules of redaction as they are now.
pub(crate) fn share_rules(environment: &Environment) -> Result<()> {
    Ok(thru_capture::rules::write(&environment.layout, environment.intake()?.rules())?)
}

/// Becomes true when the user presses Ctrl-C or the system asks us to end.
pub(crate) fn cancellation() -> Result<Arc<AtomicBool>> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .context("Ctrl-C cannot be caught")?;
    Ok(cancelled)
}

/// Asks a question, with what Enter alone means. Without a terminal nobody can be asked: the answer is
/// no.
pub(crate) fn ask(environment: &Environment, question: &str, by_default: bool) -> Result<bool> {
    if !environment.terminal.interactive {
        return Ok(false);
    }
    let mut stderr = std::io::stderr();
    write!(stderr, "{question} {} ", if by_default { "[Y/n]" } else { "[y/N]" })?;
    stderr.flush()?;
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer)? == 0 {
        return Ok(false);
    }
    Ok(match answer.trim().to_lowercase().as_str() {
        "" => by_default,
        answer => matches!(answer, "y" | "yes"),
    })
}

/// The name that a project's file gives, if it gives one.
pub(crate) fn declared_name(file: &Path) -> Option<String> {
    if !file.is_file() {
        return None;
    }
    project_settings(file)?.project_name().map(str::to_owned)
}

/// The identity of the project that one stands in, whether anything is known of it or not.
pub(crate) fn key_of_place(environment: &Environment) -> ProjectKey {
    identity::identify(&environment.directory, environment.home.as_deref(), &declared_name)
}

/// The project that one stands in, where the store has sessions of it.
pub(crate) fn current_project(
    environment: &Environment,
    store: &Store,
) -> Result<Option<ProjectName>> {
    let Some(row) = store.project_by_key(&key_of_place(environment))? else { return Ok(None) };
    if !store.has_sessions(&store.project_rows(row)?)? {
        return Ok(None);
    }
    Ok(store.project_names()?.into_iter().find(|project| project.row == row))
}

/// The project that somebody named.
pub(crate) fn named_project(store: &Store, name: &str) -> Result<ProjectName> {
    let projects = store.project_names()?;
    let key = ProjectKey::from_stored(name);
    let exact = |project: &&ProjectName| project.key == key || project.merged.contains(&key);
    if let Some(project) = projects.iter().find(exact) {
        return Ok(project.clone());
    }
    let same_name: Vec<&ProjectName> =
        projects.iter().filter(|project| project.name.eq_ignore_ascii_case(name)).collect();
    match same_name[..] {
        [project] => Ok(project.clone()),
        [] => Err(advised(format!("there is no project `{name}`"), near_projects(&projects, name))),
        _ => {
            let keys: Vec<&str> = same_name.iter().map(|project| project.key.as_str()).collect();
            Err(advised(
                format!("{} are called `{name}`", plural(same_name.len() as u64, "project")),
                format!("name one by its key: {}", keys.join(", ")),
            ))
        }
    }
}

fn near_projects(projects: &[ProjectName], name: &str) -> String {
    let wanted = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = projects
        .iter()
        .map(|project| {
            let known = project.name.to_lowercase();
            let distance = if known.contains(&wanted) || wanted.contains(&known) {
                1
            } else {
                strsim::damerau_levenshtein(&known, &wanted)
            };
            (distance, project.name.as_str())
        })
        .filter(|(distance, _)| *distance <= 1 + wanted.len() / 3)
        .collect();
    near.sort_unstable();
    near.dedup_by_key(|(_, name)| *name);
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    match names.is_empty() {
        true => "`thru projects` lists them".to_owned(),
        false => format!("did you mean {}? `thru projects` lists all", names.join(" or ")),
    }
}

/// The one session whose id starts so.
pub(crate) fn named_session(store: &Store, id: &str) -> Result<SessionRow> {
    // Every id begins with nothing.
    if id.trim().is_empty() {
        return Err(advised("a session is named by its id", "`thru sessions` lists them"));
    }
    let filter = SessionFilter {
        id_prefix: Some(id.to_owned()),
        limit: Some(6),
        ..SessionFilter::default()
    };
    let mut found = store.sessions(&filter)?;
    if let Some(at) = found.iter().position(|session| session.key.id.as_str() == id) {
        return Ok(found.swap_remove(at));
    }
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => Err(advised(format!("there is no session `{id}`"), "`thru sessions` lists them")),
        _ => {
            let ids: Vec<&str> = found.iter().map(|session| session.key.id.as_str()).collect();
            bail!(advised(
                format!("several sessions start with `{id}`"),
                format!("write more of it: {}", ids.join(", "))
            ))
        }
    }
}

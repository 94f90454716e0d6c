//! `thru forget`: memories, sessions, or everything of a project or before a day.

use thru_app::ask::session::SessionEntry;
use thru_app::keep::forget::{self, Forget, ForgetTargets, Forgotten};
use thru_app::vault::VaultSettled;
use thru_app::{Remedy, Result, Trouble};

use super::entries::session_heading;
use super::{shared, vault};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, one_line, plural, size};

/// A memory that is forgotten is in no answer any more, also after a rebuild; `thru undo` brings it
/// back. A session that is forgotten is removed from archive, store and index for good; a tombstone
/// without content stays, so that no import brings it back. The agent's own files are left alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru forget k3f9a m2x7p                 two memories\n  \
    thru forget --session 4f1c              a session for good\n  \
    thru forget --session 4f1c --with-effects\n  \
    thru forget --project rocket --before 2025-01-01")]
#[command(group(
    clap::ArgGroup::new("target")
        .required(true)
        .multiple(true)
        .args(["ids", "session", "project", "before"])
))]
#[group(skip)]
pub(crate) struct ForgetArguments {
    /// Ids of memories
    #[arg(conflicts_with_all = ["session", "project", "before"])]
    ids: Vec<String>,
    /// A session (the start of its id is enough)
    #[arg(long, short, conflicts_with_all = ["project", "before"])]
    session: Option<String>,
    /// Also what its agent had remembered, and what others made of what they were told of it
    #[arg(long, requires = "session")]
    with_effects: bool,
    /// All sessions of this project, and what you told of it
    #[arg(long, short)]
    project: Option<String>,
    /// Sessions that ended before this day: `2026-03-01`, `3 months ago`
    #[arg(long)]
    before: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl ForgetArguments {
    fn request(&self) -> Forget {
        match (&self.session, &self.ids[..]) {
            (Some(id), _) => Forget::Session { id: id.clone(), with_effects: self.with_effects },
            (None, []) => {
                Forget::Sessions { project: self.project.clone(), before: self.before.clone() }
            }
            (None, ids) => Forget::Memories(ids.to_vec()),
        }
    }
}

/// Targets listed one by one in a preview.
const LISTED: usize = 10;

pub(crate) fn run(arguments: &ForgetArguments, environment: &Environment) -> Result<Outcome> {
    let shown = environment.progress();
    let mut targets = forget::find(&environment.app, &arguments.request(), shown.call())?;
    if let Some((_, trouble)) = targets.unknown.drain(..).next() {
        return Err(trouble);
    }
    let mut page = environment.page();
    if targets.is_empty() {
        page.line("Nothing to forget.");
        return page.end(Outcome::Nothing);
    }
    if !arguments.yes {
        preview(&mut page, &targets, environment)?;
        page.print()?;
        if !environment.terminal.interactive {
            return Err(Trouble::refused("nothing was forgotten").with(Remedy::Confirm));
        }
        if !shared::ask(environment, "Forget it?", false)? {
            page.line("Nothing was changed.");
            return page.end(Outcome::Nothing);
        }
    }
    let forgotten = forget::forget(&environment.app, &targets, shown.call())?;
    show(&mut page, &forgotten, environment);
    page.print()
}

fn show(page: &mut Page, forgotten: &Forgotten, environment: &Environment) {
    if !forgotten.memories.is_empty() {
        let count = count_of_memories(forgotten.memories.len());
        let back = if forgotten.memories.len() == 1 { "it" } else { "one" };
        let id = if forgotten.sessions.is_empty() { "`" } else { " ID` (see `thru log`)" };
        page.line(format!("Forgot {count}. `thru undo{id} brings {back} back."));
    }
    if !forgotten.sessions.is_empty() {
        page.line(format!(
            "Forgot {}: {} and {} ({}) are gone.",
            match &forgotten.sessions[..] {
                [id] => format!("session {id}"),
                ids => plural(ids.len() as u64, "session"),
            },
            plural(forgotten.passages, "passage"),
            plural(forgotten.archived_files, "archived file"),
            size(forgotten.bytes)
        ));
    }
    for path in &forgotten.summaries_left {
        let path = environment.shown(path);
        page.line(format!("Its summary in {path} could not be removed: remove it yourself."));
    }
    if let Some(settled) = &forgotten.vault {
        vault::show_settled(page, settled);
        if *settled == VaultSettled::default() {
            page.line("The notes of the vault are in line with it.");
        }
    }
    if forgotten.is_unswept {
        page.toned(Tone::Bad, shared::UNSWEPT);
    }
}

fn preview(page: &mut Page, targets: &ForgetTargets, environment: &Environment) -> Result<()> {
    let intake = environment.intake()?;
    for target in targets.memories.iter().take(LISTED) {
        let id = page.paint(Tone::Id, &target.entry.id);
        let title = one_line(target.entry.headline().get(), page.columns().saturating_sub(20));
        page.line(format!("{id}  {:9}  {title}", target.entry.kind));
    }
    more(page, targets.memories.len());
    for session in targets.sessions.iter().take(LISTED) {
        let session = SessionEntry::new(environment, intake.redactor(), session);
        session_heading(page, &session, environment);
    }
    more(page, targets.sessions.len());
    if !targets.memories.is_empty() {
        let count = count_of_memories(targets.memories.len());
        let each = if targets.memories.len() == 1 { "it" } else { "each" };
        page.line(match environment.terminal.interactive {
            true => format!("{count}: `thru undo` brings {each} back."),
            // There is no question behind it, and nothing to undo.
            false => format!("{count} to forget; `thru undo` would bring {each} back."),
        });
    }
    if !targets.sessions.is_empty() {
        page.line(format!(
            "{} with {}. This cannot be undone.",
            plural(targets.sessions.len() as u64, "session"),
            plural(targets.passages(), "passage")
        ));
    }
    if environment.app.config.vault.path.is_some() {
        page.line(
            "The vault follows: lines that Throughline wrote about it go, and lines of yours stay.",
        );
    }
    if targets.told > 0 {
        let others = plural(targets.told as u64, "other session");
        page.line(format!("{others} had memories of it in their context."));
    }
    Ok(())
}

fn more(page: &mut Page, listed: usize) {
    if listed > LISTED {
        page.toned(Tone::Quiet, &format!("… and {} more", listed - LISTED));
    }
}

fn count_of_memories(number: usize) -> String {
    match number {
        1 => "1 memory".to_owned(),
        _ => format!("{number} memories"),
    }
}

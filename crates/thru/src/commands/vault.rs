//! `thru vault`: memory as notes that people may edit.

use std::path::PathBuf;

use thru_app::vault::{
    self, ActiveNote, ActiveState, FailedNote, LossFound, Promotion, SyncVault, VaultSettled,
    VaultStatus, VaultSynced,
};
use thru_app::{Remedy, Result, Trouble, TroubleKind};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, count, day_and_time, plural, printable};

/// Memory as Markdown notes: one for each session, file and project. Lines that end in `^t-…` are kept up to date; all
/// other text is yours. What you change in a line, write into a list, tick or remove comes back into memory.
#[derive(Debug, clap::Args)]
pub(crate) struct VaultArguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a vault, in a folder of its own or within a vault of yours
    Init {
        /// The folder; `~/Throughline` by default
        path: Option<PathBuf>,
        /// Change nothing, and say what would be written
        #[arg(long)]
        dry_run: bool,
    },
    /// Show the state of the vault (the default)
    Status,
    /// Take in what you changed, write what is new, and retry what failed
    #[command(visible_alias = "retry")]
    Sync,
    /// Confirm that many notes or lines were deleted on purpose
    Accept,
    /// Compact the note of a session into others, and archive it
    Compact {
        /// The session's id, or the start of it; or `latest`
        session: String,
    },
    /// Share a project's note with all projects; without a name, list candidates
    Promote {
        /// The name of the note
        note: Option<String>,
        /// Do not ask about wishes and rules
        #[arg(long, short)]
        yes: bool,
    },
    /// Take the note of a session out of the archive
    Unarchive {
        /// The session's id, or the start of it
        session: String,
    },
    /// Write notes again that you deleted
    Restore {
        /// Only the note of this session (the start of its id is enough)
        session: Option<String>,
    },
    /// Merge the conflict copies that programs made of notes
    Resolve,
    /// Write every note into a new folder, apart from the vault
    Export {
        /// The folder
        folder: PathBuf,
    },
    /// Leave the notes to you: without our ids, and never written again
    Detach {
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    /// Open the note of a session or a memory in Obsidian
    Open {
        /// The id of a session or a memory, or the start of it
        id: String,
        /// Print the address and do not open it
        #[arg(long)]
        print: bool,
    },
}

pub(crate) fn run(arguments: &VaultArguments, environment: &Environment) -> Result<Outcome> {
    let (shown, json) = (environment.progress(), arguments.json);
    match &arguments.command {
        None | Some(Command::Status) => status(json, environment),
        Some(Command::Init { path, dry_run }) => init(path.as_deref(), *dry_run, json, environment),
        Some(Command::Sync) => sync(&SyncVault::default(), json, environment),
        Some(Command::Accept) => {
            sync(&SyncVault { accept: true, ..SyncVault::default() }, json, environment)
        }
        Some(Command::Compact { session }) => {
            let synced = vault::compact(environment, session, shown.call())?;
            let is_known = synced.compacted.is_empty() && synced.waiting == 0;
            let done = is_known.then_some("That note is archived already.");
            tell(&synced, done, json, environment)
        }
        Some(Command::Unarchive { session }) => {
            let synced = vault::unarchive(environment, session, shown.call())?;
            let done = "The note is out of the archive. It stays out until you compact it.";
            tell(&synced, Some(done), json, environment)
        }
        Some(Command::Promote { note: None, .. }) => promotions(json, environment),
        Some(Command::Promote { note: Some(note), yes }) => promote(note, *yes, json, environment),
        Some(Command::Restore { session }) => {
            vault::required(environment)?;
            match vault::restore(environment, session.as_deref(), shown.call()) {
                Err(nothing) if session.is_none() && nothing.kind() == TroubleKind::NotFound => {
                    print(&(), "There is no deleted note to write again.", json, environment)?;
                    Ok(Outcome::Nothing)
                }
                restored => tell(&restored?, None, json, environment),
            }
        }
        Some(Command::Resolve) => resolve(json, environment),
        Some(Command::Export { folder }) => {
            let files = vault::export(environment, folder, shown.call())?;
            let number = plural(files.notes as u64, "note");
            let line = format!("Wrote {number} into {}.", environment.shown(&files.folder));
            print(&files, &line, json, environment)
        }
        Some(Command::Detach { yes }) => detach(*yes, json, environment),
        Some(Command::Open { id, print }) => open(id, *print, json, environment),
    }
}

fn init(
    path: Option<&std::path::Path>,
    dry_run: bool,
    json: bool,
    environment: &Environment,
) -> Result<Outcome> {
    let init = vault::init(environment, path, dry_run, environment.progress().call())?;
    environment.answer(json, &init, |page| {
        let place = environment.shown(&init.vault);
        let notes = plural(init.synced.created as u64, "note");
        match dry_run {
            true => {
                page.line(format!("Would write {notes} into {place}. Nothing was changed."));
            }
            false if init.synced.loss.is_some() => {}
            false => page.line(format!("Wrote {notes} into {place}.")),
        }
        if let Some(within) = &init.within {
            page.line(format!("It is a folder of the vault {}.", environment.shown(within)));
        }
        if !dry_run {
            show_synced(page, &init.synced);
        }
        let notes = init.synced.created + init.synced.changed + init.synced.unchanged;
        if init.synced.loss.is_some() {
            return;
        }
        if notes == 0 {
            let hint = "Memory holds no session to write yet: `thru import` reads the history on this machine.";
            page.toned(Tone::Quiet, hint);
        } else if !dry_run {
            let hint = "Lines that end in `^t-…` are kept up to date; all other text is yours.";
            page.toned(Tone::Quiet, hint);
        }
    })?;
    Ok(outcome(&init.synced))
}

fn sync(request: &SyncVault, json: bool, environment: &Environment) -> Result<Outcome> {
    let synced = vault::sync(environment, request, environment.progress().call())?;
    tell(&synced, None, json, environment)
}

/// Tells what was done: in a sentence of the action's own, where it has one, and in notes that were written.
fn tell(
    synced: &VaultSynced,
    done: Option<&str>,
    json: bool,
    environment: &Environment,
) -> Result<Outcome> {
    environment.answer(json, synced, |page| {
        let written = synced.created + synced.changed;
        // One that did nothing, or not all of it, says that alone.
        let is_wrong = outcome(synced) == Outcome::Wrong;
        let done = done.filter(|_| !is_wrong);
        if let Some(done) = done {
            page.line(done);
        }
        if synced.removed > 0 {
            page.line(format!("Removed {}.", plural(synced.removed as u64, "note")));
        }
        match written {
            0 if is_wrong || done.is_some() || synced.removed > 0 || !synced.taken.is_empty() => {}
            0 if !synced.compacted.is_empty() => {}
            0 if !synced.copies.is_empty() => page.line("There is nothing to write."),
            0 => page.line(format!(
                "Every note is as it should be ({}).",
                count(synced.unchanged as u64)
            )),
            _ => page.line(format!(
                "Wrote {}: {} new, {} changed.",
                plural(written as u64, "note"),
                count(synced.created as u64),
                count(synced.changed as u64),
            )),
        }
        show_synced(page, synced);
        show_copies(page, &synced.copies);
    })?;
    Ok(outcome(synced))
}

/// Says what became of the notes of the vault once something was taken out of memory.
pub(super) fn show_settled(page: &mut Page, settled: &VaultSettled) {
    let VaultSettled { removed, changed, waiting, left, trouble, .. } = settled;
    let done: Vec<String> = [(*removed, "removed"), (*changed, "changed")]
        .into_iter()
        .filter(|(notes, _)| *notes > 0)
        .map(|(notes, what)| format!("{what} {}", plural(notes as u64, "note")))
        .collect();
    if !done.is_empty() {
        page.line(format!("In the vault: {}.", done.join(", ")));
    }
    for (note, why) in left {
        page.line(format!("{}: {}", printable(note), printable(why)));
    }
    if let Some(why) = trouble {
        let why = printable(why);
        page.line(format!("The notes of the vault still hold it ({why}): `thru vault sync`."));
    }
    for note in waiting {
        let note = printable(note);
        page.line(format!("{note} changed a moment ago, and follows with `thru vault sync`."));
    }
}

/// Names the conflict copies, for which their notes wait.
fn show_copies(page: &mut Page, copies: &std::collections::BTreeSet<String>) {
    for copy in copies {
        page.line(format!("Conflict copy: {copy}"));
    }
    match copies.len() {
        0 => {}
        1 => page.line("Its note waits until `thru vault resolve` merges it."),
        _ => page.line("Their notes wait until `thru vault resolve` merges them."),
    }
}

fn promotions(json: bool, environment: &Environment) -> Result<Outcome> {
    let promotions = vault::promotions(environment, environment.progress().call())?;
    environment.answer(json, &promotions, |page| {
        if promotions.proposed.is_empty() {
            page.line("No note of one project is recalled by others often enough.");
        } else {
            show_proposed(page, &promotions.proposed);
        }
    })?;
    Ok(Outcome::found(!promotions.proposed.is_empty()))
}

fn promote(note: &str, yes: bool, json: bool, environment: &Environment) -> Result<Outcome> {
    let shown = environment.progress();
    if !yes && vault::is_preferences(environment, note, shown.call())? {
        if !environment.terminal.interactive {
            let message = "nothing was changed: these wishes and rules would be shown as those of all projects";
            return Err(Trouble::refused(message).with(Remedy::Confirm));
        }
        if !shared::ask(
            environment,
            "Show these wishes and rules as those of all projects?",
            false,
        )? {
            print(&(), "Nothing was changed.", false, environment)?;
            return Ok(Outcome::Nothing);
        }
    }
    tell(&vault::promote(environment, note, shown.call())?, None, json, environment)
}

fn show_proposed(page: &mut Page, proposed: &[Promotion]) {
    for Promotion { note, recalls, .. } in proposed {
        let sessions = plural(*recalls as u64, "session");
        page.line(format!("{note}: recalled by {sessions} of other projects."));
        let hint = format!("  `thru vault promote \"{note}\"` makes it a note of all projects.");
        page.toned(Tone::Quiet, &hint);
    }
}

/// Prints an answer that is one line.
fn print(
    answer: &impl serde::Serialize,
    line: &str,
    json: bool,
    environment: &Environment,
) -> Result<Outcome> {
    environment.answer(json, answer, |page| page.line(line))
}

fn resolve(json: bool, environment: &Environment) -> Result<Outcome> {
    let resolved = vault::resolve(environment, environment.progress().call())?;
    environment.answer(json, &resolved, |page| {
        match resolved.merged.len() {
            0 => page.line("There is no conflict copy to merge."),
            merged => {
                let copies = if merged == 1 { "1 conflict copy" } else { "conflict copies" };
                let number = if merged == 1 { String::new() } else { format!("{merged} ") };
                let place = environment.shown(&resolved.kept_in);
                page.line(format!("Merged {number}{copies}, kept in {place}."));
            }
        }
        for (path, why) in &resolved.left {
            page.toned(Tone::Bad, &format!("{path} is left as it is: {why}"));
        }
        show_synced(page, &resolved.synced);
    })?;
    Ok(if resolved.left.is_empty() { Outcome::Done } else { Outcome::Wrong })
}

fn detach(yes: bool, json: bool, environment: &Environment) -> Result<Outcome> {
    vault::required(environment)?;
    if !yes {
        if !environment.terminal.interactive {
            let message =
                "nothing was changed: this would take Throughline's ids out of every note";
            return Err(Trouble::refused(message).with(Remedy::Confirm));
        }
        let question = "Leave the notes without Throughline's ids, and never write them again?";
        if !shared::ask(environment, question, false)? {
            print(&(), "Nothing was changed.", false, environment)?;
            return Ok(Outcome::Nothing);
        }
    }
    let files = vault::detach(environment)?;
    let number = plural(files.notes as u64, "note");
    let line = format!("Left {number} in {}. They are yours.", environment.shown(&files.folder));
    print(&files, &line, json, environment)
}

fn outcome(synced: &VaultSynced) -> Outcome {
    let is_wrong = synced.loss.is_some() || !synced.left.is_empty() || !synced.failed.is_empty();
    if is_wrong { Outcome::Wrong } else { Outcome::Done }
}

fn show_synced(page: &mut Page, synced: &VaultSynced) {
    let taken = &synced.taken;
    let parts = [
        (taken.edited, "edited line"),
        (taken.told, "new line"),
        (taken.removed, "removed line"),
        (taken.ticked, "ticked task"),
        (taken.notes, "deleted note"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| plural(number as u64, noun))
        .collect();
    if !parts.is_empty() {
        page.line(format!("Took in {}. `thru undo` undoes each.", parts.join(", ")));
    }
    if taken.statuses > 0 {
        let changed = plural(taken.statuses as u64, "changed note status");
        page.line(format!("Took in {changed}. Set it back in the note to undo it."));
    }
    if synced.waiting > 0 {
        let notes = plural(synced.waiting as u64, "note");
        let still = if synced.waiting == 1 { "it has" } else { "they have" };
        page.line(format!(
            "{notes} changed a moment ago and will be written once {still} not changed for a while."
        ));
    }
    // One is told step by step; of many, the sum says as much.
    if synced.compacted.len() > 1 {
        let sessions = plural(synced.compacted.len() as u64, "session");
        page.line(format!(
            "Compacted and archived the notes of {sessions} in {} ms.",
            count(synced.milliseconds)
        ));
        return show_wrong(page, &synced.left, &synced.failed, synced.loss);
    }
    for one in &synced.compacted {
        page.line(match &one.reached {
            Some(reached) => {
                format!("{}: Session note {reached}. Triggering compaction...", one.note)
            }
            None => format!("{}: Compacting session note into entity notes...", one.note),
        });
        for name in &one.updated {
            page.toned(Tone::Quiet, &format!("  Updated [[{name}]] with knowledge from session."));
        }
        page.toned(Tone::Quiet, &format!("  Session archived to: {}", one.archived_to));
    }
    if !synced.compacted.is_empty() {
        page.line("Compaction complete. Session archived.");
        page.line(format!("Compaction completed in {}ms.", synced.milliseconds));
    }
    show_wrong(page, &synced.left, &synced.failed, synced.loss);
}

/// The most sessions that are told one by one.
const SHOWN: usize = 5;

fn show_wrong(
    page: &mut Page,
    left: &std::collections::BTreeMap<String, String>,
    failed: &[FailedNote],
    loss: Option<LossFound>,
) {
    for one in failed {
        show_failed(page, one);
    }
    for (path, why) in left {
        page.toned(Tone::Bad, &format!("{path} is left as it is: {why}"));
    }
    if let Some(loss) = loss {
        let notes = plural(loss.notes as u64, "note");
        let lines = format!("{} of {}", count(loss.lines as u64), plural(loss.of as u64, "line"));
        page.toned(
            Tone::Bad,
            &format!(
                "{notes} and {lines} are gone at once: nothing was taken in, and nothing written."
            ),
        );
        page.line(
            "`thru vault accept` takes it in; or put the folder back, then `thru vault sync`.",
        );
    }
}

/// The messages of a failure, as the session's person is to act on it.
fn show_failed(page: &mut Page, failed: &FailedNote) {
    if failed.is_archive {
        page.toned(Tone::Bad, &failed.error);
        page.line(format!("Session preserved at original location: {}", failed.note));
        return;
    }
    page.toned(Tone::Bad, "Session compaction failed. Session note preserved.");
    page.line("Manual action required:");
    page.line(format!("1. Review session note: {}", failed.note));
    page.line("2. Mend what the error names");
    page.line("3. `thru vault sync` tries again");
    page.line(format!("Error: {}", failed.error));
}

fn status(json: bool, environment: &Environment) -> Result<Outcome> {
    let status = vault::status(environment, environment.progress().call())?;
    environment.answer(json, &status, |page| show_status(page, &status, environment))?;
    Ok(Outcome::found(status.vault.is_some()))
}

fn show_status(page: &mut Page, status: &VaultStatus, environment: &Environment) {
    let Some(vault) = &status.vault else {
        page.line("There is no vault. `thru vault init` makes one.");
        return;
    };
    let synced = match status.synced {
        Some(at) => format!("synced {}", day_and_time(Some(at), environment.zone())),
        None => "not written yet".to_owned(),
    };
    let notes = plural(status.notes as u64, "note");
    page.line(format!("{}: {notes}, {synced}.", environment.shown(vault)));
    if !status.is_there {
        page.toned(Tone::Bad, "The vault is not there. Cannot finalize sessions.");
        page.line("Pending actions:");
        page.line("- Session note update");
        page.line("- Compaction check");
        page.line("- Archival (if threshold exceeded)");
        page.line("Memory keeps everything: `thru vault sync` writes it once the folder is back.");
    }
    show_wrong(page, &status.left, &status.failed, status.loss);
    show_copies(page, &status.copies);
    show_proposed(page, &status.proposed);
    for note in status.active.iter().take(SHOWN) {
        show_active(page, note, environment);
    }
    show_more(page, status.active.len(), "more active note");
    if status.active.iter().any(|note| note.state == ActiveState::Due) {
        page.toned(Tone::Quiet, "`thru vault sync` archives what is due.");
    }
}

fn show_active(page: &mut Page, active: &ActiveNote, environment: &Environment) {
    let state = match active.state {
        ActiveState::TakenOut => "out of the archive until you compact it".to_owned(),
        ActiveState::Running => "active while its session goes on".to_owned(),
        ActiveState::Due => "due for the archive".to_owned(),
        ActiveState::Small => {
            let lines = plural(environment.config.vault.compact_lines, "line");
            let next = day_and_time(active.next, environment.zone());
            format!("active until {next}, or until it has {lines}")
        }
    };
    page.line(format!("{}: {state}", active.note));
    let (lines, days) = (plural(active.lines, "line"), plural(active.days, "day"));
    page.toned(Tone::Quiet, &format!("  {lines}, {days} old"));
}

/// Prints the number of things that are not shown one by one.
fn show_more(page: &mut Page, all: usize, noun: &str) {
    if let Some(more @ 1..) = all.checked_sub(SHOWN) {
        let more = plural(more as u64, noun);
        page.toned(Tone::Quiet, &format!("And {more}."));
    }
}

fn open(id: &str, print: bool, json: bool, environment: &Environment) -> Result<Outcome> {
    let note = vault::note(environment, id, environment.progress().call())?;
    let is_opened = !print && !json && environment.terminal.interactive;
    environment.answer(json, &note, |page| {
        page.line(if is_opened { environment.shown(&note.path) } else { note.uri.clone() });
    })?;
    if is_opened {
        let program = match std::env::consts::OS {
            "macos" => "open",
            "windows" => "explorer",
            _ => "xdg-open",
        };
        let status =
            std::process::Command::new(program).arg(&note.uri).status().map_err(|error| {
                Trouble::failed(format!("{program} cannot be started: {error}"))
                    .advise("`--print` prints the address")
            })?;
        if !status.success() {
            return Ok(Outcome::Wrong);
        }
    }
    Ok(Outcome::Done)
}

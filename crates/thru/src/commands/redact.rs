//! `thru redact`: the user's own rules for what must not be kept.

use std::collections::BTreeMap;

use thru_app::Result;
use thru_app::keep::redact::{self, Applied, RuleList, Scanned, TracePlace, UnreadPlace};

use super::{shared, vault};
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, plural, printable, width};

/// Secrets are redacted by built-in rules when they are read; rules of yours are added to them. Newer
/// rules, and a text that you name, can be taken out of what is kept already: journal, archive, store,
/// index, copies from before upgrades, and other files in the data directory. Ids stay.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  \
    thru redact --scan                         what newer rules find in what is kept\n  \
    thru redact --apply                        take it out\n  \
    pbpaste | thru redact --apply --text -     take out what is in the clipboard\n  \
    thru redact add acme-key 'acme_[0-9a-f]{32}'\n\n\
    A text given on the command line stays in your shell's history; `--text -` reads it from standard \
    input. The agents' own files are not changed."
)]
#[command(group(clap::ArgGroup::new("everywhere").args(["scan", "apply"]).required(true)))]
pub(crate) struct RedactArguments {
    /// List what should not be stored, and where; change nothing
    #[arg(long)]
    scan: bool,
    /// Remove it everywhere, and look again
    #[arg(long)]
    apply: bool,
    /// Look for this text as well; `-` reads it from standard input
    #[arg(long, requires = "everywhere")]
    text: Option<String>,
    /// Answer as JSON
    #[arg(long, requires = "everywhere")]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do with the rules.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the rules, built-in and your own
    List {
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a rule, and remove what it matches from everything stored
    Add {
        /// Its name, as it will stand in `[redacted:NAME]`
        name: String,
        /// A regular expression; a group named `secret` says which part of a match goes
        pattern: String,
        /// Add it even if it matches in much of what is kept
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove a rule of yours (what it redacted stays redacted)
    Remove {
        /// Its name
        name: String,
    },
    /// Show what would be kept of a text (from standard input where none is given)
    Test {
        /// The text
        text: Option<String>,
    },
}

pub(crate) fn run(arguments: RedactArguments, environment: &Environment) -> Result<Outcome> {
    match arguments.command {
        Some(command) => change_rules(command, environment),
        None => everywhere(&arguments, environment),
    }
}

fn change_rules(command: Command, environment: &Environment) -> Result<Outcome> {
    let mut page = environment.page();
    let shown = environment.progress();
    let app = &environment.app;
    match command {
        Command::List { json } => {
            let rules = redact::rule_list(app)?;
            page.put(json, &rules, |page| list_rules(page, &rules))?;
        }
        Command::Test { text } => {
            let text = match text {
                Some(text) => text,
                None => environment.streams.read_all()?,
            };
            let tested = redact::redacted(app, &text)?;
            page.line(printable(tested.text.get()));
            if !tested.reasons.is_empty() {
                page.gap();
            }
            for (name, description) in tested.reasons {
                page.line(format!("{name}: {}", printable(&description)));
            }
        }
        Command::Add { name, pattern, yes } => {
            let applied = redact::add_rule(app, &name, &pattern, yes, shown.call())?;
            page.line("Added.");
            say_cleaned(&mut page, &applied);
            say_notes(&mut page, &applied);
            say_not_rewritten(&mut page, &applied, environment);
        }
        Command::Remove { name } => {
            redact::remove_rule(app, &name, shown.call())?;
            page.line("Removed. What it redacted stays redacted.");
        }
    }
    page.print()
}

fn list_rules(page: &mut Page, rules: &RuleList) {
    let builtin = rules.builtin.iter().map(|rule| rule.name);
    let names = builtin.chain(rules.own.keys().map(String::as_str));
    let name_width = names.map(width).max().unwrap_or(0);
    for rule in &rules.builtin {
        let description = page.paint(Tone::Quiet, rule.description);
        page.line(format!("{:name_width$}  {description}", rule.name));
    }
    for (name, pattern) in &rules.own {
        let name = page.paint(Tone::Heading, &format!("{name:name_width$}"));
        page.line(format!("{name}  {pattern}"));
    }
}

/// Scans everything that is kept, or applies the rules to it.
fn everywhere(arguments: &RedactArguments, environment: &Environment) -> Result<Outcome> {
    let text = match arguments.text.as_deref() {
        Some("-") => Some(environment.streams.read_all()?),
        text => text.map(str::to_owned),
    };
    let shown = environment.progress_unless(arguments.json);
    let (app, text, call) = (&environment.app, text.as_deref(), shown.call());
    let mut page = environment.page();
    if arguments.scan {
        let scanned = redact::scan(app, text, call)?;
        page.put(arguments.json, &scanned, |page| say_found(page, &scanned))?;
        page.print()?;
        // If nothing is found and not all could be read, it is unknown if there is something.
        let is_unknown = scanned.places.is_empty() && !scanned.unread.is_empty();
        return Ok(if is_unknown { Outcome::Wrong } else { Outcome::Done });
    }
    let applied = redact::apply(app, text, call)?;
    page.put(arguments.json, &applied, |page| {
        say_cleaned(page, &applied);
        say_notes(page, &applied);
        say_not_rewritten(page, &applied, environment);
        if applied.is_checked {
            say_left(page, &applied);
        }
    })?;
    let is_done = is_clean(&applied) && applied.are_notes_clean();
    page.end(if is_done { Outcome::Done } else { Outcome::Wrong })
}

/// Names the folders whose summaries still say what they said.
fn say_not_rewritten(page: &mut Page, applied: &Applied, environment: &Environment) {
    for folder in &applied.folders_left {
        let folder = environment.shown(folder);
        page.line(format!(
            "Summaries in {folder} could not be written again: remove them yourself."
        ));
    }
}

/// True if nothing is left, as far as everything was scanned again.
const fn is_clean(applied: &Applied) -> bool {
    applied.left.is_empty() && applied.unread.is_empty()
}

/// Rules with how often each found something: `given 4, github-token 1`.
fn rules_of(places: &[&TracePlace]) -> String {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for (rule, number) in places.iter().flat_map(|place| &place.found) {
        *found.entry(rule).or_default() += number;
    }
    let mut shown: Vec<String> =
        found.iter().map(|(rule, number)| format!("{rule} {number}")).collect();
    let private: u64 = places.iter().map(|place| place.private).sum();
    if private > 0 {
        shown.push(format!("private text {private}"));
    }
    shown.join(", ")
}

/// Where something stands, part by part, without saying what.
fn list(page: &mut Page, found: &[TracePlace], unread: &[UnreadPlace]) {
    /// Places of a part that are named before the rest is only counted.
    const PLACES: usize = 8;
    for (part, noun) in [
        ("journal", "record"),
        ("archive", "line"),
        ("store", "text"),
        ("backup", "file"),
        ("file", "file"),
    ] {
        let traces: Vec<&TracePlace> = found.iter().filter(|place| place.part == part).collect();
        if traces.is_empty() {
            continue;
        }
        // Lines of a session, or of a file, together.
        let mut places: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for trace in &traces {
            places.entry(place_of(trace)).or_default().extend(trace.line);
        }
        let heading = page.paint(Tone::Heading, &format!("{part:8}"));
        let rules = match rules_of(&traces) {
            rules if rules.is_empty() => rules,
            rules => format!(": {rules}"),
        };
        page.line(format!("{heading} {}{rules}", plural(traces.len() as u64, noun)));
        for (place, lines) in places.iter().take(PLACES) {
            page.toned(Tone::Quiet, &format!("         {place}{}", shown_lines(lines)));
        }
        if places.len() > PLACES {
            let more = plural((places.len() - PLACES) as u64, "more place");
            page.toned(Tone::Quiet, &format!("         and {more}"));
        }
    }
    for UnreadPlace { place, message: why } in unread {
        page.toned(Tone::Bad, &format!("{place} could not be checked: {why}"));
    }
}

fn place_of(trace: &TracePlace) -> String {
    match (&trace.session, trace.part, trace.line) {
        (_, "archive", None) => format!("the name of {}", trace.place),
        (Some(session), "archive", _) => format!("session {session}"),
        (Some(session), ..) => format!("{} of session {session}", trace.place),
        (None, ..) => trace.place.clone(),
    }
}

fn shown_lines(lines: &[u64]) -> String {
    const SHOWN: usize = 8;
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(SHOWN).map(u64::to_string).collect();
    match lines.len() {
        0 => String::new(),
        1 => format!(", line {}", shown[0]),
        2..=SHOWN => format!(", lines {}", shown.join(", ")),
        more => format!(", lines {} and {} more", shown.join(", "), more - SHOWN),
    }
}

fn say_found(page: &mut Page, scanned: &Scanned) {
    list(page, &scanned.places, &scanned.unread);
    for (note, lines) in &scanned.vault {
        let heading = page.paint(Tone::Heading, "vault   ");
        page.line(format!("{heading} {} in {}", plural(*lines as u64, "line"), printable(note)));
    }
    let is_clean = scanned.places.is_empty() && scanned.vault.is_empty();
    match (is_clean, scanned.unread.is_empty()) {
        (true, true) => page.line("Nothing stored needs to change."),
        (true, false) => page.line("Nothing else stored needs to change."),
        (false, _) => {
            page.gap();
            page.line("The index holds words of the texts of the store and is made again with it.");
            page.line("Nothing was changed; `--apply` removes it.");
        }
    }
    say_verbatim(page, scanned.verbatim);
}

fn say_verbatim(page: &mut Page, verbatim: usize) {
    if verbatim > 0 {
        page.line(format!(
            "{} left alone, because `archive.verbatim` was set; store and index hold none of the secrets.",
            plural(verbatim as u64, "archived file")
        ));
    }
}

/// The list of what was cleaned.
fn say_cleaned(page: &mut Page, applied: &Applied) {
    let secrets: u64 = applied.redacted.values().sum();
    if applied.archived_files > 0 {
        page.line(format!(
            "Took {} out of {}.",
            plural(secrets, "secret"),
            plural(applied.archived_files as u64, "archived file")
        ));
    }
    if applied.records > 0 {
        page.line(format!("Cleaned {} of the journal.", plural(applied.records, "record")));
    }
    if applied.rebuilt {
        page.line("Rebuilt store and index; ids are unchanged.");
    }
    if applied.vectors_left {
        page.toned(Tone::Bad, shared::UNSWEPT);
    }
    for file in &applied.files {
        page.line(format!("Cleaned {file}."));
    }
    for file in &applied.removed {
        page.line(format!("Removed {file}, a copy of the store."));
    }
    if applied.is_nothing {
        page.line("Nothing stored had to be changed.");
    }
    say_verbatim(page, applied.verbatim);
}

/// What was done to the notes of the vault, and the lines in them that are left.
fn say_notes(page: &mut Page, applied: &Applied) {
    let Some(settled) = &applied.vault else { return };
    vault::show_settled(page, settled);
    for (note, lines) in &settled.yours {
        let hold = if *lines == 1 { "holds" } else { "hold" };
        let (lines, note) = (plural(*lines as u64, "line"), printable(note));
        page.line(format!("Not changed: {lines} of yours in {note} {hold} it."));
    }
}

/// What a second look found.
fn say_left(page: &mut Page, applied: &Applied) {
    if is_clean(applied) {
        match applied.are_notes_clean() {
            true => page.toned(Tone::Good, "Checked again: nothing is left."),
            false => page.toned(Tone::Bad, "Checked again: nothing else is left."),
        }
        return;
    }
    page.gap();
    if applied.left.is_empty() {
        page.toned(Tone::Bad, "Checked again. Some places could not be checked:");
        list(page, &applied.left, &applied.unread);
        return;
    }
    page.toned(Tone::Bad, "Checked again. Redaction does not reach what is left here:");
    list(page, &applied.left, &applied.unread);
    page.line("Names of files and ids stay. `thru forget --session` takes a whole session out.");
}

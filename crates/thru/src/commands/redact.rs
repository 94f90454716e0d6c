//! `thru redact`: the user's own rules for what must not be kept.

use std::collections::BTreeMap;
use std::io::Read;
use thru_app::App;

use serde_json::{Value, json};
use thru_app::Result;
use thru_intake::{Intake, Operation, Part, Recleaned, Scan, Trace};
use thru_redact::{Redactor, Report, UserRule, rules};

use super::{Outcome, shared};
use crate::environment::Environment;
use crate::failure::advised;
use crate::ui::{Page, Tone, plural, printable, width};
use thru_app::compaction;

/// A text that is given has at least this many bytes: shorter ones are parts of words everywhere.
const SHORTEST_TEXT: usize = 4;

/// Secrets are redacted by built-in rules when they are read; rules of yours are added to them. Newer
/// rules, and a text that you name, can be taken out of what is kept already: journal, archive, store,
/// index, copies from before upgrades, and other files in the data directory. Ids stay.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
    thru redact --scan                         what newer rules find in what is kept\n  \
    thru redact --apply                        take it out\n  \
    pbpaste | thru redact --apply --text -     take out what is in the clipboard\n  \
    thru redact add acme-key 'acme_[0-9a-f]{32}'\n\n\
    A text given on the command line stays in your shell's history; `--text -` reads it from standard\n\
    input. Claude Code's own files are not changed."
)]
#[command(group(clap::ArgGroup::new("everywhere").args(["scan", "apply"])))]
pub(crate) struct Arguments {
    /// Say where something is kept that must not be; change nothing
    #[arg(long)]
    scan: bool,
    /// Take it out, everywhere, and look again
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
    List,
    /// Add a rule, and take what it matches out of what is kept already
    Add {
        /// Its name, as it will stand in `[redacted:NAME]`
        name: String,
        /// A regular expression; a group named `secret` says which part of a match goes
        pattern: String,
    },
    /// Take a rule of yours away (what it redacted stays redacted)
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

pub(crate) fn run(arguments: Arguments, environment: &Environment, plain: bool) -> Result<Outcome> {
    match arguments.command {
        Some(command) => change_rules(command, environment, plain),
        None => everywhere(&arguments, environment, plain),
    }
}

fn change_rules(command: Command, environment: &Environment, plain: bool) -> Result<Outcome> {
    let mut page = Page::new(environment, plain);
    let intake = environment.intake()?;
    match command {
        Command::List => {
            let names = rules()
                .iter()
                .map(|rule| rule.name)
                .chain(intake.rules().keys().map(String::as_str));
            let name_width = names.map(width).max().unwrap_or(0);
            for rule in rules() {
                page.line(format!(
                    "{:name_width$}  {}",
                    rule.name,
                    page.paint(Tone::Quiet, rule.description)
                ));
            }
            for (name, pattern) in intake.rules() {
                page.line(format!(
                    "{}  {pattern}",
                    page.paint(Tone::Heading, &format!("{name:name_width$}"))
                ));
            }
        }
        Command::Test { text } => {
            let text = match text {
                Some(text) => text,
                None => from_standard_input()?,
            };
            let clean = intake.redactor().clean_text(&text, &mut Report::default());
            page.line(printable(clean.get()));
        }
        Command::Add { name, pattern } => {
            let rule = UserRule { name: name.clone(), pattern: pattern.clone() };
            Redactor::new(std::slice::from_ref(&rule), &[])?;
            // A rule that spells out a secret would keep it, in the journal, for ever.
            if intake.redactor().clean_text(&pattern, &mut Report::default()).get() != &pattern {
                return Err(advised(
                    "the pattern itself looks like a secret",
                    "describe the secret's shape, such as `acme_[0-9a-f]{32}`, instead of spelling it out",
                ));
            }
            let lock = shared::lock(&intake, environment)?;
            intake.record_and_apply(&lock, &[Operation::RuleAdded { name, pattern }])?;
            drop(lock);
            thru_app::keep::share_rules(environment)?;
            page.line("Added.");
            // The rules as they are now, the one just added included.
            let intake = environment.intake()?;
            let lock = shared::lock(&intake, environment)?;
            let applied = intake.apply_rules(&lock, &mut |_, _| {})?;
            thru_app::keep::share_rules(environment)?;
            say_cleaned(&mut page, &applied);
            say_not_rewritten(&mut page, environment)?;
        }
        Command::Remove { name } => {
            if !intake.rules().contains_key(&name) {
                return Err(advised(
                    format!("there is no rule of yours called `{name}`"),
                    "`thru redact list` lists them at its end",
                ));
            }
            let lock = shared::lock(&intake, environment)?;
            intake.record_and_apply(&lock, &[Operation::RuleRemoved { name }])?;
            thru_app::keep::share_rules(environment)?;
            page.line("Removed. What it redacted stays redacted.");
        }
    }
    page.print()?;
    Ok(Outcome::Done)
}

fn from_standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// Looks for what must not be kept, everywhere, and takes it out if that was asked for.
fn everywhere(arguments: &Arguments, environment: &Environment, plain: bool) -> Result<Outcome> {
    let text = match arguments.text.as_deref() {
        Some("-") => Some(from_standard_input()?),
        text => text.map(str::to_owned),
    };
    let intake = || match &text {
        Some(text) => looking_for(environment.intake()?, text.trim()),
        None => environment.intake(),
    };
    let looking = intake()?;
    if environment.layout.database().exists() {
        // One that an older version wrote is upgraded: its texts are looked into in their new form.
        shared::open_store(environment)?;
    }
    let mut page = Page::new(environment, plain);
    let bar = shared::files_bar(environment, "Looking", arguments.json);
    let mut progress = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    if arguments.scan {
        let scan = looking.scan(&mut progress)?;
        bar.finish_and_clear();
        match arguments.json {
            true => page.json(&scan_json(&scan))?,
            false => say_found(&mut page, &scan),
        }
        page.print()?;
        return Ok(match (scan.traces.is_empty(), scan.unread.is_empty()) {
            (false, _) => Outcome::Done,
            (true, true) => Outcome::Nothing,
            // Whether there is something nobody can say.
            (true, false) => Outcome::Wrong,
        });
    }
    let lock = shared::lock(&looking, environment)?;
    // Whoever held the lock may have changed rules meanwhile.
    let intake = intake()?;
    let applied = intake.apply_rules(&lock, &mut progress)?;
    // A rule that spelled the text out is gone, and must go from the copy for hooks too.
    thru_app::keep::share_rules(environment)?;
    let left = intake.scan(&mut progress)?;
    bar.finish_and_clear();
    match arguments.json {
        true => {
            compaction::write_again(environment, None)?;
            page.json(&applied_json(&applied, &left))?;
        }
        false => {
            say_cleaned(&mut page, &applied);
            say_not_rewritten(&mut page, environment)?;
            say_left(&mut page, &left);
        }
    }
    page.print()?;
    Ok(if is_clean(&left) { Outcome::Done } else { Outcome::Wrong })
}

/// Writes the summaries in projects again, and names those that still say what they said.
fn say_not_rewritten(page: &mut Page, environment: &App) -> Result<()> {
    for folder in compaction::write_again(environment, None)? {
        let folder = environment.shown(&folder);
        page.line(format!(
            "Summaries in {folder} could not be written again: remove them yourself."
        ));
    }
    Ok(())
}

/// Whether nothing was found, and everything was looked into.
fn is_clean(scan: &Scan) -> bool {
    scan.traces.is_empty() && scan.unread.is_empty()
}

/// Intake that takes a given text out as well.
fn looking_for(intake: Intake, text: &str) -> Result<Intake> {
    if text.len() < SHORTEST_TEXT {
        return Err(advised(
            format!("a text of fewer than {SHORTEST_TEXT} characters is part of words everywhere"),
            "give more of it, or describe it in a rule with `thru redact add`",
        ));
    }
    let intake = intake.redacting(text)?;
    if intake.redactor().clean_text(text, &mut Report::default()).get() == text {
        return Err(advised(
            "your `redact.allow` says that this text is to be kept",
            "`thru config show redact.allow` shows it; take it out there first",
        ));
    }
    Ok(intake)
}

/// Rules with how often each found something: `given 4, github-token 1`.
fn rules_of(found: &Report) -> String {
    let mut shown: Vec<String> =
        found.secrets.iter().map(|(rule, number)| format!("{rule} {number}")).collect();
    if found.private > 0 {
        shown.push(format!("private text {}", found.private));
    }
    shown.join(", ")
}

/// Where something stands, part by part, without saying what.
fn list(page: &mut Page, scan: &Scan) {
    /// Places of a part that are named before the rest is only counted.
    const PLACES: usize = 8;
    for part in [Part::Journal, Part::Archive, Part::Store, Part::Backup, Part::File] {
        let mut found = Report::default();
        // Lines of a session, or of a file, together.
        let mut places: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for trace in scan.of(part) {
            found.merge(&trace.found);
            places.entry(place_of(trace)).or_default().extend(trace.line);
        }
        let number = scan.of(part).count() as u64;
        if number == 0 {
            continue;
        }
        let heading = page.paint(Tone::Heading, &format!("{:8}", part.as_str()));
        let rules = match rules_of(&found) {
            rules if rules.is_empty() => rules,
            rules => format!(": {rules}"),
        };
        page.line(format!("{heading} {}{rules}", plural(number, noun_of(part))));
        for (place, lines) in places.iter().take(PLACES) {
            page.line(page.paint(Tone::Quiet, &format!("         {place}{}", shown_lines(lines))));
        }
        if places.len() > PLACES {
            let more = plural((places.len() - PLACES) as u64, "more place");
            page.line(page.paint(Tone::Quiet, &format!("         and {more}")));
        }
    }
    for (place, why) in &scan.unread {
        page.line(page.paint(Tone::Bad, &format!("{place} could not be looked into: {why}")));
    }
}

fn noun_of(part: Part) -> &'static str {
    match part {
        Part::Journal => "record",
        Part::Archive => "line",
        Part::Store => "text",
        Part::Backup | Part::File => "file",
    }
}

fn place_of(trace: &Trace) -> String {
    match (&trace.session, trace.part, trace.line) {
        (_, Part::Archive, None) => format!("the name of {}", trace.place),
        (Some(session), Part::Archive, _) => format!("session {session}"),
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

fn say_found(page: &mut Page, scan: &Scan) {
    list(page, scan);
    match (scan.traces.is_empty(), scan.unread.is_empty()) {
        (true, true) => page.line("Nothing that is kept would have to be changed."),
        (true, false) => page.line("Nothing else that is kept would have to be changed."),
        (false, _) => {
            page.gap();
            page.line("The index holds words of the texts of the store and is made again with it.");
            page.line("Nothing was changed; the same with `--apply` takes it out.");
        }
    }
    say_verbatim(page, scan.verbatim);
}

fn say_verbatim(page: &mut Page, verbatim: usize) {
    if verbatim > 0 {
        page.line(format!(
            "{} kept exactly as they were, because `archive.verbatim` was set; store and index have no secret of them.",
            plural(verbatim as u64, "archived file")
        ));
    }
}

/// The list of what was cleaned.
fn say_cleaned(page: &mut Page, applied: &Recleaned) {
    let secrets: u64 = applied.redacted.secrets.values().sum();
    if applied.rewritten > 0 {
        page.line(format!(
            "Took {} out of {}.",
            plural(secrets, "secret"),
            plural(applied.rewritten as u64, "archived file")
        ));
    }
    if applied.records > 0 {
        page.line(format!("Cleaned {} of the journal.", plural(applied.records, "record")));
    }
    if applied.rebuilt {
        page.line("Made store and index again; ids are the same.");
    }
    if applied.is_unswept {
        page.line(page.paint(Tone::Bad, shared::UNSWEPT));
    }
    for file in &applied.files {
        page.line(format!("Cleaned {file}."));
    }
    for file in &applied.removed {
        page.line(format!("Removed {file}, a copy of the store."));
    }
    if *applied == (Recleaned { verbatim: applied.verbatim, ..Recleaned::default() }) {
        page.line("Nothing that is kept had to be changed.");
    }
    say_verbatim(page, applied.verbatim);
}

/// What a second look found.
fn say_left(page: &mut Page, left: &Scan) {
    if is_clean(left) {
        page.line(page.paint(Tone::Good, "Looked again: nothing is left."));
        return;
    }
    page.gap();
    if left.traces.is_empty() {
        page.line(page.paint(Tone::Bad, "Looked again. Not everything could be looked into:"));
        list(page, left);
        return;
    }
    page.line(page.paint(Tone::Bad, "Looked again. This is left, where redaction does not reach:"));
    list(page, left);
    page.line("Names of files and ids stay. `thru forget --session` takes a whole session out.");
}

fn trace_json(trace: &Trace) -> Value {
    json!({
        "part": trace.part.as_str(),
        "place": trace.place,
        "session": trace.session,
        "line": trace.line,
        "found": trace.found.secrets,
        "private": trace.found.private,
    })
}

fn unread_json(scan: &Scan) -> Value {
    scan.unread.iter().map(|(place, why)| json!({ "place": place, "message": why })).collect()
}

fn scan_json(scan: &Scan) -> Value {
    json!({
        "version": 1,
        "kind": "redact-scan",
        "found": scan.found().secrets,
        "verbatim": scan.verbatim,
        "places": scan.traces.iter().map(trace_json).collect::<Vec<_>>(),
        "unread": unread_json(scan),
    })
}

fn applied_json(applied: &Recleaned, left: &Scan) -> Value {
    json!({
        "version": 1,
        "kind": "redact-apply",
        "redacted": applied.redacted.secrets,
        "records": applied.records,
        "archived_files": applied.rewritten,
        "verbatim": applied.verbatim,
        "rebuilt": applied.rebuilt,
        "vectors_left": applied.is_unswept,
        "files": applied.files,
        "removed": applied.removed,
        "left": left.traces.iter().map(trace_json).collect::<Vec<_>>(),
        "unread": unread_json(left),
    })
}

//! The user's redaction rules, and applying them to what is kept already.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::SessionId;
use thru_intake::{Intake, Operation, RedactionReport, Scan, Trace};
use thru_redact::{Clean, Redactor, Report, RuleError, UserRule, rules};

use super::share_rules;
use crate::app::App;
use crate::call::{Call, Unit};
use crate::fresh::{self, Freshness};
use crate::trouble::{Listing, Remedy, Result, Trouble};
use crate::vault::{self, VaultSettled};
use crate::words::{count, plural};
use crate::{answer, compaction};

/// The smallest length in bytes of a text that is given: shorter ones are parts of words everywhere.
const SHORTEST_TEXT: usize = 4;

/// A pattern is common where it matches in this many passages, and in one of so many of all.
const MANY: u64 = 5;
const COMMON: u64 = 5;

/// The redaction rules.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "redaction-rules")]
pub struct RuleList {
    version: u32,
    /// The built-in rules.
    pub builtin: Vec<BuiltinRule>,
    /// Names of the user's rules, each with its pattern.
    pub own: BTreeMap<String, String>,
}

/// A built-in rule.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct BuiltinRule {
    /// Its name.
    pub name: &'static str,
    /// A description of what it matches.
    pub description: &'static str,
}

/// Lists the rules.
///
/// # Errors
/// Fails if the journal cannot be read.
pub fn rule_list(app: &App) -> Result<RuleList> {
    Ok(RuleList {
        version: answer::VERSION,
        builtin: rules()
            .iter()
            .map(|rule| BuiltinRule { name: rule.name, description: rule.description })
            .collect(),
        own: app.intake()?.rules().clone(),
    })
}

/// A text as it would be kept, and the reasons.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "redact-test")]
pub struct Tested {
    version: u32,
    /// The text.
    pub text: Clean<String>,
    /// The names of the rules that matched, each with its description or pattern.
    pub reasons: Vec<(String, String)>,
}

/// Returns the text as it would be kept, and the rules that take something out.
///
/// # Errors
/// Fails if the journal cannot be read or a rule cannot be used.
pub fn redacted(app: &App, text: &str) -> Result<Tested> {
    let intake = app.intake()?;
    let mut report = Report::default();
    let text = intake.redactor().clean_text(text, &mut report);
    let describe = |name: &String| {
        let own = intake.rules().get(name).cloned();
        let builtin = || rules().iter().find(|rule| rule.name == name);
        own.or_else(|| builtin().map(|rule| rule.description.to_owned())).unwrap_or_default()
    };
    let reasons = report.secrets.keys().map(|name| (name.clone(), describe(name))).collect();
    Ok(Tested { version: answer::VERSION, text, reasons })
}

/// Adds a rule, and takes what it matches out of what is kept already.
///
/// # Errors
/// Fails if the pattern is no regular expression, if it spells out a secret, if it matches in much of what is kept and the
/// caller is not sure of it, and if journal, archive or store cannot be written.
pub fn add_rule(
    app: &App,
    name: &str,
    pattern: &str,
    is_sure: bool,
    call: Call<'_>,
) -> Result<Applied> {
    let rule = UserRule { name: name.to_owned(), pattern: pattern.to_owned() };
    let alone = Redactor::new(std::slice::from_ref(&rule), &[]).map_err(|error| match error {
        RuleError::Pattern { reason, .. } => {
            // The engine shows the pattern with a mark below; its last line is the reason.
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Trouble::invalid(format!("the pattern is no regular expression: {reason}"))
                .advise("correct it; `\\` before a sign takes that sign as it is")
        }
        error => error.into(),
    })?;
    let intake = app.intake()?;
    // A rule that spells out a secret would keep it, in the journal, for ever.
    if intake.redactor().clean_text(pattern, &mut Report::default()).get() != pattern {
        return Err(Trouble::refused("the pattern itself looks like a secret").advise(
            "describe the secret's shape, such as `acme_[0-9a-f]{32}`, instead of spelling it out",
        ));
    }
    if !is_sure {
        refuse_common(app, &alone, name, call)?;
    }
    vault::drop_texts(app)?;
    let lock = call.lock(&intake)?;
    let UserRule { name, pattern } = rule;
    intake.record_and_apply(&lock, &[Operation::RuleAdded { name, pattern }])?;
    drop(lock);
    share_rules(app)?;
    // With the rule that was just added.
    let intake = app.intake()?;
    let report = intake.apply_rules(&call.lock(&intake)?, &mut |_, _| {})?;
    share_rules(app)?;
    Applied::new(app, report, None)?.with_vault(app, &alone, call)
}

/// Refuses a rule that would take something out of much of what was said and done: such a pattern describes no secret.
fn refuse_common(app: &App, rule: &Redactor, name: &str, call: Call<'_>) -> Result<()> {
    if !app.layout.database().exists() {
        return Ok(());
    }
    let store = fresh::open(app, Freshness::AsItIs, call)?;
    let (mut all, mut matched) = (0_u64, 0_u64);
    store.texts(&mut |stored| {
        if stored.table == "passages" && stored.session.is_some() {
            let mut report = Report::default();
            rule.clean_text(&stored.text, &mut report);
            all += 1;
            matched += u64::from(report.secrets.contains_key(name));
        }
    })?;
    if matched < MANY || matched * COMMON < all {
        return Ok(());
    }
    let message = format!(
        "the pattern matches in {} of {}, and would change them for good",
        count(matched),
        plural(all, "passage")
    );
    Err(Trouble::refused(message).with(Remedy::Confirm))
}

/// Removes a rule of the user's. What it redacted stays redacted.
///
/// # Errors
/// Fails if there is no such rule, and if the journal cannot be written.
pub fn remove_rule(app: &App, name: &str, call: Call<'_>) -> Result<()> {
    let intake = app.intake()?;
    if !intake.rules().contains_key(name) {
        return Err(Trouble::not_found(format!("there is no rule of yours called `{name}`"))
            .with(Remedy::See(Listing::Rules)));
    }
    let removed = Operation::RuleRemoved { name: name.to_owned() };
    let lock = call.lock(&intake)?;
    intake.record_and_apply(&lock, &[removed])?;
    // With one rule less there is nothing to be cleaned.
    app.intake()?.keep_clean(&lock, &intake.redactor().fingerprint())?;
    share_rules(app)
}

/// The places with text that today's rules would remove.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "redact-scan")]
pub struct Scanned {
    version: u32,
    /// Counts of matches by rule.
    pub found: BTreeMap<String, u64>,
    /// Archived files that are kept exactly as they are, because the user chose that.
    pub verbatim: usize,
    /// The places.
    pub places: Vec<TracePlace>,
    /// Lines in notes of the vault, by note.
    pub vault: BTreeMap<String, usize>,
    /// Places that could not be read.
    pub unread: Vec<UnreadPlace>,
}

/// A place with text that must not be kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TracePlace {
    /// The part of the data directory.
    pub part: &'static str,
    /// The segment, archived file, table or other file.
    pub place: String,
    /// The session that it belongs to.
    pub session: Option<SessionId>,
    /// The line in that place, from 1.
    pub line: Option<u64>,
    /// Counts of matches by rule.
    pub found: BTreeMap<String, u64>,
    /// The number of private passages.
    pub private: u64,
}

/// A place that could not be read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnreadPlace {
    /// The place.
    pub place: String,
    /// The problem.
    pub message: String,
}

/// The changes that the rules made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename = "redact-apply")]
pub struct Applied {
    version: u32,
    /// Counts of what was taken out, by rule.
    pub redacted: BTreeMap<String, u64>,
    /// Records of the journal that were rewritten.
    pub records: u64,
    /// Archived files that were rewritten.
    pub archived_files: usize,
    /// Archived files that are kept exactly as they are, because the user chose that.
    pub verbatim: usize,
    /// True if store and index were rebuilt.
    pub rebuilt: bool,
    /// True if vectors of what was taken out may be left.
    pub vectors_left: bool,
    /// Other files that were rewritten.
    pub files: Vec<String>,
    /// Copies of the store that were removed.
    pub removed: Vec<String>,
    /// Places where something is left.
    pub left: Vec<TracePlace>,
    /// Places that could not be read.
    pub unread: Vec<UnreadPlace>,
    /// The notes of the vault, if there is one.
    pub vault: Option<VaultSettled>,
    /// Folders of projects whose summaries could not be written again.
    #[serde(skip)]
    pub folders_left: Vec<PathBuf>,
    /// True if nothing had to be changed.
    #[serde(skip)]
    pub is_nothing: bool,
    /// True if everything was scanned again.
    #[serde(skip)]
    pub is_checked: bool,
}

impl Applied {
    /// True if no note of the vault waits to be cleaned.
    pub fn are_notes_clean(&self) -> bool {
        self.vault.as_ref().is_none_or(VaultSettled::is_done)
    }

    /// Writes the summaries in projects again by the new rules.
    fn new(app: &App, report: RedactionReport, scan: Option<&Scan>) -> Result<Self> {
        let nothing = RedactionReport { verbatim: report.verbatim, ..RedactionReport::default() };
        Ok(Self {
            version: answer::VERSION,
            is_nothing: report == nothing,
            redacted: report.redacted.secrets,
            records: report.records,
            archived_files: report.rewritten,
            verbatim: report.verbatim,
            rebuilt: report.rebuilt,
            vectors_left: report.is_unswept,
            files: report.files,
            removed: report.removed,
            left: scan.map(places).unwrap_or_default(),
            unread: scan.map(unread).unwrap_or_default(),
            vault: None,
            folders_left: compaction::write_again(app, None)?,
            is_checked: scan.is_some(),
        })
    }

    /// Brings the notes of the vault in line, and counts the lines of people that hold what these rules match.
    fn with_vault(mut self, app: &App, redactor: &Redactor, call: Call<'_>) -> Result<Self> {
        self.vault = vault::settle(app, call);
        if let Some(settled) = &mut self.vault {
            settled.yours = vault::holding(app, redactor)?;
            settled.yours.retain(|note, _| !settled.waiting.contains(note));
            self.is_nothing &= settled.changed == 0;
        }
        Ok(self)
    }
}

fn places(scan: &Scan) -> Vec<TracePlace> {
    let place = |trace: &Trace| TracePlace {
        part: trace.part.as_str(),
        place: trace.place.clone(),
        session: trace.session.clone(),
        line: trace.line,
        found: trace.found.secrets.clone(),
        private: trace.found.private,
    };
    scan.traces.iter().map(place).collect()
}

fn unread(scan: &Scan) -> Vec<UnreadPlace> {
    let unread = scan.unread.iter();
    unread
        .map(|(place, message)| UnreadPlace { place: place.clone(), message: message.clone() })
        .collect()
}

/// Scans everything that is kept for text that the rules, and `text` if there is one, would remove. Changes nothing.
///
/// # Errors
/// Fails if `text` is too short or allowed by the settings, and if journal, archive or store cannot be read.
pub fn scan(app: &App, text: Option<&str>, call: Call<'_>) -> Result<Scanned> {
    let intake = looking_for(app, text)?;
    upgrade(app, call)?;
    let scan =
        intake.scan(&mut |done, total| call.progress().step(LOOKING, done, total, Unit::Files))?;
    Ok(Scanned {
        version: answer::VERSION,
        found: scan.found().secrets,
        verbatim: scan.verbatim,
        places: places(&scan),
        vault: vault::holding(app, intake.redactor())?,
        unread: unread(&scan),
    })
}

/// Takes out of everything that is kept what the rules, and `text` if there is one, match; then scans it again.
///
/// # Errors
/// As [`scan`], and if journal, archive or store cannot be written.
pub fn apply(app: &App, text: Option<&str>, call: Call<'_>) -> Result<Applied> {
    let intake = looking_for(app, text)?;
    upgrade(app, call)?;
    vault::drop_texts(app)?;
    let lock = call.lock(&intake)?;
    // The process that held the lock may have changed rules meanwhile.
    let intake = looking_for(app, text)?;
    let progress = &mut |done, total| call.progress().step(LOOKING, done, total, Unit::Files);
    let report = intake.apply_rules(&lock, progress)?;
    // A rule that spelled the text out is gone, and must go from the copy for hooks too.
    share_rules(app)?;
    let left = intake.scan(progress)?;
    drop(lock);
    Applied::new(app, report, Some(&left))?.with_vault(app, intake.redactor(), call)
}

/// The stage of a scan, in its progress.
const LOOKING: &str = "Looking through files";

/// Upgrades a store that an older version wrote: its texts are scanned in their new form.
fn upgrade(app: &App, call: Call<'_>) -> Result<()> {
    if app.layout.database().exists() {
        fresh::open(app, Freshness::Recorded, call)?;
    }
    Ok(())
}

/// Intake that takes a given text out as well.
fn looking_for(app: &App, text: Option<&str>) -> Result<Intake> {
    let intake = app.intake()?;
    let Some(text) = text.map(str::trim) else { return Ok(intake) };
    if text.len() < SHORTEST_TEXT {
        return Err(Trouble::invalid(format!(
            "a text of fewer than {SHORTEST_TEXT} characters occurs inside other words"
        ))
        .advise("give more of it, or describe it in a rule"));
    }
    let intake = intake.redacting(text)?;
    if intake.redactor().clean_text(text, &mut Report::default()).get() == text {
        return Err(Trouble::refused("your `redact.allow` says that this text is to be kept")
            .run("config show redact.allow", "shows it; take it out there first"));
    }
    Ok(intake)
}

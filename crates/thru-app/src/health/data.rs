//! The integrity of settings, journal, archive, store, index, and their versions.

use schemars::JsonSchema;
use serde::Serialize;
use thru_core::Layout;
use thru_intake::Finding as Verified;

use super::finding::{Finding, Level};
use super::seen::Seen;
use crate::words::{count, plural, size};

/// Remedy for the remains of a stopped intake.
const MENDS_ITSELF: &str = "it repairs itself at the next import";

/// Bytes on disk, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sizes {
    /// Bytes of the journal.
    pub journal: u64,
    /// Bytes of the archive.
    pub archive: u64,
    /// Bytes of the store.
    pub store: u64,
    /// Bytes of the text index.
    pub index: u64,
    /// Bytes of the vectors.
    pub vectors: u64,
    /// Bytes of everything.
    pub all: u64,
}

/// Returns the sizes of everything on disk.
pub fn sizes(layout: &Layout) -> Sizes {
    let mut sizes = Sizes::default();
    let (journal, archive) = (layout.journal(), layout.archive());
    let (index, vectors) = (layout.index(), layout.vectors());
    let database = layout.database();
    let store = ["db", "db-wal", "db-shm"].map(|kind| database.with_extension(kind));
    super::files::walk(layout.root(), &mut |path, metadata| {
        if !metadata.is_file() {
            return;
        }
        let part = match path {
            path if path.starts_with(&archive) => &mut sizes.archive,
            path if path.starts_with(&journal) => &mut sizes.journal,
            path if path.starts_with(&index) => &mut sizes.index,
            path if path.starts_with(&vectors) => &mut sizes.vectors,
            path if store.iter().any(|file| file == path) => &mut sizes.store,
            _ => &mut 0,
        };
        *part += metadata.len();
        sizes.all += metadata.len();
    });
    sizes
}

/// Parts of the settings without effect.
pub(super) fn configuration(seen: &Seen<'_>) -> Vec<Finding> {
    const CHECK: &str = "settings";
    let environment = seen.app;
    let remedy = "correct the file; `thru config show` lists the settings";
    let mut findings: Vec<Finding> = environment
        .notes
        .iter()
        .map(|note| match (note.is_only_a_word(), note.is_of_project()) {
            (true, _) => Finding::note(CHECK, note.to_string(), "nothing has to be done"),
            (_, true) => Finding::note(CHECK, note.to_string(), remedy),
            (_, false) => Finding::problem(CHECK, note.to_string(), remedy),
        })
        .collect();
    if let Err(error) = &seen.intake {
        findings.push(Finding::problem(CHECK, error, "until then nothing can be read or stored"));
    }
    if findings.is_empty() {
        let set = environment.config.all().filter(|s| s.origin != thru_config::Origin::Default);
        let line = match set.count() {
            0 => "all defaults".to_owned(),
            set => format!("{} changed, all understood", plural(set as u64, "setting")),
        };
        findings.push(Finding::ok(CHECK, line));
    }
    findings
}

/// Returns the finding for one part of the data.
fn part(
    seen: &Seen<'_>,
    check: &'static str,
    whole: String,
    no_harm: &str,
    is_of: &dyn Fn(&str) -> bool,
) -> Finding {
    const MORE_SHOWN: usize = 1;
    let verified = match &seen.verified {
        Ok(Some(verified)) => verified,
        Ok(None) => {
            let line = "not checked: another `thru` is writing";
            return Finding::note(check, line, "run `thru doctor` again in a moment");
        }
        Err(error) => {
            return Finding::problem(check, error, "`thru verify` says more");
        }
    };
    let mut found: Vec<&Verified> =
        verified.findings.iter().filter(|finding| is_of(&finding.place)).collect();
    found.sort_by_key(|finding| !finding.serious);
    let Some(first) = found.first() else { return Finding::ok(check, whole) };
    let more = match found.len() - MORE_SHOWN {
        0 => String::new(),
        more => format!("; {} more", count(more as u64)),
    };
    let line = format!("{}: {}{more}", first.place, first.message);
    match first.serious {
        true => Finding::problem(check, line, ""),
        false => Finding::note(check, line, no_harm),
    }
}

/// The same with what to do where something is broken.
fn advised(finding: Finding, remedy: &str) -> Finding {
    match finding.level {
        Level::Problem => Finding { remedy: Some(remedy.to_owned()), ..finding },
        _ => finding,
    }
}

/// Damaged records of the journal.
pub(super) fn journal(seen: &Seen<'_>) -> Finding {
    let records = match &seen.verified {
        Ok(Some(verified)) => verified.journal_records,
        _ => 0,
    };
    let whole = format!("{}, all whole", plural(records, "record"));
    advised(
        part(
            seen,
            "journal",
            whole,
            "`thru journal verify` says what it means; nothing has to be done",
            &|place| place == "journal",
        ),
        "nothing is repaired silently; intact parts are used. Put the file back from a backup if you \
         have one",
    )
}

/// The size of the journal against its cap. Nothing is ever dropped for it.
pub(super) fn journal_size(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "journal size";
    let cap = seen.app.config.journal.alarm_mb.bytes();
    let bytes = sizes(&seen.app.layout).journal;
    match bytes > cap {
        true => Finding::problem(
            CHECK,
            format!("{}, beyond its cap of {}; nothing is dropped", size(bytes), size(cap)),
            "`thru journal stats` says what takes the space; raise `journal.alarm_mb` if that is expected",
        ),
        false => Finding::ok(CHECK, format!("{}; an alarm comes at {}", size(bytes), size(cap))),
    }
}

/// Damaged lines of the archive.
pub(super) fn archive(seen: &Seen<'_>) -> Finding {
    let whole = match &seen.verified {
        Ok(Some(verified)) => format!(
            "{} in {}, all whole",
            plural(verified.archived_lines, "line"),
            plural(verified.archived_files, "file")
        ),
        _ => String::new(),
    };
    advised(
        part(seen, "archive", whole, MENDS_ITSELF, &|place| place.starts_with("archive/")),
        "`thru verify` lists all; the other lines can be read. Put the file back from a backup if you \
         have one, then `thru rebuild`",
    )
}

/// Damage of the store, and its differences from the archive.
pub(super) fn store(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "store";
    let rebuild = "`thru rebuild` rebuilds it from journal and archive; nothing is lost";
    match &seen.store {
        Err(error) => Finding::problem(CHECK, error, rebuild),
        Ok(None) => match seen.verified.as_ref().ok().and_then(Option::as_ref) {
            Some(verified) if verified.archived_files > 0 => {
                Finding::problem(CHECK, "there is none, but there is an archive", rebuild)
            }
            _ => Finding::note(CHECK, "nothing imported yet", "`thru import` reads what is there"),
        },
        Ok(Some(store)) => {
            let whole = store.counts().map_or_else(
                |error| error.to_string(),
                |counts| {
                    format!(
                        "{} of {}",
                        plural(counts.passages, "passage"),
                        plural(counts.sessions, "session")
                    )
                },
            );
            advised(part(seen, CHECK, whole, MENDS_ITSELF, &|place| place == "memory.db"), rebuild)
        }
    }
}

/// Differences of the index from the store.
pub(super) fn index(seen: &Seen<'_>) -> Finding {
    let whole = match &seen.verified {
        Ok(Some(verified)) => format!(
            "{} and {}",
            plural(verified.indexed, "passage"),
            plural(verified.memories, "memory")
        ),
        _ => String::new(),
    };
    advised(
        part(seen, "index", whole, MENDS_ITSELF, &|place| place == "index"),
        "`thru rebuild` rebuilds store and index; nothing is lost",
    )
}

/// Texts that were cleaned by the rules of an older version.
pub(super) fn rules(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "redaction";
    let (Ok(intake), Ok(Some(store))) = (&seen.intake, &seen.store) else {
        return Finding::ok(CHECK, "nothing is stored yet");
    };
    match store.redactor() {
        Ok(Some(rules)) if rules == intake.redactor().fingerprint() => {
            Finding::ok(CHECK, "everything was cleaned by the current rules")
        }
        _ => Finding::note(
            CHECK,
            "some stored text was cleaned by older rules",
            "the daemon cleans it again when idle; `thru redact --apply` does it at once",
        ),
    }
}

/// Records of hooks that are not ingested yet.
pub(super) fn pending(seen: &Seen<'_>) -> Finding {
    const CHECK: &str = "waiting";
    let (Ok(intake), Ok(store)) = (&seen.intake, &seen.store) else {
        return Finding::ok(CHECK, "not checked");
    };
    match intake.pending(store.as_ref()) {
        Err(error) => Finding::problem(CHECK, error.to_string(), "`thru verify` says more"),
        Ok(pending) if pending.records == 0 => {
            Finding::ok(CHECK, "everything in the journal is in the store")
        }
        Ok(pending) => Finding::note(
            CHECK,
            format!("{} of the journal not in the store yet", plural(pending.records, "record")),
            "they get there when a session ends, or with `thru import`",
        ),
    }
}

/// Versions of the program, the agent and the formats.
pub(super) fn versions(seen: &Seen<'_>) -> Finding {
    let schema = match &seen.store {
        Ok(Some(store)) => store.schema_version().unwrap_or_default(),
        _ => thru_store::SCHEMA_VERSION,
    };
    let mut line = format!("thru {}, schema {schema}", env!("CARGO_PKG_VERSION"));
    if let Some((agent, version)) = agent_version(seen) {
        line.push_str(&format!(", {agent} {version} in the last session"));
    }
    match schema == thru_store::SCHEMA_VERSION {
        true => Finding::ok("versions", line),
        false => Finding::note("versions", line, "the next command that reads upgrades the store"),
    }
}

/// Returns the agent of the latest session, and its version.
pub(super) fn agent_version(seen: &Seen<'_>) -> Option<(&'static str, String)> {
    let store = seen.store.as_ref().ok()?.as_ref()?;
    let latest = thru_store::SessionFilter { limit: Some(1), ..Default::default() };
    let session = store.sessions(&latest).ok()?.pop()?;
    Some((session.key.agent.display_name(), session.facts.version?))
}

//! The verbs with which agents report their work, and the kind of work that each implies.

use thru_core::ObservationType;

/// Past tense and the imperative for a title, sorted by the first.
#[rustfmt::skip]
const PAST: [(&str, &str); 155] = [
    ("added", "Add"), ("addressed", "Address"), ("adjusted", "Adjust"), ("aligned", "Align"),
    ("allowed", "Allow"), ("annotated", "Annotate"), ("appended", "Append"), ("applied", "Apply"),
    ("archived", "Archive"), ("batched", "Batch"), ("bound", "Bind"), ("broke", "Break"),
    ("built", "Build"), ("bumped", "Bump"), ("bundled", "Bundle"), ("cached", "Cache"),
    ("capped", "Cap"), ("captured", "Capture"), ("centralised", "Centralise"),
    ("centralized", "Centralize"), ("changed", "Change"), ("clarified", "Clarify"),
    ("cleaned", "Clean"), ("cleared", "Clear"), ("combined", "Combine"),
    ("configured", "Configure"), ("connected", "Connect"), ("consolidated", "Consolidate"),
    ("converted", "Convert"), ("copied", "Copy"), ("corrected", "Correct"), ("covered", "Cover"),
    ("created", "Create"), ("cut", "Cut"), ("debounced", "Debounce"), ("decoupled", "Decouple"),
    ("deduplicated", "Deduplicate"), ("defined", "Define"), ("deleted", "Delete"),
    ("deployed", "Deploy"), ("deprecated", "Deprecate"), ("disabled", "Disable"),
    ("documented", "Document"), ("downgraded", "Downgrade"), ("drafted", "Draft"),
    ("dropped", "Drop"), ("eliminated", "Eliminate"), ("enabled", "Enable"),
    ("encrypted", "Encrypt"), ("enforced", "Enforce"), ("enhanced", "Enhance"),
    ("ensured", "Ensure"), ("escaped", "Escape"), ("excluded", "Exclude"), ("expanded", "Expand"),
    ("exported", "Export"), ("exposed", "Expose"), ("extended", "Extend"), ("extracted", "Extract"),
    ("fixed", "Fix"), ("formatted", "Format"), ("generated", "Generate"), ("guarded", "Guard"),
    ("handled", "Handle"), ("hardened", "Harden"), ("hid", "Hide"), ("hooked", "Hook"),
    ("ignored", "Ignore"), ("implemented", "Implement"), ("improved", "Improve"),
    ("included", "Include"), ("increased", "Increase"), ("inlined", "Inline"),
    ("inserted", "Insert"), ("installed", "Install"), ("integrated", "Integrate"),
    ("introduced", "Introduce"), ("isolated", "Isolate"), ("limited", "Limit"), ("linked", "Link"),
    ("logged", "Log"), ("loosened", "Loosen"), ("lowered", "Lower"), ("made", "Make"),
    ("mapped", "Map"), ("marked", "Mark"), ("merged", "Merge"), ("migrated", "Migrate"),
    ("modified", "Modify"), ("moved", "Move"), ("narrowed", "Narrow"), ("normalised", "Normalise"),
    ("normalized", "Normalize"), ("optimised", "Optimise"), ("optimized", "Optimize"),
    ("organized", "Organize"), ("overhauled", "Overhaul"), ("parsed", "Parse"),
    ("patched", "Patch"), ("persisted", "Persist"), ("pinned", "Pin"), ("ported", "Port"),
    ("prevented", "Prevent"), ("published", "Publish"), ("raised", "Raise"), ("rebased", "Rebase"),
    ("rebuilt", "Rebuild"), ("redesigned", "Redesign"), ("reduced", "Reduce"),
    ("refactored", "Refactor"), ("regenerated", "Regenerate"), ("registered", "Register"),
    ("relaxed", "Relax"), ("removed", "Remove"), ("renamed", "Rename"), ("reordered", "Reorder"),
    ("reorganized", "Reorganize"), ("repaired", "Repair"), ("replaced", "Replace"),
    ("resolved", "Resolve"), ("restored", "Restore"), ("restructured", "Restructure"),
    ("retired", "Retire"), ("reverted", "Revert"), ("reworked", "Rework"), ("rewrote", "Rewrite"),
    ("scaffolded", "Scaffold"), ("secured", "Secure"), ("separated", "Separate"),
    ("shortened", "Shorten"), ("simplified", "Simplify"), ("skipped", "Skip"), ("sorted", "Sort"),
    ("split", "Split"), ("stopped", "Stop"), ("stored", "Store"), ("streamlined", "Streamline"),
    ("stripped", "Strip"), ("surfaced", "Surface"), ("swapped", "Swap"), ("switched", "Switch"),
    ("synced", "Sync"), ("taught", "Teach"), ("tightened", "Tighten"), ("trimmed", "Trim"),
    ("turned", "Turn"), ("tweaked", "Tweak"), ("unified", "Unify"), ("updated", "Update"),
    ("upgraded", "Upgrade"), ("validated", "Validate"), ("widened", "Widen"), ("wired", "Wire"),
    ("wrapped", "Wrap"), ("wrote", "Write"),
];

/// Imperatives that are not in [`PAST`]: requests.
#[rustfmt::skip]
const ASKED: [&str; 70] = [
    "brainstorm", "reconcile",
    "filter", "show", "upload", "track", "detect", "render", "parse", "unblock", "let", "display",
    "send", "load", "save", "select", "retry", "respect", "require", "reject", "record", "report",
    "warn", "wait", "analyse", "analyze", "audit", "bring", "check", "commit", "compare",
    "continue", "debug", "design", "do", "evaluate", "execute", "explain", "explore", "figure",
    "find", "finish", "generate", "get", "give", "help", "investigate", "keep", "look", "open",
    "plan", "polish", "prepare", "push", "put", "read", "rebase", "release", "research", "review",
    "run", "search", "set", "start", "support", "summarize", "test", "try", "verify",
    "ship",
];

/// Returns the imperative of a verb in the past tense.
pub(crate) fn imperative(past: &str) -> Option<&'static str> {
    let word = past.trim_end_matches([',', ':']).to_ascii_lowercase();
    let at = PAST.binary_search_by(|(known, _)| known.cmp(&word.as_str())).ok()?;
    PAST.get(at).map(|(_, imperative)| *imperative)
}

/// Returns true if the word is an imperative that begins a request.
pub(crate) fn is_imperative(word: &str) -> bool {
    let word = word.trim_end_matches([',', ':', '.']);
    PAST.iter().any(|(_, known)| known.eq_ignore_ascii_case(word))
        || ASKED.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns the imperative of a verb in `-ing`, as in announcements.
pub(crate) fn imperative_of_gerund(word: &str) -> Option<&'static str> {
    let stem = word.strip_suffix("ing").or_else(|| word.strip_suffix("Ing"))?;
    let mut ends = stem.chars().rev();
    let doubled = match (ends.next(), ends.next(), ends.next()) {
        (Some(last), Some(before), Some(_)) if last == before => Some(last),
        _ => None,
    };
    let undoubled = doubled.and_then(|last| stem.strip_suffix(last)).unwrap_or(stem);
    PAST.iter().map(|(_, known)| *known).find(|known| {
        known.eq_ignore_ascii_case(stem)
            || known.eq_ignore_ascii_case(undoubled)
            || known.strip_suffix('e').is_some_and(|known| known.eq_ignore_ascii_case(stem))
    })
}

/// Returns the kind of work implied by the first verb of a title.
pub(crate) fn kind_of(title: &str) -> Option<ObservationType> {
    #[rustfmt::skip]
    const FEATURE: [&str; 12] = [
        "add", "implement", "create", "introduce", "build", "support", "enable", "expose",
        "integrate", "insert", "scaffold", "allow",
    ];
    const BUGFIX: [&str; 8] =
        ["fix", "resolve", "correct", "repair", "patch", "prevent", "debug", "hotfix"];
    #[rustfmt::skip]
    const REFACTOR: [&str; 24] = [
        "refactor", "rename", "extract", "move", "simplify", "clean", "consolidate", "split",
        "reorganize", "restructure", "unify", "deduplicate", "inline", "centralize", "centralise",
        "rework", "optimize", "optimise", "convert", "migrate", "replace", "decouple",
        "streamline", "separate",
    ];
    // "H1: Fix x" is about fixing.
    let title = match title.split_once(": ") {
        Some((label, rest)) if !label.contains(' ') => rest,
        _ => title,
    };
    let word: String =
        title.chars().take_while(|c| c.is_alphabetic()).collect::<String>().to_ascii_lowercase();
    let word = word.as_str();
    if BUGFIX.contains(&word) {
        return Some(ObservationType::Bugfix);
    }
    if FEATURE.contains(&word) {
        return Some(ObservationType::Feature);
    }
    REFACTOR.contains(&word).then_some(ObservationType::Refactor)
}

/// Returns true if a title begins with a verb that only says that something changed.
pub(crate) fn is_mere_change(title: &str) -> bool {
    const CHANGE: [&str; 12] = [
        "update", "change", "switch", "reduce", "improve", "write", "run", "remove", "adjust",
        "increase", "delete", "drop",
    ];
    let word = title.split_whitespace().next().unwrap_or_default();
    CHANGE.iter().any(|change| change.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(PAST.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn verbs_become_imperatives() {
        assert_eq!(imperative("Fixed"), Some("Fix"));
        assert_eq!(imperative("rewrote"), Some("Rewrite"));
        assert_eq!(imperative("table"), None);
        assert_eq!(imperative_of_gerund("Removing"), Some("Remove"));
        assert_eq!(imperative_of_gerund("Splitting"), Some("Split"));
        assert_eq!(imperative_of_gerund("Adding"), Some("Add"));
        assert_eq!(imperative_of_gerund("string"), None);
        for word in ["补充ing", "バッグッing", "ééing", "中中ing", "ing", "ssing"] {
            assert_eq!(imperative_of_gerund(word), None, "{word}");
        }
    }
}

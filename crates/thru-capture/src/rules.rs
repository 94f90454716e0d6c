//! The user's rules of redaction where hooks can read them at once: a copy of what the journal says.

use std::collections::BTreeMap;

use thru_core::Layout;
use thru_journal::files;
use thru_redact::{Redactor, UserRule};

/// Writes the copy; removes it where there are no rules.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn write(layout: &Layout, rules: &BTreeMap<String, String>) -> thru_journal::Result<()> {
    let path = layout.rules();
    if rules.is_empty() {
        return files::remove(&path).map(drop);
    }
    let text = serde_json::to_vec(rules).unwrap_or_default();
    if std::fs::read(&path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    files::create_dir_private(layout.root())?;
    files::replace(&path, &text)
}

/// The redactor of a hook: the built-in rules, the user's, and what the user allows. A rule that cannot
/// be used does not keep the others from being.
pub fn redactor(layout: &Layout, allow: &[String]) -> Redactor {
    let rules: BTreeMap<String, String> = std::fs::read(layout.rules())
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    if rules.is_empty() && allow.is_empty() {
        return Redactor::builtin();
    }
    let rules: Vec<UserRule> =
        rules.into_iter().map(|(name, pattern)| UserRule { name, pattern }).collect();
    Redactor::new(&rules, allow)
        .or_else(|_| Redactor::new(&rules, &[]))
        .unwrap_or_else(|_| Redactor::builtin())
}

//! The vault, where there is one.

use super::finding::Finding;
use super::seen::Seen;
use crate::vault::{attention, summary};

/// The state of the vault.
pub(super) fn vault(seen: &Seen<'_>) -> Option<Finding> {
    let summary = summary(seen.app)?;
    Some(match attention(seen.app) {
        None => Finding::ok("vault", summary),
        Some(attention) => Finding::note(
            "vault",
            attention,
            "`thru vault` says what is pending and what to do; memory keeps everything",
        ),
    })
}

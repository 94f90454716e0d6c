//! Counts of what was redacted. They must never contain any of the removed text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts of what the redactor removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The number of removed secrets by rule name.
    pub secrets: BTreeMap<String, u64>,
    /// The number of removed private passages and blanked records. Text between system tags, which
    /// Throughline itself inserted, is not counted.
    pub private: u64,
}

impl Report {
    /// Adds the counts of another report.
    pub fn merge(&mut self, other: &Self) {
        for (rule, count) in &other.secrets {
            *self.secrets.entry(rule.clone()).or_default() += count;
        }
        self.private += other.private;
    }

    /// True if nothing was removed.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty() && self.private == 0
    }

    pub(crate) fn count_secret(&mut self, rule: &str) {
        if let Some(count) = self.secrets.get_mut(rule) {
            *count += 1;
        } else {
            self.secrets.insert(rule.to_owned(), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_up() {
        let mut report = Report::default();
        assert!(report.is_empty());
        report.count_secret("jwt");
        let mut other = Report { private: 2, ..Report::default() };
        other.count_secret("jwt");
        other.count_secret("password");
        report.merge(&other);
        assert_eq!(report.secrets["jwt"], 2);
        assert_eq!(report.secrets["password"], 1);
        assert_eq!(report.private, 2);
        assert!(!report.is_empty());
    }
}

//! Statements that record where work went: worded here, and known again by that wording.

/// A kind of record of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkRecord {
    /// A commit that was made.
    Commit,
    /// A pull request that was opened.
    PullRequest,
    /// A list of tasks as it stood.
    Tasks,
}

impl WorkRecord {
    const ALL: [Self; 3] = [Self::Commit, Self::PullRequest, Self::Tasks];

    /// Returns the words that every statement of this kind begins with.
    const fn opening(self) -> &'static str {
        match self {
            Self::Commit => "Committed",
            Self::PullRequest => "Opened pull request ",
            Self::Tasks => "Tasks: ",
        }
    }

    /// Returns the statement of this kind that ends with `rest`.
    pub fn statement(self, rest: &str) -> String {
        format!("{}{rest}", self.opening())
    }

    /// Returns the kind of a statement that records work.
    pub fn of(statement: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| statement.starts_with(kind.opening()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_known_by_its_own_wording() {
        for kind in WorkRecord::ALL {
            assert_eq!(WorkRecord::of(&kind.statement("x")), Some(kind));
        }
        assert_eq!(WorkRecord::of("Retries uploads that fail"), None);
    }
}

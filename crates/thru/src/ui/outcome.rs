//! The outcome of a command, and its exit status.

/// The end of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Found, or done.
    Done,
    /// Nothing found.
    Nothing,
    /// Something is wrong, and the page says what.
    Wrong,
    /// The user stopped it.
    Interrupted,
}

impl Outcome {
    /// The outcome of looking for something.
    pub(crate) const fn found(is_found: bool) -> Self {
        if is_found { Self::Done } else { Self::Nothing }
    }

    /// The exit status.
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Nothing => 1,
            Self::Wrong => 2,
            Self::Interrupted => 130,
        }
    }
}

//! `thru capture pause`: hooks keep nothing until a time, or until the user resumes.

use std::fs;
use std::path::PathBuf;

use thru_core::{Layout, Timestamp};

/// A pause of recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until this moment.
    Until(Timestamp),
    /// Until the user resumes.
    Open,
}

impl Pause {
    /// Its end, where one is set.
    pub const fn end(self) -> Option<Timestamp> {
        match self {
            Self::Until(end) => Some(end),
            Self::Open => None,
        }
    }
}

fn path(layout: &Layout) -> PathBuf {
    layout.run().join("paused")
}

/// The pause that holds now, if one does. A file that cannot be understood counts as a pause: too
/// little is kept, never too much.
pub fn current(layout: &Layout, now: Timestamp) -> Option<Pause> {
    let text = fs::read_to_string(path(layout)).ok()?;
    match text.trim().parse::<Timestamp>() {
        Ok(until) if until <= now => None,
        Ok(until) => Some(Pause::Until(until)),
        Err(_) => Some(Pause::Open),
    }
}

/// Pauses.
///
/// # Errors
/// Returns an error if the note cannot be written.
pub fn set(layout: &Layout, pause: Pause) -> thru_journal::Result<()> {
    thru_journal::files::create_dir_private(&layout.run())?;
    let text = match pause {
        Pause::Until(until) => until.to_string(),
        Pause::Open => "open".to_owned(),
    };
    thru_journal::files::replace(&path(layout), text.as_bytes())
}

/// Resumes; returns true if there was a pause.
///
/// # Errors
/// Returns an error if the note cannot be removed.
pub fn clear(layout: &Layout) -> thru_journal::Result<bool> {
    thru_journal::files::remove(&path(layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_by_itself_or_when_told() {
        let home = tempfile::tempdir().unwrap();
        let layout = Layout::new(home.path());
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(current(&layout, at(0)), None);
        set(&layout, Pause::Until(at(10))).unwrap();
        assert_eq!(current(&layout, at(9)), Some(Pause::Until(at(10))));
        assert_eq!(current(&layout, at(10)), None);
        set(&layout, Pause::Open).unwrap();
        assert_eq!(current(&layout, at(99)), Some(Pause::Open));
        assert!(clear(&layout).unwrap());
        assert!(!clear(&layout).unwrap());
        assert_eq!(current(&layout, at(99)), None);
    }
}

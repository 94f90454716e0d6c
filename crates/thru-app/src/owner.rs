//! The owner of the home and of its settings: a memory that another user may write is not this user's.

use std::fs::Metadata;
use std::path::Path;

use crate::app::App;
use crate::trouble::{Result, Trouble};

/// What to do about a file that is not its user's alone.
pub(crate) const TAKE_OVER: &str = "take it over with `chown` and `chmod go-w`, or set THROUGHLINE_HOME to a directory of your own";

impl App {
    /// Refuses a home, or a configuration file, that another user owns or may write.
    ///
    /// # Errors
    /// Fails if another user owns or may write one of them.
    pub fn refuse_foreign(&self) -> Result<()> {
        // Not every system has users that can be told apart.
        if self.machine.user.is_empty() {
            return Ok(());
        }
        for path in [self.layout.root(), self.config_file.as_path()] {
            let Ok(metadata) = path.metadata() else { continue };
            if let Some(reason) = is_foreign(&metadata, &self.machine.user) {
                return Err(foreign(path, reason));
            }
        }
        Ok(())
    }
}

fn foreign(path: &Path, reason: &str) -> Trouble {
    Trouble::refused(format!("{} {reason}", path.display())).advise(TAKE_OVER)
}

/// Returns the reason why a file is not its user's alone. A group of the user's own number is the user's.
#[cfg(unix)]
fn is_foreign(metadata: &Metadata, user: &str) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let is_own = |id: u32| user == id.to_string();
    let writable = metadata.mode();
    if !is_own(metadata.uid()) {
        return Some("belongs to another user");
    }
    let by_others = writable & 0o002 != 0 || (writable & 0o020 != 0 && !is_own(metadata.gid()));
    by_others.then_some("may be written by other users")
}

#[cfg(not(unix))]
fn is_foreign(_metadata: &Metadata, _user: &str) -> Option<&'static str> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn what_other_users_own_or_may_write_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let reason = |mode: u32, user: Option<&str>| {
            fs::set_permissions(home.path(), Permissions::from_mode(mode)).unwrap();
            let metadata = home.path().metadata().unwrap();
            let own = metadata.uid().to_string();
            is_foreign(&metadata, user.unwrap_or(&own))
        };
        assert_eq!(reason(0o700, None), None);
        assert_eq!(reason(0o755, None), None);
        assert_eq!(reason(0o757, None), Some("may be written by other users"));
        assert_eq!(reason(0o700, Some("4294967294")), Some("belongs to another user"));
    }
}

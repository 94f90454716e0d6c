//! Restores a session's files to where its agent can resume it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use thru_agents::agents;
use thru_core::{SessionKey, SourceKind};
use thru_journal::archive::{ArchiveReader, EntryName, SourcePosition};
use thru_store::{SessionFilter, Store};

use crate::{Intake, IntakeError, IntakeLock, Result};

/// Counts of a restored session.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Restored {
    /// The files, the transcript itself first.
    pub files: Vec<PathBuf>,
    /// Files that existed already and were left alone.
    pub kept: Vec<PathBuf>,
    /// Bytes written.
    pub bytes: u64,
    /// The directory that the session ran in, from which it can be resumed.
    pub directory: Option<String>,
}

impl Intake {
    /// Writes a session's files back below the agent's home: never over an existing file, never through a
    /// link that leads elsewhere. They get a new modification time, because agents delete by that. The
    /// archive notes the current end of each file, so that an import reads only what the agent adds.
    ///
    /// # Errors
    /// Fails if the session or its transcript does not exist in the archive, its transcript exists at the
    /// agent already, or it cannot be written.
    pub fn restore(&self, _lock: &IntakeLock, key: &SessionKey, home: &Path) -> Result<Restored> {
        let store = Store::open_to_read(&self.layout)?;
        let no_session = || IntakeError::NoSession(key.id.as_str().to_owned());
        let not_archived = || IntakeError::NotArchived(key.id.as_str().to_owned());
        let filter = SessionFilter {
            id_prefix: Some(key.id.as_str().to_owned()),
            ..SessionFilter::default()
        };
        let session = store
            .sessions(&filter)?
            .into_iter()
            .find(|session| session.key == *key)
            .ok_or_else(no_session)?;
        let mut restored =
            Restored { directory: session.facts.directory.clone(), ..Restored::default() };
        let sources = store.sources_of_session(session.row)?;
        for source in sources.into_iter().filter(|source| source.kind != SourceKind::Hooks) {
            let entry = EntryName::new(&source.entry).map_err(|_| no_session())?;
            let path = Path::new(&source.path);
            let mut target = agents::restore_path(key.agent, home, path, &source.entry)?;
            if source.kind == SourceKind::Main
                && let Some(directory) = &restored.directory
            {
                target = agents::path_by_id(key, home, path, directory).unwrap_or(target);
            }
            if fs::symlink_metadata(&target).is_ok() {
                if source.kind == SourceKind::Main && !self.is_copy_of(&entry, &target)? {
                    return Err(IntakeError::Exists(target));
                }
                restored.kept.push(target);
                continue;
            }
            let reader = self.archive.reader(&entry)?.ok_or_else(not_archived)?;
            restored.bytes += self.restore_file(&entry, reader, home, &target)?;
            restored.files.push(target);
        }
        match (restored.files.is_empty(), restored.kept.first()) {
            (true, Some(kept)) => Err(IntakeError::Exists(kept.clone())),
            (true, None) => Err(IntakeError::NoTranscript(key.id.as_str().to_owned())),
            (false, _) => Ok(restored),
        }
    }

    /// Returns true if a file begins as the archived one did: then it is that transcript, and only the
    /// files that belong to it may be missing.
    fn is_copy_of(&self, entry: &EntryName, file: &Path) -> Result<bool> {
        let position = self.archive.reader(entry)?.and_then(|reader| reader.position().copied());
        let io = |source| IntakeError::io(file, source);
        let mut file = fs::File::open(file).map_err(io)?;
        position.map_or(Ok(false), |position| position.fits(&mut file).map_err(io))
    }

    fn restore_file(
        &self,
        entry: &EntryName,
        mut reader: ArchiveReader,
        root: &Path,
        target: &Path,
    ) -> Result<u64> {
        let io = |source| IntakeError::io(target, source);
        let directory = target.parent().unwrap_or(root);
        refuse_link_outside(root, directory)?;
        fs::create_dir_all(directory).map_err(io)?;
        // Written beside it first, so that a file that exists is complete.
        let mut unfinished = target.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let mut file = thru_journal::files::private(&mut options).open(&unfinished).map_err(io)?;
        let mut content_ends = (Vec::new(), Vec::new());
        let mut written = 0;
        for lines in reader.blocks_from(0) {
            let lines = lines?;
            file.write_all(&lines.bytes).map_err(io)?;
            written += lines.bytes.len() as u64;
            let width = thru_journal::archive::FINGERPRINTED_BYTES as usize;
            let (head, tail) = &mut content_ends;
            head.extend(lines.bytes.iter().take(width.saturating_sub(head.len())));
            tail.extend_from_slice(&lines.bytes[lines.bytes.len().saturating_sub(width)..]);
            let excess = tail.len().saturating_sub(width);
            tail.drain(..excess);
        }
        file.sync_all().map_err(io)?;
        drop(file);
        // Unlike a rename, a hard link never replaces a file that was created meanwhile.
        let linked = fs::hard_link(&unfinished, target);
        fs::remove_file(&unfinished).map_err(io)?;
        linked.map_err(io)?;
        let (head, tail) = content_ends;
        let info = reader.info().cloned();
        let carry = reader.carry().map(str::to_owned);
        drop(reader);
        if let Some(info) = info
            && info.kind != SourceKind::Attachment
        {
            let mut appender = self.archive.appender(entry, &info)?;
            appender.mark(SourcePosition::after(written, &head, &tail), carry)?;
        }
        Ok(written)
    }
}

/// Refuses to write through a link that leads out of the agent's directory.
fn refuse_link_outside(root: &Path, directory: &Path) -> Result<()> {
    let io = |source| IntakeError::io(directory, source);
    fs::create_dir_all(root).map_err(io)?;
    let existing = directory.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(root);
    let real = fs::canonicalize(existing).map_err(io)?;
    if real.starts_with(fs::canonicalize(root).map_err(io)?) {
        return Ok(());
    }
    Err(io(std::io::Error::other("a link leads out of the agent's directory")))
}

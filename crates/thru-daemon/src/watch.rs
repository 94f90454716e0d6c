//! Watches folders, by events of the system if possible, else by polling. `thru daemon status` shows which,
//! and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::ModifyKind;
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::mailbox::Mailbox;
use crate::paths::{FileVersion, file_version};
use crate::work::News;

/// Folders, each with the id it had when last watched; `None` if it is gone.
type Folders = BTreeMap<PathBuf, Option<FileVersion>>;

/// The watched folders.
pub(crate) struct Watching {
    mailbox: Arc<Mailbox>,
    watcher: Option<RecommendedWatcher>,
    /// Shared with the watcher, which sees folders go.
    folders: Arc<Mutex<Folders>>,
    /// The reason for polling.
    polling: Option<String>,
    enabled: bool,
}

impl Watching {
    pub(crate) fn new(mailbox: Arc<Mailbox>, enabled: bool) -> Self {
        let mut watching = Self {
            mailbox,
            watcher: None,
            folders: Arc::default(),
            polling: (!enabled).then(|| "watching is switched off".to_owned()),
            enabled,
        };
        watching.begin();
        watching
    }

    /// Returns the reason for polling, if files are polled.
    pub(crate) fn polling(&self) -> Option<&str> {
        self.polling.as_deref()
    }

    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        open(&self.folders).keys().cloned().collect()
    }

    /// Returns true if a folder to watch does not exist yet.
    pub(crate) fn misses_any(&self) -> bool {
        open(&self.folders).values().any(Option::is_none)
    }

    /// Watches these folders and stops watching all others.
    pub(crate) fn set(&mut self, folders: Vec<PathBuf>) {
        let known = self.folders();
        for folder in known.iter().filter(|known| !folders.contains(known)) {
            open(&self.folders).remove(folder);
            self.unwatch(folder);
        }
        for folder in folders.iter().filter(|folder| !known.contains(folder)) {
            open(&self.folders).insert(folder.clone(), None);
            self.watch(folder);
        }
    }

    /// Checks for removed, new and replaced folders; returns true if there are new ones.
    pub(crate) fn check(&mut self) -> bool {
        let changed: Vec<(PathBuf, bool)> = open(&self.folders)
            .iter()
            .filter_map(|(folder, known)| {
                let now = id_of(folder);
                (now != *known).then(|| (folder.clone(), now.is_some()))
            })
            .collect();
        for (folder, is_there) in &changed {
            self.unwatch(folder);
            open(&self.folders).insert(folder.clone(), None);
            if *is_there {
                self.watch(folder);
            }
        }
        changed.iter().any(|(_, is_there)| *is_there)
    }

    /// Switches to polling.
    pub(crate) fn give_up(&mut self, why: String) {
        self.watcher = None;
        self.polling = Some(why);
    }

    /// Retries folders that could not be watched.
    pub(crate) fn try_again(&mut self) {
        if self.enabled && self.polling.is_some() {
            self.polling = None;
            self.begin();
            for folder in self.folders() {
                self.watch(&folder);
            }
        }
    }

    fn begin(&mut self) {
        if !self.enabled {
            return;
        }
        let (mailbox, folders) = (Arc::clone(&self.mailbox), Arc::clone(&self.folders));
        let tell = move |event: notify::Result<Event>| match event {
            Ok(event) => note(event, &mailbox, &folders),
            Err(error) => mailbox.trouble(described(&error)),
        };
        // Links may lead anywhere, and their targets are not read either.
        let config = Config::default().with_follow_symlinks(false);
        match RecommendedWatcher::new(tell, config) {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => self.give_up(described(&error)),
        }
    }

    fn watch(&mut self, folder: &Path) {
        // Its id from before the watch, so that the next check notices a replacement in between.
        let Some(id) = id_of(folder) else { return };
        open(&self.folders).insert(folder.to_owned(), Some(id));
        if is_remote(folder) {
            let why = format!("{} lies on a network file system", folder.display());
            self.polling.get_or_insert(why);
        }
        let Some(watcher) = &mut self.watcher else { return };
        match watcher.watch(folder, RecursiveMode::Recursive) {
            Ok(()) => {}
            // Removed just now.
            Err(_) if id_of(folder).is_none() => {
                open(&self.folders).insert(folder.to_owned(), None);
            }
            Err(error) => self.give_up(described(&error)),
        }
    }

    fn unwatch(&mut self, folder: &Path) {
        if let Some(watcher) = &mut self.watcher {
            // A removed folder took its watch with it.
            let _ = watcher.unwatch(folder);
        }
    }
}

fn open(folders: &Mutex<Folders>) -> MutexGuard<'_, Folders> {
    folders.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes on changes. Accesses are no changes, and mostly our own.
fn note(event: Event, mailbox: &Mailbox, folders: &Mutex<Folders>) {
    use EventKind::{Access, Modify, Remove};
    if matches!(event.kind, Access(_) | Modify(ModifyKind::Metadata(_))) {
        return;
    }
    if matches!(event.kind, Remove(_) | Modify(ModifyKind::Name(_))) {
        // A watched folder that goes takes its watch with it, whatever replaces it.
        let mut folders = open(folders);
        for path in &event.paths {
            if let Some(known) = folders.get_mut(path) {
                *known = None;
            }
        }
    }
    match event.need_rescan() {
        true => mailbox.change(News::add_everything),
        false => mailbox.change(|news| event.paths.into_iter().for_each(|path| news.add(path))),
    }
}

fn described(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system allows no more watched folders (fs.inotify.max_user_watches)".to_owned()
        }
        notify::ErrorKind::Io(error) => format!("watching failed: {error}"),
        _ => "watching failed".to_owned(),
    }
}

/// Returns the id of the folder that is there now.
fn id_of(folder: &Path) -> Option<FileVersion> {
    let metadata = std::fs::metadata(folder).ok()?;
    metadata.is_dir().then(|| file_version(&metadata))
}

/// Returns true if other machines may write there without our system noticing.
fn is_remote(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        /// NFS, SMB (three ages of it), 9P, AFS, Ceph, Coda, FUSE.
        const REMOTE: [u64; 9] = [
            0x6969,
            0x517b,
            0xff53_4d42,
            0xfe53_4d42,
            0x0102_1997,
            0x5346_414f,
            0x00c3_6400,
            0x7375_7245,
            0x6573_5546,
        ];
        let kind = rustix::fs::statfs(folder).map(|system| system.f_type as u64 & 0xffff_ffff);
        kind.is_ok_and(|kind| REMOTE.contains(&kind))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

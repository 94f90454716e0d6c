//! Notes that the hooks of one session leave for each other: the number of prompts, what was injected
//! already, whether the turn that goes on is private.
//!
//! All of it is found again in the journal but the mark of a private turn, which is in a file of its
//! own so that the hooks of tools need only look whether it is there.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use thru_core::{Id, Layout, SessionKey, Timestamp};
use thru_journal::files;

/// Time that a hook waits for another one of its session.
const PATIENCE: Duration = Duration::from_millis(50);
/// Answers, prompts and memories that are remembered.
const ANSWERS: usize = 32;
const PROMPTS: usize = 8;
const MEMORIES: usize = 2_000;
/// Events that are alike within this time are one.
const AT_ONCE: i64 = 2_000;
/// The first line of the mark of private turns: one goes on, or the last one ended.
const GOES_ON: &str = "goes on";
const ENDED: &str = "ended";
/// Extension of the mark of a forgotten session. It stays for good.
const FORGOTTEN: &str = "forgotten";
/// After this time a session has no more use for its notes.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

/// The notes of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Notes {
    /// Prompts that were counted.
    prompts: u32,
    /// The last of them, by what they are known by, with the time (ms) and the number of each.
    counted: Vec<(Id, i64, u32)>,
    /// Events that were answered, by what they are known by, with the time (ms).
    answered: Vec<(Id, i64)>,
    /// Memories that the session was given and still has in its context.
    told: Vec<Id>,
    /// Time at which a turn last began or ended (ms).
    active: Option<i64>,
}

/// Whose it is to answer an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Ours.
    Ours {
        /// Time at which a turn of the session last began or ended before that, as far as hooks know.
        last: Option<Timestamp>,
    },
    /// Another copy of our hook was asked the same.
    Theirs,
}

/// A session, as hooks know it.
pub struct Session {
    path: PathBuf,
}

impl Session {
    /// The notes of a session. Its id is never part of a path.
    pub fn at(layout: &Layout, session: &SessionKey) -> Self {
        let name = Id::derive(&[session.agent.as_str().as_bytes(), session.id.as_str().as_bytes()]);
        Self { path: directory(layout).join(name.to_string()) }
    }

    /// True if something is private: the turn that goes on, or the turn of this prompt, whose work may go
    /// on in the background after it.
    pub fn is_private(&self, prompt: Option<&str>) -> bool {
        let Ok(mark) = fs::read_to_string(self.private_mark()) else { return false };
        let mut lines = mark.lines();
        lines.next() != Some(ENDED) || prompt.is_some_and(|prompt| lines.any(|line| line == prompt))
    }

    /// Begins a private turn, or ends one. The ids of prompts that were private are remembered.
    ///
    /// # Errors
    /// Returns an error if the mark cannot be written or removed.
    pub fn set_private(&self, private: bool, prompt: Option<&str>) -> thru_journal::Result<()> {
        let mark = self.private_mark();
        let known = fs::read_to_string(&mark).unwrap_or_default();
        if known.is_empty() && !private {
            return Ok(());
        }
        let prompts = known.lines().skip(1).chain(prompt.filter(|_| private));
        let prompts: Vec<&str> = prompts.collect();
        let prompts = &prompts[prompts.len().saturating_sub(ANSWERS)..];
        if prompts.is_empty() && !private {
            return files::remove(&mark).map(drop);
        }
        if let Some(directory) = mark.parent() {
            files::create_dir_private(directory)?;
        }
        let state = if private { GOES_ON } else { ENDED };
        files::replace(&mark, [&[state], prompts].concat().join("\n").as_bytes())
    }

    /// True if the user had the session forgotten.
    pub fn is_forgotten(&self) -> bool {
        self.forgotten_mark().exists()
    }

    /// Notes that the user had the session forgotten: should it go on, nothing of it is recorded.
    ///
    /// # Errors
    /// Returns an error if the mark cannot be written.
    pub fn set_forgotten(&self) -> thru_journal::Result<()> {
        if let Some(directory) = self.path.parent() {
            files::create_dir_private(directory)?;
        }
        files::replace(&self.forgotten_mark(), b"")
    }

    /// Notes an event that is to be answered, and says whose it is to answer it.
    pub fn claim(&self, event: Id, now: Timestamp) -> Claim {
        let now = now.as_millisecond();
        self.change(|notes| {
            let last = notes.active.replace(now);
            let same =
                |(known, at): &(Id, i64)| *known == event && now.abs_diff(*at) < AT_ONCE as u64;
            let is_ours = !notes.answered.iter().any(same);
            notes.answered.push((event, now));
            let old = notes.answered.len().saturating_sub(ANSWERS);
            notes.answered.drain(..old);
            let last = last.and_then(|last| Timestamp::from_millisecond(last).ok());
            if is_ours { Claim::Ours { last } } else { Claim::Theirs }
        })
        // Told twice is better than not at all.
        .unwrap_or(Claim::Ours { last: None })
    }

    /// Notes that a turn ended.
    pub fn note_end_of_turn(&self, now: Timestamp) {
        self.change(|notes| notes.active = Some(now.as_millisecond()));
    }

    /// Counts a prompt, and says which it is, from 1: the same to every copy of our hook.
    pub fn count_prompt(&self, prompt: Id, now: Timestamp) -> Option<u32> {
        let now = now.as_millisecond();
        self.change(|notes| {
            let same = |(known, at, _): &&(Id, i64, u32)| {
                *known == prompt && now.abs_diff(*at) < AT_ONCE as u64
            };
            if let Some((_, _, number)) = notes.counted.iter().find(same) {
                return *number;
            }
            notes.prompts = notes.prompts.saturating_add(1);
            notes.counted.push((prompt, now, notes.prompts));
            let old = notes.counted.len().saturating_sub(PROMPTS);
            notes.counted.drain(..old);
            notes.prompts
        })
    }

    /// The number of prompts that were counted.
    pub fn prompts(&self) -> u32 {
        self.notes().prompts
    }

    /// The memories that the session has in its context.
    pub fn told(&self) -> Vec<Id> {
        self.notes().told
    }

    fn notes(&self) -> Notes {
        let text = fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Notes which memories the session was given.
    pub fn tell(&self, memories: impl IntoIterator<Item = Id>) {
        self.change(|notes| {
            notes.told.extend(memories);
            let old = notes.told.len().saturating_sub(MEMORIES);
            notes.told.drain(..old);
        });
    }

    /// Notes that nothing of what the session was given is in its context any more.
    pub fn forget_told(&self) {
        if self.path.exists() {
            self.change(|notes| notes.told.clear());
        }
    }

    fn forgotten_mark(&self) -> PathBuf {
        self.path.with_extension(FORGOTTEN)
    }

    fn private_mark(&self) -> PathBuf {
        self.path.with_extension("private")
    }

    /// Changes the notes, alone. Nothing where they cannot be written: they are notes.
    fn change<T>(&self, change: impl FnOnce(&mut Notes) -> T) -> Option<T> {
        if let Some(directory) = self.path.parent() {
            files::create_dir_private(directory).ok()?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = files::private(&mut options).open(&self.path).ok()?;
        if !wait_for(&file) {
            return None;
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let mut notes: Notes = serde_json::from_slice(&text).unwrap_or_default();
        let result = change(&mut notes);
        file.rewind().ok()?;
        let text = serde_json::to_vec(&notes).ok()?;
        file.write_all(&text).ok()?;
        file.set_len(text.len() as u64).ok()?;
        Some(result)
    }
}

/// Waits for the lock of a file, a little.
fn wait_for(file: &File) -> bool {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::Error(_)) => return false,
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => return false,
        }
    }
}

fn directory(layout: &Layout) -> PathBuf {
    layout.run().join("sessions")
}

/// Removes the notes of sessions that are long over.
pub fn forget_old(layout: &Layout, now: SystemTime) {
    let Ok(listing) = fs::read_dir(directory(layout)) else { return };
    for item in listing.flatten() {
        let age = item.metadata().and_then(|metadata| metadata.modified());
        let is_for_good = item.path().extension().is_some_and(|end| end == FORGOTTEN);
        if !is_for_good && age.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT)) {
            let _ = fs::remove_file(item.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use thru_core::{Agent, SessionId};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn session(home: &tempfile::TempDir) -> Session {
        let key = SessionKey { agent: Agent::ClaudeCode, id: SessionId::new("../../x") };
        Session::at(&Layout::new(home.path()), &key)
    }

    #[test]
    fn copies_of_a_hook_answer_once() {
        let home = tempfile::tempdir().unwrap();
        let (event, at) = (Id::derive(&[b"e"]), Timestamp::from_second(100).unwrap());
        assert_eq!(session(&home).claim(event, at), Claim::Ours { last: None });
        assert_eq!(session(&home).claim(event, at), Claim::Theirs);
        let other = session(&home).claim(Id::derive(&[b"other"]), at);
        assert_eq!(other, Claim::Ours { last: Some(at) });
        session(&home).note_end_of_turn(Timestamp::from_second(102).unwrap());
        // The same a while later is another one.
        let later = session(&home).claim(event, Timestamp::from_second(103).unwrap());
        assert_eq!(later, Claim::Ours { last: Timestamp::from_second(102).ok() });
    }

    #[test]
    fn prompts_are_counted_once_by_all_hooks() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (home, prompt) = (&home, Id::derive(&[&[number]]));
                scope.spawn(move || session(home).count_prompt(prompt, at(100)).unwrap());
            }
        });
        let (prompt, next) = (Id::derive(&[b"new"]), Id::derive(&[b"next"]));
        assert_eq!(session(&home).count_prompt(prompt, at(100)), Some(9));
        // Another copy of our hook counts the same one.
        assert_eq!(session(&home).count_prompt(prompt, at(101)), Some(9));
        assert_eq!(session(&home).count_prompt(next, at(101)), Some(10));
        assert_eq!(session(&home).count_prompt(prompt, at(104)), Some(11));
    }

    #[test]
    fn a_renewed_context_knows_what_it_was_given_last() {
        let home = tempfile::tempdir().unwrap();
        let id = |n: u8| Id::from_bytes([n; Id::BYTES]);
        session(&home).tell([id(1), id(2)]);
        session(&home).tell([id(3)]);
        assert_eq!(session(&home).told(), [id(1), id(2), id(3)]);
        session(&home).forget_told();
        session(&home).tell([id(4)]);
        assert_eq!(session(&home).told(), [id(4)]);
    }

    #[test]
    fn a_private_turn_is_marked_until_it_ends() {
        let home = tempfile::tempdir().unwrap();
        let is_private = |prompt| session(&home).is_private(prompt);
        assert!(!is_private(None));
        session(&home).set_private(true, None).unwrap();
        assert!(is_private(None) && is_private(Some("any")));
        session(&home).set_private(false, None).unwrap();
        assert!(!is_private(None));
        let names: Vec<_> = fs::read_dir(home.path().join("run/sessions"))
            .map(|items| items.flatten().map(|item| item.file_name()).collect())
            .unwrap_or_default();
        assert!(names.is_empty(), "{names:?}");
    }

    #[test]
    fn what_goes_on_behind_a_private_turn_is_private() {
        let home = tempfile::tempdir().unwrap();
        session(&home).set_private(true, Some("p1")).unwrap();
        session(&home).set_private(false, Some("p2")).unwrap();
        assert!(session(&home).is_private(Some("p1")));
        assert!(!session(&home).is_private(Some("p2")) && !session(&home).is_private(None));
        session(&home).set_private(true, Some("p3")).unwrap();
        session(&home).set_private(false, None).unwrap();
        assert!(session(&home).is_private(Some("p1")) && session(&home).is_private(Some("p3")));
    }

    #[test]
    fn a_forgotten_session_stays_forgotten() {
        let home = tempfile::tempdir().unwrap();
        assert!(!session(&home).is_forgotten());
        session(&home).set_forgotten().unwrap();
        forget_old(&Layout::new(home.path()), SystemTime::now() + KEPT + KEPT);
        assert!(session(&home).is_forgotten());
    }
}

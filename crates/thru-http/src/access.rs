//! Admission: the token of this home, the one-time codes of links, and the sessions that pages get for them.
//!
//! A link carries a code that is good once and for a minute. The page exchanges it for the token of a session, which
//! follows from the home's token: it stays good when the daemon is started anew, and ends when that token is replaced.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use serde::Serialize;
use thru_journal::files;

/// The time for a browser to come up with the link.
const CODE_LIFE: Duration = Duration::from_mins(1);
/// Codes that wait to be used.
const MOST_CODES: usize = 16;
/// Characters of what names a session: 128 bits.
const NAME: usize = 32;

/// The keys to one home.
pub(crate) struct Access {
    file: PathBuf,
    secret: Mutex<[u8; 32]>,
    codes: Mutex<Vec<(Hash, Instant)>>,
}

/// The bearer of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// A program that read the token of this home. It may read: agents in their shells are such programs, and what a
    /// person decides is not for them to decide.
    Program,
    /// A page that a person opened.
    Page,
}

/// The session of a page.
#[derive(Debug, Serialize)]
pub(crate) struct PageSession {
    /// The bearer token.
    token: String,
    /// The proof by which the page knows this server again before it sends the token.
    proof: String,
}

impl Access {
    /// Reads the token of a home, or makes one.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written.
    pub(crate) fn open(file: PathBuf) -> io::Result<Self> {
        let secret = match read(&file) {
            Some(secret) => secret,
            None => {
                let secret = random::<32>()?;
                write(&file, secret)?;
                secret
            }
        };
        Ok(Self { file, secret: Mutex::new(secret), codes: Mutex::default() })
    }

    /// Replaces the token: all sessions of pages end.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(crate) fn replace(&self) -> io::Result<()> {
        let secret = random::<32>()?;
        write(&self.file, secret)?;
        *self.secret.lock().unwrap_or_else(PoisonError::into_inner) = secret;
        Ok(())
    }

    /// Makes a code for a link. A token whose file is gone is written again: the next daemon is to know the page.
    ///
    /// # Errors
    /// Fails if the system has no random numbers, or the file cannot be written.
    pub(crate) fn code(&self) -> io::Result<String> {
        if !self.file.exists() {
            write(&self.file, *self.secret.lock().unwrap_or_else(PoisonError::into_inner))?;
        }
        let code = random::<16>().map(hex)?;
        let now = Instant::now();
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|(_, until)| *until > now);
        if codes.len() >= MOST_CODES {
            codes.remove(0);
        }
        codes.push((blake3::hash(code.as_bytes()), now + CODE_LIFE));
        Ok(code)
    }

    /// Exchanges a code for a session on this port. A code is good once.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub(crate) fn redeem(&self, code: &str, port: u16) -> io::Result<Option<PageSession>> {
        let given = blake3::hash(code.as_bytes());
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        // Hashes are compared in constant time.
        let Some(at) = codes.iter().position(|(known, _)| *known == given) else { return Ok(None) };
        let (_, until) = codes.swap_remove(at);
        if until <= Instant::now() {
            return Ok(None);
        }
        let name = random::<16>().map(hex)?;
        let token = format!("{name}.{}", self.mark(&format!("session {name}")));
        Ok(Some(PageSession { proof: self.proof(&name, port), token }))
    }

    /// Returns the bearer of a token; `None` if it is none of ours.
    pub(crate) fn bearer(&self, token: &str) -> Option<Bearer> {
        let Some((name, mark)) = token.split_once('.') else {
            let secret = self.secret.lock().unwrap_or_else(PoisonError::into_inner);
            let known = blake3::hash(hex(*secret).as_bytes());
            return (blake3::hash(token.as_bytes()) == known).then_some(Bearer::Program);
        };
        let mark = Hash::from_hex(mark).ok().filter(|_| name.len() == NAME)?;
        (mark == self.mark(&format!("session {name}"))).then_some(Bearer::Page)
    }

    /// The proof that this is the server which made a session. It holds for one port, so that a program which took over
    /// the port cannot have ours give it another one's.
    pub(crate) fn proof(&self, name: &str, port: u16) -> String {
        self.mark(&format!("server {port} {name}")).to_string()
    }

    fn mark(&self, text: &str) -> Hash {
        let secret = self.secret.lock().unwrap_or_else(PoisonError::into_inner);
        blake3::keyed_hash(&secret, text.as_bytes())
    }
}

/// Reads a token that only its user can read.
fn read(file: &Path) -> Option<[u8; 32]> {
    let metadata = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return None;
    }
    let text = fs::read_to_string(file).ok().filter(|_| metadata.len() < 100)?;
    Some(*Hash::from_hex(text.trim_end()).ok()?.as_bytes())
}

fn write(file: &Path, secret: [u8; 32]) -> io::Result<()> {
    files::replace(file, hex(secret).as_bytes()).map_err(io::Error::other)
}

/// Random bytes.
pub(crate) fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Bytes in hexadecimal.
pub(crate) fn hex<const BYTES: usize>(bytes: [u8; BYTES]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(access: &Access) -> PageSession {
        access.redeem(&access.code().unwrap(), 1).unwrap().unwrap()
    }

    #[test]
    fn a_code_is_good_once() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path().join("token")).unwrap();
        let code = access.code().unwrap();
        let session = access.redeem(&code, 1).unwrap().unwrap();
        assert_eq!(access.bearer(&session.token), Some(Bearer::Page));
        assert!(access.redeem(&code, 1).unwrap().is_none());
        assert!(access.redeem("", 1).unwrap().is_none());
    }

    #[test]
    fn an_old_code_is_good_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path().join("token")).unwrap();
        let code = access.code().unwrap();
        access.codes.lock().unwrap()[0].1 = Instant::now();
        assert!(access.redeem(&code, 1).unwrap().is_none());
    }

    #[test]
    fn sessions_outlive_the_server_and_end_with_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let access = Access::open(file.clone()).unwrap();
        let session = session(&access);
        let again = Access::open(file.clone()).unwrap();
        assert_eq!(again.bearer(&session.token), Some(Bearer::Page));
        let token = || fs::read_to_string(&file).unwrap();
        assert_eq!(again.bearer(&token()), Some(Bearer::Program));
        again.replace().unwrap();
        assert_eq!(again.bearer(&session.token), None);
        assert_eq!(again.bearer(&token()), Some(Bearer::Program));
    }

    #[test]
    fn only_what_was_given_out_is_admitted() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path().join("token")).unwrap();
        let token = session(&access).token;
        let (name, mark) = token.split_once('.').unwrap();
        let other = "0".repeat(NAME);
        for wrong in ["", ".", mark, name, &format!("{other}.{mark}"), &format!("{name}.{other}")] {
            assert_eq!(access.bearer(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_proof_holds_for_one_port() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path().join("token")).unwrap();
        let session = session(&access);
        let name = session.token.split_once('.').unwrap().0;
        assert_eq!(access.proof(name, 1), session.proof);
        assert_ne!(access.proof(name, 2), session.proof);
    }

    #[test]
    fn a_token_whose_file_is_gone_is_written_again_with_the_next_link() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let access = Access::open(file.clone()).unwrap();
        fs::remove_file(&file).unwrap();
        let session = session(&access);
        let again = Access::open(file).unwrap();
        assert_eq!(again.bearer(&session.token), Some(Bearer::Page));
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_can_read_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        drop(Access::open(file.clone()).unwrap());
        let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        let before = fs::read_to_string(&file).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        drop(Access::open(file.clone()).unwrap());
        assert_eq!(mode(&file), 0o600);
        assert_ne!(fs::read_to_string(&file).unwrap(), before);
    }
}

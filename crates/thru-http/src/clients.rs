//! Tokens of MCP clients. They are kept as hashes, survive restarts, and end when they are revoked.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thru_core::{Layout, Timestamp};
use thru_journal::files;

use crate::access::{hex, random};

/// The start of every token, by which scanners of secrets know one.
const START: &str = "thru_mcp_";
/// The tokens of one home.
const MOST: usize = 100;

/// The clients that may ask over MCP.
#[derive(Clone, Debug)]
pub struct Clients {
    file: PathBuf,
}

/// A client.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    name: String,
    /// The hash of its token.
    token: String,
    made: Timestamp,
}

impl Clients {
    /// The clients of a home.
    pub fn new(layout: &Layout) -> Self {
        Self { file: layout.root().join("http-clients.json") }
    }

    /// Makes a token for a client. Those that it had before stay good: it may use one of them. Returns it with their number.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or there are too many tokens.
    pub fn make(&self, name: &str, now: Timestamp) -> io::Result<(String, usize)> {
        let mut all = self.read()?;
        if all.len() >= MOST {
            return Err(io::Error::other(
                "there are too many: `thru mcp --revoke` ends those of a client",
            ));
        }
        let known = all.iter().filter(|client| client.name == name).count();
        let token = format!("{START}{}", hex(random::<32>()?));
        let hash = blake3::hash(token.as_bytes()).to_hex().to_string();
        all.push(Known { name: name.to_owned(), token: hash, made: now });
        self.write(&all)?;
        Ok((token, known))
    }

    /// Revokes the tokens of a client. Returns false if it had none.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written.
    pub fn revoke(&self, name: &str) -> io::Result<bool> {
        let mut all = self.read()?;
        let before = all.len();
        all.retain(|client| client.name != name);
        if all.len() == before {
            return Ok(false);
        }
        self.write(&all)?;
        Ok(true)
    }

    /// True for the token of a client. The file is read each time, so that a token ends when it is revoked.
    pub(crate) fn admits(&self, token: &str) -> bool {
        let given = blake3::hash(token.as_bytes());
        let all = self.read().unwrap_or_default();
        all.iter().any(|client| blake3::Hash::from_hex(&client.token).is_ok_and(|one| one == given))
    }

    fn read(&self) -> io::Result<Vec<Known>> {
        match std::fs::read(&self.file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn write(&self, all: &[Known]) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(all).map_err(io::Error::other)?;
        text.push(b'\n');
        if let Some(folder) = self.file.parent() {
            files::create_dir_private(folder).map_err(io::Error::other)?;
        }
        files::replace(&self.file, &text).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_good_until_they_are_revoked() {
        // The first thing that is kept may be a token.
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("data");
        let layout = Layout::new(&home);
        let clients = Clients::new(&layout);
        let make = |name| clients.make(name, Timestamp::UNIX_EPOCH).unwrap();
        let (cursor, zed) = (make("cursor").0, make("zed").0);
        assert!(clients.admits(&cursor) && Clients::new(&layout).admits(&zed));
        let (again, known) = make("cursor");
        assert!(clients.admits(&cursor) && clients.admits(&again) && known == 1);
        assert!(clients.revoke("cursor").unwrap() && !clients.revoke("cursor").unwrap());
        assert!(!clients.admits(&cursor) && !clients.admits(&again) && clients.admits(&zed));
        let kept = std::fs::read_to_string(home.join("http-clients.json")).unwrap();
        assert!(!kept.contains(&zed));
    }
}

//! Storage of provider keys: in an environment variable, in a file of their own, or in the system's
//! keyring.
//!
//! The keyring is used through the system's own program: keyring crates bring more packages than
//! everything else in this crate.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thru_outside::{Key, Limits, process};

/// Limits of a keyring call; it may ask the user for a password.
const KEYRING: Limits = Limits { time: Duration::from_secs(60), size: 64 * 1024 };

/// The service name of our keyring entries.
const SERVICE: &str = "throughline";

/// Longest file that can hold a key, in bytes.
const LONGEST_FILE: u64 = 8 * 1024;

/// Variables that the keyring's program needs to find the keyring and the user.
const NEEDED: [&str; 9] = [
    "HOME",
    "USER",
    "PATH",
    "LANG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The place where a key was found. Reveals nothing of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// In this variable.
    Environment(String),
    /// In this file.
    File(PathBuf),
    /// In the keyring, through this program.
    Keyring(&'static str),
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Environment(name) => write!(formatter, "variable {name}"),
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Keyring(program) => write!(formatter, "keyring ({program})"),
        }
    }
}

/// The place where a key is to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStorage {
    /// In a file that only its owner can read.
    File,
    /// In the keyring.
    Keyring,
}

/// The reason a key cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text in this place cannot be a key.
    #[error("{0} does not hold a valid key")]
    Malformed(String),
    /// Other users can read the file.
    #[error("others can read {path}; run: chmod 600 {path}", path = .0.display())]
    Open(PathBuf),
    /// The name is not a plain file name.
    #[error("{0:?} is not a valid key name; use lower-case letters, digits and -")]
    Name(String),
    /// The file cannot be read or written.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        error: io::Error,
    },
    /// The keyring failed.
    #[error("the keyring: {0}")]
    Keyring(String),
    /// There is no usable keyring.
    #[error("no usable keyring on this machine; keep the key in a file")]
    NoKeyring,
}

/// Finds, stores and removes keys.
pub struct Keys<'k> {
    environment: &'k dyn Fn(&str) -> Option<String>,
    folder: &'k Path,
}

impl<'k> Keys<'k> {
    /// Creates a store of keys over this environment, and over files in this folder, which need not
    /// exist.
    pub fn new(environment: &'k dyn Fn(&str) -> Option<String>, folder: &'k Path) -> Self {
        Self { environment, folder }
    }

    /// Returns the key of this name and its source: the variable, if one is named, else the file, else
    /// the keyring.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError`] if the name is invalid, or if the key is malformed, unreadable, or readable
    /// for other users.
    pub fn find(
        &self,
        name: &str,
        variable: Option<&str>,
    ) -> Result<Option<(Key, KeySource)>, KeyError> {
        let path = self.path(name)?;
        if let Some(variable) = variable
            && let Some(text) = (self.environment)(variable).filter(|text| !text.trim().is_empty())
        {
            let key = Key::new(&text).ok_or_else(|| KeyError::Malformed(variable.to_owned()))?;
            return Ok(Some((key, KeySource::Environment(variable.to_owned()))));
        }
        if let Some(key) = read(&path)? {
            return Ok(Some((key, KeySource::File(path))));
        }
        let Some(keyring) = Keyring::of(self) else { return Ok(None) };
        Ok(keyring.read(name)?.map(|key| (key, KeySource::Keyring(keyring.program))))
    }

    /// Stores a key under a name, replacing any earlier one.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError`] if the name or the key is invalid, the file cannot be written, or no keyring
    /// can be used.
    pub fn store(&self, name: &str, key: &Key, storage: KeyStorage) -> Result<KeySource, KeyError> {
        let path = self.path(name)?;
        match storage {
            KeyStorage::File => {
                write(&path, key).map_err(|error| KeyError::File { path: path.clone(), error })?;
                Ok(KeySource::File(path))
            }
            KeyStorage::Keyring => {
                let keyring = Keyring::of(self).ok_or(KeyError::NoKeyring)?;
                keyring.write(name, key)?;
                Ok(KeySource::Keyring(keyring.program))
            }
        }
    }

    /// Removes the key of this name from file and keyring. Returns the places it was in.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError`] if the name is invalid, or if the file or the keyring cannot be changed.
    pub fn remove(&self, name: &str) -> Result<Vec<KeySource>, KeyError> {
        let path = self.path(name)?;
        let mut removed = Vec::new();
        match fs::remove_file(&path) {
            Ok(()) => removed.push(KeySource::File(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(KeyError::File { path, error }),
        }
        if let Some(keyring) = Keyring::of(self)
            && keyring.read(name)?.is_some()
        {
            keyring.remove(name)?;
            removed.push(KeySource::Keyring(keyring.program));
        }
        Ok(removed)
    }

    fn path(&self, name: &str) -> Result<PathBuf, KeyError> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
            return Err(KeyError::Name(thru_outside::excerpt(name)));
        }
        Ok(self.folder.join(name))
    }
}

fn read(path: &Path) -> Result<Option<Key>, KeyError> {
    let failed = |error| KeyError::File { path: path.to_owned(), error };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    // Checks the open file, so that it is the one that is read.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata().map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(KeyError::Open(path.to_owned()));
        }
    }
    let mut text = String::new();
    file.take(LONGEST_FILE).read_to_string(&mut text).map_err(failed)?;
    let key = Key::new(&text).ok_or_else(|| KeyError::Malformed(path.display().to_string()))?;
    Ok(Some(key))
}

/// Writes the file atomically, never readable for others in between.
fn write(path: &Path, key: &Key) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    // Created for its owner alone.
    let mut file = tempfile::Builder::new().prefix(".key-").tempfile_in(folder)?;
    writeln!(file, "{}", key.reveal())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // Not every system can sync a folder.
    _ = OpenOptions::new().read(true).open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// The keyring, through the system's program for it. Keys go in through its input and never through its
/// arguments, which every user of the machine can read.
struct Keyring<'k> {
    program: &'static str,
    keys: &'k Keys<'k>,
}

impl<'k> Keyring<'k> {
    fn of(keys: &'k Keys<'k>) -> Option<Self> {
        let program = match () {
            () if cfg!(target_os = "macos") => "security",
            () if cfg!(unix) => "secret-tool",
            () => return None,
        };
        let path = (keys.environment)("PATH")?;
        let is_there = |folder: &str| Path::new(folder).join(program).is_file();
        path.split(':').any(is_there).then_some(Self { program, keys })
    }

    fn read(&self, name: &str) -> Result<Option<Key>, KeyError> {
        let arguments: &[&str] = match self.program {
            "security" => &["find-generic-password", "-s", SERVICE, "-a", name, "-w"],
            _ => &["lookup", "service", SERVICE, "account", name],
        };
        let output = self.run(arguments, "")?;
        // Both programs fail if there is no such key, or no keyring; the two need no distinction.
        if !output.status.success() || output.stdout.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Key::new(&text).map(Some).ok_or_else(|| KeyError::Malformed("the keyring".to_owned()))
    }

    fn write(&self, name: &str, key: &Key) -> Result<(), KeyError> {
        let key = key.reveal();
        let output = match self.program {
            "security" => {
                // It splits its lines as a shell does.
                if key.contains(['"', '\'', '\\']) {
                    return Err(KeyError::Keyring(
                        "it cannot take quotes; keep the key in a file".to_owned(),
                    ));
                }
                let line = format!("add-generic-password -U -s {SERVICE} -a {name} -w \"{key}\"\n");
                self.run(&["-i"], &line)?
            }
            _ => {
                let label = format!("--label=Throughline: {name}");
                self.run(&["store", &label, "service", SERVICE, "account", name], key)?
            }
        };
        self.expect_success(&output)?;
        // One of the programs reports success whatever happens.
        match self.read(name)? {
            Some(kept) if kept.reveal() == key => Ok(()),
            _ => Err(KeyError::Keyring("it did not keep the key".to_owned())),
        }
    }

    fn remove(&self, name: &str) -> Result<(), KeyError> {
        let arguments: &[&str] = match self.program {
            "security" => &["delete-generic-password", "-s", SERVICE, "-a", name],
            _ => &["clear", "service", SERVICE, "account", name],
        };
        self.expect_success(&self.run(arguments, "")?)
    }

    fn run(&self, arguments: &[&str], input: &str) -> Result<process::Output, KeyError> {
        let mut command = Command::new(self.program);
        let environment =
            NEEDED.iter().filter_map(|name| Some((name, (self.keys.environment)(name)?)));
        command.args(arguments).env_clear().envs(environment);
        process::run(&mut command, input.as_bytes(), KEYRING, &AtomicBool::new(false))
            .map_err(|error| KeyError::Keyring(error.to_string()))
    }

    fn expect_success(&self, output: &process::Output) -> Result<(), KeyError> {
        if output.status.success() {
            return Ok(());
        }
        let said = thru_outside::excerpt(&String::from_utf8_lossy(&output.stderr));
        Err(KeyError::Keyring(format!("{} failed: {said}", self.program)))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const VARIABLE: Option<&str> = Some("SOME_API_KEY");

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn the_variable_comes_before_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("keys");
        let keys = Keys::new(&nothing, &folder);
        assert_eq!(keys.find("openai", VARIABLE).unwrap(), None);
        let stored = keys.store("openai", &key("from-file"), KeyStorage::File).unwrap();
        assert_eq!(stored.to_string(), format!("file {}", folder.join("openai").display()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("openai"))), (0o700, 0o600));
        assert_eq!(keys.find("openai", VARIABLE).unwrap(), Some((key("from-file"), stored)));

        let set = |name: &str| (name == "SOME_API_KEY").then(|| " from-variable\n".to_owned());
        let both = Keys::new(&set, &folder);
        let (found, source) = both.find("openai", VARIABLE).unwrap().unwrap();
        assert_eq!(
            (found.reveal(), source.to_string().as_str()),
            ("from-variable", "variable SOME_API_KEY")
        );
        assert_eq!(both.find("openai", None).unwrap().unwrap().0.reveal(), "from-file");
        let empty = |_: &str| Some(" ".to_owned());
        assert_eq!(
            Keys::new(&empty, &folder).find("openai", VARIABLE).unwrap().unwrap().0.reveal(),
            "from-file"
        );
        let broken = |_: &str| Some("two words".to_owned());
        assert!(matches!(
            Keys::new(&broken, &folder).find("openai", VARIABLE),
            Err(KeyError::Malformed(_))
        ));

        assert_eq!(keys.remove("openai").unwrap().len(), 1);
        assert_eq!(keys.remove("openai").unwrap(), []);
        assert_eq!(keys.find("openai", VARIABLE).unwrap(), None);
    }

    #[test]
    fn a_file_that_others_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::new(&nothing, folder.path());
        keys.store("openai", &key("secret"), KeyStorage::File).unwrap();
        let path = folder.path().join("openai");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = keys.find("openai", None).unwrap_err().to_string();
        assert!(
            error.ends_with(&format!("run: chmod 600 {}", path.display()))
                && !error.contains("secret"),
            "{error}"
        );
        // Storing it anew repairs that.
        keys.store("openai", &key("secret"), KeyStorage::File).unwrap();
        assert!(keys.find("openai", None).unwrap().is_some());
        fs::write(&path, "").unwrap();
        assert!(matches!(keys.find("openai", None), Err(KeyError::Malformed(_))));
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::new(&nothing, folder.path());
        for name in ["", "..", "a/b", "../x", "A", "a b", "-\n", &"x".repeat(65)] {
            assert!(matches!(keys.find(name, None), Err(KeyError::Name(_))), "{name:?}");
            assert!(matches!(
                keys.store(name, &key("k"), KeyStorage::File),
                Err(KeyError::Name(_))
            ));
            assert!(matches!(keys.remove(name), Err(KeyError::Name(_))));
        }
        assert!(matches!(
            keys.store("a", &key("k"), KeyStorage::Keyring),
            Err(KeyError::NoKeyring)
        ));
    }

    /// Stands in for the system's program: keeps one key in a file and logs its calls.
    #[test]
    #[cfg(not(target_os = "macos"))]
    fn the_keyring_is_used_through_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {at}/calls\ncase $1 in\nstore) cat > {at}/kept;;\n\
             lookup) cat {at}/kept;;\nclear) rm {at}/kept;;\nesac\n"
        );
        // Written by another process: a file open for writing here would be open in other children, too.
        let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let program = folder.path().join("secret-tool");
        let mut shell = Command::new("sh");
        assert!(shell.args(["-c", write]).arg(program).arg(script).status().unwrap().success());
        let path = format!("{at}:/usr/bin:/bin");
        let environment = |name: &str| (name == "PATH").then(|| path.clone());
        let keys_folder = folder.path().join("keys");
        let keys = Keys::new(&environment, &keys_folder);
        assert_eq!(keys.find("openai", None).unwrap(), None);
        let stored = keys.store("openai", &key("in-keyring"), KeyStorage::Keyring).unwrap();
        assert_eq!(stored.to_string(), "keyring (secret-tool)");
        assert_eq!(keys.find("openai", None).unwrap(), Some((key("in-keyring"), stored.clone())));
        assert_eq!(keys.remove("openai").unwrap(), [stored]);
        assert_eq!(keys.find("openai", None).unwrap(), None);
        let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
        assert!(
            calls.contains("service throughline account openai") && !calls.contains("in-keyring"),
            "{calls}"
        );
    }
}

//! The paths of the daemon's files.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use thru_core::{FileId, Layout};

/// Maximum bytes of a socket path that every system accepts (macOS: 104 with the final zero).
const LONGEST: usize = 100;

/// The files of the daemon of one home.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The folder of the files below.
    pub run: PathBuf,
    /// The lock held while the daemon lives.
    pub lock: PathBuf,
    /// The lock held while a process starts one.
    pub start: PathBuf,
    /// The log.
    pub log: PathBuf,
    /// The socket.
    pub socket: PathBuf,
}

impl Paths {
    /// Returns the paths in this home, with the socket from [`socket_path`].
    pub fn new(layout: &Layout, socket: PathBuf) -> Self {
        let run = layout.run();
        Self {
            lock: run.join("daemon.lock"),
            start: run.join("daemon.start"),
            log: run.join("daemon.log"),
            run,
            socket,
        }
    }

    /// Creates the folder, for the user alone.
    pub(crate) fn create(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(&self.run)
    }
}

/// Returns the path of the socket: the one in the settings, else one in the home, else (a socket address
/// has room for a hundred bytes) one in the system's runtime folder, named after user and home.
pub fn socket_path(
    layout: &Layout,
    configured: Option<&Path>,
    runtime: Option<&Path>,
    temporary: &Path,
    user: &str,
) -> PathBuf {
    if let Some(configured) = configured {
        return configured.to_owned();
    }
    let home = layout.root().as_os_str().as_encoded_bytes();
    let name = format!("throughline-{user}-{}", &blake3::hash(home).to_hex()[..12]);
    if cfg!(windows) {
        return PathBuf::from(format!(r"\\.\pipe\{name}"));
    }
    let name = format!("{name}.sock");
    let inside = layout.run().join("daemon.sock");
    let candidates = [Some(inside), runtime.map(|runtime| runtime.join(&name))];
    let fits = |path: &PathBuf| path.as_os_str().len() <= LONGEST;
    let fitting = candidates.into_iter().flatten().find(fits);
    fitting.unwrap_or_else(|| temporary.join(name))
}

/// Makes files that `options` creates private to the user.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Tells a file from those that had its name before. Includes the time because numbers are reused at once.
pub(crate) type FileVersion = (FileId, Option<SystemTime>);

pub(crate) fn file_version(metadata: &Metadata) -> FileVersion {
    (FileId::of(metadata), metadata.created().ok())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_a_path_that_fits() {
        let path = |root: &str, configured: Option<&str>, runtime: Option<&str>| {
            let (configured, runtime) = (configured.map(Path::new), runtime.map(Path::new));
            let layout = Layout::new(root);
            socket_path(&layout, configured, runtime, Path::new("/tmp"), "1000")
        };
        let long = "/home/ada/".to_owned() + &"deep/".repeat(30);
        assert_eq!(path("/h", None, Some("/run/user/1000")), Path::new("/h/run/daemon.sock"));
        assert_eq!(path("/h", Some("/my.sock"), None), Path::new("/my.sock"));
        insta::assert_snapshot!(
            path(&long, None, Some("/run/user/1000")).display(),
            @"/run/user/1000/throughline-1000-9db1694b75c0.sock"
        );
        insta::assert_snapshot!(path(&long, None, Some(&long)).display(), @"/tmp/throughline-1000-9db1694b75c0.sock");
        assert_ne!(path(&long, None, None), path(&(long.clone() + "other"), None, None));
    }
}

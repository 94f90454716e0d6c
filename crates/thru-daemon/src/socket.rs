//! The local socket: a Unix socket, or a named pipe on Windows. Only the same user can connect.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interprocess::ConnectWaitMode;
use interprocess::local_socket::traits::{Listener as _, StreamCommon as _};
use interprocess::local_socket::{
    ConnectOptions, GenericFilePath, Listener, ListenerOptions, Name, Stream, ToFsName as _,
};

use crate::paths::FileVersion;
#[cfg(unix)]
use crate::paths::file_version;

/// A listening socket. Its file is removed with it.
pub(crate) struct Socket {
    listener: Listener,
    file: SocketFile,
}

/// The file of our socket.
#[derive(Clone, Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    id: Option<FileVersion>,
}

fn name(path: &Path) -> io::Result<Name<'_>> {
    path.to_fs_name::<GenericFilePath>()
}

impl Socket {
    /// Listens at `path`, and removes what an earlier daemon left there. The caller holds the lock, so a
    /// file that does not answer is stale.
    pub(crate) fn listen(path: &Path) -> io::Result<Self> {
        remove_stale(path)?;
        let options = || -> io::Result<ListenerOptions<'_>> {
            Ok(ListenerOptions::new().name(name(path)?).reclaim_name(false))
        };
        #[cfg(unix)]
        let listener = {
            use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
            match options()?.mode(0o600).create_sync() {
                // Some systems cannot set the mode of an unbound socket. The folder is private.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    let listener = options()?.create_sync()?;
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                    std::fs::set_permissions(path, mode)?;
                    listener
                }
                listener => listener?,
            }
        };
        #[cfg(not(unix))]
        let listener = options()?.create_sync()?;
        Ok(Self { listener, file: SocketFile { path: path.to_owned(), id: id_of(path) } })
    }

    pub(crate) fn accept(&self) -> io::Result<Stream> {
        self.listener.accept()
    }

    pub(crate) fn file(&self) -> &SocketFile {
        &self.file
    }
}

impl SocketFile {
    /// Returns true if the path still leads to us.
    pub(crate) fn is_in_place(&self) -> bool {
        self.id == id_of(&self.path)
    }

    /// Removes the file, unless it belongs to another socket by now.
    pub(crate) fn remove(&self) {
        if self.id.is_some() && self.is_in_place() {
            // A remaining file is removed by the next daemon.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Wakes the accepting thread.
    pub(crate) fn knock(&self) -> bool {
        self.is_in_place() && connect(&self.path, Duration::from_millis(100)).is_ok()
    }
}

#[cfg(unix)]
fn id_of(path: &Path) -> Option<FileVersion> {
    use std::os::unix::fs::FileTypeExt;
    let metadata = std::fs::symlink_metadata(path).ok()?;
    metadata.file_type().is_socket().then(|| file_version(&metadata))
}

/// A pipe has no file that could go.
#[cfg(not(unix))]
fn id_of(_: &Path) -> Option<FileVersion> {
    None
}

/// Removes a socket that no process listens on.
pub(crate) fn remove_stale(path: &Path) -> io::Result<()> {
    if id_of(path).is_none() {
        return Ok(());
    }
    match connect(path, Duration::from_millis(500)) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there")),
    }
}

/// Connects, if a process of the same user listens there.
pub(crate) fn connect(path: &Path, patience: Duration) -> io::Result<Stream> {
    let mode = ConnectWaitMode::Timeout(patience);
    let stream = ConnectOptions::new().name(name(path)?).wait_mode(mode).connect_sync()?;
    match is_same_user(&stream) {
        true => Ok(stream),
        false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user")),
    }
}

/// Returns true if the peer is the same user. If the system cannot tell, the modes of folder and socket
/// must do.
pub(crate) fn is_same_user(stream: &Stream) -> bool {
    #[cfg(unix)]
    {
        let other = stream.peer_creds().ok().and_then(|creds| creds.euid());
        is_user(other, rustix::process::geteuid().as_raw())
    }
    #[cfg(not(unix))]
    {
        let _ = stream;
        true
    }
}

#[cfg(unix)]
fn is_user(other: Option<u32>, user: u32) -> bool {
    other.is_none_or(|other| other == user)
}

/// Tells the daemon that there is news, without waiting: it does not answer, it need not run, and its
/// problems are not the caller's.
pub fn poke(socket: &Path) {
    #[cfg(unix)]
    let _ = knock_without_waiting(socket);
    #[cfg(not(unix))]
    let _ = std::fs::OpenOptions::new().write(true).open(socket);
}

/// Opens and closes a connection, which is the whole message.
#[cfg(unix)]
fn knock_without_waiting(path: &Path) -> rustix::io::Result<()> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
    let address = SocketAddrUnix::new(path)?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::net::connect(&socket, &address)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_private_and_goes_with_its_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let socket = Socket::listen(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Socket::listen(&path).is_err(), "the socket is in use");
        assert!(socket.file().is_in_place());
        let file = socket.file().clone();
        drop(socket);
        assert!(file.is_in_place(), "until it is removed");
        // A successor's file is not ours to remove.
        let successor = Socket::listen(&path).unwrap();
        file.remove();
        assert!(successor.file().is_in_place());
        successor.file().remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_socket_is_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        std::fs::write(&path, "precious").unwrap();
        assert!(Socket::listen(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn poking_never_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        poke(&path);
        let listener = UnixListener::bind(&path).unwrap();
        // More than any queue holds, to a listener that never accepts.
        for _ in 0..10_000 {
            poke(&path);
        }
        listener.accept().unwrap();
        drop(listener);
        poke(&path);
        poke(&folder.path().join("x".repeat(300)));
    }

    #[test]
    fn another_user_is_refused() {
        assert!(is_user(Some(1000), 1000) && is_user(None, 1000));
        assert!(!is_user(Some(0), 1000) && !is_user(Some(1001), 1000));
    }
}

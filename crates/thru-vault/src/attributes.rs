//! What a file has beside its content, and what replaces it has to have as well.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Gives a file the permissions, the owner and the extended attributes of another: tags of file managers, lists of who may
/// read it.
pub(crate) fn keep(of: &Path, metadata: &Metadata, file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
            std::os::unix::fs::fchown(file, Some(metadata.uid()), Some(metadata.gid()))?;
        }
    }
    file.set_permissions(metadata.permissions())?;
    extended(of, file)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn extended(of: &Path, file: &File) -> io::Result<()> {
    use rustix::buffer::spare_capacity;
    use rustix::fs::{XattrFlags, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    /// The most bytes of all names, and of a value.
    const MOST: usize = 1 << 16;

    let mut names = Vec::with_capacity(MOST);
    match listxattr(of, spare_capacity(&mut names)) {
        Ok(_) => {}
        // File systems without them.
        Err(Errno::NOTSUP) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    for name in names.split(|byte| *byte == 0).filter(|name| is_kept(name)) {
        let mut value = Vec::with_capacity(MOST);
        getxattr(of, name, spare_capacity(&mut value))?;
        fsetxattr(file, name, &value, XattrFlags::empty())?;
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn extended(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

/// True for an attribute that a program set. Those of the kernel's security modules follow from the folder.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn is_kept(name: &[u8]) -> bool {
    let is_set = name.starts_with(b"user.")
        || name == b"system.posix_acl_access"
        || cfg!(target_vendor = "apple");
    !name.is_empty() && is_set
}

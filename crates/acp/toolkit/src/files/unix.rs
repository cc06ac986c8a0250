//! Opens and writes files on Unix, relative to directories that are already open.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, openat};
use rustix::io::Errno;

use super::error::FileError;
use super::replace;
use super::walk::{Place, follow};
use crate::roots::Roots;

/// Resolves `path` to a path without links. Fails if something other than a file is there.
pub(super) fn resolve(roots: &Roots, path: &Path) -> Result<PathBuf, FileError> {
    follow(roots, path, false, |place| match place.kind {
        None | Some(FileType::RegularFile) => Ok(place.path),
        Some(_) => Err(FileError::NotRegular),
    })
}

/// Opens the regular file at `path`, and calls `then` with it.
pub(super) fn open<T>(
    roots: &Roots,
    path: &Path,
    then: impl Fn(File) -> Result<T, FileError>,
) -> Result<T, FileError> {
    follow(roots, path, false, |place| match place.kind {
        Some(_) => then(place.open(OFlags::RDONLY)?),
        None => Err(FileError::Missing),
    })
}

/// Replaces the content of the file at `path` by `text`.
pub(super) fn write(roots: &Roots, path: &Path, text: &str) -> Result<(), FileError> {
    follow(roots, path, true, |place| {
        let old = match place.kind {
            // Opening for writing checks the permissions of the file, which a replacement would not.
            Some(_) => Some(place.open(OFlags::WRONLY)?),
            None => None,
        };
        replace::replace(&place, old, text)
    })
}

impl Place {
    /// Opens the regular file at this place without truncating it.
    fn open(&self, access: OFlags) -> Result<File, FileError> {
        if self.kind != Some(FileType::RegularFile) {
            return Err(FileError::NotRegular);
        }
        // Not blocking, in case the file was exchanged for a pipe.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP | Errno::NOENT | Errno::NXIO | Errno::ISDIR) => return Err(FileError::Changed),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.is_file() { Ok(file) } else { Err(FileError::Changed) }
    }
}

//! Replaces the text of a file, and nothing else about it.

use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::error::FileError;
use super::walk::Place;

/// Writes `text` to the file at `place`: `old` is open for writing, or `None` if there is no file.
pub(super) fn replace(place: &Place, old: Option<File>, text: &str) -> Result<(), FileError> {
    let Some(old) = old else {
        let mut new = Temporary::make(place)?;
        new.file.write_all(text.as_bytes())?;
        return Ok(new.take_place()?);
    };
    let was = old.metadata()?;
    if was.nlink() > 1 || has_attributes(&old) {
        return Ok(overwrite(old, text)?);
    }
    let mut new = match Temporary::make(place) {
        Ok(new) if same_owner(&new.file.metadata()?, &was) => new,
        Ok(_) => return Ok(overwrite(old, text)?),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => return Ok(overwrite(old, text)?),
        Err(error) => return Err(error.into()),
    };
    new.file.write_all(text.as_bytes())?;
    // Without the set-user-ID and set-group-ID bits: writing removes them too.
    new.file.set_permissions(Permissions::from_mode(was.mode() & 0o777))?;
    match new.take_place() {
        // The file is a mount point.
        Err(Errno::BUSY | Errno::XDEV) => Ok(overwrite(old, text)?),
        result => Ok(result?),
    }
}

fn overwrite(mut file: File, text: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}

fn same_owner(new: &Metadata, old: &Metadata) -> bool {
    (new.uid(), new.gid()) == (old.uid(), old.gid())
}

/// Returns whether the file has access lists or other attributes that a new file would not have.
#[cfg(target_os = "linux")]
fn has_attributes(file: &File) -> bool {
    let mut names = vec![0; 4096];
    match rustix::fs::flistxattr(file, &mut names) {
        // A new file gets this security label from its directory.
        Ok(length) => names[..length]
            .split(|byte| *byte == 0)
            .any(|name| !name.is_empty() && name != b"security.selinux"),
        Err(Errno::RANGE) => true,
        Err(_) => false,
    }
}

#[cfg(not(target_os = "linux"))]
fn has_attributes(_: &File) -> bool {
    false
}

/// A new file, which is removed unless it replaces the old one.
#[derive(Debug)]
struct Temporary<'a> {
    place: &'a Place,
    name: OsString,
    file: File,
    placed: bool,
}

impl<'a> Temporary<'a> {
    fn make(place: &'a Place) -> rustix::io::Result<Self> {
        let mut count = 0;
        loop {
            let name = OsString::from(format!(".agentwire-{}-{count}.tmp", std::process::id()));
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&place.directory, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok(Self { place, name, file: file.into(), placed: false }),
                // Another call writes in this directory.
                Err(Errno::EXIST) => count += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn take_place(mut self) -> rustix::io::Result<()> {
        let directory = &self.place.directory;
        renameat(directory, &self.name, directory, &self.place.name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = unlinkat(&self.place.directory, &self.name, AtFlags::empty());
        }
    }
}

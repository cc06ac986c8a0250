//! Creates and replaces files that only their owner can read.
//!
//! Unlike in `agentwire-files`, a person names the files, so they may be links or devices. Public files become private.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Creates or empties a file, and lets only its owner read it, even if others could before. Refuses a named pipe, because opening
/// one waits for a reader.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
        if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a named pipe"));
        }
        options.mode(OWNER_ONLY);
    }
    let file = options.truncate(false).open(path)?;
    if file.metadata()?.is_file() {
        make_private(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// The mode of a file that only its owner can read and write.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

#[cfg(unix)]
fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = file.metadata()?.permissions();
    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    permissions.set_mode(OWNER_ONLY);
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn make_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Writes a file that only its owner can read. Replaces an existing file, or the target of a link, only by a complete one. Writes to
/// a device, or to another special file, directly.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub fn write_private(path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    let path = path.as_ref();
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return create_private(path)?.write_all(text.as_bytes());
    }
    replace_private(path, |file| file.write_all(text.as_bytes()).map(|()| true))
}

/// Writes a file beside another, and replaces the other if `write` returns true.
pub(crate) fn replace_private(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<bool>,
) -> io::Result<()> {
    // A link stays, and points to the new file.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (new_path, new) = create_beside(&path)?;
    let mut new = BufWriter::new(new);
    let written = write(&mut new).and_then(|is_wanted| new.flush().map(|()| is_wanted));
    let replaced = match written {
        Ok(true) => fs::rename(&new_path, &path),
        Ok(false) => return fs::remove_file(&new_path),
        Err(error) => Err(error),
    };
    if replaced.is_err() {
        // The error of writing is returned, not that of removing.
        let _left = fs::remove_file(&new_path);
    }
    replaced
}

/// Creates a file with a random name in the same folder.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    const ATTEMPTS: u32 = 16;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER_ONLY);
    let mut attempt = 1;
    loop {
        let number = RandomState::new().hash_one(attempt);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{number:016x}.tmp"));
        let new_path = path.with_file_name(name);
        match options.open(&new_path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            opened => return opened.map(|file| (new_path, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_behind_a_link_is_replaced_and_no_other_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("real"), "old").unwrap();
        let link = if cfg!(unix) { path("link") } else { path("real") };
        #[cfg(unix)]
        std::os::unix::fs::symlink("real", &link).unwrap();
        write_private(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(path("real")).unwrap(), "new");
        assert_eq!(fs::symlink_metadata(&link).unwrap().is_symlink(), cfg!(unix));
        write_private(path("first"), "text").unwrap();
        let failed = replace_private(&path("real"), |_| Err(io::Error::other("why")));
        assert_eq!(failed.unwrap_err().to_string(), "why");
        replace_private(&path("real"), |_| Ok(false)).unwrap();
        assert_eq!(fs::read_to_string(path("real")).unwrap(), "new");
        let count = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(count, if cfg!(unix) { 3 } else { 2 }, "temporary files are gone");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_a_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let make_public = || {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        };
        make_public();
        drop(create_private(&path).unwrap());
        assert_eq!((mode(), fs::read_to_string(&path).unwrap()), (0o600, String::new()));
        make_public();
        write_private(&path, "new").unwrap();
        assert_eq!((mode(), fs::read_to_string(&path).unwrap()), (0o600, "new".into()));
    }
}

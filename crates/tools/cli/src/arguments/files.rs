//! Text files that the command line names, read up to a limit.
//!
//! Their modes are not checked by `agentwire-files`: a container's secrets belong to root, and `<(…)` is a pipe.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Why a file's text cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it cannot be read: {0}")]
    Io(io::Error),
    #[error("it is a folder")]
    Folder,
    #[error("it is not a regular file")]
    Irregular,
    #[error("it is longer than {0} bytes")]
    TooLong(u64),
    #[error("it is not in UTF-8")]
    NotUtf8,
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has modes"))]
    #[error("it has mode {0:04o}, so others may know or change what is in it; `chmod 600` helps")]
    Open(u32),
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has owners"))]
    #[error("it belongs to the user number {0}, who may know and change what is in it")]
    Foreign(u32),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a secret text of at most `limit` bytes. A file that others can read or change is refused; a pipe, which a shell makes for
/// `<(…)`, is not.
pub(crate) fn read_secret_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    let file = File::open(path)?;
    check_private(&file)?;
    read_from(file, limit)
}

/// Refuses a file that others can read or change. A file of root may be readable by its group if this process does not run as
/// root, because containers get their secrets so.
#[cfg(unix)]
fn check_private(file: &File) -> Result<(), ReadError> {
    use std::os::unix::fs::MetadataExt as _;
    const ROOT: u32 = 0;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(());
    }
    let (mode, owner) = (metadata.mode() & 0o7777, metadata.uid());
    let of_others = match (owner, rustix::process::geteuid().as_raw()) {
        (owner, user) if owner == user => 0o077,
        (ROOT, _) => 0o037,
        _ => return Err(ReadError::Foreign(owner)),
    };
    if mode & of_others == 0 { Ok(()) } else { Err(ReadError::Open(mode)) }
}

#[cfg(not(unix))]
fn check_private(_: &File) -> Result<(), ReadError> {
    Ok(())
}

/// Reads a text of at most `limit` bytes, from a pipe as well.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    read_from(File::open(path)?, limit)
}

fn read_from(file: File, limit: u64) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLong(limit));
    }
    String::from_utf8(bytes).map_err(|_| ReadError::NotUtf8)
}

/// Reads the text of a regular file of at most `limit` bytes.
pub(crate) fn read_regular_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ReadError::Folder);
    }
    if !metadata.is_file() {
        return Err(ReadError::Irregular);
    }
    read_text(path, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_regular_file_of_text_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let read = |limit| read_regular_text(&path, limit).map_err(|error| error.to_string());
        fs::write(&path, "text").unwrap();
        assert_eq!(read(4).as_deref(), Ok("text"));
        assert_eq!(read(3), Err("it is longer than 3 bytes".into()));
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read(4), Err("it is not in UTF-8".into()));
        assert!(matches!(read_regular_text(folder.path(), 4), Err(ReadError::Folder)));
        assert!(matches!(read_regular_text(&folder.path().join("none"), 4), Err(ReadError::Io(_))));
        #[cfg(unix)]
        assert!(matches!(read_regular_text(Path::new("/dev/zero"), 4), Err(ReadError::Irregular)));
    }
    #[cfg(unix)]
    #[test]
    fn secret_that_others_can_read_or_change_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, "text").unwrap();
        for (mode, is_private) in
            [(0o600, true), (0o400, true), (0o640, false), (0o644, false), (0o604, false), (0o620, false)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            match read_secret_text(&path, 4) {
                Ok(text) => assert!(is_private && text == "text", "{mode:o}"),
                Err(ReadError::Open(shown)) => assert!(!is_private && shown == mode, "{mode:o}"),
                Err(error) => panic!("{error}"),
            }
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let why = read_secret_text(&path, 4).unwrap_err().to_string();
        assert_eq!(why, "it has mode 0644, so others may know or change what is in it; `chmod 600` helps");
        assert_eq!(read_secret_text(Path::new("/dev/null"), 4).unwrap(), "", "no file");
    }
}

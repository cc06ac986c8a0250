//! Text files that the command line names, read up to a limit.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Why a file's text cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is a folder")]
    Folder,
    #[error("it is no regular file")]
    Irregular,
    #[error("it is longer than {0} bytes")]
    TooLong(u64),
    #[error("it is not in UTF-8")]
    NotUtf8,
}

/// Reads a text of at most `limit` bytes, from a pipe as well.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
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
}

//! Moves damaged data of a session to numbered `aside` files, which are deleted only with the session.

use std::io;
use std::path::PathBuf;

use agentwire_files::{Access, RawFile};

use super::directory::{Directory, failed};
use super::name::FileKind;
use crate::StoreError;

/// Copies a journal, from an offset on, to a new file, and makes that durable. Returns its path.
pub(super) fn copy(
    directory: &Directory,
    stem: &str,
    journal: &dyn RawFile,
    offset: u64,
) -> Result<PathBuf, StoreError> {
    let kind = free(directory, stem)?;
    let path = directory.file(stem, kind);
    let copied = directory.open_file(stem, kind, Access::Create).and_then(|aside| {
        let mut buffer = vec![0; 64 << 10];
        let mut copied = 0;
        loop {
            let read = journal.read_at(&mut buffer, offset + copied)?;
            if read == 0 {
                return aside.sync();
            }
            aside.write_all_at(&buffer[..read], copied)?;
            copied += read as u64;
        }
    });
    if let Err(source) = copied {
        let _ = directory.remove(stem, kind);
        return Err(failed("write", &path)(source));
    }
    directory.sync()?;
    Ok(path)
}

/// Renames a whole file. Returns its new path, or `None` if there is no such file.
pub(super) fn rename(
    directory: &Directory,
    stem: &str,
    from: FileKind,
) -> Result<Option<PathBuf>, StoreError> {
    let kind = free(directory, stem)?;
    match directory.rename(stem, from, kind) {
        Ok(()) => Ok(Some(directory.file(stem, kind))),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(failed("move", &directory.file(stem, from))(source)),
    }
}

/// Removes all such files of a session.
pub(super) fn remove_all(directory: &Directory, stem: &str) -> Result<(), StoreError> {
    // Their numbers have no gap.
    let mut number = 1;
    while directory.remove(stem, FileKind::Aside(number))? {
        number += 1;
    }
    Ok(())
}

/// Returns the first free name.
fn free(directory: &Directory, stem: &str) -> Result<FileKind, StoreError> {
    let mut number = 1;
    while directory.version(stem, FileKind::Aside(number))?.is_some() {
        number += 1;
    }
    Ok(FileKind::Aside(number))
}

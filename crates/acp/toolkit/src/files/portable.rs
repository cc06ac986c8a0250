//! Opens and writes files on systems without `openat`: a path is checked before it is opened, not while it is.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::error::FileError;
use crate::roots::Roots;

/// Resolves `path` to a path without links. Fails if something other than a file is there.
pub(super) fn resolve(roots: &Roots, path: &Path) -> Result<PathBuf, FileError> {
    let place = place(roots, path)?;
    match regular(&place) {
        Ok(()) | Err(FileError::Missing) => Ok(place),
        Err(error) => Err(error),
    }
}

/// Opens the regular file at `path`, and calls `then` with it.
pub(super) fn open<T>(
    roots: &Roots,
    path: &Path,
    then: impl Fn(File) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let path = place(roots, path)?;
    regular(&path)?;
    then(File::open(path).map_err(missing)?)
}

/// Replaces the content of the file at `path` by `text`.
pub(super) fn write(roots: &Roots, path: &Path, text: &str) -> Result<(), FileError> {
    let path = place(roots, path)?;
    match regular(&path) {
        Ok(()) => {}
        Err(FileError::Missing) => {
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
        }
        Err(error) => return Err(error),
    }
    Ok(fs::write(path, text)?)
}

fn regular(path: &Path) -> Result<(), FileError> {
    let metadata = fs::metadata(path).map_err(missing)?;
    if metadata.is_dir() {
        return Err(FileError::Directory);
    }
    if metadata.is_file() { Ok(()) } else { Err(FileError::NotRegular) }
}

/// Resolves the existing part of `path`, and appends the rest. Fails for a path that is outside or denied.
fn place(roots: &Roots, path: &Path) -> Result<PathBuf, FileError> {
    let mut rest = Vec::new();
    for existing in path.ancestors() {
        match existing.canonicalize() {
            Ok(mut real) => {
                if !roots.contain(&real) {
                    // No directory is created on the way to a root.
                    return Err(FileError::Outside);
                }
                real.extend(rest.into_iter().rev());
                return if roots.denies(&real) { Err(FileError::Denied) } else { Ok(real) };
            }
            // The target of a dangling link may be created outside before the file is opened.
            Err(_) if fs::symlink_metadata(existing).is_ok() => return Err(FileError::Outside),
            Err(_) => match existing.components().next_back() {
                Some(Component::Normal(name)) => rest.push(name.to_owned()),
                _ => return Err(FileError::Outside),
            },
        }
    }
    Err(FileError::Outside)
}

fn missing(error: std::io::Error) -> FileError {
    match error.kind() {
        ErrorKind::NotFound => FileError::Missing,
        ErrorKind::NotADirectory => FileError::NotADirectory,
        _ => error.into(),
    }
}

//! Reads and replaces small files, and syncs folders.
//!
//! These are not opened with `agentwire-files`: their paths lead through folders that npm, uv or an archive may have made with
//! any mode, below the folder of the store, which is checked.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Reads a text file of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_string(&mut text)?;
    match text.len() as u64 > limit {
        true => Err(io::Error::other(format!("it is longer than {limit} bytes"))),
        false => Ok(text),
    }
}

/// Replaces a file as a whole: after a crash there is the old text or the new one. The folder is created.
pub(crate) fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = folder.join(name);
    let mut file = File::create(&new)?;
    file.write_all(text)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&new, path)?;
    sync_folder(folder)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Makes all files below a folder durable. On Linux one call does so; a package has thousands of files.
#[cfg(target_os = "linux")]
pub(crate) fn sync_tree(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Makes all files below a folder durable.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            // Windows syncs only what is open for writing, which a read-only file cannot be.
            let file = if cfg!(unix) {
                File::open(entry.path())
            } else {
                File::options().write(true).open(entry.path())
            };
            if let Ok(file) = file {
                file.sync_all()?;
            }
        }
    }
    sync_folder(folder)
}

/// Runs file operations on a thread that may block. They finish even if the caller is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        write_file(&path, b"old").unwrap();
        write_file(&path, b"new!").unwrap();
        assert_eq!(read_text(&path, 4).unwrap(), "new!");
        assert_eq!(read_text(&path, 3).unwrap_err().to_string(), "it is longer than 3 bytes");
        assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1, "no half file stays");
        sync_tree(folder.path()).unwrap();
    }
}

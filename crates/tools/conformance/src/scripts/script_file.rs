//! Scripts: checks that are files, in the format of recordings.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use agentwire_recording::ReadError;
use agentwire_recording::script::Script;

/// A script with its name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScriptFile {
    /// The name of the file, without its ending.
    pub name: String,
    /// The conversation.
    pub script: Script,
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file or the folder cannot be read.
    #[error("{}: {error}", path.display())]
    #[non_exhaustive]
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not a script.
    #[error("{}: {error}", path.display())]
    #[non_exhaustive]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        error: ReadError,
    },
    /// A folder has no file that ends with `.jsonl`.
    #[error("{} has no script", .0.display())]
    Empty(PathBuf),
}

impl ScriptFile {
    /// Reads a file, or all files of a folder that end with `.jsonl`, in the order of their names.
    ///
    /// # Errors
    ///
    /// Fails if one of them cannot be read or is not a script, and if there is none.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, ScriptError> {
        if !path.is_dir() {
            return Ok(vec![Self::read(path)?]);
        }
        let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(|error| ScriptError::Io { path: path.to_owned(), error })?;
        let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort_unstable();
        if files.is_empty() {
            return Err(ScriptError::Empty(path.to_owned()));
        }
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(path: &Path) -> Result<Self, ScriptError> {
        let file = File::open(path).map_err(|error| ScriptError::Io { path: path.to_owned(), error })?;
        let script = Script::read(BufReader::new(file))
            .map_err(|error| ScriptError::Malformed { path: path.to_owned(), error })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, script })
    }
}

//! The record of an agent: which folders are installed, and what they were installed by.

use std::io;
use std::path::{Component, Path, PathBuf};

use agentwire_jsonrpc::read;
use serde::{Deserialize, Serialize};

use crate::error::RegistryError;
use crate::files::{read_text, write_file};
use crate::plan::Plan;

/// How many bytes a record may have.
const MAX_RECORD: u64 = 4 << 20;

/// The installed versions of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) current: Install,
    /// The version before it, which is kept for a rollback.
    pub(super) previous: Option<Install>,
}

/// An installed version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Install {
    /// The name of its folder.
    pub(super) folder: String,
    /// The path of its executable in the folder.
    pub(super) program: PathBuf,
    pub(super) plan: Plan,
}

impl Install {
    /// Whether all names are such as this crate writes: a damaged or foreign record must not lead out of the store.
    fn is_sound(&self, id: &str) -> bool {
        let is_plain = |path: &Path| {
            path.components().all(|part| matches!(part, Component::Normal(_)))
                && path.components().next().is_some()
        };
        self.plan.id == id
            && Path::new(&self.folder).components().count() == 1
            && is_plain(Path::new(&self.folder))
            && is_plain(&self.program)
    }
}

impl Record {
    /// Reads a record. None if there is no file.
    pub(super) fn read(path: &Path, id: &str) -> io::Result<Option<Self>> {
        let text = match read_text(path, MAX_RECORD) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let record: Self = read(&text).map_err(io::Error::other)?;
        let is_sound =
            record.current.is_sound(id) && record.previous.iter().all(|install| install.is_sound(id));
        match is_sound {
            true => Ok(Some(record)),
            false => Err(io::Error::other("the record leads out of the store")),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), RegistryError> {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other);
        text.and_then(|text| write_file(path, &text)).map_err(RegistryError::file(path))
    }

    /// The names of the folders that stay.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        [&self.current].into_iter().chain(&self.previous).map(|install| &*install.folder)
    }
}

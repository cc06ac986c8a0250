//! The layout of the store.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agentwire_files::{NotPrivate, Privacy, PrivateDir};

use crate::error::RegistryError;

/// The paths of the store:
///
/// ```text
/// agents/ID/record.json       what is installed
/// agents/ID/VERSION-N/        the files of a version
/// agents/ID/VERSION-N.lock    held by who runs it
/// locks/ID                    held by who changes the agent
/// digests/ID.json             the digest of each version that was installed
/// index/                      cached indexes
/// neutral/                    the empty folder in which programs run
/// ```
#[derive(Clone, Debug)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    /// A store at an absolute path. A relative one would be another store in each folder.
    pub(super) fn new(root: PathBuf) -> Result<Self, RegistryError> {
        match root.is_absolute() {
            true => Ok(Self { root }),
            false => Err(RegistryError::UnsafeStore { path: root, why: "is a relative path".to_owned() }),
        }
    }

    /// Creates the store's folder, and checks that others cannot change it: what is in it will be run.
    pub(super) fn create(&self) -> Result<(), RegistryError> {
        self.check_opened(PrivateDir::create(&self.root, Privacy::OthersMayRead))
    }

    /// Checks that others cannot change the store. A store that does not exist is safe.
    pub(super) fn check(&self) -> Result<(), RegistryError> {
        match PrivateDir::open(&self.root, Privacy::OthersMayRead) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            opened => self.check_opened(opened),
        }
    }

    fn check_opened(&self, opened: io::Result<PrivateDir>) -> Result<(), RegistryError> {
        // This looks into the folder: a later error would be that of an agent.
        let checked = opened.and_then(|_| fs::metadata(self.root.join(".")));
        let Err(error) = checked else { return Ok(()) };
        let why = match NotPrivate::of(&error) {
            Some(refusal) => format!("is refused: {refusal}"),
            None if error.kind() == io::ErrorKind::NotADirectory => "is not a folder".to_owned(),
            None => return Err(RegistryError::file(&self.root)(error)),
        };
        Err(RegistryError::UnsafeStore { path: self.root.clone(), why })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    pub(super) fn agent(&self, id: &str) -> PathBuf {
        self.agents().join(id)
    }

    pub(super) fn record(&self, id: &str) -> PathBuf {
        self.agent(id).join("record.json")
    }

    pub(super) fn folder(&self, id: &str, folder: &str) -> PathBuf {
        self.agent(id).join(folder)
    }

    pub(super) fn folder_lock(&self, id: &str, folder: &str) -> PathBuf {
        self.agent(id).join(format!("{folder}.lock"))
    }

    pub(super) fn lock(&self, id: &str) -> PathBuf {
        self.root.join("locks").join(id)
    }

    pub(super) fn digests(&self, id: &str) -> PathBuf {
        self.root.join("digests").join(format!("{id}.json"))
    }

    pub(super) fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// Creates the empty folder in which programs run, and before it the store, which only its owner can access.
    pub(super) fn neutral(&self) -> Result<PathBuf, RegistryError> {
        self.create()?;
        let path = self.root.join("neutral");
        fs::create_dir_all(&path).map_err(RegistryError::file(&path))?;
        Ok(path)
    }
}

//! Where everything is in the store.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
            false => Err(RegistryError::UnsafeStore { path: root, why: "is a relative path" }),
        }
    }

    /// Creates the store's folder, and checks that others cannot change it: what is in it will be run.
    pub(super) fn create(&self) -> Result<(), RegistryError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(&self.root).map_err(RegistryError::file(&self.root))?;
        self.check()
    }

    /// Checks that others cannot change the store. A store that does not exist is safe.
    pub(super) fn check(&self) -> Result<(), RegistryError> {
        let unsafe_store = |why| Err(RegistryError::UnsafeStore { path: self.root.clone(), why });
        let metadata = match fs::metadata(&self.root) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(RegistryError::file(&self.root)(error)),
        };
        if !metadata.is_dir() {
            return unsafe_store("is no folder");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            if metadata.uid() != rustix::process::geteuid().as_raw() {
                return unsafe_store("belongs to another user");
            }
            if metadata.mode() & 0o022 != 0 {
                return unsafe_store("can be changed by other users; `chmod go-w` helps");
            }
            // This looks into the folder: a later error would be that of an agent.
            fs::metadata(self.root.join(".")).map_err(RegistryError::file(&self.root))?;
        }
        Ok(())
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

    /// The empty folder in which programs run, which is made. The store is made first, for its owner alone.
    pub(super) fn neutral(&self) -> Result<PathBuf, RegistryError> {
        self.create()?;
        let path = self.root.join("neutral");
        fs::create_dir_all(&path).map_err(RegistryError::file(&path))?;
        Ok(path)
    }
}

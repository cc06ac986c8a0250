//! The work of this node, on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

/// The log of a node. Each line is the key of a call whose work is done.
#[derive(Clone)]
pub(crate) struct Log(Arc<File>);

impl Log {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(OpenOptions::new().create(true).append(true).open(path)?)))
    }

    /// Writes a key, and returns when it is on disk.
    pub(crate) fn write(&self, key: &str) -> io::Result<()> {
        let line = format!("{key}\n");
        (&*self.0).write_all(line.as_bytes())?;
        self.0.sync_data()
    }
}

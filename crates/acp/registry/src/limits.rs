//! The limits on everything that a registry, a package or a program can make large or slow.

use std::time::Duration;

/// Limits on what is read, unpacked and waited for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    pub(crate) index: u64,
    pub(crate) archive: u64,
    pub(crate) unpacked: u64,
    pub(crate) files: u64,
    pub(crate) folders: u64,
    pub(crate) install: Duration,
    pub(crate) probe: Duration,
}

impl Limits {
    /// How many bytes an index may have: 8 MiB.
    pub const DEFAULT_INDEX: u64 = 8 << 20;
    /// How many bytes an archive may have: 1 GiB.
    pub const DEFAULT_ARCHIVE: u64 = 1 << 30;
    /// How many bytes the files of an archive may have together: 4 GiB.
    pub const DEFAULT_UNPACKED: u64 = 4 << 30;
    /// How many files, folders and links an archive may have: 200,000.
    pub const DEFAULT_FILES: u64 = 200_000;
    /// How many folders an archive may have: 20,000. Folders that only the paths of files name count too: a short path
    /// can name 63, and each takes a block of the disk.
    pub const DEFAULT_FOLDERS: u64 = 20_000;
    /// How long an install may take, without the probe: 15 minutes.
    pub const DEFAULT_INSTALL: Duration = Duration::from_secs(15 * 60);
    /// How long an agent may take to answer `initialize`: 60 s.
    pub const DEFAULT_PROBE: Duration = Duration::from_secs(60);

    /// Sets how many bytes an index may have.
    #[must_use]
    pub fn index_limit(mut self, bytes: u64) -> Self {
        self.index = bytes;
        self
    }

    /// Sets how many bytes an archive may have.
    #[must_use]
    pub fn archive_limit(mut self, bytes: u64) -> Self {
        self.archive = bytes;
        self
    }

    /// Sets how many bytes the files of an archive may have together.
    #[must_use]
    pub fn unpacked_limit(mut self, bytes: u64) -> Self {
        self.unpacked = bytes;
        self
    }

    /// Sets how many files, folders and links an archive may have.
    #[must_use]
    pub fn files_limit(mut self, files: u64) -> Self {
        self.files = files;
        self
    }

    /// Sets how many folders an archive may have.
    #[must_use]
    pub fn folders_limit(mut self, folders: u64) -> Self {
        self.folders = folders;
        self
    }

    /// Sets how long an install may take, without the probe.
    #[must_use]
    pub fn install_timeout(mut self, time: Duration) -> Self {
        self.install = time;
        self
    }

    /// Sets how long an agent may take to answer `initialize`.
    #[must_use]
    pub fn probe_timeout(mut self, time: Duration) -> Self {
        self.probe = time;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            index: Self::DEFAULT_INDEX,
            archive: Self::DEFAULT_ARCHIVE,
            unpacked: Self::DEFAULT_UNPACKED,
            files: Self::DEFAULT_FILES,
            folders: Self::DEFAULT_FOLDERS,
            install: Self::DEFAULT_INSTALL,
            probe: Self::DEFAULT_PROBE,
        }
    }
}

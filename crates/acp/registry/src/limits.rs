//! The limits on everything that a registry, a package or a program can make large or slow.

use std::time::Duration;

use agentwire_wire_derive::Build;

/// Limits on what is read, unpacked and waited for.
#[derive(Clone, Debug, Build)]
#[build(default)]
#[non_exhaustive]
pub struct Limits {
    /// Sets how many bytes an index may have.
    #[build(name = index_limit, default = Self::DEFAULT_INDEX)]
    pub(crate) index: u64,
    /// Sets how many bytes an archive may have.
    #[build(name = archive_limit, default = Self::DEFAULT_ARCHIVE)]
    pub(crate) archive: u64,
    /// Sets how many bytes the files of an archive may have together.
    #[build(name = unpacked_limit, default = Self::DEFAULT_UNPACKED)]
    pub(crate) unpacked: u64,
    /// Sets how many files, folders and links an archive may have.
    #[build(name = files_limit, default = Self::DEFAULT_FILES)]
    pub(crate) files: u64,
    /// Sets how many folders an archive may have.
    #[build(name = folders_limit, default = Self::DEFAULT_FOLDERS)]
    pub(crate) folders: u64,
    /// Sets how long an install may take, without the probe.
    #[build(name = install_timeout, default = Self::DEFAULT_INSTALL)]
    pub(crate) install: Duration,
    /// Sets how long an agent may take to answer `initialize`.
    #[build(name = probe_timeout, default = Self::DEFAULT_PROBE)]
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
}

//! The repository: its folder and its URL.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

/// The tree of files, and its URL.
pub(super) struct Repository {
    pub(super) root: PathBuf,
    /// Without a slash at its end.
    pub(super) url: String,
}

impl Repository {
    /// Opens the repository in a folder. The URL is the one of the manifests.
    pub(super) fn at(root: &Path) -> Result<Self> {
        let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
        let mut urls = metadata.packages.iter().filter_map(|package| package.repository.as_deref());
        let url = urls.next().context("no package names its repository")?;
        Ok(Self { root: root.to_owned(), url: url.trim_end_matches('/').to_owned() })
    }
}

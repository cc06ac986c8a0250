//! Builds the programs that both suites judge.

use std::path::Path;

use anyhow::Result;

use crate::cargo;

/// Builds the command and the fixtures. Both suites do it in this way: with another choice of packages tokio has other features,
/// and cargo builds it and all that uses it again.
pub(super) fn build(root: &Path) -> Result<()> {
    cargo::build(
        root,
        &["--package", "agentwire-cli", "--package", "agentwire-conformance-fixtures", "--bins"],
    )
}

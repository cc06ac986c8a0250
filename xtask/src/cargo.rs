//! Cargo, and the place of what it builds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use agentwire_test_support::cargo;
use anyhow::Result;
use cargo_metadata::MetadataCommand;

use crate::process;

/// Set for a command of this program that runs beside a build: what [`programs`] builds is there, and a second build would wait for
/// the end of the first.
pub(crate) const PROGRAMS_ARE_BUILT: &str = "AGENTWIRE_PROGRAMS_ARE_BUILT";

/// Cargo, in a workspace: the one that runs this program, if there is one.
pub(crate) fn command(root: &Path) -> Command {
    let mut command = cargo();
    command.current_dir(root);
    command
}

/// Builds what the arguments name.
pub(crate) fn build(root: &Path, arguments: &[&str]) -> Result<()> {
    process::run(command(root).args(["build", "--quiet"]).args(arguments))
}

/// Builds every program and example of the workspace, as its tests have them, and returns the folder of the programs.
///
/// The choice of all packages, and the examples, give every package the features that it has in a test of the workspace, so that
/// this uses what the tests have compiled.
pub(crate) fn programs(root: &Path) -> Result<PathBuf> {
    if env::var_os(PROGRAMS_ARE_BUILT).is_none() {
        build(root, &["--workspace", "--bins", "--examples"])?;
    }
    Ok(target(root)?.join("debug"))
}

/// The folder to which a workspace builds. `CARGO_TARGET_DIR` and a user's configuration are respected.
pub(crate) fn target(root: &Path) -> Result<PathBuf> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// The sections of the workspace's manifest with the profile `dev`. Another workspace with the same sections and target folder reuses the
/// dependencies that are compiled for this one.
pub(crate) fn dev_profile(root: &Path) -> Result<String> {
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let sections = manifest.split("\n[").filter(|section| section.starts_with("profile.dev"));
    Ok(sections.map(|section| format!("\n[{section}\n")).collect())
}

/// The crates of a dependency tree, each as its name and version. `arguments` name the package and the edges.
pub(crate) fn tree(command: &mut Command, arguments: &[&str]) -> Result<BTreeSet<String>> {
    Ok(crates(&process::output(command.args(["tree", "--quiet", "--prefix", "none"]).args(arguments))?))
}

/// Cargo marks a repeated line with `(*)`, and adds the path of a local crate.
fn crates(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::crates;

    #[test]
    fn each_crate_counts_once() {
        let tree = "agent v0.0.0 (/tmp/agent)\nserde v1.0.0\nserde v1.0.0 (*)\n\nsyn v2.0.0 (proc-macro)\nsyn v3.0.0\n";
        let crates: Vec<_> = crates(tree).into_iter().collect();
        assert_eq!(crates, ["agent v0.0.0", "serde v1.0.0", "syn v2.0.0", "syn v3.0.0"]);
    }
}

//! Cargo, started by a program that cargo runs: a test, `xtask` or `bench`. Also the place of what it builds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, fs};

use anyhow::{Context as _, Result};
use cargo_metadata::{Message, MetadataCommand};

use crate::process;

/// The variables with which cargo describes a program's package. Build scripts, that of `ring` among them, read variables with
/// these names, and cargo runs a script again when one has changed. Without this filter, a build would compile `ring` and its
/// dependents again for each package that starts it.
const OF_A_PACKAGE: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// Set for a program that is started after [`programs`]: a second build would wait for one that runs beside it.
pub const PROGRAMS_ARE_BUILT: &str = "AGENTWIRE_PROGRAMS_ARE_BUILT";

/// Returns a command of the cargo that runs this program, or of the one in `PATH`, without the variables of this program's package.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| OF_A_PACKAGE.iter().any(|start| name.starts_with(start))) {
            command.env_remove(name);
        }
    }
    command
}

/// Cargo, in a workspace: the one that runs this program, if there is one.
pub fn command(root: &Path) -> Command {
    let mut command = cargo();
    command.current_dir(root);
    command
}

/// Builds what the arguments name.
pub fn build(root: &Path, arguments: &[&str]) -> Result<()> {
    process::run(command(root).args(["build", "--quiet"]).args(arguments))
}

/// Runs a command of cargo to its end, and returns what it printed with `--message-format json` or `json-render-diagnostics`.
pub fn messages(command: &mut Command) -> Result<(ExitStatus, Vec<Message>)> {
    let output = command.output().context("cannot run cargo")?;
    let messages = Message::parse_stream(&output.stdout[..]).collect::<std::io::Result<_>>()?;
    Ok((output.status, messages))
}

/// Builds every program and example of the workspace, as its tests have them, and returns the folder of the programs.
///
/// The choice of all packages, and the examples, give every package the features that it has in a test of the workspace, so that
/// this uses what the tests have compiled.
pub fn programs(root: &Path) -> Result<PathBuf> {
    if env::var_os(PROGRAMS_ARE_BUILT).is_none() {
        build(root, &["--workspace", "--bins", "--examples"])?;
    }
    Ok(target(root)?.join("debug"))
}

/// The folder to which a workspace builds. `CARGO_TARGET_DIR` and a user's configuration are respected.
pub fn target(root: &Path) -> Result<PathBuf> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// The sections of the workspace's manifest with the profile `dev`. Another workspace with the same sections and target folder reuses the
/// dependencies that are compiled for this one.
pub fn dev_profile(root: &Path) -> Result<String> {
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let sections = manifest.split("\n[").filter(|section| section.starts_with("profile.dev"));
    Ok(sections.map(|section| format!("\n[{section}\n")).collect())
}

/// The crates of a dependency tree, each as its name and version. `arguments` name the package and the edges.
pub fn tree(command: &mut Command, arguments: &[&str]) -> Result<BTreeSet<String>> {
    Ok(crates(&process::output(command.args(["tree", "--quiet", "--prefix", "none"]).args(arguments))?))
}

/// Cargo marks a repeated line with `(*)`, and adds the path of a local crate.
fn crates(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().filter(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_package_are_removed() {
        assert!(env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")));
        let removed: Vec<_> =
            cargo().get_envs().map(|(name, value)| (name.to_owned(), value.is_none())).collect();
        for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(removed.contains(&(name.into(), true)), "{removed:?}");
        }
    }

    #[test]
    fn each_crate_counts_once() {
        let tree = "agent v0.0.0 (/tmp/agent)\nserde v1.0.0\nserde v1.0.0 (*)\n\nsyn v2.0.0 (proc-macro)\nsyn v3.0.0\n";
        let crates: Vec<_> = crates(tree).into_iter().collect();
        assert_eq!(crates, ["agent v0.0.0", "serde v1.0.0", "syn v2.0.0", "syn v3.0.0"]);
    }
}

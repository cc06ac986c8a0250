//! The smallest agent: how many crates it pulls in and how long it takes to build from nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::pace::Pace;
use super::rows::{Better, Floor, Row, Unit};
use super::scenario::{Sample, Scenario};
use super::subject::Subject;

/// Our smallest agent; it is compiled as a package of its own, as a user's would be.
const OURS: &str = include_str!("minimal_agent.rs");

pub(crate) const SCENARIO: Scenario = Scenario {
    name: "the minimal agent",
    rows: &[
        Row {
            key: "h",
            title: "crates in a minimal agent",
            unit: Unit::Crates,
            better: Better::Lower,
            floors: &[Floor::AtMost(40.0)],
        },
        Row {
            key: "h-build",
            title: "clean release build of it (one build each)",
            unit: Unit::Seconds,
            better: Better::Lower,
            floors: &[Floor::AtMostOfRival(0.5)],
        },
    ],
    measure,
};

/// A package that is one minimal agent.
pub(crate) struct Minimal {
    manifest: PathBuf,
    package: &'static str,
    /// Where a generated package lives.
    _folder: Option<TempDir>,
}

impl Minimal {
    /// A package that exists.
    pub(crate) fn at(manifest: PathBuf, package: &'static str) -> Self {
        Self { manifest, package, _folder: None }
    }

    /// A package made around our smallest agent, outside our workspace and with its locked versions.
    pub(crate) fn generate(root: &Path) -> Result<Self> {
        let folder = TempDir::new()?;
        let crates = root.join("crates");
        let crates = crates.to_str().context("the workspace's path is not UTF-8")?;
        let manifest = format!(
            r#"[package]
name = "minimal-agent"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
agentwire-acp-agent = {{ path = "{crates}/acp-agent" }}
agentwire-acp-schema = {{ path = "{crates}/acp-schema" }}
agentwire-transport-stdio = {{ path = "{crates}/transport-stdio", default-features = false }}
tokio = {{ version = "1", default-features = false, features = ["rt", "macros"] }}
"#
        );
        std::fs::create_dir(folder.path().join("src"))?;
        std::fs::write(folder.path().join("src/main.rs"), OURS)?;
        std::fs::write(folder.path().join("Cargo.toml"), manifest)?;
        std::fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock"))?;
        let manifest = folder.path().join("Cargo.toml");
        Ok(Self { manifest, package: "minimal-agent", _folder: Some(folder) })
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = Command::new("cargo");
        command.args([subcommand, "--quiet", "--offline", "--package", self.package]);
        command.arg("--manifest-path").arg(&self.manifest);
        command
    }

    /// The crates that are linked or run as macros, the agent itself not counted.
    fn crates(&self) -> Result<usize> {
        let output = self.cargo("tree").args(["--edges", "normal", "--prefix", "none"]).output()?;
        ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
        let tree = String::from_utf8(output.stdout)?;
        Ok(crates_in(&tree, self.package))
    }

    fn build(&self) -> Result<f64> {
        let target = TempDir::new()?;
        let begun = Instant::now();
        let output = self.cargo("build").arg("--release").env("CARGO_TARGET_DIR", target.path()).output()?;
        ensure!(output.status.success(), "cargo build: {}", String::from_utf8_lossy(&output.stderr));
        Ok(begun.elapsed().as_secs_f64())
    }
}

/// Counts names with versions, each once: cargo marks a repeated line with `(*)` and adds the path of a local crate.
pub(crate) fn crates_in(tree: &str, root: &str) -> usize {
    let name_and_version = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let crates: BTreeSet<String> =
        tree.lines().filter(|line| !line.is_empty()).map(name_and_version).collect();
    crates.iter().filter(|name| name.split(' ').next() != Some(root)).count()
}

fn measure(subject: &Subject, _pace: &Pace) -> Result<Vec<Sample>> {
    let minimal = subject.minimal.as_ref().context("no minimal agent")?;
    Ok(vec![Some(minimal.crates()? as f64), Some(minimal.build()?)])
}

#[cfg(test)]
mod tests {
    use super::crates_in;

    #[test]
    fn each_crate_counts_once_and_the_root_not() {
        let tree = "agent v0.0.0 (/tmp/agent)\nours v0.1.0 (/crates/ours)\nserde v1.0.0\nserde v1.0.0 (*)\nsyn v2.0.0 (proc-macro)\nsyn v3.0.0 (proc-macro)\n";
        assert_eq!(crates_in(tree, "agent"), 4);
    }
}

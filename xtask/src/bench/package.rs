//! A small program as a package of its own: how many crates it pulls in, and how long it takes to build from nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// A package with one program, outside our workspace.
pub(crate) struct Package {
    manifest: PathBuf,
    name: &'static str,
    /// Where a generated package lives.
    _folder: Option<TempDir>,
}

/// A program that was built from nothing. Its folder goes when this is dropped.
pub(crate) struct Built {
    pub(crate) time: Duration,
    pub(crate) program: PathBuf,
    _target: TempDir,
}

impl Package {
    /// A package that exists.
    pub(crate) fn at(manifest: PathBuf, name: &'static str) -> Self {
        Self { manifest, name, _folder: None }
    }

    /// A package made around one source, as a user's would be, with the versions that our workspace is locked to. In the
    /// lines of its dependencies `CRATES` stands for the folder of our crates.
    pub(crate) fn generate(
        root: &Path,
        name: &'static str,
        dependencies: &str,
        source: &str,
    ) -> Result<Self> {
        let folder = TempDir::new()?;
        let crates = root.join("crates");
        let crates = crates.to_str().context("the workspace's path is not UTF-8")?;
        let dependencies = dependencies.replace("CRATES", crates);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}"
        );
        std::fs::create_dir(folder.path().join("src"))?;
        std::fs::write(folder.path().join("src/main.rs"), source)?;
        std::fs::write(folder.path().join("Cargo.toml"), manifest)?;
        std::fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock"))?;
        let manifest = folder.path().join("Cargo.toml");
        Ok(Self { manifest, name, _folder: Some(folder) })
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = Command::new("cargo");
        command.args([subcommand, "--quiet", "--package", self.name]);
        command.arg("--manifest-path").arg(&self.manifest);
        command
    }

    /// The crates that are linked or run as macros, each as name and version, the program itself not among them. What is
    /// missing on this machine is fetched.
    pub(crate) fn crates(&self) -> Result<BTreeSet<String>> {
        let output = self.cargo("tree").args(["--edges", "normal", "--prefix", "none"]).output()?;
        ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
        Ok(crates_in(&String::from_utf8(output.stdout)?, self.name))
    }

    /// Builds it in release mode in a folder of its own, and strips it.
    pub(crate) fn build(&self) -> Result<Built> {
        let target = TempDir::new()?;
        let mut cargo = self.cargo("build");
        cargo.args(["--offline", "--release"]);
        cargo.env("CARGO_TARGET_DIR", target.path()).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        let begun = Instant::now();
        let output = cargo.output()?;
        let time = begun.elapsed();
        ensure!(output.status.success(), "cargo build: {}", String::from_utf8_lossy(&output.stderr));
        let program = target.path().join("release").join(self.name);
        Ok(Built { time, program, _target: target })
    }
}

impl Built {
    /// Of the program, in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        let program = std::fs::metadata(&self.program);
        Ok(program.with_context(|| self.program.display().to_string())?.len())
    }
}

/// Names with versions, each once: cargo marks a repeated line with `(*)` and adds the path of a local crate.
pub(crate) fn crates_in(tree: &str, root: &str) -> BTreeSet<String> {
    let name_and_version = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let lines = tree.lines().filter(|line| !line.is_empty());
    lines.map(name_and_version).filter(|name| name.split(' ').next() != Some(root)).collect()
}

#[cfg(test)]
mod tests {
    use super::crates_in;

    #[test]
    fn each_crate_counts_once_and_the_root_not() {
        let tree = "agent v0.0.0 (/tmp/agent)\nours v0.1.0 (/crates/ours)\nserde v1.0.0\nserde v1.0.0 (*)\nsyn v2.0.0 (proc-macro)\nsyn v3.0.0 (proc-macro)\n";
        let crates: Vec<_> = crates_in(tree, "agent").into_iter().collect();
        assert_eq!(crates, ["ours v0.1.0", "serde v1.0.0", "syn v2.0.0", "syn v3.0.0"]);
    }
}

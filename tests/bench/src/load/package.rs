//! A small program as a package of its own: the crates that it pulls in, and its build time from nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use agentwire_test_support::{cargo, process};
use anyhow::{Context, Result};
use tempfile::TempDir;

/// The dependencies of our smallest agent.
const MINIMAL: &str = r#"
agentwire-acp-agent = { path = "CRATES/acp/agent" }
agentwire-acp-schema = { path = "CRATES/acp/schema" }
agentwire-transport-stdio = { path = "CRATES/core/stdio", default-features = false, features = ["nonblocking"] }
tokio = { version = "1", default-features = false, features = ["rt", "macros"] }
"#;

/// A package with one program, outside our workspace.
pub(crate) struct Package {
    manifest: PathBuf,
    name: &'static str,
    /// The folder of a generated package.
    _folder: Option<TempDir>,
}

/// A finished build. Dropping it deletes its folder.
pub(crate) struct Build {
    pub(crate) time: Duration,
    pub(crate) program: PathBuf,
    _target: TempDir,
}

impl Package {
    /// An existing package.
    pub(crate) fn at(manifest: PathBuf, name: &'static str) -> Self {
        Self { manifest, name, _folder: None }
    }

    /// A new package of one source, with the versions of our workspace's lock file. In `dependencies`, the lines of its
    /// manifest, `CRATES` stands for the folder of our crates.
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

    /// Our smallest agent, as a package of its own.
    pub(crate) fn minimal(root: &Path) -> Result<Self> {
        Self::generate(root, "minimal-agent", MINIMAL, include_str!("stdio/minimal_agent.rs"))
    }

    fn cargo(&self) -> Command {
        cargo::command(self.manifest.parent().unwrap_or(Path::new(".")))
    }

    /// The crates that are linked or run as macros, each as name and version, without the program itself. Missing ones
    /// are downloaded.
    pub(crate) fn crates(&self) -> Result<BTreeSet<String>> {
        self.crates_by("normal")
    }

    /// The crates of its dependency tree along edges of these kinds, without the program itself.
    pub(crate) fn crates_by(&self, edges: &str) -> Result<BTreeSet<String>> {
        let mut crates = cargo::tree(&mut self.cargo(), &["--edges", edges, "--package", self.name])?;
        crates.retain(|name| name.split(' ').next() != Some(self.name));
        Ok(crates)
    }

    /// Builds it in release mode in a folder of its own, and strips it.
    pub(crate) fn build(&self) -> Result<Build> {
        self.build_with(&[])
    }

    /// Builds it with more arguments for cargo.
    pub(crate) fn build_with(&self, arguments: &[&str]) -> Result<Build> {
        let target = TempDir::new()?;
        let mut cargo = self.cargo();
        cargo.args(["build", "--quiet", "--offline", "--release", "--package", self.name]).args(arguments);
        cargo.env("CARGO_TARGET_DIR", target.path()).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        let begun = Instant::now();
        process::output(&mut cargo)?;
        let time = begun.elapsed();
        let program = target.path().join("release").join(self.name);
        Ok(Build { time, program, _target: target })
    }
}

impl Build {
    /// The size of the program, in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        let program = std::fs::metadata(&self.program);
        Ok(program.with_context(|| self.program.display().to_string())?.len())
    }
}

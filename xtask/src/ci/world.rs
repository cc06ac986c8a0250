//! The one debug build: every program and test of the workspace, with the profiles of `Cargo.toml`.
//!
//! A choice of single packages would select other features of `serde`, `syn`, `tokio` and `hyper`, and compile all that depends on
//! them again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agentwire_test_support::cargo;
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{Message, MetadataCommand, Package};

/// A program of tests.
pub(super) struct TestProgram {
    /// The package, and the target where it is not the library.
    pub(super) name: String,
    path: PathBuf,
    package: Package,
}

/// Compiles all of them, and returns the programs of tests in the order of their packages.
pub(super) fn build(root: &Path) -> Result<Vec<TestProgram>> {
    let mut command = cargo::command(root);
    // Without `--lib`: as a target of its own a procedural macro has another profile than for the crates that use it, and these
    // would be compiled once more for each of the two.
    command.args(["build", "--workspace", "--bins", "--examples", "--tests"]);
    command.args(["--message-format", "json-render-diagnostics"]);
    let (status, messages) = cargo::messages(command.stderr(Stdio::inherit()))?;
    ensure!(status.success(), "the workspace cannot be compiled");
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    let mut programs = Vec::new();
    for message in messages {
        let Message::CompilerArtifact(artifact) = message else { continue };
        let Some(path) = artifact.executable.filter(|_| artifact.profile.test) else { continue };
        let package = metadata.packages.iter().find(|package| package.id == artifact.package_id);
        let package = package.with_context(|| format!("{} is of no package", artifact.target.name))?.clone();
        let short = package.name.trim_start_matches("agentwire-");
        let name = match artifact.target.is_lib() || artifact.target.is_proc_macro() {
            true => short.to_owned(),
            false => format!("{short}::{}", artifact.target.name),
        };
        programs.push(TestProgram { name, path: path.into(), package });
    }
    ensure!(!programs.is_empty(), "cargo has built no tests");
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(programs)
}

impl TestProgram {
    /// Whether it is the program of that target of a package.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The program as `cargo test` starts it: in the folder of its package, with the variables of that package.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        let folder = self.package.manifest_path.parent().map(|folder| folder.as_std_path());
        if let Some(folder) = folder {
            command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        }
        command.env("CARGO_MANIFEST_PATH", &self.package.manifest_path);
        command.env("CARGO_PKG_NAME", self.package.name.as_str());
        command.env("CARGO_PKG_VERSION", self.package.version.to_string());
        command.stdin(Stdio::null());
        command
    }
}

/// The folder with the compiler's shared libraries, which the tests of a procedural macro load.
pub(super) fn compiler_libraries() -> Result<String> {
    let folder =
        agentwire_test_support::process::output(Command::new("rustc").args(["--print", "target-libdir"]))?;
    Ok(folder.trim().to_owned())
}

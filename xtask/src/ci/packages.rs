//! Makes and checks the packages of a release, without uploading them.
//!
//! For every change, the packages are made and checked together in a workspace of their own, where no file of this one is
//! reached. Before a release, each is also compiled alone, as its users will get it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use agentwire_test_support::{cargo, process};
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{MetadataCommand, Package};

use super::timings::Stopwatch;

/// Makes the packages, unpacks them, and checks them together.
pub(super) fn check(root: &Path, watch: &mut Stopwatch) -> Result<()> {
    let packages = published(root)?;
    let folder = cargo::target(root)?.join("packages");
    delete(&folder)?;
    let mut make = cargo::command(root);
    make.args(["package", "--no-verify", "--allow-dirty", "--quiet", "--target-dir"]).arg(&folder);
    packages.iter().for_each(|package| _ = make.args(["--package", package.name.as_str()]));
    process::run(&mut make)?;

    let scratch = folder.join("workspace");
    fs::create_dir_all(&scratch)?;
    for package in &packages {
        let file = folder.join("package").join(format!("{}-{}.crate", package.name, package.version));
        // Files get the current time: in a package all have the same one, and cargo would take changed files for checked.
        process::run(Command::new("tar").arg("-xmzf").arg(&file).arg("-C").arg(&scratch))?;
    }
    fs::write(scratch.join("Cargo.toml"), manifest(&packages)? + &cargo::dev_profile(root)?)?;
    fs::copy(root.join("Cargo.lock"), scratch.join("Cargo.lock"))?;
    // The same target folder: other crates are compiled already.
    let mut check = cargo::command(&scratch);
    // With the parts of the command that are not on by default.
    check.args(["check", "--workspace", "--features", "agentwire-cli/full", "--quiet", "--target-dir"]);
    check.arg(cargo::target(root)?);
    watch.compile(|| process::run(&mut check))
}

/// Compiles each package from nothing, alone and in the order of their dependencies.
///
/// Cargo believes that a published version never changes, and serves the crates of a dry run from a registry in the target
/// folder. It would use again what an earlier run has unpacked or built of the same version, so all of it is deleted first.
pub(super) fn verify(root: &Path) -> Result<()> {
    let names: Vec<String> =
        published(root)?.iter().map(|package| format!("{}-{}", package.name, package.version)).collect();
    forget(&cargo_home()?.join("registry/src"), &names)?;
    let target = cargo::target(root)?.join("verify");
    delete(&target)?;
    let arguments = ["publish", "--workspace", "--dry-run", "--allow-dirty", "--target-dir"];
    process::run(cargo::command(root).args(arguments).arg(target))
}

/// The packages that a release publishes.
fn published(root: &Path) -> Result<Vec<Package>> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    let packages = metadata.packages.into_iter();
    let packages: Vec<Package> =
        packages.filter(|package| package.publish.as_ref().is_none_or(|to| !to.is_empty())).collect();
    ensure!(!packages.is_empty(), "no package is published");
    Ok(packages)
}

/// The manifest of a workspace of the unpacked packages, in which each depends on the others here.
fn manifest(packages: &[Package]) -> Result<String> {
    let mut text = "[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n\n[patch.crates-io]\n".to_owned();
    for package in packages {
        writeln!(text, "{} = {{ path = \"{0}-{}\" }}", package.name, package.version)?;
    }
    Ok(text)
}

fn cargo_home() -> Result<PathBuf> {
    match env::var_os("CARGO_HOME") {
        Some(home) => Ok(home.into()),
        None => Ok(env::home_dir().context("neither CARGO_HOME nor HOME is set")?.join(".cargo")),
    }
}

/// Deletes what is unpacked of these packages in cargo's home. The folder of a registry without a host has a name that begins
/// with `-`.
fn forget(sources: &Path, packages: &[String]) -> Result<()> {
    let registries = match fs::read_dir(sources) {
        Ok(registries) => registries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot list {}", sources.display())),
    };
    for registry in registries {
        let registry = registry?;
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for unpacked in packages.iter().map(|package| registry.path().join(package)) {
            delete(&unpacked)?;
        }
    }
    Ok(())
}

/// Deletes a folder, if there is one.
fn delete(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unpacked_packages_of_local_registries_are_deleted() {
        let home = tempfile::tempdir().unwrap();
        let folders = ["-0123/ours-0.1.0", "-0123/theirs-0.1.0", "index.crates.io-4567/ours-0.1.0"];
        for folder in folders {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        forget(home.path(), &["ours-0.1.0".to_owned(), "other-0.1.0".to_owned()]).unwrap();
        let left = folders.map(|folder| home.path().join(folder).exists());
        assert_eq!(left, [false, true, true]);
        forget(&home.path().join("no such folder"), &[]).unwrap();
    }
}

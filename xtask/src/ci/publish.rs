//! A publication without the upload: each crate in the order of their dependencies, compiled as its users will get it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use anyhow::{Context as _, Result};
use cargo_metadata::MetadataCommand;

use crate::{cargo, process};

/// Cargo believes that a published version never changes, and serves the crates of a dry run from a registry in the target
/// folder. What an earlier run has unpacked or built of the same version would be used again, so all of it is deleted first.
pub(super) fn run(root: &Path) -> Result<()> {
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    let packages: Vec<String> =
        metadata.packages.iter().map(|package| format!("{}-{}", package.name, package.version)).collect();
    forget(&cargo_home()?.join("registry/src"), &packages)?;
    let target = metadata.target_directory.join("publish");
    delete(target.as_std_path())?;
    let arguments = ["publish", "--workspace", "--dry-run", "--allow-dirty", "--target-dir"];
    process::run(cargo::command(root).args(arguments).arg(target))
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

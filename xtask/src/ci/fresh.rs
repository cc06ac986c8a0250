//! Runs the steps as on a new machine: in a clone of the last commit, with an empty home and without caches.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use agentwire_test_support::process;
use anyhow::{Context as _, Result};

/// Variables that are kept: search paths, toolchains, the language, and the settings of the network.
const KEPT: &[&str] = &[
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "USER",
    "CI",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// Prefixes of variables with the address of a registry and how to reach it.
const REGISTRIES: &[&str] =
    &["CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_HTTP_", "CARGO_NET_", "NPM_CONFIG_", "npm_config_", "PIP_"];

/// Variables with such a prefix that name a cache, which are not kept.
const CACHES: &[&str] = &["NPM_CONFIG_CACHE", "npm_config_cache", "PIP_CACHE_DIR"];

/// Files of a home with settings of registries.
const SETTINGS: &[&str] = &[".cargo/config.toml", ".npmrc", ".config/pip/pip.conf", ".pip/pip.conf"];

/// Runs `.ci/run` with these arguments in a clone of the last commit. The folder is deleted when all steps pass; when one
/// fails it is kept and its path printed.
pub(super) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("agentwire-fresh-").tempdir()?;
    let (clone, home) = (folder.path().join("agentwire"), folder.path().join("home"));
    fs::create_dir(&home)?;
    process::run(Command::new("git").args(["clone", "--quiet"]).arg(root).arg(&clone))?;
    let old_home = PathBuf::from(env::var_os("HOME").context("HOME is not set")?);
    copy_settings(&old_home, &home)?;

    println!("== fresh: {} without caches", clone.display());
    let started = Instant::now();
    let mut command = Command::new(clone.join(".ci/run"));
    command
        .args(arguments)
        .current_dir(&clone)
        .env_clear()
        .envs(environment(env::vars_os()))
        .env("HOME", &home)
        // rustup looks for its toolchains in the home otherwise.
        .env("RUSTUP_HOME", env::var_os("RUSTUP_HOME").unwrap_or_else(|| old_home.join(".rustup").into()));
    if let Err(error) = process::run(&mut command) {
        println!("== fresh: failed; its files are kept in {}", folder.keep().display());
        return Err(error);
    }
    println!("== fresh: ok, {:.1} s with all downloads and builds", started.elapsed().as_secs_f64());
    Ok(())
}

/// The variables that are kept.
fn environment(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    all.filter(|(name, _)| {
        let name = name.to_string_lossy();
        let registry = REGISTRIES.iter().any(|start| name.starts_with(start));
        KEPT.contains(&&*name) || registry && !CACHES.contains(&&*name)
    })
}

fn copy_settings(from: &Path, to: &Path) -> Result<()> {
    for file in SETTINGS.iter().filter(|file| from.join(file).exists()) {
        let target = to.join(file);
        fs::create_dir_all(target.parent().unwrap_or(to))?;
        fs::copy(from.join(file), target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_kept_and_caches_are_not() {
        let all = [
            "PATH",
            "HOME",
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_REGISTRIES_X_INDEX",
            "PIP_CACHE_DIR",
            "PIP_CERT",
        ];
        let kept = environment(all.iter().map(|name| (name.into(), "value".into())));
        let kept: Vec<OsString> = kept.map(|(name, _)| name).collect();
        assert_eq!(kept, ["PATH", "CARGO_REGISTRIES_X_INDEX", "PIP_CERT"]);
    }

    #[test]
    fn settings_are_copied_and_nothing_else() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(from.path().join(".config/pip")).unwrap();
        fs::write(from.path().join(".config/pip/pip.conf"), "[global]").unwrap();
        fs::write(from.path().join(".netrc"), "secret").unwrap();
        copy_settings(from.path(), to.path()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join(".config/pip/pip.conf")).unwrap(), "[global]");
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1);
    }
}

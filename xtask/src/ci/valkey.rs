//! Provides Valkey as the engine of the tests.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use agentwire_test_support::cargo;
use anyhow::{Context as _, Result};

use super::output::Output;
use crate::redis;

/// Names the program, where it is neither in `PATH` nor among Debian's packages.
const VARIABLE: &str = "AGENTWIRE_VALKEY_SERVER";

/// Debian's package with the program, which is a link to this one there.
const PACKAGE: &str = "valkey-tools";
const PROGRAM: &str = "usr/bin/valkey-check-rdb";

/// Finds the program, or unpacks it in the target folder. The error is the reason why there is none.
pub(super) fn program(root: &Path, to: &Output<'_>) -> Result<PathBuf> {
    let program = match find() {
        Some(program) => program,
        None => unpack(&cargo::target(root)?.join("valkey"), to)?,
    };
    to.run(Command::new(&program).arg("--version"))?;
    Ok(program)
}

/// Whether the variable names the program. If so, the step fails when that program cannot run.
pub(super) fn is_named() -> bool {
    env::var_os(VARIABLE).is_some()
}

fn find() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    named.or_else(|| redis::in_path("valkey-server"))
}

/// Unpacks the package in a folder. The system stays as it is: neither its lists of packages nor its programs change.
fn unpack(folder: &Path, to: &Output<'_>) -> Result<PathBuf> {
    let program = folder.join("valkey-server");
    if program.exists() {
        return Ok(program);
    }
    let sources = sources().context("the system's sources of packages are not Debian's")?;
    for folder in ["lists/partial", "cache/archives/partial", "files"].map(|name| folder.join(name)) {
        fs::create_dir_all(folder)?;
    }
    fs::write(folder.join("sources.list"), sources)?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        for (name, value) in [
            ("Dir::State::lists", "lists"),
            ("Dir::Cache", "cache"),
            ("Dir::Etc::sourcelist", "sources.list"),
        ] {
            command.arg("-o").arg(format!("{name}={}", folder.join(value).display()));
        }
        command.args(["-o", "Dir::Etc::sourceparts=-", "-o", "APT::Sandbox::User=", "--quiet"]);
        to.run(command.args(arguments).current_dir(folder))
    };
    apt(&["update"])?;
    apt(&["download", PACKAGE])?;
    let packages: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    let package =
        packages.iter().map(fs::DirEntry::path).find(|path| path.extension() == Some("deb".as_ref()));
    let package = package.with_context(|| format!("no package `{PACKAGE}`"))?;
    to.run(Command::new("dpkg-deb").arg("--extract").args([&package, &folder.join("files")]))?;
    // A missing or broken program is an error here, not at each start.
    to.run(Command::new(folder.join("files").join(PROGRAM)).arg("--version"))?;
    symlink(folder.join("files").join(PROGRAM), &program)?;
    Ok(program)
}

/// Debian's suites from which the system may take packages, and the backports beside each.
fn sources() -> Option<String> {
    let format = ["--format", "$(REPO_URI) $(CODENAME) $(SIGNED_BY)", "Created-By: Packages"];
    let output = Command::new("apt-get").arg("indextargets").args(format).output().ok()?;
    sources_of(&String::from_utf8(output.stdout).ok()?)
}

fn sources_of(targets: &str) -> Option<String> {
    let mut parts = targets.lines().find(|line| line.contains("/debian/"))?.split(' ');
    let (uri, name) = (parts.next()?, parts.next()?);
    const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    Some(
        [name, &format!("{name}-backports")]
            .map(|suite| format!("deb [signed-by={KEYS}] {uri} {suite} main\n"))
            .concat(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backports_are_beside_the_suite() {
        let targets = "http://example.org/other/ stable x\nhttp://example.org/debian/ bookworm x\n";
        let expected = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://example.org/debian/ bookworm main\n\
                        deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://example.org/debian/ bookworm-backports main\n";
        assert_eq!(sources_of(targets).as_deref(), Some(expected));
        assert_eq!(sources_of("http://example.org/other/ stable x"), None);
    }
}

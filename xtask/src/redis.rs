//! Finds or installs Redis, which the tests of `mcp-redis` and `replicas` start.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use agentwire_test_support::process;
use anyhow::{Context as _, Result, bail};

/// The names under which the tests find the program. Debian's `redis-server` is a link to the other, which is in `redis-tools`.
const NAMES: [&str; 2] = ["redis-server", "redis-check-rdb"];

/// Installs Debian's package with the program if it is missing. That package starts no service, as `redis-server` would.
pub(crate) fn install() -> Result<()> {
    if find().is_some() {
        return Ok(());
    }
    if in_path("apt-get").is_none() {
        bail!("no `redis-server` is in PATH: install it, or name it in AGENTWIRE_REDIS_SERVER");
    }
    // A user that is not root may still install packages.
    let with_sudo = !rustix::process::geteuid().is_root() && in_path("sudo").is_some();
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if with_sudo { "sudo" } else { "env" });
        command.args(with_sudo.then_some("--non-interactive"));
        command
            .args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "-o", "DPkg::Lock::Timeout=300"])
            .args(arguments);
        process::run(&mut command)
    };
    apt(&["update"])?;
    apt(&["install", "--yes", "--no-install-recommends", "redis-tools"])
}

/// The program. It is installed if it is missing.
pub(crate) fn program() -> Result<PathBuf> {
    install()?;
    find().context("`redis-tools` has no engine")
}

fn find() -> Option<PathBuf> {
    env::var_os("AGENTWIRE_REDIS_SERVER").map(PathBuf::from).or_else(|| NAMES.into_iter().find_map(in_path))
}

/// A program in `PATH`.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

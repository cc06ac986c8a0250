//! The engine that the tests of `mcp-redis` start.

use std::env;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;

/// The names under which the tests find the program. Debian's `redis-server` is a link to the other, which is in `redis-tools`.
const NAMES: [&str; 2] = ["redis-server", "redis-check-rdb"];

/// Installs Debian's package with the program where there is none. That package starts no service, as `redis-server` would.
pub(super) fn install() -> Result<()> {
    if env::var_os("AGENTWIRE_REDIS_SERVER").is_some() || NAMES.iter().any(|name| is_in_path(name)) {
        return Ok(());
    }
    if !is_in_path("apt-get") {
        bail!("no `redis-server` is in PATH: install it, or name it in AGENTWIRE_REDIS_SERVER");
    }
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    process::run(apt().args(["update", "--quiet"]))?;
    process::run(apt().args(["install", "--yes", "--quiet", "--no-install-recommends", "redis-tools"]))
}

/// Returns whether a program is in `PATH`.
pub(super) fn is_in_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

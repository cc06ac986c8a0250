//! Cargo, started by a program that cargo runs: a test, or xtask.

use std::env;
use std::process::Command;

/// The variables with which cargo describes a program's package. Build scripts, that of `ring` among them, read variables with
/// these names, and cargo runs a script again when one has changed. Without this filter, a build would compile `ring` and its
/// dependents again for each package that starts it.
const OF_A_PACKAGE: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// Returns a command of the cargo that runs this program, or of the one in `PATH`, without the variables of this program's package.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| OF_A_PACKAGE.iter().any(|start| name.starts_with(start))) {
            command.env_remove(name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_package_are_removed() {
        assert!(env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")));
        let removed: Vec<_> =
            cargo().get_envs().map(|(name, value)| (name.to_owned(), value.is_none())).collect();
        for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(removed.contains(&(name.into(), true)), "{removed:?}");
        }
    }
}

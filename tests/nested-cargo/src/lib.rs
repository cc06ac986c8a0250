//! Cargo, started by a program that cargo runs: a test, or xtask.

use std::env;
use std::process::Command;

/// The variables with which cargo tells a program of its own package. Build scripts read variables of these names, that of `ring`
/// among them, and cargo runs a script again where one has changed: without this, a build would compile all that stands on `ring`
/// anew each time that another package starts it.
const OF_A_PACKAGE: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// The cargo that runs this program, if there is one. It finds no variable of this program's package.
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
    fn the_package_of_this_test_is_not_told() {
        assert!(env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")));
        let removed: Vec<_> =
            cargo().get_envs().map(|(name, value)| (name.to_owned(), value.is_none())).collect();
        for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR"] {
            assert!(removed.contains(&(name.into(), true)), "{removed:?}");
        }
    }
}

//! The agent's own program as a way to log in.

use std::collections::BTreeMap;

use agentwire_transport_stdio::Command;

use crate::failure::Failure;

/// Runs the agent's program with more arguments and variables, and waits for its success.
pub(crate) async fn log_in(
    target: &str,
    arguments: Vec<String>,
    env: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let command = Command::parse(target).map_err(Failure::new)?;
    let mut process = std::process::Command::new(command.program());
    process.args(command.arguments()).args(arguments).envs(env).stdin(std::process::Stdio::null());
    process.stdout(std::process::Stdio::null());
    let ended = tokio::task::spawn_blocking(move || process.status()).await.map_err(Failure::new)?;
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("the login failed: {status}"))),
        Err(error) => Err(Failure::new(error)),
    }
}

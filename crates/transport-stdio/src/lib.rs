//! JSON-RPC over stdin and stdout.
#[cfg(unix)]
mod descriptor;
mod ends;
#[cfg(target_os = "linux")]
mod method;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "method_elsewhere.rs"]
mod method;
#[cfg(feature = "process")]
mod process;
mod stdio;
#[cfg(any(not(target_os = "linux"), test))]
mod threaded;

pub use ends::{Input, Output};
#[cfg(feature = "process")]
pub use process::{Child, Command, Exited, ParseCommandError, SpawnError, Stderr};
pub use stdio::{Stdio, stdio};

/// An error, rather than tokio's panic, where there is no runtime.
#[cfg(any(unix, feature = "process"))]
fn require_runtime() -> std::io::Result<()> {
    match tokio::runtime::Handle::try_current() {
        Ok(_) => Ok(()),
        Err(error) => Err(std::io::Error::other(error)),
    }
}

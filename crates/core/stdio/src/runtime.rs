//! Checks for a current tokio runtime before code that would panic without one.

use std::io;

/// Returns an error, rather than tokio's panic, where there is no runtime.
pub(crate) fn require_runtime() -> io::Result<()> {
    tokio::runtime::Handle::try_current().map(drop).map_err(io::Error::other)
}

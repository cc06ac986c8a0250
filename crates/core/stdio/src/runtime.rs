//! Checks for a current tokio runtime before code that would panic without one.

use std::io;

/// Fails if there is no current runtime. Tokio would panic instead.
pub(crate) fn require_runtime() -> io::Result<()> {
    tokio::runtime::Handle::try_current().map(drop).map_err(io::Error::other)
}

//! The ways to connect to a server.

use std::error::Error;

use agentwire_mcp_client::Era;
use agentwire_transport::chain;

/// One way to connect to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attempt {
    /// `server/discover`, and `initialize` on the same connection if that is refused.
    Auto,
    /// Modern requests, since 2026-07-28.
    Modern,
    /// A session that begins with `initialize`, over stdio or Streamable HTTP.
    Legacy,
    /// A session over HTTP+SSE (feature `sse`).
    #[cfg(feature = "sse")]
    Sse,
}

impl Attempt {
    /// The era of the client for this attempt.
    pub(crate) fn era(self) -> Era {
        match self {
            Self::Auto => Era::Auto,
            Self::Modern => Era::Modern,
            Self::Legacy => Era::Legacy,
            #[cfg(feature = "sse")]
            Self::Sse => Era::Legacy,
        }
    }
}

/// The first error of this type in a chain of causes.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|cause| cause.downcast_ref())
}

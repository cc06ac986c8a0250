//! The ways to connect to a server.

use std::error::Error;

use agentwire_mcp_client::ProtocolMode;

/// One way to connect to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attempt {
    /// `server/discover`, and `initialize` on the same connection if that is refused.
    Auto,
    /// Stateless requests, since 2026-07-28.
    Stateless,
    /// A session that begins with `initialize`, over stdio or Streamable HTTP.
    Stateful,
    /// A session over HTTP+SSE (feature `sse`).
    #[cfg(feature = "sse")]
    Sse,
}

impl Attempt {
    /// The mode of the client for this attempt.
    pub(crate) fn mode(self) -> ProtocolMode {
        match self {
            Self::Auto => ProtocolMode::Auto,
            Self::Stateless => ProtocolMode::Stateless,
            Self::Stateful => ProtocolMode::Stateful,
            #[cfg(feature = "sse")]
            Self::Sse => ProtocolMode::Stateful,
        }
    }
}

/// The first error of this type in a chain of causes.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref())
}

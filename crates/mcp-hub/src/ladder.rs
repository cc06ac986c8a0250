//! In which order the ways to a server are tried, and which failure leads from one to the next; drawn in the docs of
//! the crate.
//!
//! What is refused in JSON-RPC has been understood by an MCP server, and the client answers that on the same
//! connection. Here is decided what only the transport knows. No error code leads anywhere: the three codes that
//! only a server of the newer era says are what keeps from leaving it.

use std::error::Error;

use agentwire_mcp_client::schema::Revision;
use agentwire_mcp_client::schema::code::UnsupportedVersion;
use agentwire_mcp_client::{CallError, HandshakeError, ProtocolMode};
use agentwire_transport_stdio::Exited;

use crate::dial::EraChoice;
#[cfg(feature = "http")]
use crate::http_failure;
use crate::target::Target;

/// A way to speak with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rung {
    /// `server/discover`, and `initialize` on the same connection if that is refused.
    Either,
    /// Requests that stand alone, since 2026-07-28.
    Stateless,
    /// A session that begins with `initialize`, over stdio or Streamable HTTP.
    Session,
    /// A session over HTTP+SSE (feature `sse`).
    #[cfg(feature = "sse")]
    Sse,
}

impl Rung {
    /// Where to begin. None where a transport has no server of that era.
    pub(crate) fn first(target: &Target, era: EraChoice) -> Option<Self> {
        match era {
            EraChoice::Modern if target.is_sse() => None,
            #[cfg(feature = "sse")]
            _ if target.is_sse() => Some(Self::Sse),
            EraChoice::Auto => Some(Self::Either),
            EraChoice::Legacy => Some(Self::Session),
            EraChoice::Modern => Some(Self::Stateless),
        }
    }

    /// Where to go on after this one has failed; none where the failure is to be told. `answered` is whether a
    /// process has answered anything before it failed.
    pub(crate) fn next(self, target: &Target, error: &(dyn Error + 'static), answered: bool) -> Option<Self> {
        if self == Self::Either && names_stateless_version(error) {
            // It was too slow with its answer to `server/discover`.
            return Some(Self::Stateless);
        }
        match target {
            // There are servers that end when anything comes before `initialize`.
            Target::Stdio(_) | Target::Custom(_) => {
                (self == Self::Either && has_ended(error) && !answered).then_some(Self::Session)
            }
            #[cfg(feature = "http")]
            Target::Http(target) => http_failure::next(self, target, error),
        }
    }

    /// Whether an answer came that says that the server is not spoken to in this way, or no longer. Where nothing
    /// came, it may still be.
    pub(crate) fn is_refuted_by(self, error: &(dyn Error + 'static)) -> bool {
        #[cfg(feature = "http")]
        if let Some(is_refuted) = http_failure::refutes(self, error) {
            return is_refuted;
        }
        match find::<HandshakeError>(error) {
            Some(HandshakeError::Call(call)) => match call {
                CallError::Refused { .. } | CallError::Decode { .. } => true,
                CallError::Closed(_) => has_ended(error),
                _ => false,
            },
            handshake => handshake.is_some(),
        }
    }

    pub(crate) fn mode(self) -> ProtocolMode {
        match self {
            Self::Either => ProtocolMode::Auto,
            Self::Stateless => ProtocolMode::Stateless,
            Self::Session => ProtocolMode::Stateful,
            #[cfg(feature = "sse")]
            Self::Sse => ProtocolMode::Stateful,
        }
    }

    /// What is remembered when it has worked, by the revision that came of it.
    pub(crate) fn settled(self, revision: Revision) -> Self {
        match self {
            Self::Either if revision.is_stateless() => Self::Stateless,
            Self::Either => Self::Session,
            other => other,
        }
    }
}

/// Whether `initialize` was refused by a server that names a version without sessions.
fn names_stateless_version(error: &(dyn Error + 'static)) -> bool {
    match find(error) {
        Some(HandshakeError::VersionRefused(versions)) => has_stateless(versions),
        #[cfg(feature = "http")]
        _ => http_failure::refused_versions(error).is_some_and(|versions| has_stateless(&versions)),
        #[cfg(not(feature = "http"))]
        _ => false,
    }
}

fn has_stateless(versions: &UnsupportedVersion) -> bool {
    versions.supported.iter().filter_map(|version| version.revision()).any(Revision::is_stateless)
}

/// Whether the server's process ended.
fn has_ended(error: &(dyn Error + 'static)) -> bool {
    find::<Exited>(error).is_some()
}

pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref())
}

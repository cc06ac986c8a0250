//! The order of the attempts to connect, and the failures that lead from one to the next. The crate's docs have a drawing.
//!
//! A server that refuses a request in JSON-RPC has understood it, and the client falls back on the same connection. This
//! module decides what only the transport knows. No error code leads to another attempt. The three codes of modern
//! servers prevent a fallback to a session.

use std::error::Error;

use agentwire_mcp_client::schema::Revision;
use agentwire_mcp_client::{CallError, Era, HandshakeError};
use agentwire_transport::Exited;

use crate::target::Target;
use crate::target::attempt::{Attempt, find};
#[cfg(feature = "http")]
use crate::target::http_failure;

impl Attempt {
    /// The first attempt; `None` if the transport does not exist in that era.
    pub(crate) fn first(target: &Target, era: Era) -> Option<Self> {
        match era {
            Era::Modern if target.is_sse() => None,
            #[cfg(feature = "sse")]
            _ if target.is_sse() => Some(Self::Sse),
            Era::Legacy => Some(Self::Legacy),
            Era::Modern => Some(Self::Modern),
            _ => Some(Self::Auto),
        }
    }

    /// The next attempt after this one has failed; `None` if the failure is final. `answered`: whether the process had answered
    /// anything before it failed.
    pub(crate) fn next(self, target: &Target, error: &(dyn Error + 'static), answered: bool) -> Option<Self> {
        match target {
            // Some servers exit when another request comes before `initialize`.
            Target::Stdio(_) | Target::Custom(_) => {
                (self == Self::Auto && has_ended(error) && !answered).then_some(Self::Legacy)
            }
            #[cfg(feature = "http")]
            Target::Http(target) => http_failure::next(self, target, error),
        }
    }

    /// Whether the server answered that it does not support this attempt, or no longer does. Without an answer, it may still
    /// support it.
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

    /// The attempt to remember after this one has worked with this revision.
    pub(crate) fn settled(self, revision: Revision) -> Self {
        match self {
            Self::Auto if revision.is_modern() => Self::Modern,
            Self::Auto => Self::Legacy,
            other => other,
        }
    }
}

/// Whether the server's process ended.
fn has_ended(error: &(dyn Error + 'static)) -> bool {
    find::<Exited>(error).is_some()
}

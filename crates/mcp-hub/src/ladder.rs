//! In which order the ways to a server are tried, and which failure leads from one to the next; drawn in the docs of
//! the crate.
//!
//! What is refused in JSON-RPC has been understood by an MCP server, and the client answers that on the same
//! connection. Here is decided what only the transport knows. No error code leads anywhere: the three codes that
//! only a server of the newer era says are what keeps from leaving it.

use std::error::Error;

use agentwire_jsonrpc::Method;
use agentwire_mcp_client::schema::code::{
    HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION, UnsupportedVersion,
};
use agentwire_mcp_client::schema::{DiscoverRequest, InitializeRequest, Revision};
use agentwire_mcp_client::{CallError, ErrorObject, HandshakeError, ProtocolMode};
use agentwire_transport_http::client::HttpError;
use agentwire_transport_sse::client::SseError;
use agentwire_transport_stdio::Exited;
use http::StatusCode;

use crate::dial::EraChoice;
use crate::target::{HttpKind, Target};

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
    /// A session over HTTP+SSE.
    Sse,
}

impl Rung {
    /// Where to begin. None where a transport has no server of that era.
    pub(crate) fn first(target: &Target, era: EraChoice) -> Option<Self> {
        let is_sse = matches!(target, Target::Http(target) if target.transport() == HttpKind::Sse);
        match era {
            EraChoice::Modern if is_sse => None,
            _ if is_sse => Some(Self::Sse),
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
        let target = match target {
            // There are servers that end when anything comes before `initialize`.
            Target::Stdio(_) | Target::Custom(_) => {
                return (self == Self::Either && has_ended(error) && !answered).then_some(Self::Session);
            }
            Target::Http(target) => target,
        };
        let (method, failed) = uncarried(error)?;
        match self {
            Self::Either if method == DiscoverRequest::NAME => {
                (is_unknown_there(failed) || is_no_mcp(failed)).then_some(Self::Session)
            }
            // What comes after a beginning that was understood is no question of the transport any more.
            Self::Either | Self::Session if method == InitializeRequest::NAME => {
                (target.transport() == HttpKind::Any && is_unknown_there(failed)).then_some(Self::Sse)
            }
            _ => None,
        }
    }

    /// Whether an answer came that says that the server is not spoken to in this way, or no longer. Where nothing
    /// came, it may still be.
    pub(crate) fn is_refuted_by(self, error: &(dyn Error + 'static)) -> bool {
        if let Some(error) = find(error) {
            // Who says in the words of the newer era what is wrong has not left it.
            let is_elsewhere = match error {
                HttpError::Refused(refusal) if self == Self::Session => is_about_the_request(refusal.status),
                _ => is_unknown_there(error),
            };
            return is_elsewhere || is_no_mcp(error);
        }
        if let Some(error) = find(error) {
            return is_no_stream(error);
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
            Self::Session | Self::Sse => ProtocolMode::Stateful,
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

/// Whether only the session is over, and the server may begin another.
pub(crate) fn is_expired(error: &(dyn Error + 'static)) -> bool {
    matches!(find(error), Some(HttpError::SessionExpired))
        || matches!(find(error), Some(SseError::Ended | SseError::Broken(_)))
}

/// Whether a refusal says that nobody there understands such a request, unless it is in the words of a server that
/// does.
fn is_unknown_there(error: &HttpError) -> bool {
    let HttpError::Refused(refusal) = error else { return false };
    is_about_the_request(refusal.status) && !refusal.error.as_ref().is_some_and(is_modern)
}

/// Whether a status is any 4xx that is not about who asks, or when.
fn is_about_the_request(status: StatusCode) -> bool {
    status.is_client_error()
        && !matches!(
            status,
            StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::PROXY_AUTHENTICATION_REQUIRED
                | StatusCode::REQUEST_TIMEOUT
                | StatusCode::TOO_MANY_REQUESTS
        )
}

/// Whether nobody there speaks HTTP+SSE, which explains nothing to those who tried that last.
pub(crate) fn is_no_old_server(error: &(dyn Error + 'static)) -> bool {
    find(error).is_some_and(is_no_stream)
}

/// Whether there is no stream of HTTP+SSE.
fn is_no_stream(error: &SseError) -> bool {
    match error {
        SseError::Refused(refusal) => is_about_the_request(refusal.status),
        SseError::NoStream { .. } | SseError::NoEndpoint { .. } => true,
        _ => false,
    }
}

/// Whether a server that has no sessions says so.
fn is_modern(error: &ErrorObject) -> bool {
    match error.code {
        HEADER_MISMATCH | MISSING_REQUIRED_CLIENT_CAPABILITY => true,
        UNSUPPORTED_PROTOCOL_VERSION => {
            let versions = error.data.as_ref().and_then(|data| data.decode::<UnsupportedVersion>().ok());
            let any = |versions: UnsupportedVersion, is_it: fn(Revision) -> bool| {
                versions.supported.iter().filter_map(|version| version.revision()).any(is_it)
            };
            !versions.is_some_and(|versions| any(versions, Revision::has_sessions))
        }
        _ => false,
    }
}

/// Whether something answered that speaks no MCP, at least not to such a request.
fn is_no_mcp(error: &HttpError) -> bool {
    matches!(error, HttpError::ContentType { .. } | HttpError::NotAMessage(_) | HttpError::NoAnswer)
}

/// Whether `initialize` was refused by a server that names a version without sessions.
fn names_stateless_version(error: &(dyn Error + 'static)) -> bool {
    let any = |versions: &UnsupportedVersion| {
        versions.supported.iter().filter_map(|version| version.revision()).any(Revision::is_stateless)
    };
    match (find(error), uncarried(error)) {
        (Some(HandshakeError::VersionRefused(versions)), _) => any(versions),
        (_, Some((InitializeRequest::NAME, HttpError::Refused(refusal)))) => {
            let data = refusal.error.as_ref().and_then(|error| error.data.as_ref());
            data.and_then(|data| data.decode().ok()).is_some_and(|versions| any(&versions))
        }
        _ => false,
    }
}

/// The request of the handshake that Streamable HTTP failed to carry, and why.
fn uncarried<'a>(error: &'a (dyn Error + 'static)) -> Option<(&'a str, &'a HttpError)> {
    match find(error)? {
        HandshakeError::Call(CallError::Failed { method, .. }) => Some((method, find(error)?)),
        _ => None,
    }
}

/// Whether the server's process ended.
fn has_ended(error: &(dyn Error + 'static)) -> bool {
    find::<Exited>(error).is_some()
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref())
}

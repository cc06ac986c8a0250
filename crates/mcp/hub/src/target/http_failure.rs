//! Decides after a failure over HTTP which attempt follows.

use std::error::Error;

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_client::schema::code::{
    HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION, UnsupportedVersion,
};
use agentwire_mcp_client::schema::{CallToolRequest, DiscoverRequest, InitializeRequest, Revision};
use agentwire_mcp_client::{CallError, ErrorObject, HandshakeError};
use agentwire_transport_http::client::HttpError;
#[cfg(feature = "sse")]
use agentwire_transport_sse::client::SseError;

use crate::target::attempt::{Attempt, find};
#[cfg(feature = "sse")]
use crate::target::http::HttpKind;
use crate::target::http::HttpTarget;

/// Returns the attempt after this one has failed over HTTP; `None` if the failure is final.
pub(crate) fn next(attempt: Attempt, target: &HttpTarget, error: &(dyn Error + 'static)) -> Option<Attempt> {
    let (method, failed) = uncarried(error)?;
    let names_modern = |versions: UnsupportedVersion| names(&versions, Revision::is_modern);
    if attempt == Attempt::Auto && refused_versions(error).is_some_and(names_modern) {
        // Its answer to `server/discover` came too late.
        return Some(Attempt::Modern);
    }
    match attempt {
        Attempt::Auto if method == DiscoverRequest::NAME => is_no_mcp(failed).then_some(Attempt::Legacy),
        // A server that understands `initialize` supports this transport.
        Attempt::Auto | Attempt::Legacy if method == InitializeRequest::NAME => {
            after_initialize(target, failed)
        }
        _ => None,
    }
}

#[cfg(feature = "sse")]
fn after_initialize(target: &HttpTarget, failed: &HttpError) -> Option<Attempt> {
    (target.transport() == HttpKind::Any && is_unknown_there(failed)).then_some(Attempt::Sse)
}

#[cfg(not(feature = "sse"))]
fn after_initialize(_: &HttpTarget, _: &HttpError) -> Option<Attempt> {
    None
}

/// Returns whether an answer over HTTP shows that the server does not support this attempt. `None` for other failures.
pub(crate) fn refutes(attempt: Attempt, error: &(dyn Error + 'static)) -> Option<bool> {
    #[cfg(feature = "sse")]
    if let Some(error) = find(error) {
        return Some(is_no_stream(error));
    }
    if let Some(error) = find(error) {
        // A server that refuses with a code of the modern revisions still supports them.
        let is_elsewhere = match error {
            HttpError::Refused(refusal) if attempt == Attempt::Legacy => refusal.is_about_request(),
            _ => is_unknown_there(error),
        };
        return Some(is_elsewhere || is_no_mcp(error));
    }
    None
}

/// Returns the versions that a server names when it refuses `initialize` with a status of HTTP.
fn refused_versions(error: &(dyn Error + 'static)) -> Option<UnsupportedVersion> {
    match uncarried(error)? {
        (InitializeRequest::NAME, HttpError::Refused(refusal)) => {
            refusal.error.as_ref()?.data.as_ref()?.decode().ok()
        }
        _ => None,
    }
}

fn names(versions: &UnsupportedVersion, is_of_era: fn(Revision) -> bool) -> bool {
    versions.supported.iter().filter_map(|version| version.revision()).any(is_of_era)
}

/// Returns whether only the session has ended, so that the client can open another.
pub(crate) fn is_expired(error: &(dyn Error + 'static)) -> bool {
    #[cfg(feature = "sse")]
    if matches!(find(error), Some(SseError::Ended | SseError::Http(HttpError::Broken(_)))) {
        return true;
    }
    matches!(find(error), Some(HttpError::SessionExpired))
}

/// Returns whether a server has not run a tool, because it no longer knows the session. A request about the task of a call,
/// such as `tasks/get`, is not the call.
pub(crate) fn is_unknown_session(error: &CallError) -> bool {
    matches!(error, CallError::Failed { method, .. } if *method == CallToolRequest::NAME)
        && matches!(find(error), Some(HttpError::SessionExpired))
}

/// Returns whether a refusal shows that the server does not understand such a request. A server that refuses it by a code
/// of the newer revisions does.
fn is_unknown_there(error: &HttpError) -> bool {
    let HttpError::Refused(refusal) = error else { return false };
    refusal.is_about_request() && !refusal.error.as_ref().is_some_and(is_modern)
}

/// Returns whether the server does not support HTTP+SSE. As the last failure, this does not explain the others.
#[cfg(feature = "sse")]
pub(crate) fn is_no_old_server(error: &(dyn Error + 'static)) -> bool {
    find(error).is_some_and(is_no_stream)
}

/// Returns whether the server opened no stream of HTTP+SSE.
#[cfg(feature = "sse")]
fn is_no_stream(error: &SseError) -> bool {
    match error {
        SseError::Http(HttpError::Refused(refusal)) => refusal.is_about_request(),
        SseError::NoStream { .. } | SseError::NoEndpoint { .. } => true,
        _ => false,
    }
}

/// Returns whether the error comes from a server that has no sessions.
fn is_modern(error: &ErrorObject) -> bool {
    match error.code {
        HEADER_MISMATCH | MISSING_REQUIRED_CLIENT_CAPABILITY => true,
        UNSUPPORTED_PROTOCOL_VERSION => {
            let versions = error.data.as_ref().and_then(|data| data.decode::<UnsupportedVersion>().ok());
            !versions.is_some_and(|versions| names(&versions, Revision::is_legacy))
        }
        _ => false,
    }
}

/// Returns whether the answer is not MCP, at least not for such a request.
fn is_no_mcp(error: &HttpError) -> bool {
    matches!(
        error,
        HttpError::ContentType { .. }
            | HttpError::NotAMessage(_)
            | HttpError::NoAnswer
            | HttpError::OtherContent { .. }
    )
}

/// Returns the request of the handshake that Streamable HTTP failed to carry, and why.
fn uncarried<'a>(error: &'a (dyn Error + 'static)) -> Option<(&'a str, &'a HttpError)> {
    match find(error)? {
        HandshakeError::Call(CallError::Failed { method, .. }) => Some((method, find(error)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refused_call_is_sent_again() {
        let failed = |method: &'static str| CallError::failed(method, HttpError::SessionExpired);
        assert!(is_unknown_session(&failed("tools/call")));
        for method in ["tasks/get", "tasks/result", "tasks/update"] {
            assert!(!is_unknown_session(&failed(method)), "{method}");
        }
        assert!(!is_unknown_session(&CallError::failed("tools/call", HttpError::Broken("cut".into()))));
    }
}

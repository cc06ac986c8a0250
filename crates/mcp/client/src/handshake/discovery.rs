//! The handshake since 2026-07-28: `server/discover` returns the server's versions and capabilities.

use std::time::Duration;

use super::config::HandshakeConfig;
use super::error::HandshakeError;
use crate::connection::HandshakeResult;
use crate::result::{Completed, completed};
use crate::versions::{best, named};
use agentwire_jsonrpc::{ErrorObject, RequestMethod};
use agentwire_mcp_schema::code::{self, MissingCapabilities, UnsupportedVersion};
use agentwire_mcp_schema::{DiscoverRequest, DiscoverResult, Implementation, ResultMeta, Revision};
use agentwire_peer::runtime::CallExt;
use agentwire_peer::{CallError, Peer};

/// The outcome of `server/discover`.
pub(crate) enum Discovery {
    /// Both speak a modern revision.
    Modern(Box<HandshakeResult>),
    /// The best revision that both speak has sessions.
    Session(Revision, UnsupportedVersion),
    /// The server may not know modern revisions.
    Unknown(CallError),
}

/// Asks the server which revisions it speaks and what it offers.
pub(crate) async fn discover(
    handshake: &HandshakeConfig,
    peer: &Peer,
    timeout: Option<Duration>,
) -> Result<Discovery, HandshakeError> {
    let mut revision = handshake.newest(Revision::is_modern).ok_or(HandshakeError::NoRevision)?;
    let mut named_before = false;
    loop {
        let mut request = DiscoverRequest::default();
        handshake.stamp(revision).write_to(&mut request);
        let mut call = peer.call_method(DiscoverRequest::NAME, Some(&request)).decode_by(completed);
        if let Some(timeout) = timeout {
            call = call.timeout(timeout);
        }
        let found = call.await.and_then(|found: Completed<_>| found.into_result(DiscoverRequest::NAME));
        let error = match found {
            Ok(found) => return settle(handshake, found, revision),
            Err(error @ (CallError::Closed(_) | CallError::Failed { .. })) => return Err(error.into()),
            Err(error) => error,
        };
        let Some(versions) = error.refusal().and_then(|error| named(error, revision)) else {
            return if error.refusal().is_some_and(is_modern) {
                Err(error.into())
            } else {
                Ok(Discovery::Unknown(error))
            };
        };
        // Retries once with a revision that the server named. A server may refuse even that one.
        let will_do =
            |revision: Revision| handshake.speaks(revision) && (revision.is_legacy() || !named_before);
        match best(&versions.supported, will_do) {
            Some(best) if best.is_legacy() => return Ok(Discovery::Session(best, versions)),
            Some(best) => revision = best,
            // An unrelated error may carry a list named `supported`.
            None if error.refusal().is_some_and(|error| error.code != code::UNSUPPORTED_PROTOCOL_VERSION) => {
                return Ok(Discovery::Unknown(error));
            }
            _ => return Err(HandshakeError::VersionRefused(versions)),
        }
        named_before = true;
    }
}

/// Keeps the server's description of itself.
fn settle(
    handshake: &HandshakeConfig,
    found: DiscoverResult,
    requested: Revision,
) -> Result<Discovery, HandshakeError> {
    let versions = UnsupportedVersion::new(found.supported_versions, requested);
    let revision = match best(&versions.supported, |revision| handshake.speaks(revision)) {
        Some(revision) if revision.is_legacy() => return Ok(Discovery::Session(revision, versions)),
        Some(revision) => revision,
        None => return Err(HandshakeError::VersionRefused(versions)),
    };
    let about = ResultMeta::read(found.meta.as_ref()).unwrap_or_default();
    Ok(Discovery::Modern(Box::new(HandshakeResult {
        // A server need not name itself.
        info: about.server_info.unwrap_or_else(|| Implementation::new("", "")),
        capabilities: found.capabilities,
        instructions: found.instructions,
        revision,
        client_capabilities: handshake.capabilities_in(revision),
        waits: handshake.waits,
        revisions: handshake.revisions.clone(),
        stamp: Some(handshake.stamp(revision)),
    })))
}

/// Whether only a modern server answers with this error.
fn is_modern(error: &ErrorObject) -> bool {
    let has_capabilities = || error.data.as_ref()?.decode::<MissingCapabilities>().ok();
    match error.code {
        code::HEADER_MISMATCH => true,
        code::MISSING_REQUIRED_CLIENT_CAPABILITY => has_capabilities().is_some(),
        _ => false,
    }
}

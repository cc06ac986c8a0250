//! The beginning of a connection since 2026-07-28: what the server speaks, and what it offers.

use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Method};
use agentwire_mcp_schema::code::{self, MissingCapabilities, UnsupportedVersion};
use agentwire_mcp_schema::{
    DiscoverRequest, DiscoverResult, Implementation, ProtocolVersion, ResultMeta, Revision,
};
use agentwire_peer::{CallError, Peer};
use serde::Deserialize;

use crate::era::stateless::{Stateless, capabilities, complete, read_by_default};
use crate::handshake::{Handshake, HandshakeError};
use crate::server::Terms;

/// What came of `server/discover`.
pub(crate) enum Discovery {
    /// The server speaks a revision of this era that we speak.
    Stateless(Box<Terms>),
    /// The best revision that both speak has sessions.
    Session(Revision, UnsupportedVersion),
    /// It may be that the server has never heard of this era.
    Unknown(CallError),
}

/// Asks the server what it speaks and what it offers.
pub(crate) async fn discover(
    handshake: &Handshake,
    peer: &Peer,
    timeout: Option<Duration>,
) -> Result<Discovery, HandshakeError> {
    let mut revision = handshake.newest(Revision::is_stateless).ok_or(HandshakeError::NoRevision)?;
    let mut named_before = false;
    loop {
        let mut request = DiscoverRequest::default();
        Stateless::new(handshake, revision).stamp(&mut request);
        let mut call = peer
            .call_method(DiscoverRequest::NAME, Some(&request))
            .decode_by(read_by_default::<DiscoverResult>);
        if let Some(timeout) = timeout {
            call = call.timeout(timeout);
        }
        let error = match call.await.and_then(|outcome| complete(DiscoverRequest::NAME, outcome)) {
            Ok(found) => return settle(handshake, found, revision),
            Err(error @ (CallError::Closed(_) | CallError::Failed { .. })) => return Err(error.into()),
            Err(error) => error,
        };
        let Some(versions) = error.refusal().and_then(|error| named(error, revision)) else {
            return if error.refusal().is_some_and(is_of_this_era) {
                Err(error.into())
            } else {
                Ok(Discovery::Unknown(error))
            };
        };
        // A server that refuses what it has named itself is believed once.
        let will_do =
            |revision: Revision| handshake.speaks(revision) && (revision.has_sessions() || !named_before);
        match best(&versions.supported, will_do) {
            Some(best) if best.has_sessions() => return Ok(Discovery::Session(best, versions)),
            Some(best) => revision = best,
            // Whatever the list is, it is no list of what this server speaks.
            None if error.refusal().is_some_and(|error| error.code != code::UNSUPPORTED_PROTOCOL_VERSION) => {
                return Ok(Discovery::Unknown(error));
            }
            _ => return Err(HandshakeError::VersionRefused(versions)),
        }
        named_before = true;
    }
}

/// Takes what the server says of itself.
fn settle(
    handshake: &Handshake,
    found: DiscoverResult,
    requested: Revision,
) -> Result<Discovery, HandshakeError> {
    let versions = UnsupportedVersion::new(found.supported_versions, requested);
    let revision = match best(&versions.supported, |revision| handshake.speaks(revision)) {
        Some(revision) if revision.has_sessions() => return Ok(Discovery::Session(revision, versions)),
        Some(revision) => revision,
        None => return Err(HandshakeError::VersionRefused(versions)),
    };
    let about = ResultMeta::read(found.meta.as_ref()).unwrap_or_default();
    Ok(Discovery::Stateless(Box::new(Terms {
        // It need not say who it is, and nothing may hang on it.
        info: about.server_info.unwrap_or_else(|| Implementation::new("", "")),
        capabilities: found.capabilities,
        instructions: found.instructions,
        revision,
        client_capabilities: capabilities(handshake, revision),
        waits: handshake.waits,
        revisions: handshake.revisions.clone(),
        stateless: Some(Stateless::new(handshake, revision)),
    })))
}

/// The versions that an error names, whatever its code is.
pub(crate) fn named(error: &ErrorObject, requested: Revision) -> Option<UnsupportedVersion> {
    #[derive(Deserialize)]
    struct Versions {
        supported: Vec<ProtocolVersion>,
        requested: Option<ProtocolVersion>,
    }

    let versions = error.data.as_ref()?.decode::<Versions>().ok()?;
    let requested = versions.requested.unwrap_or_else(|| requested.into());
    Some(UnsupportedVersion::new(versions.supported, requested))
}

/// The newest of these that we know and that will do.
pub(crate) fn best(versions: &[ProtocolVersion], will_do: impl Fn(Revision) -> bool) -> Option<Revision> {
    versions.iter().filter_map(ProtocolVersion::revision).filter(|revision| will_do(*revision)).max()
}

/// Whether only a server of this era says this.
fn is_of_this_era(error: &ErrorObject) -> bool {
    let has_capabilities = || error.data.as_ref()?.decode::<MissingCapabilities>().ok();
    match error.code {
        code::HEADER_MISMATCH => true,
        code::MISSING_REQUIRED_CLIENT_CAPABILITY => has_capabilities().is_some(),
        _ => false,
    }
}

//! Up to 2025-11-25: `initialize` opens a session, and nothing more is said about it in any request.

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{
    InitializeRequest, InitializedNotification, LoggingLevel, Narrow, Revision, SetLevelRequest,
};
use agentwire_peer::{CallError, Peer};

use crate::handshake::{Handshake, HandshakeError};
use crate::result::decode_by_default;
use crate::server::Terms;

/// Opens a session, offering that revision.
pub(crate) async fn open(
    handshake: Handshake,
    peer: &Peer,
    revision: Revision,
) -> Result<Terms, HandshakeError> {
    // What a server does there must not be taken for what it means in a later revision.
    let mut capabilities = handshake.capabilities.clone();
    capabilities.narrow(revision);
    let request =
        InitializeRequest::new(handshake.info.clone()).protocol_version(revision).capabilities(capabilities);
    let mut call = peer.call(&request).decode_by(decode_by_default);
    if let Some(timeout) = handshake.handshake_timeout {
        call = call.timeout(timeout);
    }
    let greeting = call.await.map_err(explain)?;
    let answered = greeting
        .protocol_version
        .revision()
        .filter(|revision| revision.has_sessions() && handshake.speaks(*revision));
    let Some(revision) = answered else {
        return Err(HandshakeError::UnknownVersion { answered: greeting.protocol_version });
    };
    peer.take_batches(revision.has_batches());
    peer.notify(&InitializedNotification::default()).await?;
    let terms = Terms {
        info: greeting.server_info,
        capabilities: greeting.capabilities,
        instructions: greeting.instructions,
        revision,
        client_capabilities: request.capabilities,
        waits: handshake.waits,
        revisions: handshake.revisions,
        stateless: None,
    };
    if let Some(level) = handshake.log_level.filter(|_| terms.capabilities.has("logging")) {
        set_level(&terms, peer, level).await?;
    }
    Ok(terms)
}

/// Asks for the log. A server that refuses is no worse for it.
async fn set_level(terms: &Terms, peer: &Peer, level: LoggingLevel) -> Result<(), CallError> {
    let mut call = peer.call(&SetLevelRequest::new(level));
    if let Some(timeout) = terms.waits.timeout {
        call = call.timeout(timeout);
    }
    match call.await {
        Err(error @ (CallError::Closed(_) | CallError::Failed { .. })) => Err(error),
        _ => Ok(()),
    }
}

/// Some servers answer a version that they do not speak with an error that names those they do.
fn explain(error: CallError) -> HandshakeError {
    let refused = |error: &ErrorObject| error.data.as_ref()?.decode::<UnsupportedVersion>().ok();
    match error.refusal().and_then(refused) {
        Some(versions) => HandshakeError::VersionRefused(versions),
        None => error.into(),
    }
}

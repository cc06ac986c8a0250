//! The handshake up to 2025-11-25: `initialize` opens a session.

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{
    InitializeRequest, InitializedNotification, LoggingLevel, Revision, SetLevelRequest,
};
use agentwire_peer::runtime::{CallExt, PeerExt, set_revision};
use agentwire_peer::{CallError, Peer};

use super::config::HandshakeConfig;
use super::error::HandshakeError;
use crate::connection::HandshakeResult;
use crate::result::decode_by_default;

/// Opens a session, and offers the revision.
pub(crate) async fn open(
    handshake: HandshakeConfig,
    peer: &Peer,
    revision: Revision,
) -> Result<HandshakeResult, HandshakeError> {
    // A server must not see capabilities that mean something else in its revision.
    let capabilities = handshake.capabilities_in(revision);
    let request =
        InitializeRequest::new(handshake.info.clone()).protocol_version(revision).capabilities(capabilities);
    let mut call = peer.call(&request).decode_by(decode_by_default);
    if let Some(timeout) = handshake.handshake_timeout {
        call = call.timeout(timeout);
    }
    let answer = call.await.map_err(explain)?;
    let answered = answer
        .protocol_version
        .revision()
        .filter(|revision| revision.is_legacy() && handshake.speaks(*revision));
    let Some(revision) = answered else {
        return Err(HandshakeError::UnknownVersion { answered: answer.protocol_version });
    };
    peer.set_batches(revision.has_batches());
    set_revision(peer, revision.as_str());
    peer.notify(&InitializedNotification::default()).await?;
    let server = HandshakeResult {
        info: answer.server_info,
        capabilities: answer.capabilities,
        instructions: answer.instructions,
        revision,
        client_capabilities: request.capabilities,
        waits: handshake.waits,
        revisions: handshake.revisions,
        stamp: None,
    };
    if let Some(level) = handshake.log_level.filter(|_| server.capabilities.has("logging")) {
        set_level(&server, peer, level).await?;
    }
    Ok(server)
}

/// Requests the log. A refusal is ignored.
async fn set_level(server: &HandshakeResult, peer: &Peer, level: LoggingLevel) -> Result<(), CallError> {
    let mut call = peer.call(&SetLevelRequest::new(level));
    if let Some(timeout) = server.waits.timeout {
        call = call.timeout(timeout);
    }
    match call.await {
        Err(error @ (CallError::Closed(_) | CallError::Failed { .. })) => Err(error),
        _ => Ok(()),
    }
}

/// Some servers refuse a version with an error that names those they speak.
fn explain(error: CallError) -> HandshakeError {
    let refused = |error: &ErrorObject| error.data.as_ref()?.decode::<UnsupportedVersion>().ok();
    match error.refusal().and_then(refused) {
        Some(versions) => HandshakeError::VersionRefused(versions),
        None => error.into(),
    }
}

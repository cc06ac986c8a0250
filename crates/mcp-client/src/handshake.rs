use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{
    ClientCapabilities, Implementation, InitializeRequest, InitializedNotification, ProtocolVersion, Revision,
};
use agentwire_peer::{CallError, Peer};

use crate::Server;
use crate::server::Session;

/// Why there is no session with a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The server answered with a version of the protocol that this client does not speak.
    #[error("the server speaks version `{answered}` of the protocol, which this client does not")]
    #[non_exhaustive]
    UnknownVersion {
        /// What the server answered.
        answered: ProtocolVersion,
    },
    /// The server refused our version and named its own.
    #[error("the server refuses version `{}`; it speaks {}", .0.requested, list(&.0.supported))]
    VersionRefused(UnsupportedVersion),
    /// The server gave no answer that could be used.
    #[error(transparent)]
    Call(#[from] CallError),
}

fn list(versions: &[ProtocolVersion]) -> String {
    let names: Vec<_> = versions.iter().map(|version| format!("`{version}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// What we say of ourselves, and how long we wait.
pub(crate) struct Handshake {
    pub(crate) info: Implementation,
    pub(crate) capabilities: ClientCapabilities,
    /// Where the revision is put that was agreed on.
    pub(crate) agreed: Arc<OnceLock<Revision>>,
    pub(crate) handshake_timeout: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) progress_maximum: Option<Duration>,
}

impl Handshake {
    /// Opens the session.
    pub(crate) async fn with(self, peer: Peer) -> Result<Server, HandshakeError> {
        let request = InitializeRequest::new(self.info).capabilities(self.capabilities);
        let mut call = peer.call(&request);
        if let Some(timeout) = self.handshake_timeout {
            call = call.timeout(timeout);
        }
        let greeting = call.await.map_err(explain)?;
        let answered = greeting.protocol_version.revision().filter(|revision| revision.has_sessions());
        let Some(revision) = answered else {
            return Err(HandshakeError::UnknownVersion { answered: greeting.protocol_version });
        };
        let _agreed_once = self.agreed.set(revision);
        peer.take_batches(revision.has_batches());
        peer.notify(&InitializedNotification::default()).await?;
        let session = Session {
            greeting,
            revision,
            client_capabilities: request.capabilities,
            timeout: self.timeout,
            progress_maximum: self.progress_maximum,
        };
        Ok(Server::new(peer, session))
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

//! The handshake: agrees on a revision with the server, and learns its capabilities.

mod config;
mod discovery;
mod error;
mod legacy;
mod probe;

use agentwire_mcp_schema::{Era, Revision};
use agentwire_peer::Peer;
use agentwire_peer::runtime::{PeerExt, ResponsePolicy};

use self::discovery::{Discovery, discover};
use crate::RemoteServer;
use crate::connection::HandshakeResult;
use crate::handler::ClientHandler;

pub(crate) use self::config::HandshakeConfig;
pub use self::error::HandshakeError;

impl HandshakeConfig {
    /// Agrees with the server on a revision. The handler answers the server's requests.
    pub(crate) async fn run(
        self,
        peer: Peer,
        handler: &ClientHandler,
    ) -> Result<RemoteServer, HandshakeError> {
        let server = match self.possible_era() {
            Era::Legacy => self.open(&peer).await?,
            Era::Modern => self.discover(&peer).await?,
            _ => probe::find_out(self, &peer, handler).await?,
        };
        // Since 2026-07-28 a client sends no responses, not even to unreadable messages.
        let is_modern = server.revision.is_modern();
        peer.set_responses(if is_modern { ResponsePolicy::None } else { ResponsePolicy::All });
        let _agreed_once = handler.agreed.set(server.revision);
        Ok(RemoteServer::new(peer, server, handler))
    }

    async fn open(self, peer: &Peer) -> Result<HandshakeResult, HandshakeError> {
        let revision = self.newest(Revision::is_legacy).ok_or(HandshakeError::NoRevision)?;
        legacy::open(self, peer, revision).await
    }

    async fn discover(self, peer: &Peer) -> Result<HandshakeResult, HandshakeError> {
        match discover(&self, peer, self.handshake_timeout).await? {
            Discovery::Modern(server) => Ok(*server),
            Discovery::Session(_, versions) => Err(HandshakeError::VersionRefused(versions)),
            Discovery::Unknown(error) => Err(error.into()),
        }
    }
}

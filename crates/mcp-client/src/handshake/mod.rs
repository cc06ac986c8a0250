mod discovery;
mod stateful;

use std::time::Duration;

use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{
    ClientCapabilities, Downgrade, Implementation, LoggingLevel, ProtocolVersion, Revision,
};
use agentwire_peer::{CallError, Peer};

use self::discovery::{Discovery, discover};
use crate::Server;
use crate::connection::ServerInfo;
use crate::handler::ClientHandler;
use crate::mode::ProtocolMode;
use crate::raw::Waits;
use crate::stack::stamp::Stamp;

/// Why the handshake with a server failed.
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
    /// The server named its versions, and this client speaks none of them, or none of the [`ProtocolMode`] that it is
    /// set to.
    #[error("the server refuses version `{}`; it speaks {}", .0.requested, list(&.0.supported))]
    VersionRefused(UnsupportedVersion),
    /// The client is set to [revisions](crate::Client::revisions) of which none is of the [`ProtocolMode`] that it is set to.
    #[error("no revision that this client may speak is of its protocol mode")]
    NoRevision,
    /// With [`ProtocolMode::Auto`]: nothing came of `server/discover`, and the server refused `initialize` too.
    #[error("the server takes neither beginning: {discover}; {initialize}")]
    #[non_exhaustive]
    RefusedBoth {
        /// What became of `server/discover`.
        discover: Box<CallError>,
        /// What became of `initialize`: always [`CallError::Refused`].
        #[source]
        initialize: Box<CallError>,
    },
    /// The server gave no answer that could be used, or the transport failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

fn list(versions: &[ProtocolVersion]) -> String {
    let names: Vec<_> = versions.iter().map(|version| format!("`{version}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// What the client says about itself, and how long it waits.
#[derive(Clone)]
pub(crate) struct Handshake {
    pub(crate) mode: ProtocolMode,
    /// The revisions that may be agreed on.
    pub(crate) revisions: Vec<Revision>,
    pub(crate) info: Implementation,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: Option<LoggingLevel>,
    /// How long the answer to `initialize`, or to the only `server/discover`, may take.
    pub(crate) handshake_timeout: Option<Duration>,
    /// How long [`ProtocolMode::Auto`] waits for the answer to `server/discover`.
    pub(crate) discover_timeout: Duration,
    /// How long calls wait.
    pub(crate) waits: Waits,
}

impl Handshake {
    /// Whether a revision may be agreed on.
    pub(crate) fn speaks(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// The newest revision that may be agreed on and meets the condition.
    pub(crate) fn newest(&self, condition: fn(Revision) -> bool) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| condition(*revision)).max()
    }

    /// The capabilities in the terms of a revision.
    fn capabilities_in(&self, revision: Revision) -> ClientCapabilities {
        let mut capabilities = self.capabilities.clone();
        capabilities.downgrade(revision);
        capabilities
    }

    /// What every stateless request says about the client.
    fn stamp(&self, revision: Revision) -> Stamp {
        let capabilities = self.capabilities_in(revision);
        Stamp::new(revision, self.info.clone(), capabilities, self.log_level.clone())
    }

    /// Agrees with the server on a revision. The handler answers what the server asks.
    pub(crate) async fn run(self, peer: Peer, handler: &ClientHandler) -> Result<Server, HandshakeError> {
        let server = match self.mode {
            ProtocolMode::Stateful => self.open(&peer).await?,
            ProtocolMode::Stateless => self.discover(&peer).await?,
            ProtocolMode::Auto if self.newest(Revision::is_stateless).is_none() => self.open(&peer).await?,
            ProtocolMode::Auto if self.newest(Revision::has_sessions).is_none() => {
                self.discover(&peer).await?
            }
            ProtocolMode::Auto => self.find_out(&peer).await?,
        };
        let _agreed_once = handler.agreed.set(server.revision);
        Ok(Server::new(peer, server, handler))
    }

    async fn open(self, peer: &Peer) -> Result<ServerInfo, HandshakeError> {
        let revision = self.newest(Revision::has_sessions).ok_or(HandshakeError::NoRevision)?;
        stateful::open(self, peer, revision).await
    }

    async fn discover(self, peer: &Peer) -> Result<ServerInfo, HandshakeError> {
        match discover(&self, peer, self.handshake_timeout).await? {
            Discovery::Stateless(server) => Ok(*server),
            Discovery::Session(_, versions) => Err(HandshakeError::VersionRefused(versions)),
            Discovery::Unknown(error) => Err(error.into()),
        }
    }

    /// A stateful server may answer `server/discover` by any error, or not at all. A late answer is ignored.
    async fn find_out(self, peer: &Peer) -> Result<ServerInfo, HandshakeError> {
        match discover(&self, peer, Some(self.discover_timeout)).await? {
            Discovery::Stateless(server) => Ok(*server),
            Discovery::Session(revision, _) => stateful::open(self, peer, revision).await,
            Discovery::Unknown(discover) => match self.open(peer).await {
                Err(HandshakeError::Call(initialize @ CallError::Refused { .. })) => {
                    let (discover, initialize) = (Box::new(discover), Box::new(initialize));
                    Err(HandshakeError::RefusedBoth { discover, initialize })
                }
                outcome => outcome,
            },
        }
    }
}

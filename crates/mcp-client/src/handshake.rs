use std::time::Duration;

use agentwire_mcp_schema::code::UnsupportedVersion;
use agentwire_mcp_schema::{ClientCapabilities, Implementation, LoggingLevel, ProtocolVersion, Revision};
use agentwire_peer::{CallError, Peer};

use crate::Server;
use crate::call::Waits;
use crate::era::discovery::{Discovery, discover};
use crate::era::{Era, session};
use crate::front::Front;
use crate::server::Terms;

/// Why there is no understanding with a server.
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
    /// The server named its versions, and this client speaks none of them, or none of the [`Era`] that it is
    /// set to.
    #[error("the server refuses version `{}`; it speaks {}", .0.requested, list(&.0.supported))]
    VersionRefused(UnsupportedVersion),
    /// The client is set to [revisions](crate::Client::revisions) of which none is of the [`Era`] that it is set to.
    #[error("this client is set to revisions that the era which it is set to does not have")]
    NoRevision,
    /// With [`Era::Either`]: nothing came of `server/discover`, and the server refused `initialize` too.
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

/// What we say of ourselves, and how long we wait.
#[derive(Clone)]
pub(crate) struct Handshake {
    pub(crate) era: Era,
    /// Those that may be agreed on.
    pub(crate) revisions: Vec<Revision>,
    pub(crate) info: Implementation,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) log_level: Option<LoggingLevel>,
    /// How long the answer may take on which all depends.
    pub(crate) handshake_timeout: Option<Duration>,
    /// How long [`Era::Either`] waits for the answer to `server/discover`.
    pub(crate) discover_timeout: Duration,
    /// How long calls wait after it.
    pub(crate) waits: Waits,
}

impl Handshake {
    /// Whether a revision may be agreed on.
    pub(crate) fn speaks(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// The newest revision that may be agreed on and is as wanted.
    pub(crate) fn newest(&self, wanted: fn(Revision) -> bool) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| wanted(*revision)).max()
    }

    /// Comes to an understanding with the server, for whom `front` answers.
    pub(crate) async fn with(self, peer: Peer, front: &Front) -> Result<Server, HandshakeError> {
        let terms = match self.era {
            Era::Session => self.open(&peer).await?,
            Era::Stateless => self.discover(&peer).await?,
            Era::Either if self.newest(Revision::is_stateless).is_none() => self.open(&peer).await?,
            Era::Either if self.newest(Revision::has_sessions).is_none() => self.discover(&peer).await?,
            Era::Either => self.find_out(&peer).await?,
        };
        let _agreed_once = front.agreed.set(terms.revision);
        Ok(Server::new(peer, terms, front))
    }

    async fn open(self, peer: &Peer) -> Result<Terms, HandshakeError> {
        let revision = self.newest(Revision::has_sessions).ok_or(HandshakeError::NoRevision)?;
        session::open(self, peer, revision).await
    }

    async fn discover(self, peer: &Peer) -> Result<Terms, HandshakeError> {
        match discover(&self, peer, self.handshake_timeout).await? {
            Discovery::Stateless(terms) => Ok(*terms),
            Discovery::Session(_, versions) => Err(HandshakeError::VersionRefused(versions)),
            Discovery::Unknown(error) => Err(error.into()),
        }
    }

    /// A server of sessions may answer `server/discover` by any error, or by none. A late answer finds nobody.
    async fn find_out(self, peer: &Peer) -> Result<Terms, HandshakeError> {
        match discover(&self, peer, Some(self.discover_timeout)).await? {
            Discovery::Stateless(terms) => Ok(*terms),
            Discovery::Session(revision, _) => session::open(self, peer, revision).await,
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

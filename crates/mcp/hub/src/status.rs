//! `ServerStatus`: the state of a server's connection.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::WithCauses;

/// The state of a server's connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The server's name: the configured one, with a number if another server has it too.
    pub name: String,
    /// The state of its connection.
    pub state: ServerState,
    /// How often its process was started again after a crash.
    pub restarts: u32,
}

/// The state of the connection to a server. `Display` writes a sentence for people, with the server's texts made
/// [`Printable`](agentwire_jsonrpc::Printable).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerState {
    /// It has not listed its tools yet, or its session is being opened again.
    Connecting,
    /// It can be called.
    Connected,
    /// It failed before it could be called.
    Failed(Arc<dyn Error + Send + Sync>),
    /// Its process has crashed for this reason, and is started again, after a pause.
    Restarting(Arc<dyn Error + Send + Sync>),
    /// It could be called before. The reason of a process contains its exit status and the end of its stderr.
    Died(Arc<dyn Error + Send + Sync>),
    /// The hub closed it.
    Closed,
}

impl ServerState {
    /// Whether it can be called.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected)
    }

    /// Its text without the reason.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Failed(_) => "failed",
            Self::Restarting(_) => "died, and is started again",
            Self::Died(_) => "died",
            Self::Closed => "closed",
        }
    }

    /// Why it cannot be called, if it should be callable but is not.
    pub fn reason(&self) -> Option<&Arc<dyn Error + Send + Sync>> {
        match self {
            Self::Failed(reason) | Self::Died(reason) | Self::Restarting(reason) => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        self.reason().map_or(Ok(()), |reason| write!(f, ": {}", WithCauses::new(&**reason)))
    }
}

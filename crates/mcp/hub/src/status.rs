use std::error::Error;
use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::WithCauses;

/// The state of a server's connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its name: that of its configuration, with a number where that is used twice.
    pub name: String,
    /// How it is.
    pub state: ServerState,
    /// How often its process was started again after a crash.
    pub restarts: u32,
}

/// How a connection to a server is. Its text is a sentence for people, in which the words of the server are
/// [`Printable`](agentwire_jsonrpc::Printable).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServerState {
    /// It has not listed its tools yet, or its session is begun again.
    Connecting,
    /// It can be called.
    Connected,
    /// It never could be called.
    Failed(Arc<dyn Error + Send + Sync>),
    /// Its process has crashed for this reason, and is started again, after a pause.
    Restarting(Arc<dyn Error + Send + Sync>),
    /// It could be called once. The reason of a process has its status and the end of its stderr.
    Died(Arc<dyn Error + Send + Sync>),
    /// We closed it.
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

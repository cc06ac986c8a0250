//! The errors that end a proxy or a chain.

use std::time::Duration;

use agentwire_transport::TransportError;

/// The error that ended a proxy or a chain. A regular close by the client or the agent is not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The transport to the client failed.
    #[error("the connection to the client failed")]
    Client(#[source] TransportError),
    /// The transport to the agent failed. For a process, the error may be its exit status.
    #[error("the connection to the agent failed")]
    Agent(#[source] TransportError),
    /// The transport to a component failed. For a process, the error may be its exit status.
    #[error("the connection to component {place} failed")]
    #[non_exhaustive]
    Component {
        /// The index of the component. Number 0 is next to the client.
        place: usize,
        /// The error of its transport.
        #[source]
        error: TransportError,
    },
}

impl ProxyError {
    /// Returns the error of the transport.
    pub fn into_transport_error(self) -> TransportError {
        match self {
            Self::Client(error) | Self::Agent(error) | Self::Component { error, .. } => error,
        }
    }
}

/// A side does not read the messages that are queued for it.
#[derive(Debug, thiserror::Error)]
#[error("it has read nothing for the limit of {time:?}, while {bytes} bytes are queued for it")]
pub(crate) struct Stuck {
    pub(crate) time: Duration,
    pub(crate) bytes: usize,
}

use std::error::Error;
use std::io;

/// Why a transport ended other than by the peer's closing it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Reading or writing failed.
    #[error("the transport failed: {0}")]
    Io(#[from] io::Error),
    /// Something that only the transport itself knows, such as the exit of the process at the other end.
    /// The error can be asked for its type.
    #[error("{0}")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}

impl TransportError {
    /// A fault of a kind that only one transport knows.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

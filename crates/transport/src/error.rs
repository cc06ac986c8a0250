//! The error that ends a transport: an I/O error, or a boxed error of one transport's own type.

use std::error::Error;
use std::io;

use agentwire_jsonrpc::Printable;

use crate::Exited;

/// Why a transport ended other than by the peer's closing it.
///
/// Its text escapes what could steer a terminal, as [`Printable`] does: the peer may have written a part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// Reading or writing failed.
    #[error("the transport failed: {}", Printable::display(.0))]
    Io(#[from] io::Error),
    /// An error of a type that one transport defines, such as the exit of the process at the other end. It can be
    /// downcast.
    #[error("{}", Printable::display(.0))]
    Other(#[source] Box<dyn Error + Send + Sync>),
}

impl TransportError {
    /// Wraps an error of a type that one transport defines.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }

    /// How the process at the other end has ended, where that ended the transport.
    pub fn exited(&self) -> Option<&Exited> {
        Exited::of(self)
    }
}

//! The error of a transport: an I/O error, or a boxed error of one transport's own type.

use std::error::Error;
use std::fmt;
use std::io;
use std::iter::successors;

use agentwire_jsonrpc::Printable;

use crate::Exited;

/// Why a transport ended, other than because the peer closed it; or why it lost a request or a part of a stream, as in
/// [`Packet::RequestFailed`](crate::Packet::RequestFailed) and [`Packet::Gap`](crate::Packet::Gap).
///
/// An I/O error is its [source](Error::source). For an error of the transport's own type, `Display` writes that error's
/// text, escaped by [`Printable`]; [`inner`](Self::inner) returns the error.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransportError {
    /// Reading or writing failed.
    Io(io::Error),
    /// An error of a type that one transport defines, such as the exit of the process at the other end. It can be
    /// downcast.
    Other(Box<dyn Error + Send + Sync>),
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Other(error) => error.source(),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("the transport failed"),
            Self::Other(error) => write!(f, "{}", Printable::display(error)),
        }
    }
}

impl From<io::Error> for TransportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl TransportError {
    /// Wraps an error of a type that one transport defines.
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }

    /// The wrapped error: the I/O error, or the error of the transport's own type.
    pub fn inner(&self) -> &(dyn Error + 'static) {
        match self {
            Self::Io(error) => error,
            Self::Other(error) => &**error,
        }
    }

    /// How the process at the other end has ended, if that ended the transport.
    pub fn exited(&self) -> Option<&Exited> {
        Exited::of(self.inner())
    }
}

/// The error and its [sources](Error::source), from the outermost on. They include the error that a [`TransportError`] wraps.
///
/// ```
/// use agentwire_transport::{Exited, TransportError, chain};
///
/// let error = TransportError::other(Exited::new("my-agent", None, ""));
/// assert!(chain(&error).any(|cause| cause.is::<Exited>()));
/// ```
pub fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&error| match error.downcast_ref::<TransportError>() {
        Some(error) => Some(error.inner()),
        None => error.source(),
    })
}

//! The error of a function that connects and runs the caller's code.

use std::error::Error;
use std::fmt;
use std::ops::Deref;

use agentwire_jsonrpc::WithCauses;

use crate::BoxError;

/// The error of a function that connects and runs a closure, such as `connect`. It could not connect, or the closure returned an error.
///
/// The closure returns a [`BoxError`], which takes any error by `?`. The function returns this type, which implements [`Error`].
/// `?` turns it into an `anyhow::Error`, an `eyre::Report`, a `Box<dyn Error + Send + Sync>` and a `BoxError`.
///
/// Its [source](Error::source) is the error of the closure, or the failure to connect. It dereferences to that as a `BoxError`, which
/// can [find](BoxError::find) causes by their type. `Display` writes only its own text; `{:#}` and `Debug` add the causes.
///
/// ```
/// use std::error::Error;
///
/// use agentwire_peer::{BoxError, ConnectionError};
///
/// fn connect(main: impl FnOnce() -> Result<u16, BoxError>) -> Result<u16, ConnectionError> {
///     main().map_err(ConnectionError::new)
/// }
///
/// fn run() -> Result<(), Box<dyn Error + Send + Sync>> {
///     connect(|| Ok("http".parse()?))?;
///     Ok(())
/// }
///
/// let error = run().unwrap_err();
/// assert_eq!(error.to_string(), "the connection failed");
/// assert_eq!(error.source().unwrap().to_string(), "invalid digit found in string");
/// ```
pub struct ConnectionError(BoxError);

impl ConnectionError {
    /// Wraps the error of a closure, or the failure to connect.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(error.into())
    }

    /// Takes the error out.
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

impl Error for ConnectionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.0.as_error())
    }
}

impl From<BoxError> for ConnectionError {
    fn from(error: BoxError) -> Self {
        Self(error)
    }
}

impl Deref for ConnectionError {
    type Target = BoxError;

    fn deref(&self) -> &BoxError {
        &self.0
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => fmt::Display::fmt(&WithCauses::new(self), f),
            false => f.write_str("the connection failed"),
        }
    }
}

impl fmt::Debug for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&WithCauses::new(self), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Closed;

    #[test]
    fn box_error_takes_the_inner_error() {
        let error = ConnectionError::new(Closed::default());
        assert_eq!(format!("{error}"), "the connection failed");
        assert_eq!(format!("{error:#}"), "the connection failed: the connection closed");
        assert_eq!(format!("{error:?}"), format!("{error:#}"));
        assert!(error.find::<Closed>().is_some());
        assert_eq!(BoxError::from(error).to_string(), "the connection closed");
    }
}

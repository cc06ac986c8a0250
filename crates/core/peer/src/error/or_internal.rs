//! Turns any error into the error response of a handler.

use agentwire_jsonrpc::ErrorObject;

use crate::BoxError;

/// Turns the error of a result into the error response of a handler.
///
/// ```
/// use agentwire_jsonrpc::ErrorObject;
/// use agentwire_peer::OrInternal;
///
/// fn port(text: &str) -> Result<u16, ErrorObject> {
///     text.parse().internal()
/// }
///
/// assert_eq!(port("http").unwrap_err().message, "internal error: invalid digit found in string");
/// ```
pub trait OrInternal<T> {
    /// Turns an error into the [`ErrorObject`] that it is or was caused by. Any other error becomes an internal error with its text.
    ///
    /// # Errors
    ///
    /// Returns that error object if the result is an error.
    fn internal(self) -> Result<T, ErrorObject>;
}

impl<T, E: Into<BoxError>> OrInternal<T> for Result<T, E> {
    fn internal(self) -> Result<T, ErrorObject> {
        self.map_err(|error| error.into().into())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn any_error_becomes_an_internal_error_except_an_error_object() {
        let internal = ErrorObject::internal_error;
        assert_eq!(Err::<(), _>("text").internal(), Err(internal("text")));
        assert_eq!(Err::<(), _>(io::Error::other("disk")).internal(), Err(internal("disk")));
        assert_eq!(Err::<(), _>(BoxError::from("boxed")).internal(), Err(internal("boxed")));
        let object = ErrorObject::invalid_params("no path");
        assert_eq!(Err::<(), _>(object.clone()).internal(), Err(object));
        assert_eq!(Ok::<_, io::Error>(1).internal(), Ok(1));
    }

    #[test]
    fn question_mark_turns_an_io_error_into_an_error_object() {
        fn read() -> Result<(), ErrorObject> {
            Err(io::Error::other("disk"))?
        }
        assert_eq!(read(), Err(ErrorObject::internal_error("disk")));
    }
}

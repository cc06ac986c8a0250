use agentwire_jsonrpc::ErrorObject;

use crate::BoxError;

/// Turns the error of a result into the response of a handler.
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
    /// Makes an error the response: the [`ErrorObject`] that it is, or was caused by, and an internal error with its text
    /// otherwise.
    ///
    /// # Errors
    ///
    /// That answer, where the result is an error.
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
    fn any_error_becomes_an_answer_and_an_answer_stays_what_it_is() {
        let internal = ErrorObject::internal_error;
        assert_eq!(Err::<(), _>("text").internal(), Err(internal("text")));
        assert_eq!(Err::<(), _>(io::Error::other("disk")).internal(), Err(internal("disk")));
        assert_eq!(Err::<(), _>(BoxError::from("boxed")).internal(), Err(internal("boxed")));
        let answer = ErrorObject::invalid_params("no path");
        assert_eq!(Err::<(), _>(answer.clone()).internal(), Err(answer));
        assert_eq!(Ok::<_, io::Error>(1).internal(), Ok(1));
    }

    #[test]
    fn an_input_output_error_needs_no_more_than_a_question_mark() {
        fn read() -> Result<(), ErrorObject> {
            Err(io::Error::other("disk"))?
        }
        assert_eq!(read(), Err(ErrorObject::internal_error("disk")));
    }
}

//! An error of any type, for code that only reports it.

use std::error::Error;
use std::fmt;
use std::ops::Deref;

use agentwire_jsonrpc::{ErrorObject, WithCauses};
use agentwire_transport::{Exited, chain};

use crate::{CallError, ConnectionError};

/// An error of any type, which the closure of a connection returns and a handler may return.
///
/// `?` turns each of these into it: an error that is `Send`, `Sync` and `'static`, a `&str`, a `String`, a
/// `Box<dyn Error + Send + Sync>`, and the errors of crates such as `anyhow`. `Display` is the message with its causes,
/// `message: cause: its cause`; a cause that the text before it already contains is left out, and
/// [`Printable`](agentwire_jsonrpc::Printable) escapes what could steer a terminal. `Debug` is the same text, so that a
/// `main` that returns it prints a readable error.
///
/// Like `anyhow::Error`, it does not implement [`Error`] itself: the conversions above would then contradict each other. It
/// dereferences to the error inside. `?` turns it into a `Box<dyn Error>`, [`into_boxed`](Self::into_boxed) into a
/// `Box<dyn Error + Send + Sync>`. Functions that a program calls, such as `connect`, return a [`ConnectionError`], which `?`
/// turns into an `anyhow::Error` too; [`ConnectionError::new`] wraps any other `BoxError` for that.
///
/// ```
/// use agentwire_peer::BoxError;
///
/// fn port(text: &str) -> Result<u16, BoxError> {
///     let port = text.parse()?;
///     if port < 1024 {
///         return Err(format!("port {port} is reserved").into());
///     }
///     Ok(port)
/// }
///
/// assert_eq!(format!("{:?}", port("80").unwrap_err()), "port 80 is reserved");
/// assert!(port("http").unwrap_err().downcast_ref::<std::num::ParseIntError>().is_some());
/// ```
pub struct BoxError(Box<dyn Error + Send + Sync>);

impl BoxError {
    /// Returns the error, if it has this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// Takes the error out, if it has this type.
    ///
    /// # Errors
    ///
    /// Returns `self` if the error has another type.
    pub fn downcast<E: Error + 'static>(self) -> Result<E, Self> {
        self.0.downcast().map(|error| *error).map_err(Self)
    }

    /// Returns the first error of this type among the error and its [sources](Error::source), from the outermost on.
    pub fn find<E: Error + 'static>(&self) -> Option<&E> {
        self.chain().find_map(|error| error.downcast_ref())
    }

    /// Returns how the process at the other end has ended, if that caused the error; see
    /// [`Closed::exited`](crate::Closed::exited).
    pub fn exited(&self) -> Option<&Exited> {
        Exited::of(self.as_error())
    }

    /// The error and its [sources](Error::source), from the outermost on.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        chain(self.as_error())
    }

    /// The text of the error and its causes, as `Display` writes it but without the escapes. It is meant for a program or a model, not
    /// for a terminal. The errors of these crates still escape a peer's text in their own messages.
    pub fn message(&self) -> String {
        WithCauses::new(self.as_error()).plain()
    }

    /// Returns the error inside.
    pub fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }

    /// Takes the error out, as layers of `tower` and other functions want it.
    pub fn into_boxed(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for BoxError {
    fn from(error: E) -> Self {
        // The closure of a connection may run another connection. The caller of both gets the inner error.
        match error.into().downcast::<ConnectionError>() {
            Ok(error) => error.into_inner(),
            Err(error) => Self(error),
        }
    }
}

impl From<BoxError> for Box<dyn Error> {
    fn from(error: BoxError) -> Self {
        error.0
    }
}

/// The response of a handler whose code failed: the [`ErrorObject`] that the error is or was caused by, and an internal error
/// with its text otherwise. What another peer refused is an internal error, too.
impl From<BoxError> for ErrorObject {
    fn from(error: BoxError) -> Self {
        let mut own = error.chain().take_while(|error| !error.is::<CallError>());
        let known = own.find_map(|error| error.downcast_ref::<Self>()).cloned();
        known.unwrap_or_else(|| Self::internal_error(error.message()))
    }
}

impl Deref for BoxError {
    type Target = dyn Error + Send + Sync + 'static;

    fn deref(&self) -> &Self::Target {
        self.as_error()
    }
}

impl AsRef<dyn Error + Send + Sync> for BoxError {
    fn as_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.as_error()
    }
}

impl fmt::Display for BoxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&WithCauses::new(self.as_error()), f)
    }
}

impl fmt::Debug for BoxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use agentwire_transport::TransportError;

    use super::*;
    use crate::Closed;

    #[derive(Debug, thiserror::Error)]
    #[error("the settings cannot be read")]
    struct Unreadable(#[source] io::Error);

    #[test]
    fn text_contains_each_cause_once() {
        let error = BoxError::from(Unreadable(io::Error::other("the disk is gone")));
        assert_eq!(error.to_string(), "the settings cannot be read: the disk is gone");
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(format!("{error:#?}"), error.to_string());

        let error = BoxError::from(CallError::failed("m", io::Error::other("gone")));
        assert_eq!(error.to_string(), "m: failed: gone");
        assert_eq!(error.chain().count(), 2);
        assert_eq!(BoxError::from("").to_string(), "");
    }

    #[test]
    fn text_of_a_peer_cannot_steer_a_terminal() {
        let error = BoxError::from(ErrorObject::new(1, "\u{1b}[2Jgone"));
        assert_eq!(format!("{error:?}"), "^[[2Jgone (1)");
        assert_eq!(BoxError::from("\u{1b}[2Jgone").message(), "\u{1b}[2Jgone", "a program is not a terminal");
        let error = BoxError::from(CallError::failed("m", "\u{1b}[2Jgone"));
        assert_eq!(error.to_string(), "m: failed: ^[[2Jgone");
    }

    #[test]
    fn each_common_error_becomes_one() {
        fn convert() -> [BoxError; 4] {
            let boxed: Box<dyn Error + Send + Sync> = "boxed".into();
            ["text".into(), String::from("owned").into(), boxed.into(), io::Error::other("disk").into()]
        }
        assert_eq!(convert().map(|error| error.to_string()), ["text", "owned", "boxed", "disk"]);

        fn outer() -> Result<(), Box<dyn Error>> {
            Err(BoxError::from("text"))?
        }
        assert_eq!(outer().unwrap_err().to_string(), "text");
    }

    #[test]
    fn inner_error_is_found_and_taken() {
        let error = BoxError::from(Unreadable(io::Error::other("gone")));
        assert!(error.downcast_ref::<io::Error>().is_none() && error.find::<io::Error>().is_some());
        assert!(error.source().is_some());
        let error = error.downcast::<io::Error>().unwrap_err();
        assert_eq!(error.downcast::<Unreadable>().unwrap().0.to_string(), "gone");
    }

    #[test]
    fn exit_of_a_process_is_found() {
        let exited = Exited::new("my-agent", None, "no API key");
        let closed = Closed { reason: Some(Arc::new(TransportError::other(exited))) };
        let error = BoxError::from(CallError::from(closed));
        assert_eq!(error.exited().unwrap().stderr, "no API key");
        assert!(error.find::<CallError>().is_some() && error.find::<Closed>().is_some());
        let error = BoxError::from(TransportError::other(Exited::new("my-agent", None, "no API key")));
        assert_eq!(error.exited().unwrap().stderr, "no API key");
        assert!(BoxError::from("other").exited().is_none());
    }

    #[test]
    fn error_object_is_the_response_except_in_a_refused_call() {
        let answer = ErrorObject::from(BoxError::from(ErrorObject::invalid_params("no path")));
        assert_eq!(answer, ErrorObject::invalid_params("no path"));
        let wrapped = TransportError::other(ErrorObject::invalid_params("no path"));
        assert_eq!(ErrorObject::from(BoxError::from(wrapped)), ErrorObject::invalid_params("no path"));

        let refused = BoxError::from(CallError::refused("m", ErrorObject::invalid_params("no path")));
        let text = refused.to_string();
        assert_eq!(ErrorObject::from(refused), ErrorObject::internal_error(text));

        /// An error that stands for a call's leaves that out of its sources.
        #[derive(Debug, thiserror::Error)]
        #[error(transparent)]
        struct Transparent(CallError);
        let refused = Transparent(CallError::refused("m", ErrorObject::invalid_params("no path")));
        let text = refused.to_string();
        assert_eq!(ErrorObject::from(BoxError::from(refused)), ErrorObject::internal_error(text));
    }
}

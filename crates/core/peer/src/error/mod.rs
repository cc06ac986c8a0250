//! The errors of calls and of closed connections, and their conversion to JSON-RPC error objects.

pub(crate) mod box_error;
pub(crate) mod connection_error;
pub(crate) mod or_internal;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_connection::CallFailure;
use agentwire_jsonrpc::{ErrorObject, Printable, WithCauses};
use agentwire_transport::{Exited, TransportError};
use bytestring::ByteString;

/// The connection is closed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Closed {
    /// The error that the transport reported last. `None` if one side closed the connection without an error. The
    /// [source](Error::source) is the [error in it](TransportError::inner).
    pub reason: Option<Arc<TransportError>>,
}

impl Closed {
    /// Returns how the process at the other end has ended: its status, and the last lines of its stderr. `None` if the other
    /// end is not a child process of this program, or was still running.
    ///
    /// ```
    /// use agentwire_peer::Closed;
    ///
    /// /// Whether a signal ended the process.
    /// fn was_killed(closed: &Closed) -> bool {
    ///     let Some(exited) = closed.exited() else { return false };
    ///     eprintln!("{exited}"); // `my-agent` exited with status 3; its last words were: no API key
    ///     exited.status.is_some_and(|status| status.code().is_none())
    /// }
    /// # assert!(!was_killed(&Closed::default()));
    /// ```
    pub fn exited(&self) -> Option<&Exited> {
        self.reason.as_ref()?.exited()
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection closed")
    }
}

impl Error for Closed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.reason.as_ref()?.inner())
    }
}

/// The error of a call.
///
/// Its text may contain the peer's text, so it is escaped for terminals as [`Printable`] does. The fields contain the peer's text
/// without escapes. The text does not contain the cause, which is the [source](Error::source).
/// [`WithCauses`](agentwire_jsonrpc::WithCauses) displays both.
///
/// ```
/// use agentwire_peer::CallError;
///
/// fn may_try_again(error: &CallError) -> bool {
///     match error {
///         CallError::TimedOut { .. } => true,
///         CallError::Refused { error, .. } => error.code == -32000,
///         _ => false,
///     }
/// }
/// # assert!(!may_try_again(&CallError::cancelled("ping")));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The connection ended before the response arrived.
    Closed(Closed),
    /// No response arrived in time. The call was cancelled at the peer.
    #[non_exhaustive]
    TimedOut {
        /// The method.
        method: ByteString,
        /// The time-out.
        after: Duration,
    },
    /// The transport could not send the request or receive the response, but the connection goes on; see
    /// [`Packet::RequestFailed`](agentwire_transport::Packet::RequestFailed).
    #[non_exhaustive]
    Failed {
        /// The method.
        method: ByteString,
        /// The transport's report, which can be downcast. The [source](Error::source) is the
        /// [error in it](TransportError::inner).
        fault: Arc<TransportError>,
    },
    /// The peer ended the call without a response, as the protocol allows for some methods.
    #[non_exhaustive]
    Cancelled {
        /// The method.
        method: ByteString,
    },
    /// The peer answered with an error.
    #[non_exhaustive]
    Refused {
        /// The method.
        method: ByteString,
        /// The peer's error object. It is not a [source](Error::source). A handler's error is answered with the error object among
        /// its sources ([`BoxError`](crate::BoxError)), so a handler that returns this error by `?` would send the object of
        /// another peer.
        error: ErrorObject,
    },
    /// The peer's response does not have the type of the method's result.
    #[non_exhaustive]
    Decode {
        /// The method.
        method: ByteString,
        /// The fault of the response.
        why: String,
    },
    /// The peer's response is valid, but not a result that the caller can use, such as a question to the client.
    #[non_exhaustive]
    Unusable {
        /// The method.
        method: ByteString,
        /// The response that arrived instead.
        why: Cow<'static, str>,
    },
    /// The parameters have no JSON form. Nothing was sent.
    #[non_exhaustive]
    Encode {
        /// The method.
        method: ByteString,
        /// The fault of the parameters.
        why: String,
    },
    /// A rule forbids the call on this connection. Nothing was sent.
    #[non_exhaustive]
    NotAllowed {
        /// The method.
        method: ByteString,
        /// The rule, such as a capability that the peer did not advertise.
        why: Cow<'static, str>,
    },
}

/// Constructors for runtimes, and for layers around calls.
impl CallError {
    /// Makes the error of a call that a rule forbids, such as a capability that the peer did not advertise.
    pub fn not_allowed(method: impl Into<ByteString>, why: impl Into<Cow<'static, str>>) -> Self {
        Self::NotAllowed { method: method.into(), why: why.into() }
    }

    /// Makes the error of a call whose time-out the runtime measures, for calls with more than one response.
    pub fn timed_out(method: impl Into<ByteString>, after: Duration) -> Self {
        Self::TimedOut { method: method.into(), after }
    }

    /// Makes the error of a call that failed between the caller and the transport.
    pub fn failed(method: impl Into<ByteString>, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed { method: method.into(), fault: Arc::new(TransportError::other(error)) }
    }

    /// Makes the error of a call that the peer refused after its first response, for calls with more than one response.
    pub fn refused(method: impl Into<ByteString>, error: ErrorObject) -> Self {
        Self::Refused { method: method.into(), error }
    }

    /// Makes the error of a call that the peer has cancelled in another way than by the cancel notification.
    pub fn cancelled(method: impl Into<ByteString>) -> Self {
        Self::Cancelled { method: method.into() }
    }

    /// Makes the error of a call whose result does not have the method's type.
    pub fn malformed(method: impl Into<ByteString>, why: impl Into<String>) -> Self {
        Self::Decode { method: method.into(), why: why.into() }
    }

    /// Makes the error of a call whose response is not a usable result.
    pub fn unusable(method: impl Into<ByteString>, why: impl Into<Cow<'static, str>>) -> Self {
        Self::Unusable { method: method.into(), why: why.into() }
    }

    /// Returns how the process at the other end has ended, if that closed the connection; see [`Closed::exited`].
    pub fn exited(&self) -> Option<&Exited> {
        match self {
            Self::Closed(closed) => closed.exited(),
            _ => None,
        }
    }

    /// Returns the peer's error object, if the peer refused the call.
    pub fn refusal(&self) -> Option<&ErrorObject> {
        match self {
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }

    pub(crate) fn from_failure(failure: CallFailure, method: ByteString, closed: Closed) -> Self {
        match failure {
            CallFailure::Refused(error) => Self::Refused { method, error },
            CallFailure::TimedOut(after) => Self::TimedOut { method, after },
            CallFailure::Malformed(error) => Self::Decode { method, why: error.to_string() },
            CallFailure::Cancelled => Self::Cancelled { method },
            _ => Self::Closed(closed),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut show = |text: fmt::Arguments<'_>| write!(f, "{}", Printable::display(text));
        match self {
            Self::Closed(_) => show(format_args!("the call has no answer")),
            Self::TimedOut { method, after } => show(format_args!("{method}: no answer within {after:?}")),
            Self::Failed { method, .. } => show(format_args!("{method}: failed")),
            Self::Cancelled { method } => show(format_args!("{method}: ended without an answer")),
            Self::Refused { method, error } => show(format_args!("{method}: refused: {error}")),
            Self::Decode { method, why } => show(format_args!("{method}: the answer cannot be read: {why}")),
            Self::Unusable { method, why } | Self::NotAllowed { method, why } => {
                show(format_args!("{method}: {why}"))
            }
            Self::Encode { method, why } => {
                show(format_args!("{method}: the parameters cannot be encoded: {why}"))
            }
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Closed(closed) => Some(closed),
            Self::Failed { fault, .. } => Some(fault.inner()),
            _ => None,
        }
    }
}

impl From<Closed> for CallError {
    fn from(closed: Closed) -> Self {
        Self::Closed(closed)
    }
}

/// The response of a handler whose own call failed.
impl From<CallError> for ErrorObject {
    fn from(error: CallError) -> Self {
        Self::internal_error(WithCauses::new(&error))
    }
}

impl From<Closed> for ErrorObject {
    fn from(error: Closed) -> Self {
        Self::internal_error(WithCauses::new(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_escapes_terminal_controls() {
        const TEXT: &str = "\u{1b}[2J\u{202e}gone\u{7f}\nnow";
        const SHOWN: &str = "^[[2J<U+202E>gone^?\nnow";
        let closed = |error: TransportError| Closed { reason: Some(Arc::new(error)) };
        let exited = || Exited::new(TEXT, None, TEXT);
        let ended = format!("`{SHOWN}` ended; its last words were: {SHOWN}");
        let failed = std::io::Error::other;
        let table: Vec<(Box<dyn Error>, String)> = vec![
            (ErrorObject::new(1, TEXT).with_data(&TEXT).into(), format!("{SHOWN} (1)")),
            (ErrorObject::new(1, "no").with_data(&["\u{9b}2J"]).into(), "no (1)".to_owned()),
            (exited().into(), ended.clone()),
            (TransportError::from(failed(TEXT)).into(), format!("the transport failed: {SHOWN}")),
            (TransportError::other(TEXT).into(), SHOWN.to_owned()),
            (TransportError::other(exited()).into(), ended.clone()),
            (closed(TransportError::other(exited())).into(), format!("the connection closed: {ended}")),
            (
                CallError::from(closed(TransportError::other(TEXT))).into(),
                format!("the call has no answer: the connection closed: {SHOWN}"),
            ),
            (
                CallError::timed_out(TEXT, Duration::from_secs(1)).into(),
                format!("{SHOWN}: no answer within 1s"),
            ),
            (CallError::failed("m", TEXT).into(), format!("m: failed: {SHOWN}")),
            (CallError::cancelled(TEXT).into(), format!("{SHOWN}: ended without an answer")),
            (CallError::refused("m", ErrorObject::new(1, TEXT)).into(), format!("m: refused: {SHOWN} (1)")),
            (CallError::malformed("m", TEXT).into(), format!("m: the answer cannot be read: {SHOWN}")),
            (CallError::unusable("m", TEXT).into(), format!("m: {SHOWN}")),
            (CallError::not_allowed("m", TEXT).into(), format!("m: {SHOWN}")),
            (
                CallError::Encode { method: "m".into(), why: TEXT.into() }.into(),
                format!("m: the parameters cannot be encoded: {SHOWN}"),
            ),
        ];
        for (error, expected) in table {
            assert_eq!(WithCauses::new(&*error).to_string(), expected);
            let debug = format!("{error:?}");
            assert!(!debug.contains(['\u{1b}', '\u{202e}', '\u{7f}', '\u{9b}']), "{debug:?}");
        }
    }

    #[test]
    fn fields_contain_the_peers_text_without_escapes() {
        let error = CallError::refused("m", ErrorObject::new(1, "\u{1b}"));
        assert_eq!(error.refusal().unwrap().message, "\u{1b}");
        assert_eq!(Exited::new("p", None, "\u{1b}").stderr, "\u{1b}");
    }
}

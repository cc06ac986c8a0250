//! `AskError`: why a question to the client has no answer.

use std::error::Error;
use std::fmt;

use agentwire_jsonrpc::{ErrorObject, Printable, WithCauses};
use agentwire_mcp_schema::code::MissingCapabilities;
use agentwire_mcp_schema::{
    ClientCapabilities, ElicitationCapability, JsonObject, RootsCapability, SamplingCapability,
};
use agentwire_peer::{BoxError, CallError};

/// Why a question to the client has no answer.
///
/// A function that returns it, in whichever error, has it answered: a missing capability by the error `-32021` where the revision
/// has that, an answer that does not fit by invalid params where it came as params. That [`ErrorObject`] is its
/// [source](Error::source). Anything else a tool's model reads.
///
/// ```
/// use agentwire_mcp_server::{BoxError, Context, Form, field};
///
/// async fn name(cx: Context) -> Result<String, BoxError> {
///     let form = Form::new("Who are you?").required("name", field::text());
///     match cx.elicit("name", form).await {
///         Ok(answer) => Ok(format!("accepted: {}", answer.is_accepted())),
///         Err(error) if error.is_missing_capability() => Ok("a stranger".into()),
///         Err(error) => Err(error.into()),
///     }
/// }
/// # let _ = name;
/// ```
pub struct AskError {
    kind: AskErrorKind,
    /// The error of the protocol for this, if there is one.
    answer: Option<Box<ErrorObject>>,
}

pub(crate) enum AskErrorKind {
    /// The client lacks the capability.
    Missing { capability: &'static str, has_code: bool },
    /// The answer does not fit the question. It came as a part of the request, or of an answer.
    Wrong { key: String, why: String, in_params: bool },
    /// Another question of the call has had the key.
    Reused { key: String },
    /// The round or the task of the question has ended.
    Over,
    /// A request that cannot be answered by a question.
    Nowhere,
    /// The client was asked in a request of its own, and that failed.
    Call(CallError),
}

impl AskError {
    /// The answer under that key does not fit. It came in the params of the request, or in an answer.
    pub(crate) fn wrong(key: &str, why: String, in_params: bool) -> Self {
        AskErrorKind::Wrong { key: key.to_owned(), why, in_params }.into()
    }

    pub(crate) fn kind(&self) -> &AskErrorKind {
        &self.kind
    }

    /// Whether the client lacks the capability for this question. Another kind of question may work.
    pub fn is_missing_capability(&self) -> bool {
        matches!(self.kind, AskErrorKind::Missing { .. })
    }

    /// Why the request failed that the client was sent in a session: it refused, or did not answer in time.
    pub fn call_error(&self) -> Option<&CallError> {
        match &self.kind {
            AskErrorKind::Call(error) => Some(error),
            _ => None,
        }
    }
}

impl AskErrorKind {
    /// The error of the protocol for this, if there is one.
    fn answer(&self) -> Option<ErrorObject> {
        match self {
            Self::Missing { capability, has_code: true } => {
                Some(MissingCapabilities::new(capabilities(capability)).into())
            }
            Self::Wrong { in_params: true, .. } => Some(ErrorObject::invalid_params(self)),
            _ => None,
        }
    }
}

impl fmt::Display for AskErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { capability, .. } => {
                write!(f, "the client did not say that it has the capability `{capability}`")
            }
            Self::Wrong { key, why, .. } => {
                write!(f, "the client's answer to `{key}` does not fit: {}", Printable::display(why))
            }
            Self::Reused { key } => {
                write!(f, "the key `{key}` was used already: each question of a call has a key of its own")
            }
            Self::Over => f.write_str("the request that this was asked for is answered"),
            Self::Nowhere => f.write_str("this kind of request cannot be answered by a question"),
            Self::Call(_) => f.write_str("the question to the client failed"),
        }
    }
}

/// Client capabilities with only that one.
fn capabilities(path: &str) -> ClientCapabilities {
    let none = ClientCapabilities::default();
    let some = JsonObject::new;
    match path {
        "roots" => none.roots(RootsCapability::default()),
        "sampling" => none.sampling(SamplingCapability::default()),
        "sampling.tools" => none.sampling(SamplingCapability::default().tools(some())),
        "elicitation.url" => none.elicitation(ElicitationCapability::default().url(some())),
        _ => none.elicitation(ElicitationCapability::default().form(some())),
    }
}

impl From<AskErrorKind> for AskError {
    fn from(kind: AskErrorKind) -> Self {
        Self { answer: kind.answer().map(Box::new), kind }
    }
}

impl From<CallError> for AskError {
    fn from(error: CallError) -> Self {
        AskErrorKind::Call(error).into()
    }
}

impl From<AskError> for ErrorObject {
    fn from(error: AskError) -> Self {
        BoxError::from(error).into()
    }
}

impl Error for AskError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match (&self.answer, &self.kind) {
            (Some(answer), _) => Some(&**answer),
            (None, AskErrorKind::Call(error)) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            // The source has the reason.
            AskErrorKind::Wrong { key, in_params: true, .. } => {
                write!(f, "the question `{}` has no usable answer", Printable::display(key))
            }
            kind => kind.fmt(f),
        }
    }
}

impl fmt::Debug for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AskError").field(&WithCauses::new(self).to_string()).finish()
    }
}

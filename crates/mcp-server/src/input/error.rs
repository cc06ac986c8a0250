use std::borrow::Cow;
use std::fmt;

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::code::MissingCapabilities;
use agentwire_mcp_schema::{
    ClientCapabilities, ElicitationCapability, JsonObject, RootsCapability, SamplingCapability,
};
use agentwire_peer::CallError;

use crate::ToolError;

/// Why a question to the client has no answer.
///
/// `?` makes what belongs on the wire of it, in tools, prompts and resources alike: a missing capability is the error
/// `-32021` where the revision has that, an answer that does not fit is invalid params where it came as params. Anything
/// else a tool's model reads.
///
/// Like [`ToolError`] it is not itself an [`Error`](std::error::Error), because then `?` would make plain text of it.
/// [`message`](Self::message) is that text.
pub struct AskError(pub(crate) AskErrorKind);

pub(crate) enum AskErrorKind {
    /// The client lacks the capability.
    Missing { capability: &'static str, has_code: bool },
    /// The answer is none to that question. It came as a part of the request, or of an answer.
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
        Self(AskErrorKind::Wrong { key: key.to_owned(), why, in_params })
    }

    /// Whether the client lacks the capability for this question. Another kind of question may work.
    pub fn is_missing_capability(&self) -> bool {
        matches!(self.0, AskErrorKind::Missing { .. })
    }

    /// Why the request failed that the client was sent in a session: it refused, or did not answer in time.
    pub fn call_error(&self) -> Option<&CallError> {
        match &self.0 {
            AskErrorKind::Call(error) => Some(error),
            _ => None,
        }
    }

    /// The text of the error.
    pub fn message(&self) -> Cow<'static, str> {
        match &self.0 {
            AskErrorKind::Missing { capability, .. } => {
                format!("the client did not say that it has the capability `{capability}`").into()
            }
            AskErrorKind::Wrong { key, why, .. } => {
                format!("the client's answer to `{key}` does not fit: {why}").into()
            }
            AskErrorKind::Reused { key } => {
                format!("the key `{key}` was used already: each question of a call has a key of its own")
                    .into()
            }
            AskErrorKind::Over => "the request that this was asked for is answered".into(),
            AskErrorKind::Nowhere => "this kind of request cannot be answered by a question".into(),
            AskErrorKind::Call(error) => error.to_string().into(),
        }
    }

    /// The error of the protocol for this, if there is one.
    fn on_the_wire(&self) -> Option<ErrorObject> {
        match &self.0 {
            AskErrorKind::Missing { capability, has_code: true } => {
                Some(MissingCapabilities::new(capabilities(capability)).into())
            }
            AskErrorKind::Wrong { in_params: true, .. } => Some(ErrorObject::invalid_params(self.message())),
            _ => None,
        }
    }
}

/// A client's capabilities that are just that one.
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

impl From<CallError> for AskError {
    fn from(error: CallError) -> Self {
        Self(AskErrorKind::Call(error))
    }
}

impl From<AskError> for ToolError {
    fn from(error: AskError) -> Self {
        match error.on_the_wire() {
            Some(object) => Self::protocol(object),
            None => Self::new(error.message()),
        }
    }
}

impl From<AskError> for ErrorObject {
    fn from(error: AskError) -> Self {
        error.on_the_wire().unwrap_or_else(|| Self::internal_error(error.message()))
    }
}

impl fmt::Debug for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AskError").field(&self.message()).finish()
    }
}

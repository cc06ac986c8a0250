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
pub struct AskError(pub(crate) Kind);

pub(crate) enum Kind {
    /// The client did not say that it can be asked this.
    Missing { capability: &'static str, has_code: bool },
    /// The answer is none to that question. It came as a part of the request, or of an answer.
    Wrong { key: String, why: String, in_params: bool },
    /// Another question of the call has the key.
    Taken { key: String },
    /// The pass of which the question was a part is over.
    Over,
    /// Nothing is asked from where this is.
    Nowhere,
    /// The client was asked in a request of its own, and that failed.
    Call(CallError),
}

impl AskError {
    /// Whether the client did not say that it can be asked this, so that asking for something else may do.
    pub fn is_missing_capability(&self) -> bool {
        matches!(self.0, Kind::Missing { .. })
    }

    /// Why the request failed that the client was sent in a session: it refused, or did not answer in time.
    pub fn call_error(&self) -> Option<&CallError> {
        match &self.0 {
            Kind::Call(error) => Some(error),
            _ => None,
        }
    }

    /// What is wrong, in words.
    pub fn message(&self) -> Cow<'static, str> {
        match &self.0 {
            Kind::Missing { capability, .. } => {
                format!("the client did not say that it has the capability `{capability}`").into()
            }
            Kind::Wrong { key, why, .. } => {
                format!("the client's answer to `{key}` does not fit: {why}").into()
            }
            Kind::Taken { key } => {
                format!("the key `{key}` was used already: each question of a call has a key of its own")
                    .into()
            }
            Kind::Over => "the request that this was asked for is answered".into(),
            Kind::Nowhere => "this kind of request cannot be answered by a question".into(),
            Kind::Call(error) => error.to_string().into(),
        }
    }

    /// The error of the protocol that says this, if it has one.
    fn on_the_wire(&self) -> Option<ErrorObject> {
        match &self.0 {
            Kind::Missing { capability, has_code: true } => {
                Some(MissingCapabilities::new(capabilities(capability)).into())
            }
            Kind::Wrong { in_params: true, .. } => Some(ErrorObject::invalid_params(self.message())),
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
        Self(Kind::Call(error))
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

use agentwire_jsonrpc::{Notice, RawObject, RequestId};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::common::{ElicitationId, SessionId, ToolCallId};
use crate::wire::{marker_capability, object};

object! {
    /// A URL to send the person to, for what must not pass through the client, such as a password.
    ElicitationUrlMode {
        /// What the question belongs to. On the wire its members are the request's own.
        union scope: ElicitationScope,
        /// Names the question, so that `elicitation/complete` can say when the person is done.
        required elicitation_id: ElicitationId,
        /// Where to. Clients show it in full, ask first, and fetch nothing from it themselves.
        #[cfg_attr(feature = "schema", schemars(url))]
        required url: String,
    }
}

/// What an elicitation belongs to: a session, or a request outside of any.
///
/// Told apart by the member `sessionId`; an object with both members belongs to the session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitationScope {
    /// A session.
    Session(ElicitationSessionScope),
    /// A request.
    Request(ElicitationRequestScope),
}

impl<'de> Deserialize<'de> for ElicitationScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = RawObject::deserialize(deserializer)?;
        if object.contains_key("sessionId") || !object.contains_key("requestId") {
            object.decode().map(Self::Session)
        } else {
            object.decode().map(Self::Request)
        }
        .map_err(de::Error::custom)
    }
}

impl From<SessionId> for ElicitationScope {
    fn from(session_id: SessionId) -> Self {
        Self::Session(ElicitationSessionScope::new(session_id))
    }
}

impl From<&SessionId> for ElicitationScope {
    fn from(session_id: &SessionId) -> Self {
        Self::Session(ElicitationSessionScope::new(session_id))
    }
}

impl From<RequestId> for ElicitationScope {
    fn from(request_id: RequestId) -> Self {
        Self::Request(ElicitationRequestScope::new(request_id))
    }
}

impl From<ElicitationSessionScope> for ElicitationScope {
    fn from(scope: ElicitationSessionScope) -> Self {
        Self::Session(scope)
    }
}

impl From<ElicitationRequestScope> for ElicitationScope {
    fn from(scope: ElicitationRequestScope) -> Self {
        Self::Request(scope)
    }
}

object! {
    /// The session, and perhaps the tool call, that an elicitation belongs to.
    ElicitationSessionScope {
        /// The session.
        required session_id: SessionId,
        /// The tool call, for instance where an MCP server asked during one.
        lenient tool_call_id: Option<ToolCallId>,
    }
}

object! {
    /// The request that an elicitation belongs to, where there is no session yet.
    ElicitationRequestScope {
        /// The request.
        required request_id: RequestId,
    }
}

object! {
    /// `elicitation/complete`: the person is done at the URL. Unknown ids are ignored.
    CompleteElicitationNotification {
        /// The question.
        required elicitation_id: ElicitationId,
        meta,
    }
}

impl Notice for CompleteElicitationNotification {
    const NAME: &'static str = "elicitation/complete";
}

object! {
    /// How an agent may ask the person for input.
    ElicitationCapabilities {
        /// With a form.
        lenient form: Option<ElicitationFormCapabilities>,
        /// By sending the person to a URL.
        lenient url: Option<ElicitationUrlCapabilities>,
        meta,
        extra,
    }
}

marker_capability! {
    /// That a client shows forms.
    ElicitationFormCapabilities,
    /// That a client opens URLs.
    ElicitationUrlCapabilities,
}

//! The parts of `elicitation/create` that both versions share: URL mode, scope and client capabilities. Also the params of
//! `elicitation/complete`.

pub(crate) mod choice;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod schema;

use agentwire_jsonrpc::wire::{WriteMembers, write_members};
use agentwire_jsonrpc::{RawObject, RequestId};
use agentwire_wire_derive::{Build, Wire};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::{ElicitationId, Meta, SessionId, ToolCallId, marker_capability};

/// A URL to send the person to, for data that must not pass through the client, such as a password.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationUrlMode {
    /// The subject of the question. On the wire its members are members of the request.
    #[wire(union)]
    pub scope: ElicitationScope,
    /// Identifies the question, so that `elicitation/complete` can say when the person is done.
    #[wire(required)]
    pub elicitation_id: ElicitationId,
    /// The URL. A client shows it in full, asks the person first, and does not fetch it.
    #[wire(required, schema(url))]
    pub url: String,
}

/// The scope of an elicitation: a session, or a request outside of any session.
///
/// The member `sessionId` decides; an object with both members belongs to the session.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
#[non_exhaustive]
pub enum ElicitationScope {
    /// A session.
    Session(ElicitationSessionScope),
    /// A request.
    Request(ElicitationRequestScope),
}

impl WriteMembers for ElicitationScope {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Session(scope) => scope.write_members(members),
            Self::Request(scope) => scope.write_members(members),
        }
    }
}

impl Serialize for ElicitationScope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_members(self, serializer)
    }
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

/// The session, and perhaps the tool call, that an elicitation belongs to.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationSessionScope {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The tool call, for instance where an MCP server asked during one.
    #[wire(lenient)]
    pub tool_call_id: Option<ToolCallId>,
}

/// The request that an elicitation belongs to, where there is no session yet.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationRequestScope {
    /// The request.
    #[wire(required)]
    pub request_id: RequestId,
}

/// `elicitation/complete`: the person is done at the URL. Unknown ids are ignored.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CompleteElicitationNotification {
    /// The question.
    #[wire(required)]
    pub elicitation_id: ElicitationId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The ways in which an agent may ask the person for input.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationCapabilities {
    /// With a form.
    #[wire(lenient)]
    pub form: Option<ElicitationFormCapabilities>,
    /// By sending the person to a URL.
    #[wire(lenient)]
    pub url: Option<ElicitationUrlCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// The client shows forms.
    ElicitationFormCapabilities,
    /// The client opens URLs.
    ElicitationUrlCapabilities,
}

use agentwire_jsonrpc::{Method, Notice, RequestId};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{CreateElicitationResponse, ElicitationSchema};
use crate::common::fields::Fields;
use crate::common::lenient::lenient;
use crate::common::{ElicitationId, Meta, SessionId, ToolCallId, builder, tagged_union};

/// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
///
/// Only in a mode that the client's capability `elicitation` names; a client refuses any other with
/// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
/// <https://agentclientprotocol.com/protocol/v1/elicitation>.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CreateElicitationRequest {
    /// What is wanted, for people.
    pub message: String,
    /// How to ask. On the wire its members, and the member `mode`, are the request's own.
    #[serde(flatten)]
    pub mode: ElicitationMode,
    /// Free room; see [`Meta`].
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

builder! {
    CreateElicitationRequest::new(message: String, mode: ElicitationMode) {
        option meta: Meta,
    }
}

impl Method for CreateElicitationRequest {
    const NAME: &'static str = "elicitation/create";
    type Response = CreateElicitationResponse;
}

impl<'de> Deserialize<'de> for CreateElicitationRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Base {
            message: String,
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
            meta: Option<Meta>,
        }

        let fields = Fields::deserialize(deserializer)?;
        let Base { message, meta } = fields.decode().map_err(de::Error::custom)?;
        let mode = fields.without(&["message", "_meta"]).decode().map_err(de::Error::custom)?;
        Ok(Self { message, mode, meta })
    }
}

/// How to ask the person.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationMode {
    /// With a form.
    Form(ElicitationFormMode),
    /// By sending them to a URL.
    Url(ElicitationUrlMode),
    /// In a mode that this version does not know: the request's members other than `message` and `_meta`. It must not be
    /// shown as if it were a known one.
    Unknown(Meta),
}

tagged_union! {
    ElicitationMode by "mode" {
        "form" => Form(ElicitationFormMode),
        "url" => Url(ElicitationUrlMode),
    }
}

impl From<ElicitationFormMode> for ElicitationMode {
    fn from(mode: ElicitationFormMode) -> Self {
        Self::Form(mode)
    }
}

impl From<ElicitationUrlMode> for ElicitationMode {
    fn from(mode: ElicitationUrlMode) -> Self {
        Self::Url(mode)
    }
}

/// A form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationFormMode {
    /// What the question belongs to. On the wire its members are the request's own.
    #[serde(flatten)]
    pub scope: ElicitationScope,
    /// The form's fields.
    pub requested_schema: ElicitationSchema,
}

builder! {
    ElicitationFormMode::new(scope: ElicitationScope, requested_schema: ElicitationSchema) {}
}

impl<'de> Deserialize<'de> for ElicitationFormMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let requested_schema = fields.required("requestedSchema").map_err(de::Error::custom)?;
        let scope = ElicitationScope::of(&fields).map_err(de::Error::custom)?;
        Ok(Self { scope, requested_schema })
    }
}

/// A URL to send the person to, for what must not pass through the client, such as a password.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationUrlMode {
    /// What the question belongs to. On the wire its members are the request's own.
    #[serde(flatten)]
    pub scope: ElicitationScope,
    /// Names the question, so that `elicitation/complete` can say when the person is done.
    pub elicitation_id: ElicitationId,
    /// Where to. Clients show it in full, ask first, and fetch nothing from it themselves.
    pub url: String,
}

builder! {
    ElicitationUrlMode::new(scope: ElicitationScope, elicitation_id: ElicitationId, url: String) {}
}

impl<'de> Deserialize<'de> for ElicitationUrlMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let elicitation_id = fields.required("elicitationId").map_err(de::Error::custom)?;
        let url = fields.required("url").map_err(de::Error::custom)?;
        let scope = ElicitationScope::of(&fields).map_err(de::Error::custom)?;
        Ok(Self { scope, elicitation_id, url })
    }
}

/// What an elicitation belongs to: a session, or a request outside of any.
///
/// Told apart by the member `sessionId`; an object with both members belongs to the session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitationScope {
    /// A session.
    Session(ElicitationSessionScope),
    /// A request.
    Request(ElicitationRequestScope),
}

impl ElicitationScope {
    fn of(fields: &Fields) -> Result<Self, serde_json::Error> {
        if fields.contains("sessionId") || !fields.contains("requestId") {
            fields.decode().map(Self::Session)
        } else {
            fields.decode().map(Self::Request)
        }
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationSessionScope {
    /// The session.
    pub session_id: SessionId,
    /// The tool call, for instance where an MCP server asked during one.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
}

builder! {
    ElicitationSessionScope::new(session_id: SessionId) {
        option tool_call_id: ToolCallId,
    }
}

/// The request that an elicitation belongs to, where there is no session yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationRequestScope {
    /// The request.
    pub request_id: RequestId,
}

builder! {
    ElicitationRequestScope::new(request_id: RequestId) {}
}

/// `elicitation/complete`: the person is done at the URL. Unknown ids are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompleteElicitationNotification {
    /// The question.
    pub elicitation_id: ElicitationId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CompleteElicitationNotification::new(elicitation_id: ElicitationId) {
        option meta: Meta,
    }
}

impl Notice for CompleteElicitationNotification {
    const NAME: &'static str = "elicitation/complete";
}

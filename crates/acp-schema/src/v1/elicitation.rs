use agentwire_jsonrpc::{Method, Notice, RequestId};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{CreateElicitationResponse, ElicitationSchema};
use crate::common::{ElicitationId, Meta, SessionId, ToolCallId};
use crate::wire::fields::Fields;
use crate::wire::lenient::lenient;
use crate::wire::{builder, object, tagged_union};

/// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
///
/// Only in a mode that the client's capability `elicitation` names; a client refuses any other with
/// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
/// <https://agentclientprotocol.com/protocol/v1/elicitation>.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CreateElicitationRequest {
    /// What is wanted, for people.
    pub message: String,
    /// How to ask. On the wire its members, and the member `mode`, are the request's own.
    #[serde(flatten)]
    pub mode: ElicitationMode,
    /// Free room; see [`Meta`].
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
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

tagged_union! {
    /// How to ask the person.
    ElicitationMode by "mode" {
        /// With a form.
        "form" => Form(ElicitationFormMode) from ElicitationFormMode,
        /// By sending them to a URL.
        "url" => Url(ElicitationUrlMode) from ElicitationUrlMode,
    }
    else {
        /// In a mode that this version does not know: the request's members other than `message` and `_meta`. It must not be
        /// shown as if it were a known one.
        Unknown
    }
}

/// A form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

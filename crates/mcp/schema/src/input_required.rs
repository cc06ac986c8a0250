//! `InputRequiredResult` of 2026-07-28, with the requests to the client inside a result. Also the responses that the client's
//! retry carries.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_wire_derive::Wire;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult, ListRootsRequest,
    ListRootsResult, Meta, ResultType,
};

/// A server's questions to the client, each under a key of its choice.
pub type InputRequests = BTreeMap<String, InputRequest>;

/// The client's answers, under the keys of [`InputRequests`].
pub type InputResponses = BTreeMap<String, InputResponse>;

/// The server cannot answer yet. Since 2026-07-28, in place of requests from the server.
///
/// The client answers the questions and sends its request again, under a new id, with the answers and the unchanged
/// `request_state`. At least one of the two members is present. Only `tools/call`, `prompts/get` and
/// `resources/read` are answered like this.
/// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// Always [`ResultType::InputRequired`].
    #[wire(required)]
    pub result_type: ResultType,
    /// The questions to the client.
    #[wire(optional, schema(with = "Option<crate::schema::InputRequestsSchema>"))]
    pub input_requests: Option<BTreeMap<String, InputRequest>>,
    /// State that the client returns. It means nothing to the client, and the server must not trust it.
    #[wire(optional)]
    pub request_state: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl InputRequiredResult {
    /// Asks these questions.
    pub fn new(input_requests: InputRequests) -> Self {
        Self { input_requests: Some(input_requests), ..Self::default() }
    }

    /// Asks no question: the client sends its request again with this state.
    pub fn retry(request_state: impl Into<String>) -> Self {
        Self { request_state: Some(request_state.into()), ..Self::default() }
    }
}

impl Default for InputRequiredResult {
    fn default() -> Self {
        Self { result_type: ResultType::InputRequired, input_requests: None, request_state: None, meta: None }
    }
}

setters!(InputRequiredResult {
    some input_requests: InputRequests,
    some request_state: String,
    some meta: Meta,
});

/// A question to the client inside of a result: a method and its parameters, without an id of its own.
///
/// Reading any other method fails: the client could not answer, and the server would wait in vain.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// To the client's language model, `sampling/createMessage`.
    CreateMessage(CreateMessageRequest),
    /// For the client's folders, `roots/list`.
    ListRoots(ListRootsRequest),
    /// To the user, `elicitation/create`.
    Elicit(ElicitRequest),
}

impl InputRequest {
    /// The methods of questions.
    pub const METHODS: &[&str] = &[CreateMessageRequest::NAME, ListRootsRequest::NAME, ElicitRequest::NAME];

    /// The method's name.
    pub fn method(&self) -> &'static str {
        match self {
            Self::CreateMessage(_) => CreateMessageRequest::NAME,
            Self::ListRoots(_) => ListRootsRequest::NAME,
            Self::Elicit(_) => ElicitRequest::NAME,
        }
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Call<'a, P> {
            method: &'static str,
            params: &'a P,
        }

        let method = self.method();
        match self {
            Self::CreateMessage(params) => Call { method, params }.serialize(serializer),
            Self::ListRoots(params) => Call { method, params }.serialize(serializer),
            Self::Elicit(params) => Call { method, params }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Wire)]
        #[wire(without_schema)]
        struct Call {
            #[wire(required)]
            method: String,
            #[wire(optional)]
            params: Option<RawJson>,
        }

        let Call { method, params } = Call::deserialize(deserializer)?;
        let params = params.unwrap_or(RawJson::EMPTY_OBJECT);
        match &*method {
            CreateMessageRequest::NAME => params.decode().map(Self::CreateMessage),
            ListRootsRequest::NAME => params.decode().map(Self::ListRoots),
            ElicitRequest::NAME => params.decode().map(Self::Elicit),
            other => return Err(D::Error::unknown_variant(other, Self::METHODS)),
        }
        .map_err(D::Error::custom)
    }
}

macro_rules! from_parts {
    ($( $part:ident => $whole:ident::$variant:ident, )+) => {
        $(
            impl From<$part> for $whole {
                fn from(part: $part) -> Self {
                    Self::$variant(part)
                }
            }
        )+
    };
}

from_parts! {
    CreateMessageRequest => InputRequest::CreateMessage,
    ListRootsRequest => InputRequest::ListRoots,
    ElicitRequest => InputRequest::Elicit,
    CreateMessageResult => InputResponse::CreateMessage,
    ListRootsResult => InputResponse::ListRoots,
    ElicitResult => InputResponse::Elicit,
}

/// The client's answer to an [`InputRequest`].
///
/// No member names the kind, so each kind is recognized by the member that only it has: `action`,
/// `roots` or `model`. The server knows the kind by the key of its question. Any other answer is kept as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum InputResponse {
    /// The message that the model has written.
    CreateMessage(CreateMessageResult),
    /// The client's folders.
    ListRoots(ListRootsResult),
    /// The user's decision.
    Elicit(ElicitResult),
    /// None of these.
    Unknown(RawJson),
}

impl<'de> Deserialize<'de> for InputResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(expecting = "an object")]
        struct Members {
            action: Option<serde::de::IgnoredAny>,
            roots: Option<serde::de::IgnoredAny>,
            model: Option<serde::de::IgnoredAny>,
        }

        let response = RawJson::deserialize(deserializer)?;
        let known = match response.decode().unwrap_or_default() {
            Members { action: Some(_), .. } => response.decode().map(Self::Elicit),
            Members { roots: Some(_), .. } => response.decode().map(Self::ListRoots),
            Members { model: Some(_), .. } => response.decode().map(Self::CreateMessage),
            _ => return Ok(Self::Unknown(response)),
        };
        Ok(known.unwrap_or(Self::Unknown(response)))
    }
}

has_meta!(InputRequiredResult);

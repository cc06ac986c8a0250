use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{CreateElicitationResponse, ElicitationSchema};
use crate::common::{ElicitationScope, ElicitationUrlMode, Meta};

/// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
///
/// Only in a mode that the client's capability `elicitation` names; a client refuses any other with
/// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
/// <https://agentclientprotocol.com/protocol/v1/elicitation>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CreateElicitationRequest {
    /// What is wanted, for people.
    #[wire(required)]
    pub message: String,
    /// How to ask. On the wire its members, and the member `mode`, are the request's own.
    #[wire(union)]
    pub mode: ElicitationMode,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for CreateElicitationRequest {
    const NAME: &'static str = "elicitation/create";
    type Response = CreateElicitationResponse;
}

/// How to ask the person.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "mode")]
#[non_exhaustive]
pub enum ElicitationMode {
    /// With a form.
    #[wire("form", from)]
    Form(ElicitationFormMode),
    /// By sending them to a URL.
    #[wire("url", from)]
    Url(ElicitationUrlMode),
    /// In a mode that this version does not know: the request's members other than `message` and `_meta`. It must not be
    /// shown as if it were a known one.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A form.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ElicitationFormMode {
    /// What the question belongs to. On the wire its members are the request's own.
    #[wire(union)]
    pub scope: ElicitationScope,
    /// The form's fields.
    #[wire(required)]
    pub requested_schema: ElicitationSchema,
}

//! The params of `elicitation/create`. Reading a form schema fills in a missing `type` or `properties`.

pub(crate) mod response;

use agentwire_wire_derive::Wire;

use crate::common::elicitation_request_types;

elicitation_request_types! {
    /// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
    ///
    /// Only in a mode that the client's capability `elicitation` includes; a client refuses any other with
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
    /// <https://agentclientprotocol.com/protocol/v1/elicitation>.
    CreateElicitationRequest, type: default, properties: or_default = {}
}

/// The type in a form's schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum ElicitationSchemaType {
    /// An object, the only type of a form.
    #[default]
    #[wire("object")]
    Object,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

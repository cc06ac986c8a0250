//! The params of `elicitation/create`. A form schema without `type` or `properties` fails to read.

pub(crate) mod response;

use serde::{Deserialize, Serialize};

use crate::common::elicitation_request_types;

elicitation_request_types! {
    /// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
    ///
    /// Only in a mode that the client's capability `elicitation` includes; a client refuses any other with
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS).
    CreateElicitationRequest, type: required, properties: required
}

/// The type in a form's schema. In this version any other string is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ElicitationSchemaType {
    /// An object, the only type of a form.
    #[default]
    Object,
}

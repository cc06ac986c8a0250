use agentwire_jsonrpc::Method;

use super::{CreateElicitationResponse, ElicitationSchema};
use crate::common::{ElicitationScope, ElicitationUrlMode};
use crate::wire::{object, tagged_union};

object! {
    /// `elicitation/create`: ask the person for input, with a form or by sending them to a URL.
    ///
    /// Only in a mode that the client's capability `elicitation` names; a client refuses any other with
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS). See
    /// <https://agentclientprotocol.com/protocol/v1/elicitation>.
    CreateElicitationRequest {
        /// What is wanted, for people.
        required message: String,
        /// How to ask. On the wire its members, and the member `mode`, are the request's own.
        union mode: ElicitationMode,
        meta,
    }
}

impl Method for CreateElicitationRequest {
    const NAME: &'static str = "elicitation/create";
    type Response = CreateElicitationResponse;
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

object! {
    /// A form.
    ElicitationFormMode {
        /// What the question belongs to. On the wire its members are the request's own.
        union scope: ElicitationScope,
        /// The form's fields.
        required requested_schema: ElicitationSchema,
    }
}

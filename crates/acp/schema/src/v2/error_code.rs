//! The error codes of version 2: those of version 1 and one more. The meaning of any other number is unknown.
//!
//! They go into [`ErrorObject::code`](agentwire_jsonrpc::ErrorObject). Two have data of a known shape: see
//! [`ErrorData`](super::ErrorData).

use crate::common::error_codes;
pub use crate::v1::error_code::{
    AUTH_REQUIRED, ErrorInfo, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
    REQUEST_CANCELLED, RESOURCE_NOT_FOUND,
};

error_codes! {
    /// The codes that version 2 adds to [those of version 1](crate::v1::error_code::CODES).
    CODES

    /// The agent supports no version of the protocol up to the one that the client sent.
    UNSUPPORTED_PROTOCOL_VERSION = -32022;
}

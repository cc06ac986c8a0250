//! The error codes of the protocol: those of JSON-RPC 2.0 and three more. The meaning of any other number is unknown.
//!
//! They go into [`ErrorObject::code`](agentwire_jsonrpc::ErrorObject).

use agentwire_jsonrpc::code;

pub use crate::common::ErrorInfo;
use crate::common::error_codes;

error_codes! {
    /// All of them.
    CODES

    /// The text was not JSON.
    PARSE_ERROR = code::PARSE_ERROR;
    /// The text was JSON, but no JSON-RPC message.
    INVALID_REQUEST = code::INVALID_REQUEST;
    /// The receiver does not implement the method.
    METHOD_NOT_FOUND = code::METHOD_NOT_FOUND;
    /// The parameters of the method were invalid.
    INVALID_PARAMS = code::INVALID_PARAMS;
    /// The receiver failed for an internal reason.
    INTERNAL_ERROR = code::INTERNAL_ERROR;
    /// The call was cancelled: by the caller, by a shutdown, or because resources are exhausted.
    REQUEST_CANCELLED = code::REQUEST_CANCELLED;
    /// The client must authenticate first.
    AUTH_REQUIRED = -32000;
    /// The session, file or other resource does not exist.
    RESOURCE_NOT_FOUND = -32002;
}

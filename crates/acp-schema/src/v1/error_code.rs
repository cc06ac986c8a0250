//! The error codes of the protocol: those of JSON-RPC 2.0 and three more. Any other number is an error of unknown kind.
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
    /// It was JSON, but no JSON-RPC message.
    INVALID_REQUEST = code::INVALID_REQUEST;
    /// Nobody here answers that method.
    METHOD_NOT_FOUND = code::METHOD_NOT_FOUND;
    /// The method exists, its parameters were wrong.
    INVALID_PARAMS = code::INVALID_PARAMS;
    /// The receiver failed.
    INTERNAL_ERROR = code::INTERNAL_ERROR;
    /// The call was cancelled: by the caller, by a shutdown, or for want of resources.
    REQUEST_CANCELLED = code::REQUEST_CANCELLED;
    /// First authenticate.
    AUTH_REQUIRED = -32000;
    /// There is no such thing: no such session, no such file.
    RESOURCE_NOT_FOUND = -32002;
}

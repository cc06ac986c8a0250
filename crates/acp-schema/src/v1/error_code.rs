//! The error codes of the protocol: those of JSON-RPC 2.0 and three more. Any other number is an error of unknown kind.
//!
//! They go into [`ErrorObject::code`](agentwire_jsonrpc::ErrorObject).

use agentwire_jsonrpc::code;

/// The text was not JSON.
pub const PARSE_ERROR: i64 = code::PARSE_ERROR;
/// It was JSON, but no JSON-RPC message.
pub const INVALID_REQUEST: i64 = code::INVALID_REQUEST;
/// Nobody here answers that method.
pub const METHOD_NOT_FOUND: i64 = code::METHOD_NOT_FOUND;
/// The method exists, its parameters were wrong.
pub const INVALID_PARAMS: i64 = code::INVALID_PARAMS;
/// The receiver failed.
pub const INTERNAL_ERROR: i64 = code::INTERNAL_ERROR;
/// The call was cancelled: by the caller, by a shutdown, or for want of resources.
pub const REQUEST_CANCELLED: i64 = code::REQUEST_CANCELLED;
/// First authenticate.
pub const AUTH_REQUIRED: i64 = -32000;
/// There is no such thing: no such session, no such file.
pub const RESOURCE_NOT_FOUND: i64 = -32002;

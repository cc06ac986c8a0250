//! The errors of requests about sessions.

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{SessionId, error_code};
use agentwire_jsonrpc::WithCauses;

use crate::store::StoreError;

/// Returns the error for a request that needs an open session.
pub(crate) fn not_open(id: &SessionId) -> Error {
    let why = format!("the session {id} is not open: begin, load or resume it first");
    Error::new(error_code::RESOURCE_NOT_FOUND, why)
}

/// Returns the error for a request that needs a session which another request or a turn uses.
pub(crate) fn busy(id: &SessionId, why: &str) -> Error {
    Error::invalid_request(format_args!("the session {id} is busy: {why}"))
}

/// Returns the error for a request that fails because the store cannot be read.
pub(crate) fn unreadable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the stored sessions cannot be read: {}", WithCauses::new(&error)))
}

/// Returns the error for a request that fails because the store cannot write.
pub(crate) fn unwritable(error: StoreError) -> Error {
    Error::internal_error(format_args!("the session could not be written: {}", WithCauses::new(&error)))
}

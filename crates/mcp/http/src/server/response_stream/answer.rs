//! The HTTP status of an answer, and the error that replaces an answer for which there is no room.

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Response, code};
use agentwire_mcp_wire::code as mcp_code;
use http::StatusCode;

use crate::server::AnswerForm;
use crate::server::admission::quota::QuotaExceeded;

/// The error that replaces an answer for which there is no room. None for frames other than one answer.
#[cold]
pub(crate) fn refuse(frame: &Frame, full: QuotaExceeded) -> Option<Frame> {
    let Frame::Single(Message::Response(Response { id, .. })) = frame else { return None };
    let whose = if full.is_callers { "this caller" } else { "all callers" };
    let why = format_args!(
        "there is no room for the answer: requests of {whose} and their answers take the limit of {} bytes",
        full.limit
    );
    let error = ErrorObject::internal_error(why).with_data(&serde_json::json!({ "limit": full.limit }));
    Some(Frame::Single(Message::Response(Response::new(id.clone(), Err(error)))))
}

/// The status of a response that consists of the answer of an exchange alone. `None` if it has to be a stream.
pub(crate) fn answer_status(response: &Response, form: AnswerForm) -> Option<StatusCode> {
    status_of(response.outcome.as_ref().err().map(|error| error.code), form)
}

/// The status for an answer: that of its error if it has one, else 200 if the form is JSON.
pub(super) fn status_of(error: Option<i64>, form: AnswerForm) -> Option<StatusCode> {
    match error {
        Some(code::METHOD_NOT_FOUND) => Some(StatusCode::NOT_FOUND),
        Some(
            code::PARSE_ERROR
            | code::INVALID_REQUEST
            | code::INVALID_PARAMS
            | mcp_code::HEADER_MISMATCH
            | mcp_code::MISSING_REQUIRED_CLIENT_CAPABILITY
            | mcp_code::UNSUPPORTED_PROTOCOL_VERSION,
        ) => Some(StatusCode::BAD_REQUEST),
        Some(_) => Some(StatusCode::OK),
        None => (form == AnswerForm::Json).then_some(StatusCode::OK),
    }
}

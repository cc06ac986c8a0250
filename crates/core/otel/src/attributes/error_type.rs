//! The attributes of a failed call, which have few different values.

use std::borrow::Cow;

use agentwire_jsonrpc::RawJson;
use agentwire_peer::observe::Outcome;

use crate::attributes::text::{OTHER, TEXT_LIMIT, bounded};
use crate::protocol::Role;

/// The reserved codes of JSON-RPC. Both protocols use them for their own errors too.
const RESERVED: std::ops::RangeInclusive<i64> = -32768..=-32000;

/// The `error.type` of a tool's result that is an error.
pub(crate) const TOOL_ERROR: &str = "tool_error";

/// The `error.type` of a call that failed before its request was sent.
pub(crate) const NOT_SENT: &str = "not_sent";

/// The codes by which a server reports a mistake of the caller. On the server's side such a call has not failed.
const CALLER_ERRORS: [i64; 5] = [-32700, -32600, -32601, -32602, -32002];

/// The value of `error.type` for the side with this role. `None` if the call has not failed. `is_tool` is true for `tools/call`.
pub(crate) fn error_type(outcome: &Outcome<'_>, role: Role, is_tool: bool) -> Option<Cow<'static, str>> {
    match outcome {
        Outcome::Result(result) => (is_tool && is_error(result)).then_some(TOOL_ERROR.into()),
        Outcome::Error(error) if role == Role::Server && CALLER_ERRORS.contains(&error.code) => None,
        Outcome::Error(_) => status_code(outcome),
        outcome => outcome.error_type(),
    }
}

/// The code of a JSON-RPC error as text. All codes that are not reserved share one value.
pub(crate) fn status_code(outcome: &Outcome<'_>) -> Option<Cow<'static, str>> {
    let code = outcome.error_code()?;
    Some(if RESERVED.contains(&code) { code.to_string().into() } else { OTHER.into() })
}

/// The description of a span's status.
pub(crate) fn description(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Error(error) | Outcome::Malformed(error) => bounded(&error.message, TEXT_LIMIT),
        _ => String::new(),
    }
}

fn is_error(result: &RawJson) -> bool {
    result.member("isError").is_some_and(|value| value.as_str() == "true")
}

//! The purpose of an exchange, and the answer in a refusal of its request.

use agentwire_jsonrpc::{ErrorObject, RequestId, Response, code};
use agentwire_mcp_wire::code::{HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY};
use http::StatusCode;

use crate::client::Refusal;
use crate::client::exchange::route::MessageKind;

/// The purpose of an exchange.
pub(crate) enum Purpose {
    /// To get answers to requests.
    Call {
        /// Distinguishes this exchange from others with the same ids.
        serial: u64,
        pending: Vec<RequestId>,
        kind: MessageKind,
        modern: bool,
        /// The error for a malformed message of the server, reported if no answer comes.
        unreadable: Option<ErrorObject>,
    },
    /// To receive the server's own requests and notifications.
    Listen {
        /// Whether the server has ever opened such a stream.
        opened: bool,
    },
}

impl Purpose {
    /// Whether the server knew the session, or should have.
    pub(crate) fn is_in_session(&self) -> bool {
        match self {
            Self::Call { kind, modern, .. } => *kind != MessageKind::Initialize && !modern,
            // Some servers without such streams answer 404 to every GET.
            Self::Listen { opened } => *opened,
        }
    }

    /// Whether a stream that is refused with this status may be opened a little later. A server with one stream for each session
    /// answers 409 until it has noticed that the last one broke off.
    pub(crate) fn may_succeed_later(&self, status: StatusCode) -> bool {
        let is_in_use = status == StatusCode::CONFLICT && matches!(self, Self::Listen { opened: true });
        status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS || is_in_use
    }

    /// Returns the answer to a request in the body of a refusal, whatever the status. `expired` is whether the status
    /// means the end of the session.
    pub(crate) fn answer_in(
        &self,
        refusal: &Refusal,
        id: Option<RequestId>,
        expired: bool,
    ) -> Option<Response> {
        let Self::Call { pending, kind, .. } = self else { return None };
        let answers = |error: &&ErrorObject| {
            let asks_for_login = matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            let is_of_session = expired && error.code != code::METHOD_NOT_FOUND;
            !(asks_for_login || refusal.is_overload() || is_of_session)
        };
        match (id.filter(|id| pending.contains(id)), refusal.error.as_ref().filter(answers)) {
            (Some(id), Some(error)) => Some(Response::new(id, Err(error.clone()))),
            // A server of the legacy era refuses a request before its session, often without an id or not in JSON-RPC.
            _ if *kind == MessageKind::Discover && refusal.is_about_request() && !is_modern(refusal) => {
                let error = match refusal.error.clone() {
                    Some(mut error) => {
                        error.message = format!("HTTP status {}: {}", refusal.status, error.message).into();
                        error
                    }
                    None => ErrorObject::new(code::METHOD_NOT_FOUND, refusal.to_string()),
                };
                Some(Response::new(pending.first()?.clone(), Err(error)))
            }
            _ => None,
        }
    }
}

/// Whether only a modern server refuses with such an error.
fn is_modern(refusal: &Refusal) -> bool {
    let codes = [HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY];
    refusal.error.as_ref().is_some_and(|error| codes.contains(&error.code))
}

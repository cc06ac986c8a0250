use agentwire_jsonrpc::{Notice, RequestId};
use serde::{Deserialize, Serialize};

use crate::common::lenient::lenient;
use crate::common::{Meta, SessionId, builder};

/// `session/cancel`: stop the turn. Its prompt is then answered with
/// [`StopReason::Cancelled`](super::StopReason::Cancelled), and no update of the turn follows that answer.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelNotification {
    /// The session.
    pub session_id: SessionId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CancelNotification::new(session_id: SessionId) {
        option meta: Meta,
    }
}

impl Notice for CancelNotification {
    const NAME: &'static str = "session/cancel";
}

/// `$/cancel_request`: whoever made that request no longer wants the answer. It is answered all the same, with a result
/// or with [`REQUEST_CANCELLED`](super::error_code::REQUEST_CANCELLED). Either side may send it or ignore it.
///
/// See <https://agentclientprotocol.com/protocol/v1/cancellation>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelRequestNotification {
    /// The request.
    pub request_id: RequestId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    CancelRequestNotification::new(request_id: RequestId) {
        option meta: Meta,
    }
}

impl Notice for CancelRequestNotification {
    const NAME: &'static str = "$/cancel_request";
}

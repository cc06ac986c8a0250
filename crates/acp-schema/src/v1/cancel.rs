use agentwire_jsonrpc::{Notice, RequestId};

use crate::common::SessionId;
use crate::wire::object;

object! {
    /// `session/cancel`: stop the turn. Its prompt is then answered with
    /// [`StopReason::Cancelled`](super::StopReason::Cancelled), and no update of the turn follows that answer.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation>.
    CancelNotification {
        /// The session.
        required session_id: SessionId,
        meta,
    }
}

impl Notice for CancelNotification {
    const NAME: &'static str = "session/cancel";
}

object! {
    /// `$/cancel_request`: whoever made that request no longer wants the answer. It is answered all the same, with a result
    /// or with [`REQUEST_CANCELLED`](super::error_code::REQUEST_CANCELLED). Either side may send it or ignore it.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/cancellation>.
    CancelRequestNotification {
        /// The request.
        required request_id: RequestId,
        meta,
    }
}

impl Notice for CancelRequestNotification {
    const NAME: &'static str = "$/cancel_request";
}

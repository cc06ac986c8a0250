use agentwire_jsonrpc::{Notice, RequestId};

use crate::wire::object;

object! {
    /// `$/cancel_request`: whoever made that request no longer wants the answer. It is answered all the same, with a result
    /// or with [`REQUEST_CANCELLED`](agentwire_jsonrpc::code::REQUEST_CANCELLED). Either side may send it or ignore it.
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

use agentwire_jsonrpc::Notice;

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

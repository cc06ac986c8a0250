//! The params of the notification `session/cancel`.

use crate::common::session_params;

session_params! {
    /// `session/cancel`: stops the turn. The agent answers its prompt with
    /// [`StopReason::Cancelled`](super::StopReason::Cancelled), and sends no update of the turn after that.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation>.
    CancelNotification,
}

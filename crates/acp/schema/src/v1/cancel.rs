//! The params of the notification `session/cancel`.

use agentwire_jsonrpc::NotificationMethod;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId};

/// `session/cancel`: stops the turn. The agent answers its prompt with
/// [`StopReason::Cancelled`](super::StopReason::Cancelled), and sends no update of the turn after that.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CancelNotification {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl NotificationMethod for CancelNotification {
    const NAME: &'static str = "session/cancel";
}

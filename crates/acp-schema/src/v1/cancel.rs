use agentwire_jsonrpc::NotificationMethod;
use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId};

/// `session/cancel`: stop the turn. Its prompt is then answered with
/// [`StopReason::Cancelled`](super::StopReason::Cancelled), and no update of the turn follows that answer.
///
/// See <https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CancelNotification {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl NotificationMethod for CancelNotification {
    const NAME: &'static str = "session/cancel";
}

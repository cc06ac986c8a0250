use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, RequestId, Response};

/// A call that we made. The number is also the request's id on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

impl CallId {
    /// The id on the wire.
    pub fn request_id(self) -> RequestId {
        RequestId::from(self.0)
    }
}

/// A call that the peer made and that we owe an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwedId {
    pub(crate) index: usize,
    /// Tells apart two calls that used the same place one after the other.
    pub(crate) serial: u64,
}

/// Something that happened, in the order in which it happened.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The peer asks; [`answer`](crate::Connection::answer) it exactly once.
    Request {
        /// What to answer under.
        owed: OwedId,
        /// The request itself.
        request: Request,
        /// Whether it came as one of a batch.
        in_batch: bool,
    },
    /// The peer says something.
    Notification(Notification),
    /// The peer reports progress on a call of ours.
    Progress {
        /// The call.
        call: CallId,
        /// The notification's params, undecoded.
        params: RawJson,
    },
    /// A call of ours is over.
    Answered {
        /// The call.
        call: CallId,
        /// The result, or what became of it instead.
        outcome: Result<RawJson, CallFailure>,
    },
    /// The peer no longer wants a call answered. It is owed all the same: whether the answer is sent is the
    /// dialect's matter.
    Cancelled(OwedId),
    /// An answer to no call of ours: late, repeated, or to something that the peer could not read. One that
    /// is itself no JSON-RPC response holds what is wrong with it as its error. Worth a line in a log.
    Stray(Response),
    /// A message that could not be read and belongs to no call: a line over the limit, text that is no JSON-RPC, or a
    /// malformed notification. Whatever it said is lost. The peer is told too, unless it was a notification.
    Unreadable(ErrorObject),
}

/// Why a call of ours has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The peer answered with an error.
    #[error("the peer refused: {0}")]
    Refused(#[source] ErrorObject),
    /// The peer's answer is no JSON-RPC response.
    #[error("the peer's answer cannot be read: {0}")]
    Malformed(#[source] ErrorObject),
    /// No answer came in time. The peer was told that it is no longer waited for.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The peer ended the call without an answer, by the cancel notification. Only where the dialect lets it
    /// ([`ended_by_cancel`](crate::Dialect::ended_by_cancel)).
    #[error("the peer ended the call without an answer")]
    Cancelled,
    /// What carried the call failed, and the connection goes on. What it was is for the transport to say.
    #[error("what carried the call failed")]
    Failed,
    /// The connection ended first.
    #[error("the connection closed before the answer came")]
    Closed,
}

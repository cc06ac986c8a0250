//! The events that a connection returns, the ids of calls and incoming requests, and the reasons why a call fails.

use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Notification, RawJson, Request, RequestId, Response};

/// A call that this side made. The number is also the request's id on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

impl CallId {
    /// Returns the id on the wire.
    pub fn request_id(self) -> RequestId {
        RequestId::from(self.0)
    }

    /// Returns the call that has this id on the wire, if it is an id of this side's calls.
    pub fn from_request_id(id: &RequestId) -> Option<Self> {
        id.as_u64().map(Self)
    }
}

/// A request of the peer's that needs an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IncomingId {
    pub(crate) index: usize,
    /// Distinguishes two requests that used the same place one after the other.
    pub(crate) serial: u64,
}

/// Something that happened, in the order in which it happened.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A request of the peer's; [`answer`](crate::Connection::answer) it exactly once.
    Request {
        /// Its id for the answer.
        incoming: IncomingId,
        /// The request itself.
        request: Request,
        /// Whether it came as one of a batch.
        in_batch: bool,
    },
    /// A notification of the peer's.
    Notification(Notification),
    /// Progress on a call.
    Progress {
        /// The call.
        call: CallId,
        /// The notification's params, undecoded.
        params: RawJson,
    },
    /// A call is over.
    Answered {
        /// The call.
        call: CallId,
        /// The result, or why there is none.
        outcome: Result<RawJson, CallFailure>,
    },
    /// The peer has cancelled a request. Answer it all the same: the dialect decides whether the answer is sent.
    Cancelled(IncomingId),
    /// An answer that belongs to no call: too late, repeated, or about a message that the peer could not read. If it is
    /// not a valid JSON-RPC response, its error is the reason. Worth a line in a log.
    UnmatchedResponse(Response),
    /// The answer to a call that this side has [cancelled](crate::Connection::cancel), which is not a fault of the peer.
    /// ACP peers answer such a call, and MCP peers do if the cancel crosses the answer.
    CancelledResponse(Response),
    /// A message that could not be read and belongs to no call: a line over the limit, text that is not JSON-RPC, or a
    /// malformed notification. Its content is lost. The peer gets an error too, unless it was a notification. Also a request
    /// where the peer's [get no response](crate::Responses).
    Unreadable(ErrorObject),
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The peer answered with an error.
    #[error("refused: {0}")]
    Refused(ErrorObject),
    /// The peer's answer is not a JSON-RPC response, or does not have the id of the call.
    #[error("the answer cannot be read: {0}")]
    Malformed(ErrorObject),
    /// No answer came in time. The call was cancelled at the peer.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The peer ended the call by the cancel notification, where the dialect allows that
    /// ([`ended_by_cancel`](crate::Dialect::ended_by_cancel)).
    #[error("ended without an answer")]
    Cancelled,
    /// The transport could not carry the call, and goes on. The transport has the details.
    #[error("the transport could not carry the call")]
    Failed,
    /// The connection ended first.
    #[error("the connection closed before the answer came")]
    Closed,
}

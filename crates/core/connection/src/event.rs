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

    /// Returns the call that has this id on the wire. `None` if the calls of this side have no such ids.
    pub fn from_request_id(id: &RequestId) -> Option<Self> {
        id.as_u64().map(Self)
    }
}

/// A request of the peer that needs a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IncomingId {
    pub(crate) index: usize,
    /// Distinguishes requests that used the same slot one after the other.
    pub(crate) serial: u64,
}

/// An event on the connection. [`poll_event`](crate::Connection::poll_event) returns events in the order in which they happened.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A request of the peer. [`answer`](crate::Connection::answer) it exactly once.
    Request {
        /// Its id for the response.
        incoming: IncomingId,
        /// The request itself.
        request: Request,
        /// Whether it came as one of a batch.
        in_batch: bool,
    },
    /// A notification of the peer.
    Notification(Notification),
    /// Progress on a call.
    Progress {
        /// The call.
        call: CallId,
        /// The notification's params, undecoded.
        params: RawJson,
    },
    /// A call has ended, with or without a response.
    CallEnded {
        /// The call.
        call: CallId,
        /// The result, or the reason why the call failed.
        outcome: Result<RawJson, CallFailure>,
    },
    /// The peer has cancelled a request. Answer it all the same: the dialect decides whether the response is sent.
    Cancelled(IncomingId),
    /// A response whose id matches no open call: late, repeated, or for a message that the peer could not read. If it is not a valid
    /// JSON-RPC response, its error describes the fault. A driver should log it.
    UnmatchedResponse(Response),
    /// The response to a call that this side has [cancelled](crate::Connection::cancel), which is not a fault of the peer.
    /// ACP peers answer a cancelled call; MCP peers do if the cancel crosses the response.
    CancelledResponse(Response),
    /// A message that could not be read and belongs to no call: a line over the limit, text that is not JSON-RPC, or a
    /// malformed notification. Its content is lost. The peer gets an error too, unless it was a notification. Also a request,
    /// if requests of the peer [get no response](crate::ResponsePolicy).
    Unreadable(ErrorObject),
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The peer answered with an error.
    #[error("refused: {0}")]
    Refused(ErrorObject),
    /// The message in reply is not a JSON-RPC response, or does not have the id of the call.
    #[error("the answer cannot be read: {0}")]
    Malformed(ErrorObject),
    /// No response came in time. The call was cancelled at the peer.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The peer ended the call by the cancel notification, where the dialect allows that
    /// ([`ended_by_cancel`](crate::Dialect::ended_by_cancel)).
    #[error("ended without an answer")]
    Cancelled,
    /// The transport could not carry the call. The connection stays open, and the transport has the details.
    #[error("the transport could not carry the call")]
    Failed,
    /// The connection ended first.
    #[error("the connection closed before the answer came")]
    Closed,
}

//! The params of the notification `$/cancel_request`, which both versions share.

use agentwire_jsonrpc::RequestId;
use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// `$/cancel_request`: cancels a request that the sender made.
///
/// The receiver still answers the request, with a result or with
/// [`REQUEST_CANCELLED`](agentwire_jsonrpc::code::REQUEST_CANCELLED). Either side may send it, and may ignore it.
///
/// See <https://agentclientprotocol.com/protocol/v1/cancellation>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CancelRequestNotification {
    /// The request.
    #[wire(required)]
    pub request_id: RequestId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

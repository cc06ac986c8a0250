//! The params of `notifications/cancelled`.

use agentwire_jsonrpc::RequestId;
use agentwire_wire_derive::Wire;

use crate::Meta;

/// Cancels a request of the sender.
///
/// The receiver stops if it can and does not answer. It ignores the notification if it does not know the request, or has
/// answered it. `initialize` is never cancelled.
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation>.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct CancelledNotification {
    /// The request. Only in 2025-11-25 it may be absent, and then this has no effect.
    #[wire(optional, schema(with = "Option<crate::schema::RequestIdSchema>"))]
    pub request_id: Option<RequestId>,
    /// Why, for logs and people.
    #[wire(optional)]
    pub reason: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CancelledNotification {
    /// Cancels the request with this id.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self { request_id: Some(request_id.into()), reason: None, meta: None }
    }
}

setters!(CancelledNotification {
    some reason: String,
    some meta: Meta,
});

has_meta!(CancelledNotification);

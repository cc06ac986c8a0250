//! The differences between ACP and MCP in cancellation, progress, batches and null ids.

/// The differences between protocols in how calls are made, cancelled and reported on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// The notification that cancels a request. Its params contain `requestId`.
    pub cancel_method: &'static str,
    /// Whether the params of the cancel notification contain a `reason`.
    pub cancel_has_reason: bool,
    /// Whether a cancelled request still gets a response.
    pub answers_cancelled: bool,
    /// The methods whose requests must never be cancelled.
    pub uncancellable: &'static [&'static str],
    /// The methods whose requests the receiver may end by the cancel notification instead of a response.
    pub ended_by_cancel: &'static [&'static str],
    /// The notification that reports progress. Its params contain the `progressToken` of the request.
    pub progress_method: Option<&'static str>,
    /// Whether a request with the id null is accepted. Otherwise it is refused.
    pub null_ids: bool,
    /// Whether batches are accepted when the connection starts. Otherwise they are refused as a whole.
    /// [`Connection::set_batches`](crate::Connection::set_batches) changes this, for example after the negotiation of a revision.
    pub batches: bool,
}

impl Dialect {
    /// The Agent Client Protocol: a request cancelled by `$/cancel_request` still gets its response; no batches.
    pub const ACP: Self = Self {
        cancel_method: "$/cancel_request",
        cancel_has_reason: false,
        answers_cancelled: true,
        uncancellable: &[],
        ended_by_cancel: &[],
        progress_method: None,
        null_ids: true,
        batches: false,
    };

    /// The Model Context Protocol: a request cancelled by `notifications/cancelled` gets no response, and a server ends a
    /// subscription by the same notification. It has progress, and batches once a revision with batches is negotiated.
    pub const MCP: Self = Self {
        cancel_method: "notifications/cancelled",
        cancel_has_reason: true,
        answers_cancelled: false,
        uncancellable: &["initialize"],
        ended_by_cancel: &["subscriptions/listen"],
        progress_method: Some("notifications/progress"),
        null_ids: false,
        batches: false,
    };
}

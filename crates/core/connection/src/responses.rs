//! The messages of the peer that get a response.

/// The messages of the peer that get a response. In MCP the revision decides: since 2026-07-28 a client sends none.
///
/// Where a message that would need a response gets none, it becomes an [`Event::Unreadable`](crate::Event::Unreadable).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Responses {
    /// Every request, and every message that cannot be read and may be one.
    #[default]
    All,
    /// Every request whose id could be read. So text that is not JSON-RPC gets no response.
    WithId,
    /// No message. Requests are not delivered.
    None,
}

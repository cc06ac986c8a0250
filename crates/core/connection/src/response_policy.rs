//! The policy for which messages of the peer get a response.

/// The messages of the peer that get a response. In MCP the revision decides: since 2026-07-28 a client sends no responses.
///
/// A message that needs a response and gets none becomes an [`Event::Unreadable`](crate::Event::Unreadable).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResponsePolicy {
    /// Every request, and every unreadable message that may be a request.
    #[default]
    All,
    /// Every request whose id could be read. Text that is not JSON-RPC gets no response.
    WithId,
    /// No message. Requests are not delivered.
    None,
}

//! The headers of Streamable HTTP, as names for the crate `http`. How the values of [`NAME`] and of headers that repeat
//! arguments are coded is in `agentwire_mcp_wire::header`.

use agentwire_mcp_wire::header;
use http::HeaderName;

/// `Mcp-Session-Id`: the session that a request belongs to (2025-03-26 to 2025-11-25).
pub const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
/// `MCP-Protocol-Version`: the revision that a request speaks (since 2025-06-18).
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
/// `Last-Event-ID`: the last event of a stream that was read, on a request that resumes the stream.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// `Mcp-Method`: the method in the body (since 2026-07-28).
pub const METHOD: HeaderName = HeaderName::from_static(header::METHOD);
/// `Mcp-Name`: the tool, prompt, resource or task that the body names (since 2026-07-28).
pub const NAME: HeaderName = HeaderName::from_static(header::NAME);

//! The error codes that MCP adds to those of JSON-RPC.

/// There is no resource at that URI. Until 2025-11-25; later revisions use invalid params.
pub const RESOURCE_NOT_FOUND: i64 = -32002;

/// The user must go to a web page first; the data is `UrlElicitationRequired` of `mcp-schema`. Only 2025-11-25.
pub const URL_ELICITATION_REQUIRED: i64 = -32042;

/// The headers of an HTTP request do not match its body. Since 2026-07-28.
pub const HEADER_MISMATCH: i64 = -32020;

/// The request needs a capability that the client did not declare; the data is `MissingCapabilities` of `mcp-schema`.
/// Since 2026-07-28.
pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;

/// The server does not speak the version that the request names; the data is `UnsupportedVersion` of `mcp-schema`.
/// Since 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

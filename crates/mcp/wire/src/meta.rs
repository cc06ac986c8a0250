//! The members of a request's `_meta` that the protocol defines. Since 2026-07-28, but for
//! [`PROGRESS_TOKEN`], which every revision has.

/// The revision that the request speaks.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The capabilities of the client.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The name and version of the client.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The lowest level of the log messages that the client wants.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Identifies the request in progress notifications.
pub const PROGRESS_TOKEN: &str = "progressToken";

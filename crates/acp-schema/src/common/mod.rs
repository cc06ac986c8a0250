//! What versions of the protocol share. Nothing here is public by this path; each version re-exports what belongs to it.

mod id;
mod method;
mod version;

pub use id::{
    AuthMethodId, CompactionId, ElicitationId, MessageId, PermissionOptionId, SessionConfigGroupId,
    SessionConfigId, SessionConfigValueId, SessionId, SessionModeId, TerminalId, ToolCallId,
};
pub(crate) use method::methods;
pub use method::{Direction, MethodInfo, MethodKind};
pub use version::ProtocolVersion;

pub use crate::wire::Patch;

/// Free room on nearly every type: the `_meta` member.
///
/// Its keys belong to whoever sent them; nothing may be assumed about foreign ones. The root names
/// `traceparent`, `tracestate` and `baggage` are reserved for W3C trace context. See
/// <https://agentclientprotocol.com/protocol/v1/extensibility>.
pub type Meta = serde_json::Map<String, serde_json::Value>;

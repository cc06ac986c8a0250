//! What any version of the protocol shares: how ids, open enums and tagged unions are made and read.
//!
//! Nothing here is public by this path; each version re-exports what belongs to it.

mod builder;
#[cfg(feature = "schema")]
mod described;
pub(crate) mod fields;
mod id;
pub(crate) mod lenient;
mod method;
mod object;
mod open_enum;
mod patch;
pub(crate) mod tagged;
mod version;

pub(crate) use builder::{builder, empty_object, marker_capability, setter};
#[cfg(feature = "schema")]
pub(crate) use described::described_by;
pub use id::{
    AuthMethodId, CompactionId, ElicitationId, MessageId, PermissionOptionId, SessionConfigGroupId,
    SessionConfigId, SessionConfigValueId, SessionId, SessionModeId, TerminalId, ToolCallId,
};
pub(crate) use method::methods;
pub use method::{Direction, MethodInfo, MethodKind};
pub(crate) use object::object;
pub(crate) use open_enum::open_enum;
pub use patch::Patch;
pub(crate) use tagged::tagged_union;
pub use version::ProtocolVersion;

/// Free room on nearly every type: the `_meta` member.
///
/// Its keys belong to whoever sent them; nothing may be assumed about foreign ones. The root names
/// `traceparent`, `tracestate` and `baggage` are reserved for W3C trace context. See
/// <https://agentclientprotocol.com/protocol/v1/extensibility>.
pub type Meta = serde_json::Map<String, serde_json::Value>;

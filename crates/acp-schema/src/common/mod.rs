//! What versions of the protocol share. Nothing here is public by this path; each version re-exports what belongs to it.

mod cancel;
mod compaction;
mod config_option;
mod content;
#[cfg(any(feature = "unstable", feature = "v2"))]
mod draft;
mod elicitation;
mod elicitation_choice;
mod elicitation_schema;
mod empty;
mod error_info;
mod id;
mod implementation;
mod mcp_server;
mod method;
mod notice;
mod permission;
mod plan;
mod session;
mod string_id;
mod tool;
#[cfg(feature = "unstable")]
pub(crate) mod unstable;
mod usage;
mod version;

pub use cancel::CancelRequestNotification;
pub use compaction::CompactionStatus;
pub use config_option::{SessionConfigBoolean, SessionConfigOptionCategory, SessionConfigSelectOption};
pub use content::Role;
#[cfg(any(feature = "unstable", feature = "v2"))]
pub use draft::{ErrorStopReason, IdleStopReason, PlanId};
pub use elicitation::{
    CompleteElicitationNotification, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationRequestScope, ElicitationScope, ElicitationSessionScope, ElicitationUrlCapabilities,
    ElicitationUrlMode,
};
pub use elicitation_choice::{
    EnumOption, MultiSelectItems, MultiSelectPropertySchema, StringMultiSelectItems, TitledMultiSelectItems,
};
pub use elicitation_schema::{
    BooleanPropertySchema, ElicitationPropertySchema, IntegerPropertySchema, NumberPropertySchema,
    StringFormat, StringPropertySchema,
};
pub(crate) use empty::{empty_object, marker_capability};
pub use error_info::ErrorInfo;
pub(crate) use error_info::error_codes;
pub use id::{
    AuthMethodId, CompactionId, ElicitationId, MessageId, PermissionOptionId, SessionConfigGroupId,
    SessionConfigId, SessionConfigValueId, SessionId, SessionModeId, TerminalId, ToolCallId,
};
pub use implementation::Implementation;
pub use mcp_server::{EnvVariable, HttpHeader};
pub(crate) use method::methods;
pub use method::{Direction, MethodInfo, MethodKind};
pub use notice::{Notice, NoticeSeverity};
pub use permission::{PermissionOption, PermissionOptionKind, SelectedPermissionOutcome};
pub use plan::PlanEntryPriority;
pub use session::{
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities,
};
pub(crate) use string_id::string_id;
pub use tool::{Terminal, ToolKind};
pub use usage::{Cost, UsageUpdate};
pub use version::ProtocolVersion;

pub use agentwire_jsonrpc::wire::Patch;

/// Free room on nearly every type: the `_meta` member. It is kept as the text that it is, and looked into by key.
///
/// Its keys belong to whoever sent them; nothing may be assumed about foreign ones. The root names
/// `traceparent`, `tracestate` and `baggage` are reserved for W3C trace context. See
/// <https://agentclientprotocol.com/protocol/v1/extensibility>.
pub type Meta = agentwire_jsonrpc::RawObject;

//! The types that versions of the protocol share. Each version re-exports its own; this path is private.
//!
//! A type whose members have other types in each version is defined by a macro, which each version calls with its own types
//! in scope. It is not a generic struct because `Wire` and `Build` take no type parameters, and because each version has its
//! own doc, words of `#[wire(…)]` and answer for it.

mod cancel;
mod content;
#[cfg(any(feature = "unstable", feature = "v2"))]
mod draft;
mod elicitation;
mod empty;
mod error_info;
mod id;
mod implementation;
mod method;
mod permission;
mod prompt;
mod session;
mod string_id;
#[cfg(feature = "unstable")]
pub(crate) mod unstable;
mod update;
mod version;

pub use cancel::CancelRequestNotification;
pub use content::{Annotations, Role, TextContent};
pub(crate) use content::{content_types, not_null};
#[cfg(any(feature = "unstable", feature = "v2"))]
pub(crate) use draft::plan_update;
#[cfg(any(feature = "unstable", feature = "v2"))]
pub use draft::{ErrorStopReason, IdleStopReason, PlanId};
pub use elicitation::choice::{
    EnumOption, MultiSelectItems, MultiSelectPropertySchema, StringMultiSelectItems, TitledMultiSelectItems,
};
pub(crate) use elicitation::request::elicitation_request_types;
pub(crate) use elicitation::response::elicitation_response_types;
pub use elicitation::schema::{
    BooleanPropertySchema, ElicitationPropertySchema, IntegerPropertySchema, NumberPropertySchema,
    StringFormat, StringPropertySchema,
};
pub use elicitation::{
    CompleteElicitationNotification, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationRequestScope, ElicitationScope, ElicitationSessionScope, ElicitationUrlCapabilities,
    ElicitationUrlMode,
};
pub(crate) use empty::{empty_object, marker_capability, session_params};
pub use error_info::ErrorInfo;
pub(crate) use error_info::error_codes;
pub use id::{
    AuthMethodId, CompactionId, ElicitationId, MessageId, PermissionOptionId, SessionConfigGroupId,
    SessionConfigId, SessionConfigValueId, SessionId, SessionModeId, TerminalId, ToolCallId,
};
pub use implementation::Implementation;
pub(crate) use method::methods;
pub use method::{Direction, MethodInfo, MethodKind};
pub use permission::{PermissionOption, PermissionOptionKind, SelectedPermissionOutcome};
pub(crate) use prompt::prompt_request;
pub(crate) use session::config_option::config_option_types;
pub use session::config_option::{
    SessionConfigBoolean, SessionConfigOptionCategory, SessionConfigSelectOption,
};
pub(crate) use session::mcp_server::read_pairs;
pub use session::mcp_server::{EnvVariable, HttpHeader};
pub use session::{
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities,
};
pub(crate) use string_id::string_id;
pub use update::compaction::CompactionStatus;
pub(crate) use update::compaction::compaction_updates;
pub use update::notice::{Notice, NoticeSeverity};
pub use update::plan::PlanEntryPriority;
pub(crate) use update::plan::plan_entries;
pub(crate) use update::tool::tool_call_content;
pub use update::tool::{Terminal, ToolKind};
pub use update::usage::{Cost, UsageUpdate};
pub use version::ProtocolVersion;

pub use agentwire_jsonrpc::wire::Patch;

/// The member `_meta`, which nearly every type has: extension metadata. It is kept as JSON text and read by key.
///
/// Either side may define keys, and receivers make no assumptions about the keys of others. The root names
/// `traceparent`, `tracestate` and `baggage` are reserved for W3C trace context. See
/// <https://agentclientprotocol.com/protocol/v1/extensibility>.
pub type Meta = agentwire_jsonrpc::RawObject;

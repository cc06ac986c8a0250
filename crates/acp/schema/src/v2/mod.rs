//! The draft of version 2 of the protocol: every type and method of what the draft calls its stable schema.
//!
//! The draft may change, and this module changes with it. A type that is the same on the wire in both versions is one type.
//!
//! The params and results of a method are named after it: `session/new` takes a [`NewSessionRequest`] and gives a
//! [`NewSessionResponse`]. [`METHODS`] lists them all. Ids of requests and errors are those of JSON-RPC:
//! [`RequestId`](agentwire_jsonrpc::RequestId), [`ErrorObject`](agentwire_jsonrpc::ErrorObject) with a code of
//! [`error_code`].

mod content;
mod elicitation;
pub mod error_code;
mod error_data;
mod icon;
mod lifecycle;
mod mcp_server;
mod method;
mod path;
mod permission;
mod prompt;
#[cfg(feature = "schema")]
pub mod schema;
mod session;
mod terminal;
#[cfg(feature = "unstable")]
pub mod unstable;
mod update;

pub use crate::common::{
    Annotations, AuthMethodId, BooleanPropertySchema, CancelRequestNotification, CloseSessionRequest,
    CloseSessionResponse, CompactionId, CompactionStatus, CompleteElicitationNotification, Cost,
    DeleteSessionRequest, DeleteSessionResponse, Direction, ElicitationCapabilities,
    ElicitationFormCapabilities, ElicitationId, ElicitationPropertySchema, ElicitationRequestScope,
    ElicitationScope, ElicitationSessionScope, ElicitationUrlCapabilities, ElicitationUrlMode, EnumOption,
    EnvVariable, ErrorStopReason, HttpHeader, IdleStopReason, Implementation, IntegerPropertySchema,
    MessageId, Meta, MethodInfo, MethodKind, MultiSelectItems, MultiSelectPropertySchema, Notice,
    NoticeSeverity, NumberPropertySchema, Patch, PermissionOption, PermissionOptionId, PermissionOptionKind,
    PlanEntryPriority, PlanId, ProtocolVersion, Role, SelectedPermissionOutcome,
    SessionAdditionalDirectoriesCapabilities, SessionConfigBoolean, SessionConfigGroupId, SessionConfigId,
    SessionConfigOptionCategory, SessionConfigSelectOption, SessionConfigValueId, SessionDeleteCapabilities,
    SessionId, StringFormat, StringMultiSelectItems, StringPropertySchema, Terminal, TerminalId, TextContent,
    TitledMultiSelectItems, ToolCallId, ToolKind,
};
pub use content::{
    AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource, EmbeddedResourceResource,
    ImageContent, ResourceLink, TextResourceContents,
};
pub use elicitation::response::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
};
pub use elicitation::{
    CreateElicitationRequest, ElicitationFormMode, ElicitationMode, ElicitationSchema, ElicitationSchemaType,
};
pub use error_data::{ErrorData, SessionNotFoundErrorData, UnsupportedProtocolVersionErrorData};
pub use icon::{Icon, IconTheme, MediaType};
pub use lifecycle::authentication::{
    AuthMethod, AuthMethodAgent, AuthMethodTerminal, LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest,
    LogoutAuthResponse,
};
pub use lifecycle::capabilities::{
    AgentAuthCapabilities, AgentCapabilities, ClientAuthCapabilities, ClientCapabilities, McpCapabilities,
    McpHttpCapabilities, McpStdioCapabilities, PromptAudioCapabilities, PromptCapabilities,
    PromptEmbeddedContextCapabilities, PromptImageCapabilities, SessionCapabilities,
    TerminalAuthCapabilities,
};
pub use lifecycle::initialize::{InitializeRequest, InitializeResponse};
pub use mcp_server::{McpServer, McpServerHttp, McpServerStdio};
pub use method::METHODS;
pub use path::AbsolutePath;
pub use permission::{
    CancelledPermissionOutcome, CommandPermissionSubject, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, RequestPermissionSubject, ToolCallPermissionSubject,
};
pub use prompt::{CancelSessionNotification, PromptContent, PromptRequest, PromptResponse};
pub use session::config_option::{
    SessionConfigKind, SessionConfigOption, SessionConfigSelect, SessionConfigSelectGroup,
    SessionConfigSelectOptions,
};
pub use session::list::{ListSessionsRequest, ListSessionsResponse, SessionInfo, SessionListCursor};
pub use session::set_config_option::{
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
pub use session::{
    NewSessionRequest, NewSessionResponse, ReplayFrom, ReplayFromStart, ResumeSessionRequest,
    ResumeSessionResponse,
};
pub use terminal::{
    CancelTerminalRequest, CancelTerminalResponse, TerminalCancelCapabilities, TerminalCapabilities,
    TerminalExitStatus, TerminalOutput, TerminalOutputChunk, TerminalSize, TerminalUpdate,
};
pub use update::command::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, Command, TextCommandInput,
};
pub use update::compaction::{CompactionSummaryChunk, CompactionUpdate};
pub use update::diff::{
    Diff, DiffChange, DiffFileType, DiffOperation, DiffPatch, DiffPatchFormat, DiffPathChange,
    DiffPathPairChange,
};
pub use update::message::{AgentMessage, AgentThought, ContentChunk, UserMessage};
pub use update::plan::{PlanEntry, PlanEntryStatus, PlanItems, PlanUpdate, PlanUpdateContent};
pub use update::state::{
    BackgroundTerminal, BackgroundToolCall, BackgroundWork, IdleStateUpdate, RequiresActionStateUpdate,
    RunningStateUpdate, StateUpdate,
};
pub use update::tool_call::{
    CancelToolCallRequest, CancelToolCallResponse, Content, ToolCallCancelCapabilities, ToolCallCapabilities,
    ToolCallContent, ToolCallContentChunk, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
};
pub use update::{
    ConfigOptionUpdate, SessionInfoUpdate, SessionUpdate, UpdateSessionNotification, UsageUpdate,
};

//! Version 1 of the protocol, in full: every type and method of its stable schema.
//!
//! The params and results of a method are named after it: `session/new` takes a [`NewSessionRequest`] and gives a
//! [`NewSessionResponse`]. [`METHODS`] lists them all. Ids of requests and errors are those of JSON-RPC:
//! [`RequestId`](agentwire_jsonrpc::RequestId), [`ErrorObject`](agentwire_jsonrpc::ErrorObject) with a code of
//! [`error_code`].

mod cancel;
mod content;
mod elicitation;
pub mod error_code;
mod file_system;
mod lifecycle;
mod mcp_server;
mod method;
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
    EnvVariable, HttpHeader, Implementation, IntegerPropertySchema, MessageId, Meta, MethodInfo, MethodKind,
    MultiSelectItems, MultiSelectPropertySchema, Notice, NoticeSeverity, NumberPropertySchema, Patch,
    PermissionOption, PermissionOptionId, PermissionOptionKind, PlanEntryPriority, ProtocolVersion, Role,
    SelectedPermissionOutcome, SessionAdditionalDirectoriesCapabilities, SessionConfigBoolean,
    SessionConfigGroupId, SessionConfigId, SessionConfigOptionCategory, SessionConfigSelectOption,
    SessionConfigValueId, SessionDeleteCapabilities, SessionId, SessionModeId, StringFormat,
    StringMultiSelectItems, StringPropertySchema, Terminal, TerminalId, TextContent, TitledMultiSelectItems,
    ToolCallId, ToolKind, UsageUpdate,
};
pub use cancel::CancelNotification;
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
pub use file_system::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
pub use lifecycle::agent_capabilities::{
    AgentAuthCapabilities, AgentCapabilities, LogoutCapabilities, McpCapabilities, PromptCapabilities,
    SessionCapabilities, SessionCloseCapabilities, SessionListCapabilities, SessionResumeCapabilities,
};
pub use lifecycle::authentication::{
    AuthMethod, AuthMethodAgent, AuthMethodTerminal, AuthenticateRequest, AuthenticateResponse,
    LogoutRequest, LogoutResponse,
};
pub use lifecycle::client_capabilities::{
    AuthCapabilities, BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities,
    CompactionCapabilities, FileSystemCapabilities, NoticeCapabilities, SessionConfigOptionsCapabilities,
};
pub use lifecycle::initialize::{InitializeRequest, InitializeResponse};
pub use mcp_server::{McpServer, McpServerHttp, McpServerSse, McpServerStdio};
pub use method::METHODS;
pub use permission::{RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse};
pub use prompt::{PromptContent, PromptRequest, PromptResponse, StopReason};
pub use session::config_option::{
    ConfigOptionUpdate, SessionConfigKind, SessionConfigOption, SessionConfigSelect,
    SessionConfigSelectGroup, SessionConfigSelectOptions,
};
pub use session::list::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
pub use session::mode::{
    CurrentModeUpdate, SessionMode, SessionModeState, SetSessionModeRequest, SetSessionModeResponse,
};
pub use session::set_config_option::{
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
pub use session::{
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, ResumeSessionRequest,
    ResumeSessionResponse,
};
pub use terminal::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
pub use update::command::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, UnstructuredCommandInput,
};
pub use update::compaction::{CompactionSummaryChunk, CompactionUpdate};
pub use update::plan::{Plan, PlanEntry, PlanEntryStatus};
pub use update::tool_call::{
    Content, Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
};
pub use update::{ContentChunk, SessionInfoUpdate, SessionNotification, SessionUpdate};

//! Version 1 of the protocol, in full: every type and method of its stable schema.
//!
//! The params and results of a method are named after it: `session/new` takes a [`NewSessionRequest`] and gives a
//! [`NewSessionResponse`]. [`METHODS`] lists them all. Ids of requests and errors are those of JSON-RPC:
//! [`RequestId`](agentwire_jsonrpc::RequestId), [`ErrorObject`](agentwire_jsonrpc::ErrorObject) with a code of
//! [`error_code`].

mod agent_capabilities;
mod authentication;
mod cancel;
mod client_capabilities;
mod command;
mod compaction;
mod config_option;
mod content;
mod elicitation;
mod elicitation_choice;
mod elicitation_response;
mod elicitation_schema;
pub mod error_code;
mod file_system;
mod initialize;
mod mcp_server;
mod method;
mod mode;
mod notice;
mod permission;
mod plan;
mod prompt;
#[cfg(feature = "schema")]
pub mod schema;
mod session;
mod session_list;
mod set_config_option;
mod terminal;
mod tool_call;
mod update;

pub use crate::common::{
    AuthMethodId, CompactionId, Direction, ElicitationId, MessageId, Meta, MethodInfo, MethodKind, Patch,
    PermissionOptionId, ProtocolVersion, SessionConfigGroupId, SessionConfigId, SessionConfigValueId,
    SessionId, SessionModeId, TerminalId, ToolCallId,
};
pub use agent_capabilities::{
    AgentAuthCapabilities, AgentCapabilities, LogoutCapabilities, McpCapabilities, PromptCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionDeleteCapabilities, SessionListCapabilities, SessionResumeCapabilities,
};
pub use authentication::{
    AuthMethod, AuthMethodAgent, AuthMethodTerminal, AuthenticateRequest, AuthenticateResponse,
    LogoutRequest, LogoutResponse,
};
pub use cancel::{CancelNotification, CancelRequestNotification};
pub use client_capabilities::{
    AuthCapabilities, BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities,
    CompactionCapabilities, ElicitationCapabilities, ElicitationFormCapabilities, ElicitationUrlCapabilities,
    FileSystemCapabilities, NoticeCapabilities, SessionConfigOptionsCapabilities,
};
pub use command::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, UnstructuredCommandInput,
};
pub use compaction::{CompactionStatus, CompactionSummaryChunk, CompactionUpdate};
pub use config_option::{
    ConfigOptionUpdate, SessionConfigBoolean, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelect, SessionConfigSelectGroup, SessionConfigSelectOption,
    SessionConfigSelectOptions,
};
pub use content::{
    Annotations, AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource,
    EmbeddedResourceResource, ImageContent, ResourceLink, Role, TextContent, TextResourceContents,
};
pub use elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationFormMode, ElicitationMode,
    ElicitationRequestScope, ElicitationScope, ElicitationSessionScope, ElicitationUrlMode,
};
pub use elicitation_choice::{
    EnumOption, MultiSelectItems, MultiSelectPropertySchema, StringMultiSelectItems, TitledMultiSelectItems,
};
pub use elicitation_response::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
};
pub use elicitation_schema::{
    BooleanPropertySchema, ElicitationPropertySchema, ElicitationSchema, ElicitationSchemaType,
    IntegerPropertySchema, NumberPropertySchema, StringFormat, StringPropertySchema,
};
pub use file_system::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};
pub use initialize::{Implementation, InitializeRequest, InitializeResponse};
pub use mcp_server::{HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio};
pub use method::METHODS;
pub use mode::{
    CurrentModeUpdate, SessionMode, SessionModeState, SetSessionModeRequest, SetSessionModeResponse,
};
pub use notice::{Notice, NoticeSeverity};
pub use permission::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome,
};
pub use plan::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus};
pub use prompt::{PromptContent, PromptRequest, PromptResponse, StopReason};
pub use session::{
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, ResumeSessionRequest,
    ResumeSessionResponse,
};
pub use session_list::{
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    ListSessionsRequest, ListSessionsResponse, SessionInfo,
};
pub use set_config_option::{
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
pub use terminal::{
    CreateTerminalRequest, CreateTerminalResponse, EnvVariable, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
pub use tool_call::{
    Content, Diff, Terminal, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};
pub use update::{ContentChunk, Cost, SessionInfoUpdate, SessionNotification, SessionUpdate, UsageUpdate};

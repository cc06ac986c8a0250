//! The draft of version 2 of the protocol: every type and method of what the draft calls its stable schema.
//!
//! The draft may change, and this module changes with it. A type that is the same on the wire in both versions is one type.
//!
//! The params and results of a method are named after it: `session/new` takes a [`NewSessionRequest`] and gives a
//! [`NewSessionResponse`]. [`METHODS`] lists them all. Ids of requests and errors are those of JSON-RPC:
//! [`RequestId`](agentwire_jsonrpc::RequestId), [`ErrorObject`](agentwire_jsonrpc::ErrorObject) with a code of
//! [`error_code`].

mod authentication;
mod capabilities;
mod command;
mod compaction;
mod config_option;
mod content;
mod diff;
mod elicitation;
mod elicitation_response;
pub mod error_code;
mod error_data;
mod icon;
mod initialize;
mod mcp_server;
mod message;
mod method;
mod path;
mod permission;
mod plan;
mod prompt;
#[cfg(feature = "schema")]
pub mod schema;
mod session;
mod session_list;
mod set_config_option;
mod state;
mod terminal;
mod tool_call;
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
pub use authentication::{
    AuthMethod, AuthMethodAgent, AuthMethodTerminal, LoginAuthRequest, LoginAuthResponse, LogoutAuthRequest,
    LogoutAuthResponse,
};
pub use capabilities::{
    AgentAuthCapabilities, AgentCapabilities, ClientAuthCapabilities, ClientCapabilities, McpCapabilities,
    McpHttpCapabilities, McpStdioCapabilities, PromptAudioCapabilities, PromptCapabilities,
    PromptEmbeddedContextCapabilities, PromptImageCapabilities, SessionCapabilities,
    TerminalAuthCapabilities,
};
pub use command::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, Command, TextCommandInput,
};
pub use compaction::{CompactionSummaryChunk, CompactionUpdate};
pub use config_option::{
    SessionConfigKind, SessionConfigOption, SessionConfigSelect, SessionConfigSelectGroup,
    SessionConfigSelectOptions,
};
pub use content::{
    AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource, EmbeddedResourceResource,
    ImageContent, ResourceLink, TextResourceContents,
};
pub use diff::{
    Diff, DiffChange, DiffFileType, DiffOperation, DiffPatch, DiffPatchFormat, DiffPathChange,
    DiffPathPairChange,
};
pub use elicitation::{
    CreateElicitationRequest, ElicitationFormMode, ElicitationMode, ElicitationSchema, ElicitationSchemaType,
};
pub use elicitation_response::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
};
pub use error_data::{ErrorData, SessionNotFoundErrorData, UnsupportedProtocolVersionErrorData};
pub use icon::{Icon, IconTheme, MediaType};
pub use initialize::{InitializeRequest, InitializeResponse};
pub use mcp_server::{McpServer, McpServerHttp, McpServerStdio};
pub use message::{AgentMessage, AgentThought, ContentChunk, UserMessage};
pub use method::METHODS;
pub use path::AbsolutePath;
pub use permission::{
    CancelledPermissionOutcome, CommandPermissionSubject, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, RequestPermissionSubject, ToolCallPermissionSubject,
};
pub use plan::{PlanEntry, PlanEntryStatus, PlanItems, PlanUpdate, PlanUpdateContent};
pub use prompt::{CancelSessionNotification, PromptContent, PromptRequest, PromptResponse};
pub use session::{
    NewSessionRequest, NewSessionResponse, ReplayFrom, ReplayFromStart, ResumeSessionRequest,
    ResumeSessionResponse,
};
pub use session_list::{ListSessionsRequest, ListSessionsResponse, SessionInfo, SessionListCursor};
pub use set_config_option::{
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
pub use state::{
    BackgroundTerminal, BackgroundToolCall, BackgroundWork, IdleStateUpdate, RequiresActionStateUpdate,
    RunningStateUpdate, StateUpdate,
};
pub use terminal::{
    CancelTerminalRequest, CancelTerminalResponse, TerminalCancelCapabilities, TerminalCapabilities,
    TerminalExitStatus, TerminalOutput, TerminalOutputChunk, TerminalSize, TerminalUpdate,
};
pub use tool_call::{
    CancelToolCallRequest, CancelToolCallResponse, Content, ToolCallCancelCapabilities, ToolCallCapabilities,
    ToolCallContent, ToolCallContentChunk, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
};
pub use update::{
    ConfigOptionUpdate, SessionInfoUpdate, SessionUpdate, UpdateSessionNotification, UsageUpdate,
};

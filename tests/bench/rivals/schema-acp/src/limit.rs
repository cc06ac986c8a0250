//! The limit: plain structs with serde's derive, for these messages alone. Strict where the protocol asks for leniency,
//! without unknown members, and with serde's derived tags.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

type Meta = Map<String, Value>;

/// Defines plain structs in camel case. Optional members are omitted when empty.
macro_rules! plain {
    ($(struct $name:ident { $($field:ident: $type:ty,)* $(; $($optional:ident: $inner:ty,)*)? })+) => {$(
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $(pub $field: $type,)*
            $($(
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$inner>,
            )*)?
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            pub meta: Option<Meta>,
        }
    )+};
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub enum SessionUpdate {
    UserMessageChunk(ContentChunk),
    AgentMessageChunk(ContentChunk),
    AgentThoughtChunk(ContentChunk),
    ToolCallUpdate(Box<ToolCallUpdate>),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    Text(TextContent),
    Image(Box<ImageContent>),
    Audio(Box<ImageContent>),
    ResourceLink(Box<ResourceLink>),
    Resource(Box<EmbeddedResource>),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolCallContent {
    Content(Content),
    Diff(Diff),
    Terminal(Terminal),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResourceContents {
    Text(TextResourceContents),
    Blob(BlobResourceContents),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Assistant,
    User,
}

plain! {
    struct SessionNotification { session_id: String, update: SessionUpdate, }
    struct ContentChunk { content: ContentBlock, ; message_id: String, }
    struct ToolCallUpdate {
        tool_call_id: String,
        ;
        kind: ToolKind,
        status: ToolCallStatus,
        title: String,
        name: String,
        content: Vec<ToolCallContent>,
        locations: Vec<ToolCallLocation>,
        raw_input: Value,
        raw_output: Value,
    }
    struct ToolCallLocation { path: PathBuf, ; line: u32, }
    struct Content { content: ContentBlock, }
    struct Diff { path: PathBuf, new_text: String, ; old_text: String, }
    struct Terminal { terminal_id: String, }

    struct PromptRequest { session_id: String, prompt: Vec<ContentBlock>, }
    struct TextContent { text: String, ; annotations: Annotations, }
    struct ImageContent { data: String, mime_type: String, ; uri: String, annotations: Annotations, }
    struct ResourceLink {
        name: String,
        uri: String,
        ;
        title: String,
        description: String,
        mime_type: String,
        size: i64,
        annotations: Annotations,
    }
    struct EmbeddedResource { resource: ResourceContents, ; annotations: Annotations, }
    struct TextResourceContents { text: String, uri: String, ; mime_type: String, }
    struct BlobResourceContents { blob: String, uri: String, ; mime_type: String, }
    struct Annotations { ; audience: Vec<Role>, last_modified: String, priority: f64, }
}

plain! {
    struct InitializeRequest {
        protocol_version: u16,
        client_capabilities: ClientCapabilities,
        ;
        client_info: Implementation,
    }
    struct Implementation { name: String, version: String, ; title: String, }
    struct ClientCapabilities {
        ;
        fs: FileSystemCapabilities,
        terminal: bool,
        session: ClientSessionCapabilities,
        auth: AuthCapabilities,
        elicitation: ElicitationCapabilities,
    }
    struct FileSystemCapabilities { ; read_text_file: bool, write_text_file: bool, }
    struct ClientSessionCapabilities { ; compaction: Marker, config_options: ConfigOptions, notices: Marker, }
    struct ConfigOptions { ; boolean: Marker, }
    struct AuthCapabilities { ; terminal: bool, }
    struct ElicitationCapabilities { ; form: Marker, url: Marker, }
    struct Marker {}

    struct InitializeResponse {
        protocol_version: u16,
        agent_capabilities: AgentCapabilities,
        auth_methods: Vec<AuthMethod>,
        ;
        agent_info: Implementation,
    }
    struct AgentCapabilities {
        ;
        load_session: bool,
        prompt_capabilities: PromptCapabilities,
        mcp_capabilities: McpCapabilities,
        session_capabilities: SessionCapabilities,
        auth: AgentAuthCapabilities,
    }
    struct PromptCapabilities { ; image: bool, audio: bool, embedded_context: bool, }
    struct McpCapabilities { ; http: bool, sse: bool, }
    struct SessionCapabilities {
        ;
        list: Marker,
        delete: Marker,
        additional_directories: Marker,
        resume: Marker,
        close: Marker,
    }
    struct AgentAuthCapabilities { ; logout: Marker, }
    struct AuthMethod { id: String, name: String, ; description: String, }
}

//! The limit: plain structs with serde's derive, for these messages alone, without unknown members and with serde's derived
//! tags. What our types leave undecoded is left undecoded here too.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// Defines plain structs in camel case: what is not required is left out when there is nothing to say.
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
            pub meta: Option<Object>,
        }
    )+};
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    Text(TextContent),
    Image(MediaContent),
    Audio(MediaContent),
    ResourceLink(Box<ResourceLink>),
    Resource(EmbeddedResource),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResourceContents {
    Text(TextResourceContents),
    Blob(BlobResourceContents),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProgressToken {
    Number(i64),
    Text(String),
}

plain! {
    struct CallToolRequest { name: String, ; arguments: Box<RawValue>, }
    struct CallToolResult { content: Vec<ContentBlock>, ; structured_content: Box<RawValue>, is_error: bool, }

    struct TextContent { text: String, ; annotations: Annotations, }
    struct MediaContent { data: String, mime_type: String, ; annotations: Annotations, }
    struct ResourceLink {
        uri: String,
        name: String,
        ;
        title: String,
        description: String,
        mime_type: String,
        size: u64,
        icons: Vec<Icon>,
        annotations: Annotations,
    }
    struct EmbeddedResource { resource: ResourceContents, ; annotations: Annotations, }
    struct TextResourceContents { uri: String, text: String, ; mime_type: String, }
    struct BlobResourceContents { uri: String, blob: String, ; mime_type: String, }
    struct Annotations { ; audience: Vec<Role>, priority: f64, last_modified: String, }
    struct Icon { src: String, ; mime_type: String, sizes: Vec<String>, theme: String, }

    struct ProgressNotification { progress_token: ProgressToken, progress: f64, ; total: f64, message: String, }

    struct ListToolsResult { tools: Vec<Tool>, ; next_cursor: String, }
    struct Tool {
        name: String,
        input_schema: Object,
        ;
        title: String,
        description: String,
        output_schema: Object,
        annotations: ToolAnnotations,
        icons: Vec<Icon>,
    }
    struct ToolAnnotations {
        ;
        title: String,
        read_only_hint: bool,
        destructive_hint: bool,
        idempotent_hint: bool,
        open_world_hint: bool,
    }

    struct InitializeResult {
        protocol_version: String,
        capabilities: ServerCapabilities,
        server_info: Implementation,
        ;
        instructions: String,
    }
    struct ServerCapabilities {
        ;
        logging: Object,
        completions: Object,
        prompts: ListCapability,
        resources: ResourcesCapability,
        tools: ListCapability,
        experimental: Object,
    }
    struct ListCapability { ; list_changed: bool, }
    struct ResourcesCapability { ; subscribe: bool, list_changed: bool, }
    struct Implementation {
        name: String,
        version: String,
        ;
        title: String,
        description: String,
        icons: Vec<Icon>,
        website_url: String,
    }
}

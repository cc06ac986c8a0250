//! The types of the Model Context Protocol and its table of methods, without I/O.
//!
//! `agentwire_mcp_schema` here is `agentwire::mcp::schema` in the crate `agentwire`, with its feature `mcp-schema`.
//!
//! Two peers that speak different revisions of one protocol need one vocabulary, or everything above the wire
//! exists once per revision. So there is one set of types for all revisions, by area, and each member has the revision
//! that added it. [`Downgrade`] takes out the parts that an older peer does not know on the way to the wire,
//! and what a newer one requires is filled in. What has no older form, or cannot be made up, is named by
//! [`Downgrade::fits`], so that it is an error here and not nonsense there.
//!
//! ```
//! use agentwire_jsonrpc::RequestMethod;
//! use agentwire_mcp_schema::{CallToolParams, CallToolRequest, CallToolResult, Downgrade, Revision};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! // A client writes the parameters of a call; their type knows the method.
//! let call = CallToolRequest::new("add").encode_arguments(&json!({ "a": 2, "b": 3 }))?;
//! let params = serde_json::to_string(&call)?;
//! assert_eq!(CallToolRequest::NAME, "tools/call");
//!
//! // They can be read without a copy: the arguments stay a part of the message's text.
//! let call: CallToolParams<'_> = serde_json::from_str(&params)?;
//! assert_eq!(call.arguments_json(), r#"{"a":2,"b":3}"#);
//!
//! // It answers in every revision's terms at once, and sends those of the peer.
//! let mut result = CallToolResult::from_structured(&json!({ "sum": 5 }))?;
//! result.downgrade(Revision::V2025_03_26);
//! assert_eq!(result.text(), r#"{"sum":5}"#);
//! assert!(result.structured_content.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//!
//! | area | types |
//! |---|---|
//! | which revision | [`Revision`], [`ProtocolVersion`], [`Downgrade`], [`METHODS`] |
//! | beginning, with a session | [`InitializeRequest`], [`ClientCapabilities`], [`ServerCapabilities`], [`Implementation`] |
//! | beginning, without | [`DiscoverRequest`], [`RequestMeta`] |
//! | what servers offer | [`Tool`], [`Resource`], [`Prompt`], [`CompleteRequest`] |
//! | what tools answer | [`CallToolResult`], [`ContentBlock`], [`ResourceContents`] |
//! | what servers ask | [`ListRootsRequest`], [`CreateMessageRequest`], [`ElicitRequest`], [`InputRequiredResult`] |
//! | what results say of themselves | [`ResultType`], [`CacheScope`], [`Outcome`] |
//! | beside the calls | [`ProgressNotification`], [`CancelledNotification`], [`LoggingMessageNotification`], [`SubscriptionsListenRequest`] |
//! | tasks | [`core_tasks`] of 2025-11-25, [`task_extension`] of 2026-07-28 |
//! | errors | [`code`] |
//!
//! The type of a method's parameters is named like the method and is its
//! [`RequestMethod`](agentwire_jsonrpc::RequestMethod) or [`NotificationMethod`](agentwire_jsonrpc::NotificationMethod).
//!
//! # Legacy and modern revisions
//!
//! Up to 2025-11-25 a connection is a session that begins with `initialize`, and a server asks by requests of
//! its own. In 2026-07-28 every request has in its `_meta` its revision and what its client can
//! do ([`RequestMeta`]), and a server asks by its result ([`InputRequiredResult`]).
//! [`Revision::is_legacy`] distinguishes the two. The message types are the same.
//!
//! # Features
//!
//! - `schema` adds the module `schema`: a JSON Schema of every type, by `schemars`, the published definitions
//!   that each one speaks, and the table of what each revision has, as data. It changes no type.
//!
//! # Invariants
//!
//! - Reading keeps what it does not know: content blocks, words, capabilities, `_meta`. Unknown members of
//!   other objects are ignored, and `null` means absent.
//! - Reading fails where meaning is at stake: a call without a name, arguments that are no object, a level in
//!   `logging/setLevel` that is none. The receiver answers such a request with `-32602`.
//! - `1` is not `"1"`: a progress token and a request id go back as what they were.
//! - A member that a type names stands once, and so does the tag of a union: a repeated one is an error.
//! - The tag of a union that is known is written first. Read first, the rest goes straight into its type.
//! - `_meta`, unknown blocks, arguments, structured content and log data stay JSON text until somebody decodes them. Of an
//!   unknown block that is the text of each value, in the order in which they came.
//! - A schema keeps every keyword; nothing here validates one or follows a `$ref`.
//! - What a revision has and requires stands in one table, which [`Downgrade`] and the module `schema` are made
//!   from.
//!
//! # Limits
//!
//! - A whole number is written without a fraction: `1000.0` where an integer is wanted is refused.
//! - What is kept as a tree, such as capabilities, forms and sampling metadata, keeps its numbers as 64-bit integers or
//!   `f64`. One with more digits loses the last of them, and one beyond the greatest `f64` is an error.
//! - There, nesting of 128 levels or more is an error too, counted from the text that is read. What stays JSON text has
//!   neither limit until it is decoded.
//!
//! # What it does not do
//!
//! No I/O, no JSON-RPC envelope (that is `agentwire-jsonrpc`), no handshake, no validation of schemas. Base64 is
//! written and not read: data of a peer stays the text that it sent.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
mod wire;
#[macro_use]
mod meta;
#[macro_use]
mod pagination;
#[macro_use]
mod server_features;

mod client_features;
pub mod code;
mod content;
mod implementation;
mod input_required;
mod json_schema;
mod lifecycle;
mod methods;
mod outcome;
#[macro_use]
mod downgrade;
mod request_meta;
mod results;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(feature = "schema")]
mod shapes;
mod subscriptions;
mod tasks;
mod utilities;

pub use agentwire_mcp_wire::{Era, HeaderMark, InvalidHeaderMark, Revision};

pub use tasks::{core as core_tasks, extension as task_extension};

pub use client_features::elicitation::{
    ElicitAction, ElicitFormRequest, ElicitRequest, ElicitResult, ElicitUrlRequest,
    ElicitationCompleteNotification,
};
pub use client_features::elicitation_schema::{
    BooleanSchema, ElicitSchema, NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
};
pub use client_features::roots::{ListRootsRequest, ListRootsResult, Root, RootsListChangedNotification};
pub use client_features::sampling::{
    CreateMessageRequest, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingMessage,
    StopReason, ToolChoice, ToolChoiceMode,
};
pub use client_features::sampling_content::{SamplingContent, ToolResultContent, ToolUseContent};
pub use client_features::select_schema::{Choice, MultiSelectSchema, SingleSelectSchema};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, Role, TextContent,
};
pub use downgrade::{Downgrade, Range, Unsupported};
pub use implementation::{Icon, IconTheme, Implementation};
pub use input_required::{InputRequest, InputRequests, InputRequiredResult, InputResponse, InputResponses};
pub use json_schema::JsonSchema;
pub use lifecycle::capabilities::{
    ClientCapabilities, ElicitationCapability, PromptsCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities, ToolsCapability,
};
pub use lifecycle::discover::{DiscoverRequest, DiscoverResult};
pub use lifecycle::initialize::{InitializeRequest, InitializeResult, InitializedNotification};
pub use lifecycle::version::ProtocolVersion;
pub use meta::{HasMeta, JsonObject, Meta, ProgressToken};
pub use methods::{Direction, Gate, METHODS, MethodInfo, MethodKind, Side};
pub use outcome::Outcome;
pub use pagination::{Cursor, Paginated};
pub use request_meta::{NotificationMeta, RequestMeta, ResultMeta, SubscriptionsListenResultMeta};
pub use results::{CacheScope, ResultType};
pub use server_features::call_tool::{CallToolParams, CallToolRequest, CallToolResult};
pub use server_features::completion::{
    CompleteRequest, CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
    PromptReference, ResourceTemplateReference,
};
pub use server_features::logging::{LoggingLevel, LoggingMessageNotification, SetLevelRequest};
pub use server_features::prompts::{
    GetPromptRequest, GetPromptResult, ListPromptsRequest, ListPromptsResult, Prompt, PromptArgument,
    PromptListChangedNotification, PromptMessage,
};
pub use server_features::resource_contents::{BlobResourceContents, ResourceContents, TextResourceContents};
pub use server_features::resources::{
    ListResourceTemplatesRequest, ListResourceTemplatesResult, ListResourcesRequest, ListResourcesResult,
    ReadResourceRequest, ReadResourceResult, Resource, ResourceListChangedNotification, ResourceTemplate,
    ResourceUpdatedNotification, SubscribeRequest, UnsubscribeRequest,
};
pub use server_features::tools::{
    ListToolsRequest, ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution,
    ToolListChangedNotification,
};
pub use subscriptions::{
    SubscriptionFilter, SubscriptionsAcknowledgedNotification, SubscriptionsListenRequest,
    SubscriptionsListenResult,
};
pub use utilities::cancellation::CancelledNotification;
pub use utilities::ping::{EmptyResult, PingRequest};
pub use utilities::progress::ProgressNotification;

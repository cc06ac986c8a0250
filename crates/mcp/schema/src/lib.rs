//! The types of the Model Context Protocol and its table of methods, without I/O.
//!
//! `agentwire_mcp_schema` here is `agentwire::mcp::schema` in the crate `agentwire`, with its feature `mcp-schema`.
//!
//! Two peers that speak different revisions of one protocol need one vocabulary, or everything above the wire
//! exists once per revision. So there is one set of types for all revisions, by area, and each member has the revision
//! that added it. [`Downgrade`] removes the parts that an older peer does not know on the way to the wire, and fills in
//! members that a newer one requires. [`Downgrade::fits`] finds parts that have no older form and members that have no default,
//! so that they are an error here and not nonsense there.
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
//! // A result has the members of all revisions, and is reduced to those of the peer's revision.
//! let mut result = CallToolResult::from_structured(&json!({ "sum": 5 }))?;
//! result.downgrade(Revision::V2025_03_26);
//! assert_eq!(result.text(), r#"{"sum":5}"#);
//! assert!(result.structured_content.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! # The types by area
//!
//! | area | types |
//! |---|---|
//! | revisions | [`Revision`], [`ProtocolVersion`], [`Downgrade`], [`METHODS`] |
//! | start of a session | [`InitializeRequest`], [`ClientCapabilities`], [`ServerCapabilities`], [`Implementation`] |
//! | without a session | [`DiscoverRequest`], [`RequestMeta`] |
//! | features of servers | [`Tool`], [`Resource`], [`Prompt`], [`CompleteRequest`] |
//! | results of tools | [`CallToolResult`], [`ContentBlock`], [`ResourceContents`] |
//! | questions of servers | [`ListRootsRequest`], [`CreateMessageRequest`], [`ElicitRequest`], [`InputRequiredResult`] |
//! | kinds of results | [`ResultType`], [`CacheScope`], [`Outcome`] |
//! | utilities | [`ProgressNotification`], [`CancelledNotification`], [`LoggingMessageNotification`], [`SubscriptionsListenRequest`] |
//! | tasks | [`core_tasks`] of 2025-11-25, [`task_extension`] of 2026-07-28 |
//! | errors | [`code`] |
//!
//! The type of a method's parameters is named like the method and is its
//! [`RequestMethod`](agentwire_jsonrpc::RequestMethod) or [`NotificationMethod`](agentwire_jsonrpc::NotificationMethod).
//!
//! # Legacy and modern revisions
//!
//! Up to 2025-11-25 a connection is a session that begins with `initialize`, and a server asks by requests of
//! its own. In 2026-07-28 every request has its revision and the capabilities of its client in `_meta`
//! ([`RequestMeta`]), and a server asks by its result ([`InputRequiredResult`]).
//! [`Revision::is_legacy`] distinguishes the two. The message types are the same.
//!
//! # Features
//!
//! - `schema` adds the module `schema`: a JSON Schema of every type, by `schemars`, the published definitions of
//!   each type, and the table of each revision's members and variants, as data. It changes no type.
//!
//! # Invariants
//!
//! - Reading keeps unknown content blocks, strings of enums, capabilities and members of `_meta`. Unknown members of
//!   other objects are ignored, and `null` means absent.
//! - Reading fails if a request has no clear meaning: a call without a name, arguments that are not an object, an unknown level
//!   in `logging/setLevel`. The receiver answers such a request with `-32602`.
//! - `1` is not `"1"`: a progress token and a request id keep their type.
//! - A member that a type names occurs once, and so does the tag of a union: a repeated one is an error.
//! - The tag of a known union is written first. If it is also read first, the rest is decoded directly into its type.
//! - `_meta`, unknown blocks, arguments, structured content and log data stay JSON text until they are decoded. An unknown block
//!   keeps the text of each value, in the order of arrival.
//! - A schema keeps every keyword; nothing here validates one or follows a `$ref`.
//! - The members that a revision has and requires are in one table, from which [`Downgrade`] and the module `schema` are made.
//!
//! # Limits
//!
//! - A whole number is written without a fraction: `1000.0` where an integer is wanted is refused.
//! - Trees of values, such as capabilities, forms and sampling metadata, have numbers that are 64-bit integers or
//!   `f64`. A number with more digits loses the last of them, and one beyond the greatest `f64` is an error.
//! - In such trees, nesting of 128 levels or more is an error too, counted from the text that is read. Parts that stay JSON
//!   text have neither limit until they are decoded.
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

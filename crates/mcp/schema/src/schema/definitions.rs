//! The published definitions that have a type, each with the revisions that publish it.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{
    Definition, DowngradeText, ErrorSchema, InputRequestsSchema, InputResponsesSchema, JsonObjectSchema,
    RequestIdSchema, Role,
};
use crate::Role as Speaker;
use crate::shapes::{
    LegacyTitledEnum, TitledMultiSelect, TitledSingleSelect, UntitledMultiSelect, UntitledSingleSelect,
};
use crate::tasks::core::{
    CancelTaskResult, CreateTaskResult, GetTaskPayloadResult, GetTaskResult, ListTasksRequest,
    ListTasksResult, RelatedTaskMetadata, Task, TaskMetadata, TaskStatus, TaskStatusNotification,
};
use crate::{
    Annotations, AudioContent, BlobResourceContents, BooleanSchema, CallToolRequest, CallToolResult,
    CancelledNotification, ClientCapabilities, CompleteRequest, CompleteResult, ContentBlock,
    CreateMessageRequest, CreateMessageResult, Cursor, DiscoverRequest, DiscoverResult, Downgrade,
    ElicitFormRequest, ElicitRequest, ElicitResult, ElicitUrlRequest, ElicitationCompleteNotification,
    EmbeddedResource, EmptyResult, GetPromptRequest, GetPromptResult, Icon, ImageContent, Implementation,
    InitializeRequest, InitializeResult, InitializedNotification, InputRequest, InputRequests,
    InputRequiredResult, InputResponse, InputResponses, JsonObject, ListPromptsRequest, ListPromptsResult,
    ListResourceTemplatesRequest, ListResourceTemplatesResult, ListResourcesRequest, ListResourcesResult,
    ListRootsRequest, ListRootsResult, ListToolsRequest, ListToolsResult, LoggingLevel,
    LoggingMessageNotification, ModelHint, ModelPreferences, MultiSelectSchema, NotificationMeta,
    NumberSchema, PingRequest, PrimitiveSchema, ProgressNotification, ProgressToken, Prompt, PromptArgument,
    PromptListChangedNotification, PromptMessage, PromptReference, ReadResourceRequest, ReadResourceResult,
    RequestMeta, Resource, ResourceLink, ResourceListChangedNotification, ResourceTemplate,
    ResourceTemplateReference, ResourceUpdatedNotification, ResultMeta, ResultType, Revision, Root,
    RootsListChangedNotification, SamplingContent, SamplingMessage, ServerCapabilities, SetLevelRequest,
    SingleSelectSchema, StringSchema, SubscribeRequest, SubscriptionFilter,
    SubscriptionsAcknowledgedNotification, SubscriptionsListenRequest, SubscriptionsListenResult,
    SubscriptionsListenResultMeta, TextContent, TextResourceContents, Tool, ToolAnnotations, ToolChoice,
    ToolExecution, ToolListChangedNotification, ToolResultContent, ToolUseContent, UnsubscribeRequest,
    Unsupported, code,
};
use crate::{core_tasks, task_extension};

fn round_trip<T: Serialize + DeserializeOwned>(text: &str) -> Result<String, serde_json::Error> {
    serde_json::to_string(&agentwire_jsonrpc::read::<T>(text)?)
}

fn downgrade<T: Serialize + DeserializeOwned + Downgrade>(
    text: &str,
    revision: Revision,
) -> Result<Result<String, Unsupported>, serde_json::Error> {
    let mut value: T = agentwire_jsonrpc::read(text)?;
    value.downgrade(revision);
    match value.fits(revision) {
        Ok(()) => serde_json::to_string(&value).map(Ok),
        Err(unsupported) => Ok(Err(unsupported)),
    }
}

/// Asks a type whether it can be downgraded: its own constant is there only if it can, and goes before the trait's.
struct DowngradeProbe<T>(std::marker::PhantomData<T>);

trait NotDowngraded {
    const TEXT: Option<DowngradeText> = None;
}

impl<T> NotDowngraded for DowngradeProbe<T> {}

impl<T: Serialize + DeserializeOwned + Downgrade> DowngradeProbe<T> {
    const TEXT: Option<DowngradeText> = Some(downgrade::<T>);
}

/// `role Type [= "PublishedName"] [by WireType] [since V] [until V];` where `by` names the type that reads
/// and writes what a type without values describes.
macro_rules! definitions {
    ($(#[$attribute:meta])* $list:ident: $(
        $role:ident $($kind:ident)::+ $(= $name:literal)? $(by $wire:ty)?
            $(, since $since:ident)? $(, until $until:ident)?;
    )+) => {
        $(#[$attribute])*
        pub const $list: &[Definition] = &[ $(
            Definition {
                name: definitions!(@name $($kind)::+ $( $name )?),
                type_name: <$($kind)::+ as JsonSchema>::schema_name,
                role: definitions!(@role $role),
                range: range!($( since $since )? $( until $until )?),
                schema: |generator| generator.subschema_for::<$($kind)::+>(),
                round_trip: definitions!(@wire $($kind)::+ $( , $wire )?),
                downgrade: definitions!(@downgrade $($kind)::+ $( , $wire )?),
            },
        )+ ];
    };
    (@name $kind:ident) => { stringify!($kind) };
    (@name $($kind:ident)::+ $name:literal) => { $name };
    (@wire $kind:path) => { round_trip::<$kind> };
    (@wire $kind:path, $wire:ty) => { round_trip::<$wire> };
    (@downgrade $kind:path) => { DowngradeProbe::<$kind>::TEXT };
    (@downgrade $kind:path, $wire:ty) => { DowngradeProbe::<$wire>::TEXT };
    (@role params) => { Role::Params };
    (@role notice) => { Role::NotificationParams };
    (@role result) => { Role::Result };
    (@role plain) => { Role::Plain };
    (@role alias) => { Role::Alias };
}

definitions! {
    /// Every published definition that has a type. Those that have none are envelopes, unions of requests or
    /// results, and what the published types share.
    ///
    /// If a revision publishes no name for a type, its schema is inlined at each use.
    DEFINITIONS:
    params InitializeRequest = "InitializeRequestParams", since V2025_11_25, until V2025_11_25;
    params PingRequest = "RequestParams", since V2025_11_25, until V2025_11_25;
    params ListRootsRequest = "RequestParams", since V2025_11_25, until V2025_11_25;
    params DiscoverRequest = "RequestParams", since V2026_07_28;
    params ListToolsRequest = "PaginatedRequestParams", since V2025_11_25;
    params ListResourcesRequest = "PaginatedRequestParams", since V2025_11_25;
    params ListResourceTemplatesRequest = "PaginatedRequestParams", since V2025_11_25;
    params ListPromptsRequest = "PaginatedRequestParams", since V2025_11_25;
    params ListTasksRequest = "PaginatedRequestParams", since V2025_11_25, until V2025_11_25;
    params CallToolRequest = "CallToolRequestParams", since V2025_11_25;
    params ReadResourceRequest = "ReadResourceRequestParams", since V2025_11_25;
    params SubscribeRequest = "SubscribeRequestParams", since V2025_11_25, until V2025_11_25;
    params UnsubscribeRequest = "UnsubscribeRequestParams", since V2025_11_25, until V2025_11_25;
    params SubscribeRequest = "ResourceRequestParams", since V2025_11_25;
    params GetPromptRequest = "GetPromptRequestParams", since V2025_11_25;
    params SetLevelRequest = "SetLevelRequestParams", since V2025_11_25, until V2025_11_25;
    params CompleteRequest = "CompleteRequestParams", since V2025_11_25;
    params SubscriptionsListenRequest = "SubscriptionsListenRequestParams", since V2026_07_28;
    params CreateMessageRequest = "CreateMessageRequestParams", since V2025_11_25;
    params ElicitRequest = "ElicitRequestParams", since V2025_11_25;
    params ElicitFormRequest = "ElicitRequestFormParams", since V2025_11_25;
    params ElicitUrlRequest = "ElicitRequestURLParams", since V2025_11_25;

    notice InitializedNotification = "NotificationParams", since V2025_11_25, until V2025_11_25;
    notice RootsListChangedNotification = "NotificationParams", since V2025_11_25, until V2025_11_25;
    notice ToolListChangedNotification = "NotificationParams", since V2025_11_25;
    notice ResourceListChangedNotification = "NotificationParams", since V2025_11_25;
    notice PromptListChangedNotification = "NotificationParams", since V2025_11_25;
    notice CancelledNotification = "CancelledNotificationParams", since V2025_11_25;
    notice ProgressNotification = "ProgressNotificationParams", since V2025_11_25;
    notice LoggingMessageNotification = "LoggingMessageNotificationParams", since V2025_11_25;
    notice ResourceUpdatedNotification = "ResourceUpdatedNotificationParams", since V2025_11_25;
    notice SubscriptionsAcknowledgedNotification = "SubscriptionsAcknowledgedNotificationParams",
        since V2026_07_28;
    notice TaskStatusNotification = "TaskStatusNotificationParams", since V2025_11_25, until V2025_11_25;

    result EmptyResult = "Result";
    result InitializeResult, until V2025_11_25;
    result DiscoverResult, since V2026_07_28;
    result ListToolsResult;
    result CallToolResult;
    result ListResourcesResult;
    result ListResourceTemplatesResult;
    result ReadResourceResult;
    result ListPromptsResult;
    result GetPromptResult;
    result CompleteResult;
    result SubscriptionsListenResult, since V2026_07_28;
    result InputRequiredResult, since V2026_07_28;
    result ListRootsResult;
    result CreateMessageResult, until V2025_11_25;
    plain CreateMessageResult, since V2026_07_28;
    result ElicitResult, since V2025_06_18;
    result CreateTaskResult, since V2025_11_25, until V2025_11_25;
    result GetTaskResult, since V2025_11_25, until V2025_11_25;
    result GetTaskPayloadResult, since V2025_11_25, until V2025_11_25;
    result CancelTaskResult, since V2025_11_25, until V2025_11_25;
    result ListTasksResult, since V2025_11_25, until V2025_11_25;

    plain ClientCapabilities;
    plain ServerCapabilities;
    plain Implementation;
    plain Icon, since V2025_11_25;
    plain LoggingLevel;
    plain ProgressToken;
    plain RequestIdSchema = "RequestId" by agentwire_jsonrpc::RequestId;
    plain ErrorSchema = "Error" by agentwire_jsonrpc::ErrorObject, since V2025_11_25;
    plain Speaker = "Role";
    plain Annotations, since V2025_03_26;
    plain ContentBlock, since V2025_06_18;
    plain TextContent;
    plain ImageContent;
    plain AudioContent, since V2025_03_26;
    plain ResourceLink, since V2025_06_18;
    plain EmbeddedResource;
    plain TextResourceContents;
    plain BlobResourceContents;
    plain Tool;
    plain ToolAnnotations, since V2025_03_26;
    plain ToolExecution, since V2025_11_25, until V2025_11_25;
    plain Resource;
    plain ResourceTemplate;
    plain Prompt;
    plain PromptArgument;
    plain PromptMessage;
    plain PromptReference;
    plain ResourceTemplateReference = "ResourceReference", until V2025_03_26;
    plain ResourceTemplateReference, since V2025_06_18;
    plain Root;
    plain SamplingMessage;
    plain SamplingContent = "SamplingMessageContentBlock", since V2025_11_25;
    plain ToolUseContent, since V2025_11_25;
    plain ToolResultContent, since V2025_11_25;
    plain ToolChoice, since V2025_11_25;
    plain ModelPreferences;
    plain ModelHint;
    plain PrimitiveSchema = "PrimitiveSchemaDefinition", since V2025_06_18;
    plain StringSchema, since V2025_06_18;
    plain NumberSchema, since V2025_06_18;
    plain BooleanSchema, since V2025_06_18;
    plain LegacyTitledEnum = "EnumSchema" by SingleSelectSchema, since V2025_06_18, until V2025_06_18;
    plain LegacyTitledEnum = "LegacyTitledEnumSchema" by SingleSelectSchema, since V2025_11_25;
    plain UntitledSingleSelect = "UntitledSingleSelectEnumSchema" by SingleSelectSchema, since V2025_11_25;
    plain TitledSingleSelect = "TitledSingleSelectEnumSchema" by SingleSelectSchema, since V2025_11_25;
    plain UntitledMultiSelect = "UntitledMultiSelectEnumSchema" by MultiSelectSchema, since V2025_11_25;
    plain TitledMultiSelect = "TitledMultiSelectEnumSchema" by MultiSelectSchema, since V2025_11_25;
    plain Task, since V2025_11_25, until V2025_11_25;
    plain TaskMetadata, since V2025_11_25, until V2025_11_25;
    plain TaskStatus, since V2025_11_25, until V2025_11_25;
    plain RelatedTaskMetadata, since V2025_11_25, until V2025_11_25;
    plain RequestMeta = "RequestMetaObject", since V2026_07_28;
    plain NotificationMeta = "NotificationMetaObject", since V2026_07_28;
    plain ResultMeta = "ResultMetaObject", since V2026_07_28;
    plain SubscriptionsListenResultMeta = "SubscriptionsListenResultMetaObject", since V2026_07_28;
    plain SubscriptionFilter, since V2026_07_28;
    plain InputRequest, since V2026_07_28;
    plain InputResponse, since V2026_07_28;
    plain InputRequestsSchema = "InputRequests" by InputRequests, since V2026_07_28;
    plain InputResponsesSchema = "InputResponses" by InputResponses, since V2026_07_28;
    plain JsonObjectSchema = "JSONObject" by JsonObject, since V2026_07_28;

    alias Cursor;
    alias ResultType, since V2026_07_28;
}

definitions! {
    /// The types that no revision names; their schemas are inlined at each use.
    INLINED:
    params core_tasks::GetTaskRequest = "GetTaskRequestParams", since V2025_11_25, until V2025_11_25;
    params core_tasks::GetTaskPayloadRequest = "GetTaskPayloadRequestParams",
        since V2025_11_25, until V2025_11_25;
    params core_tasks::CancelTaskRequest = "CancelTaskRequestParams", since V2025_11_25, until V2025_11_25;
    notice ElicitationCompleteNotification = "ElicitationCompleteNotificationParams",
        since V2025_11_25, until V2025_11_25;
    plain code::UnsupportedVersion = "UnsupportedVersion", since V2025_03_26;
    plain code::MissingCapabilities = "MissingCapabilities", since V2026_07_28;
    plain code::UrlElicitationRequired = "UrlElicitationRequired", since V2025_11_25, until V2025_11_25;
}

definitions! {
    /// The types of the tasks extension, which has its own schema.
    TASK_EXTENSION:
    params task_extension::GetTaskRequest = "GetTaskRequestParams", since V2026_07_28;
    params task_extension::UpdateTaskRequest = "UpdateTaskRequestParams", since V2026_07_28;
    params task_extension::CancelTaskRequest = "CancelTaskRequestParams", since V2026_07_28;
    notice task_extension::TaskStatusNotification = "TaskStatusNotificationParams", since V2026_07_28;
    result task_extension::CreateTaskResult = "CreateTaskResult", since V2026_07_28;
    result task_extension::GetTaskResult = "GetTaskResult", since V2026_07_28;
    plain task_extension::Task = "Task", since V2026_07_28;
    plain task_extension::TaskStatus = "TaskStatus", since V2026_07_28;
}

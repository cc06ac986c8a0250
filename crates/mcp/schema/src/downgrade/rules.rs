//! The table of the members and variants that each revision has or requires. Every rule about one member or one
//! variant is here and nowhere else.

use super::older;
use crate::{CacheScope, ResultType};

members! {
    // Beginning
    InitializeRequest {} each capabilities, client_info;
    InitializeResult {} each capabilities, server_info;
    InitializedNotification {};
    DiscoverRequest {};
    DiscoverResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        ttl_ms: since V2026_07_28 is required or 0,
        cache_scope: since V2026_07_28 is required or CacheScope::Private,
    } each capabilities;
    Implementation {
        title: since V2025_06_18,
        description: since V2025_11_25,
        icons: since V2025_11_25,
        website_url: since V2025_11_25,
    };
    ClientCapabilities {
        elicitation: since V2025_06_18,
        tasks: since V2025_11_25 until V2025_11_25,
        extensions: since V2026_07_28,
    } each roots, sampling, elicitation first older::client_capabilities;
    ServerCapabilities {
        completions: since V2025_03_26,
        tasks: since V2025_11_25 until V2025_11_25,
        extensions: since V2026_07_28,
    };
    RootsCapability { list_changed: until V2025_11_25 };
    SamplingCapability { context: since V2025_11_25, tools: since V2025_11_25 };
    ElicitationCapability { form: since V2025_11_25, url: since V2025_11_25 };

    // Utilities
    PingRequest {};
    EmptyResult { result_type: since V2026_07_28 is required or ResultType::Complete };
    CancelledNotification { request_id: is required except V2025_11_25 from sender };
    ProgressNotification { message: since V2025_03_26 };
    SetLevelRequest {};
    LoggingMessageNotification {};
    CompleteRequest { context: since V2025_06_18 } each reference;
    CompleteResult { result_type: since V2026_07_28 is required or ResultType::Complete };
    PromptReference { title: since V2025_06_18 };
    ResourceTemplateReference {};

    // Subscriptions and input
    SubscriptionsListenRequest {};
    SubscriptionsListenResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        meta: is required from sender,
    };
    SubscriptionsAcknowledgedNotification {};
    InputRequiredResult since V2026_07_28 {} each input_requests;

    // Content
    TextContent { meta: since V2025_06_18 } each annotations;
    ImageContent { meta: since V2025_06_18 } each annotations;
    AudioContent { meta: since V2025_06_18 } each annotations;
    ResourceLink { icons: since V2025_11_25 } each annotations;
    EmbeddedResource { meta: since V2025_06_18 } each annotations, resource;
    TextResourceContents { meta: since V2025_06_18 };
    BlobResourceContents { meta: since V2025_06_18 };
    Annotations { last_modified: since V2025_06_18 };

    // Tools
    ListToolsRequest {};
    ListToolsResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        ttl_ms: since V2026_07_28 is required or 0,
        cache_scope: since V2026_07_28 is required or CacheScope::Private,
    } each tools;
    Tool {
        title: since V2025_06_18,
        output_schema: since V2025_06_18,
        annotations: since V2025_03_26,
        execution: since V2025_11_25 until V2025_11_25,
        icons: since V2025_11_25,
        meta: since V2025_06_18,
    } first older::tool;
    CallToolRequest {
        task: since V2025_11_25 until V2025_11_25,
        input_responses: since V2026_07_28,
        request_state: since V2026_07_28,
    } each input_responses;
    CallToolResult {
        content: is required,
        structured_content: since V2025_06_18,
        result_type: since V2026_07_28 is required or ResultType::Complete,
    } each content first older::tool_result;
    ToolListChangedNotification {};

    // Resources
    ListResourcesRequest {};
    ListResourcesResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        ttl_ms: since V2026_07_28 is required or 0,
        cache_scope: since V2026_07_28 is required or CacheScope::Private,
    } each resources;
    Resource { title: since V2025_06_18, icons: since V2025_11_25, meta: since V2025_06_18 } each annotations;
    ListResourceTemplatesRequest {};
    ListResourceTemplatesResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        ttl_ms: since V2026_07_28 is required or 0,
        cache_scope: since V2026_07_28 is required or CacheScope::Private,
    } each resource_templates;
    ResourceTemplate {
        title: since V2025_06_18,
        icons: since V2025_11_25,
        meta: since V2025_06_18,
    } each annotations;
    ReadResourceRequest { input_responses: since V2026_07_28, request_state: since V2026_07_28 }
        each input_responses;
    ReadResourceResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        ttl_ms: since V2026_07_28 is required or 0,
        cache_scope: since V2026_07_28 is required or CacheScope::Private,
    } each contents;
    SubscribeRequest {};
    UnsubscribeRequest {};
    ResourceUpdatedNotification {};
    ResourceListChangedNotification {};

    // Prompts
    ListPromptsRequest {};
    ListPromptsResult {
        result_type: since V2026_07_28 is required or ResultType::Complete,
        ttl_ms: since V2026_07_28 is required or 0,
        cache_scope: since V2026_07_28 is required or CacheScope::Private,
    } each prompts;
    Prompt { title: since V2025_06_18, icons: since V2025_11_25, meta: since V2025_06_18 } each arguments;
    PromptArgument { title: since V2025_06_18 };
    GetPromptRequest { input_responses: since V2026_07_28, request_state: since V2026_07_28 } each input_responses;
    GetPromptResult { result_type: since V2026_07_28 is required or ResultType::Complete } each messages;
    PromptMessage {} each content;
    PromptListChangedNotification {};

    // What the server asks of the client
    ListRootsRequest {};
    ListRootsResult { meta: until V2025_11_25 } each roots;
    Root { meta: since V2025_06_18 };
    RootsListChangedNotification {};
    CreateMessageRequest {
        tools: since V2025_11_25 needs "sampling.tools",
        tool_choice: since V2025_11_25 needs "sampling.tools",
        task: since V2025_11_25 until V2025_11_25,
        meta: until V2025_11_25,
    } each messages, tools first older::conversation;
    SamplingMessage { meta: since V2025_11_25 } each content last older::is_one_block;
    CreateMessageResult {} each content first older::said;
    ToolUseContent {};
    ToolResultContent { content: is required } each content first older::used_tool_result;
    ElicitFormRequest { task: since V2025_11_25 until V2025_11_25, meta: until V2025_11_25 }
        each requested_schema;
    ElicitUrlRequest {
        elicitation_id: since V2025_11_25 until V2025_11_25 is required from sender,
        task: since V2025_11_25 until V2025_11_25,
        meta: until V2025_11_25,
    };
    ElicitResult { meta: until V2025_11_25 } last older::is_one_choice;
    ElicitationCompleteNotification {};
    ElicitSchema { dialect: since V2025_11_25 } each properties;
    StringSchema { default_value: since V2025_11_25 };
    NumberSchema { default_value: since V2025_11_25 };
    BooleanSchema {};
    SingleSelectSchema { default_value: since V2025_11_25 } first older::titles;
    MultiSelectSchema {};

    // The tasks of 2025-11-25
    Task in core_tasks { ttl: is required };
    CreateTaskResult in core_tasks since V2025_11_25 until V2025_11_25 {};
    GetTaskRequest in core_tasks {};
    GetTaskResult in core_tasks {};
    GetTaskPayloadRequest in core_tasks {};
    GetTaskPayloadResult in core_tasks {};
    CancelTaskRequest in core_tasks {};
    CancelTaskResult in core_tasks {};
    ListTasksRequest in core_tasks {};
    ListTasksResult in core_tasks {};
    TaskStatusNotification in core_tasks {};

    // The tasks extension
    Task in task_extension { ttl_ms: is required };
    CreateTaskResult in task_extension since V2026_07_28 {};
    GetTaskRequest in task_extension {};
    GetTaskResult in task_extension {
        result_type: since V2026_07_28 is required or ResultType::Complete,
    } each input_requests;
    UpdateTaskRequest in task_extension {} each input_responses;
    CancelTaskRequest in task_extension {};
    TaskStatusNotification in task_extension {} each input_requests;
}

variants! {
    ContentBlock {
        Text(TextContent),
        Image(ImageContent),
        Audio(AudioContent) since V2025_03_26 else older::audio_as_text,
        ResourceLink(ResourceLink) since V2025_06_18 else older::link_as_text,
        Resource(EmbeddedResource),
    } open;
    // The use of tools has no older form.
    SamplingContent {
        Text(TextContent),
        Image(ImageContent),
        Audio(AudioContent) since V2025_03_26 else older::audio_as_text,
        ToolUse(ToolUseContent) since V2025_11_25 needs "sampling.tools",
        ToolResult(ToolResultContent) since V2025_11_25 needs "sampling.tools",
    } open;
    ResourceContents { Text(TextResourceContents), Blob(BlobResourceContents) };
    CompletionReference { Prompt(PromptReference), Resource(ResourceTemplateReference) };
    // A page to go to has no older form.
    ElicitRequest {
        Form(ElicitFormRequest) needs "elicitation.form",
        Url(ElicitUrlRequest) since V2025_11_25 needs "elicitation.url",
    };
    // A field for several choices has no older form.
    PrimitiveSchema {
        String(StringSchema),
        Number(NumberSchema),
        Boolean(BooleanSchema),
        SingleSelect(SingleSelectSchema),
        MultiSelect(MultiSelectSchema) since V2025_11_25,
    } open;
    InputResponse {
        CreateMessage(CreateMessageResult),
        ListRoots(ListRootsResult),
        Elicit(ElicitResult),
    } open;
}

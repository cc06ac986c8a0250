use crate::{
    Annotations, AudioContent, BlobResourceContents, CallToolRequest, CallToolResult, CancelledNotification,
    ClientCapabilities, CompleteRequest, CompleteResult, CompletionReference, ContentBlock,
    CreateMessageRequest, CreateMessageResult, ElicitFormRequest, ElicitRequest, ElicitResult, ElicitSchema,
    ElicitUrlRequest, ElicitationCapability, ElicitationCompleteNotification, EmbeddedResource, EmptyResult,
    GetPromptRequest, GetPromptResult, ImageContent, Implementation, InitializeRequest, InitializeResult,
    InitializedNotification, ListPromptsRequest, ListPromptsResult, ListResourceTemplatesRequest,
    ListResourceTemplatesResult, ListResourcesRequest, ListResourcesResult, ListRootsRequest,
    ListRootsResult, ListToolsRequest, ListToolsResult, LoggingMessageNotification, NumberSchema,
    PingRequest, PrimitiveSchema, ProgressNotification, Prompt, PromptArgument,
    PromptListChangedNotification, PromptMessage, PromptReference, ReadResourceRequest, ReadResourceResult,
    Resource, ResourceContents, ResourceLink, ResourceListChangedNotification, ResourceTemplate,
    ResourceUpdatedNotification, Revision, Root, RootsListChangedNotification, SamplingCapability,
    SamplingContent, SamplingMessage, ServerCapabilities, SetLevelRequest, SingleSelectSchema, StringSchema,
    SubscribeRequest, TextContent, TextResourceContents, Tool, ToolListChangedNotification,
    ToolResultContent, ToolUseContent, UnsubscribeRequest,
};

/// Turns a value into what an older peer knows.
///
/// What a revision does not have is left out or turned into its older form: a link to a resource becomes
/// text, structured content becomes text where there is no other, an icon goes. For the newest revision
/// nothing changes.
///
/// ```
/// use agentwire_mcp_schema::{CallToolResult, ContentBlock, Narrow, Revision};
///
/// let link = ContentBlock::resource_link("file:///notes.txt", "notes");
/// let mut result = CallToolResult::new(vec![link]);
/// result.narrow(Revision::V2025_03_26);
/// assert_eq!(result.text(), "notes: file:///notes.txt");
/// ```
pub trait Narrow {
    /// Leaves only what `revision` has.
    fn narrow(&mut self, revision: Revision);
}

impl<T: Narrow> Narrow for Vec<T> {
    fn narrow(&mut self, revision: Revision) {
        self.iter_mut().for_each(|item| item.narrow(revision));
    }
}

impl<T: Narrow> Narrow for Option<T> {
    fn narrow(&mut self, revision: Revision) {
        if let Some(value) = self {
            value.narrow(revision);
        }
    }
}

/// A row per type: the members that not every revision has, each with the first one that does; then those
/// to narrow in turn; then what to do before a member goes.
macro_rules! members {
    ($(
        $name:ident { $( $member:ident: $since:ident ),* }
        $( each $( $nested:ident ),+ )?
        $( first $rescue:ident )?
        ;
    )+) => {
        $(
            impl Narrow for $name {
                #[allow(unused_variables, reason = "some types are the same in every revision")]
                fn narrow(&mut self, revision: Revision) {
                    $( $rescue(self, revision); )?
                    $(
                        if revision < Revision::$since {
                            self.$member = Default::default();
                        }
                    )*
                    $( $( self.$nested.narrow(revision); )+ )?
                }
            }
        )+
    };
}

members! {
    // Initialization
    InitializeRequest {} each capabilities, client_info;
    InitializeResult {} each capabilities, server_info;
    InitializedNotification {};
    Implementation {
        title: V2025_06_18, description: V2025_11_25, icons: V2025_11_25, website_url: V2025_11_25
    };
    ClientCapabilities { elicitation: V2025_06_18 } each sampling, elicitation first drop_url_elicitation;
    ServerCapabilities { completions: V2025_03_26 };
    SamplingCapability { context: V2025_11_25, tools: V2025_11_25 };
    ElicitationCapability { form: V2025_11_25, url: V2025_11_25 };

    // Utilities
    PingRequest {};
    EmptyResult {};
    CancelledNotification {};
    ProgressNotification { message: V2025_03_26 };
    SetLevelRequest {};
    LoggingMessageNotification {};
    CompleteRequest { context: V2025_06_18 } each reference;
    CompleteResult {};
    PromptReference { title: V2025_06_18 };

    // Content
    TextContent { meta: V2025_06_18 } each annotations;
    ImageContent { meta: V2025_06_18 } each annotations;
    AudioContent { meta: V2025_06_18 } each annotations;
    ResourceLink { icons: V2025_11_25 } each annotations;
    EmbeddedResource { meta: V2025_06_18 } each annotations, resource;
    TextResourceContents { meta: V2025_06_18 };
    BlobResourceContents { meta: V2025_06_18 };
    Annotations { last_modified: V2025_06_18 };

    // Tools
    ListToolsRequest {};
    ListToolsResult {} each tools;
    Tool {
        title: V2025_06_18, output_schema: V2025_06_18, annotations: V2025_03_26,
        execution: V2025_11_25, icons: V2025_11_25, meta: V2025_06_18
    } first keep_title;
    CallToolRequest {};
    CallToolResult { structured_content: V2025_06_18 } each content first keep_structured_content;
    ToolListChangedNotification {};

    // Resources
    ListResourcesRequest {};
    ListResourcesResult {} each resources;
    Resource { title: V2025_06_18, icons: V2025_11_25, meta: V2025_06_18 } each annotations;
    ListResourceTemplatesRequest {};
    ListResourceTemplatesResult {} each resource_templates;
    ResourceTemplate { title: V2025_06_18, icons: V2025_11_25, meta: V2025_06_18 } each annotations;
    ReadResourceRequest {};
    ReadResourceResult {} each contents;
    SubscribeRequest {};
    UnsubscribeRequest {};
    ResourceUpdatedNotification {};
    ResourceListChangedNotification {};

    // Prompts
    ListPromptsRequest {};
    ListPromptsResult {} each prompts;
    Prompt { title: V2025_06_18, icons: V2025_11_25, meta: V2025_06_18 } each arguments;
    PromptArgument { title: V2025_06_18 };
    GetPromptRequest {};
    GetPromptResult {} each messages;
    PromptMessage {} each content;
    PromptListChangedNotification {};

    // What the server asks of the client
    ListRootsRequest {};
    ListRootsResult {} each roots;
    Root { meta: V2025_06_18 };
    RootsListChangedNotification {};
    CreateMessageRequest { tools: V2025_11_25, tool_choice: V2025_11_25 } each messages;
    SamplingMessage { meta: V2025_11_25 } each content;
    CreateMessageResult {} each content;
    ToolUseContent {};
    ToolResultContent {} each content;
    ElicitFormRequest {} each requested_schema;
    ElicitUrlRequest {};
    ElicitResult {};
    ElicitationCompleteNotification {};
    StringSchema { default_value: V2025_11_25 };
    NumberSchema { default_value: V2025_11_25 };
    SingleSelectSchema { default_value: V2025_11_25 } first spell_titles;
}

impl Narrow for ContentBlock {
    fn narrow(&mut self, revision: Revision) {
        match self {
            Self::ResourceLink(link) if revision < Revision::V2025_06_18 => *self = link_as_text(link).into(),
            Self::Audio(audio) if revision < Revision::V2025_03_26 => *self = audio_as_text(audio).into(),
            _ => {}
        }
        match self {
            Self::Text(block) => block.narrow(revision),
            Self::Image(block) => block.narrow(revision),
            Self::Audio(block) => block.narrow(revision),
            Self::ResourceLink(block) => block.narrow(revision),
            Self::Resource(block) => block.narrow(revision),
            Self::Unknown(_) => {}
        }
    }
}

/// The use of tools has no older form; who speaks an older revision offers none.
impl Narrow for SamplingContent {
    fn narrow(&mut self, revision: Revision) {
        if let Self::Audio(audio) = self
            && revision < Revision::V2025_03_26
        {
            *self = audio_as_text(audio).into();
        }
        match self {
            Self::Text(block) => block.narrow(revision),
            Self::Image(block) => block.narrow(revision),
            Self::Audio(block) => block.narrow(revision),
            Self::ToolUse(block) => block.narrow(revision),
            Self::ToolResult(block) => block.narrow(revision),
            Self::Unknown(_) => {}
        }
    }
}

impl Narrow for ResourceContents {
    fn narrow(&mut self, revision: Revision) {
        match self {
            Self::Text(contents) => contents.narrow(revision),
            Self::Blob(contents) => contents.narrow(revision),
        }
    }
}

impl Narrow for CompletionReference {
    fn narrow(&mut self, revision: Revision) {
        if let Self::Prompt(prompt) = self {
            prompt.narrow(revision);
        }
    }
}

impl Narrow for ElicitRequest {
    fn narrow(&mut self, revision: Revision) {
        match self {
            Self::Form(form) => form.narrow(revision),
            Self::Url(url) => url.narrow(revision),
        }
    }
}

impl Narrow for ElicitSchema {
    fn narrow(&mut self, revision: Revision) {
        if revision < Revision::V2025_11_25 {
            self.dialect = None;
        }
        self.properties.iter_mut().for_each(|(_, schema)| schema.narrow(revision));
    }
}

/// A field for several choices has no older form.
impl Narrow for PrimitiveSchema {
    fn narrow(&mut self, revision: Revision) {
        match self {
            Self::String(schema) => schema.narrow(revision),
            Self::Number(schema) => schema.narrow(revision),
            Self::SingleSelect(schema) => schema.narrow(revision),
            Self::Boolean(_) | Self::MultiSelect(_) | Self::Unknown(_) => {}
        }
    }
}

fn link_as_text(link: &mut ResourceLink) -> TextContent {
    let name = link.title.as_deref().unwrap_or(&link.name);
    TextContent { annotations: link.annotations.take(), ..TextContent::new(format!("{name}: {}", link.uri)) }
}

fn audio_as_text(audio: &mut AudioContent) -> TextContent {
    let note = format!("[a sound of type {}, which this client cannot take]", audio.mime_type);
    TextContent { annotations: audio.annotations.take(), ..TextContent::new(note) }
}

/// `{}` means forms to an older server, so a client that only opens pages must not say it.
fn drop_url_elicitation(capabilities: &mut ClientCapabilities, revision: Revision) {
    if revision < Revision::V2025_11_25 {
        capabilities.elicitation.take_if(|elicitation| !elicitation.has_form());
    }
}

/// 2025-03-26 has a tool's title among its annotations.
fn keep_title(tool: &mut Tool, revision: Revision) {
    if revision < Revision::V2025_06_18
        && let Some(title) = tool.title.take()
    {
        tool.annotations.get_or_insert_default().title.get_or_insert(title);
    }
}

/// An answer that is only structured would arrive empty.
fn keep_structured_content(result: &mut CallToolResult, revision: Revision) {
    if revision < Revision::V2025_06_18
        && result.content.is_empty()
        && let Some(json) = &result.structured_content
    {
        result.content.push(ContentBlock::text(json.as_str()));
    }
}

fn spell_titles(schema: &mut SingleSelectSchema, revision: Revision) {
    schema.legacy_titles |= revision < Revision::V2025_11_25;
}

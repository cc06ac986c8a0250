//! The params and results of `prompts/list` and `prompts/get`, the `Prompt` type, and `notifications/prompts/list_changed`.

use std::collections::BTreeMap;

use agentwire_wire_derive::Wire;

use crate::{ContentBlock, Icon, InputResponses, Meta, Role};

/// A prepared conversation that the server offers to the user.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name for programs.
    #[wire(required)]
    pub name: String,
    /// Its name for people. Since 2025-06-18.
    #[wire(optional)]
    pub title: Option<String>,
    /// The purpose of the prompt.
    #[wire(optional)]
    pub description: Option<String>,
    /// The arguments.
    #[wire(plain_list)]
    pub arguments: Vec<PromptArgument>,
    /// Icons to show for it. Since 2025-11-25.
    #[wire(plain_list)]
    pub icons: Vec<Icon>,
    /// Extension metadata. Since 2025-06-18.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl Prompt {
    /// A prompt of that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
            icons: Vec::new(),
            meta: None,
        }
    }
}

setters!(Prompt {
    some title: String,
    some description: String,
    list arguments: PromptArgument,
    list icons: Icon,
    some meta: Meta,
});

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name for programs.
    #[wire(required)]
    pub name: String,
    /// Its name for people. Since 2025-06-18.
    #[wire(optional)]
    pub title: Option<String>,
    /// The meaning of the argument.
    #[wire(optional)]
    pub description: Option<String>,
    /// Whether the prompt requires it.
    #[wire(flag)]
    pub required: bool,
}

impl PromptArgument {
    /// An argument of that name, which may be left out.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }
}

setters!(PromptArgument {
    some title: String,
    some description: String,
    set required: bool,
});

list_method! {
    /// Asks for the server's prompts.
    ListPromptsRequest,
    /// A page of the server's prompts.
    ListPromptsResult {
        /// The prompts.
        prompts = "prompts": Prompt
    }
}

/// Asks for a prompt with its arguments filled in.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct GetPromptRequest {
    /// The prompt's name.
    #[wire(required)]
    pub name: String,
    /// The values of the arguments, by their names.
    #[wire(plain_list)]
    pub arguments: BTreeMap<String, String>,
    /// The client's answers to an [`InputRequiredResult`](crate::InputRequiredResult). Since 2026-07-28.
    #[wire(optional, schema(with = "Option<crate::schema::InputResponsesSchema>"))]
    pub input_responses: Option<std::collections::BTreeMap<String, crate::InputResponse>>,
    /// The state from that result, returned without being read. Since 2026-07-28.
    #[wire(optional)]
    pub request_state: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl GetPromptRequest {
    /// The prompt of that name, with nothing filled in.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: BTreeMap::new(),
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }
}

setters!(GetPromptRequest {
    set arguments: BTreeMap<String, String>,
    some input_responses: InputResponses,
    some request_state: String,
    some meta: Meta,
});

/// A prompt with its arguments filled in.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// The purpose of the prompt.
    #[wire(optional)]
    pub description: Option<String>,
    /// The conversation, oldest message first.
    #[wire(required)]
    pub messages: Vec<PromptMessage>,
    /// The kind of this result; absent means complete. Since 2026-07-28.
    #[wire(optional)]
    pub result_type: Option<crate::ResultType>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl GetPromptResult {
    /// A conversation of these messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { description: None, messages, result_type: None, meta: None }
    }
}

setters!(GetPromptResult {
    some description: String,
    some result_type: crate::ResultType,
    some meta: Meta,
});

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The author of the message.
    #[wire(required)]
    pub role: Role,
    /// The content.
    #[wire(required)]
    pub content: ContentBlock,
}

impl PromptMessage {
    /// A message of this role.
    pub fn new(role: Role, content: impl Into<ContentBlock>) -> Self {
        Self { role, content: content.into() }
    }

    /// A message of the user.
    pub fn user(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::User, content)
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<ContentBlock>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

bare_notification! {
    /// The server's prompts have changed: a client that has listed them should list them again.
    PromptListChangedNotification;
}

has_meta!(Prompt, GetPromptRequest, GetPromptResult);

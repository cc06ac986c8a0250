//! The params and result of `sampling/createMessage`, with the messages, model preferences and tool choice.

use std::borrow::Cow;

use agentwire_wire_derive::Wire;

use crate::content::join_lines;
use crate::tasks::core::TaskMetadata;
use crate::wire::{number, one_or_many};
use crate::{JsonObject, Meta, Role, SamplingContent, Tool};

/// Asks the client's language model. The server sends it, and the client's user may refuse.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/client/sampling>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct CreateMessageRequest {
    /// The conversation so far, oldest first.
    #[wire(required)]
    pub messages: Vec<SamplingMessage>,
    /// How many tokens the answer may have at most.
    #[wire(required)]
    pub max_tokens: u64,
    /// The system prompt that the server would like.
    #[wire(optional)]
    pub system_prompt: Option<String>,
    /// The model that the server prefers.
    #[wire(optional)]
    pub model_preferences: Option<ModelPreferences>,
    /// Further context that the client should show the model. Absent means none.
    #[wire(optional)]
    pub include_context: Option<IncludeContext>,
    /// The model's temperature.
    #[wire(optional, write = number)]
    pub temperature: Option<f64>,
    /// Texts at which the model stops.
    #[wire(plain_list)]
    pub stop_sequences: Vec<String>,
    /// Anything that the model's provider understands.
    #[wire(optional, schema(with = "Option<crate::schema::JsonObjectSchema>"))]
    pub metadata: Option<JsonObject>,
    /// Tools that the model may use; the server runs them. Since 2025-11-25.
    #[wire(plain_list)]
    pub tools: Vec<Tool>,
    /// The mode of tool use. Since 2025-11-25.
    #[wire(optional)]
    pub tool_choice: Option<ToolChoice>,
    /// Asks to run it as a task. Only 2025-11-25.
    #[wire(optional)]
    pub task: Option<TaskMetadata>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CreateMessageRequest {
    /// Continues this conversation by at most `max_tokens` tokens.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            system_prompt: None,
            model_preferences: None,
            include_context: None,
            temperature: None,
            stop_sequences: Vec::new(),
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
            task: None,
            meta: None,
        }
    }
}

setters!(CreateMessageRequest {
    some system_prompt: String,
    some model_preferences: ModelPreferences,
    some include_context: IncludeContext,
    some temperature: f64,
    list stop_sequences: String,
    some metadata: JsonObject,
    list tools: Tool,
    some tool_choice: ToolChoice,
    some task: TaskMetadata,
    some meta: Meta,
});

/// One message of the conversation with the model.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// The author of the message.
    #[wire(required)]
    pub role: Role,
    /// The content. One block travels bare, as every revision reads it; several since 2025-11-25.
    #[wire(required, with = one_or_many, schema(with = "crate::schema::OneOrMany<SamplingContent>"))]
    pub content: Vec<SamplingContent>,
    /// Extension metadata. Since 2025-11-25.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl SamplingMessage {
    /// A message of this role.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self { role, content: vec![content.into()], meta: None }
    }

    /// A message of the user.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

setters!(SamplingMessage {
    list content: SamplingContent,
    some meta: Meta,
});

/// The message that the model has written.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// The author of the message: the model.
    #[wire(required)]
    pub role: Role,
    /// The content. One block travels bare, as every revision reads it; several since 2025-11-25.
    #[wire(required, with = one_or_many, schema(with = "crate::schema::OneOrMany<SamplingContent>"))]
    pub content: Vec<SamplingContent>,
    /// The name of the model.
    #[wire(expected)]
    pub model: String,
    /// Why it stopped, if that is known.
    #[wire(optional)]
    pub stop_reason: Option<StopReason>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl CreateMessageResult {
    /// A message that the model named `model` has written.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![content.into()],
            model: model.into(),
            stop_reason: None,
            meta: None,
        }
    }

    /// The text of all text blocks, a line break between two.
    ///
    /// ```
    /// use agentwire_mcp_schema::CreateMessageResult;
    ///
    /// assert_eq!(CreateMessageResult::new("a-model", "Yes.").text(), "Yes.");
    /// ```
    pub fn text(&self) -> Cow<'_, str> {
        join_lines(self.content.iter().filter_map(SamplingContent::as_text))
    }
}

setters!(CreateMessageResult {
    list content: SamplingContent,
    some stop_reason: StopReason,
    some meta: Meta,
});

/// The model that the server prefers. The client decides.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names, best first.
    #[wire(plain_list)]
    pub hints: Vec<ModelHint>,
    /// How much a low price matters, from 0 to 1.
    #[wire(optional, write = number, schema(range(min = 0, max = 1)))]
    pub cost_priority: Option<f64>,
    /// How much a quick answer matters, from 0 to 1.
    #[wire(optional, write = number, schema(range(min = 0, max = 1)))]
    pub speed_priority: Option<f64>,
    /// How much a clever answer matters, from 0 to 1.
    #[wire(optional, write = number, schema(range(min = 0, max = 1)))]
    pub intelligence_priority: Option<f64>,
}

empty!(ModelPreferences);
setters!(ModelPreferences {
    list hints: ModelHint,
    some cost_priority: f64,
    some speed_priority: f64,
    some intelligence_priority: f64,
});

/// A model, or a family of them, by a part of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ModelHint {
    /// The part of the name.
    #[wire(optional)]
    pub name: Option<String>,
}

impl ModelHint {
    /// Models with that in their name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()) }
    }
}

/// The mode of tool use. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ToolChoice {
    /// Absent means `auto`.
    #[wire(optional)]
    pub mode: Option<ToolChoiceMode>,
}

empty!(ToolChoice);
setters!(ToolChoice {
    some mode: ToolChoiceMode,
});

/// The mode of tool use: optional, required or off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// The model may use tools.
    #[wire("auto")]
    Auto,
    /// The model must use at least one tool.
    #[wire("required")]
    Required,
    /// The model must use no tool.
    #[wire("none")]
    None,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

/// Further context that the client should show the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum IncludeContext {
    /// Nothing.
    #[wire("none")]
    None,
    /// The context of the server that asks.
    #[wire("thisServer")]
    ThisServer,
    /// The context of all servers.
    #[wire("allServers")]
    AllServers,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

/// Why the model stopped. Providers have reasons of their own, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[wire(any_string)]
#[non_exhaustive]
pub enum StopReason {
    /// It had finished its answer.
    #[wire("endTurn")]
    EndTurn,
    /// It wrote one of the texts at which it stops.
    #[wire("stopSequence")]
    StopSequence,
    /// It reached the limit on tokens.
    #[wire("maxTokens")]
    MaxTokens,
    /// It requests the use of a tool. Since 2025-11-25.
    #[wire("toolUse")]
    ToolUse,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

has_meta!(CreateMessageRequest, SamplingMessage, CreateMessageResult);

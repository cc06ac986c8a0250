use serde::Serialize;

use crate::core_tasks::TaskMetadata;
use crate::wire::{null_as_default, one_or_many, optional_number};
use crate::{JsonObject, Meta, Role, SamplingContent, Tool};

object! {
    /// Asks the client's language model. The server sends it, and the client's user may refuse.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/sampling>.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct CreateMessageRequest {
        /// The conversation so far, oldest first.
        pub messages: Vec<SamplingMessage>,
        /// How many tokens the answer may have at most.
        pub max_tokens: u64,
        /// The system prompt that the server would like.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub system_prompt: Option<String>,
        /// Which model the server would like.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub model_preferences: Option<ModelPreferences>,
        /// What else the client should show the model. Absent means nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub include_context: Option<IncludeContext>,
        /// The model's temperature.
        #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
        pub temperature: Option<f64>,
        /// Texts at which the model stops.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        pub stop_sequences: Vec<String>,
        /// Anything that the model's provider understands.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::JsonObjectSchema>"))]
        pub metadata: Option<JsonObject>,
        /// Tools that the model may use; the server runs them. Since 2025-11-25.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        pub tools: Vec<Tool>,
        /// Whether it must use one. Since 2025-11-25.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tool_choice: Option<ToolChoice>,
        /// Asks to run it as a task. Only 2025-11-25.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub task: Option<TaskMetadata>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl CreateMessageRequest {
    /// Continues that conversation by at most so many tokens.
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
    set stop_sequences: Vec<String>,
    some metadata: JsonObject,
    set tools: Vec<Tool>,
    some tool_choice: ToolChoice,
    some task: TaskMetadata,
    some meta: Meta,
});

object! {
    /// One message of the conversation with the model.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct SamplingMessage {
        /// Who says it.
        pub role: Role,
        /// What is said. One block travels bare, as every revision reads it; several since 2025-11-25.
        #[serde(with = "one_or_many")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::schema::OneOrMany<SamplingContent>"))]
        pub content: Vec<SamplingContent>,
        /// Attachments. Since 2025-11-25.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl SamplingMessage {
    /// That one says that.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self { role, content: vec![content.into()], meta: None }
    }

    /// The user says that.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// The model says that.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

setters!(SamplingMessage {
    set content: Vec<SamplingContent>,
    some meta: Meta,
});

object! {
    /// What the model said.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct CreateMessageResult {
        /// Who says it: the model.
        pub role: Role,
        /// What is said. One block travels bare, as every revision reads it; several since 2025-11-25.
        #[serde(with = "one_or_many")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::schema::OneOrMany<SamplingContent>"))]
        pub content: Vec<SamplingContent>,
        /// Which model it was.
        pub model: String,
        /// Why it stopped, if that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stop_reason: Option<StopReason>,
        /// Attachments.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl CreateMessageResult {
    /// That model said that.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![content.into()],
            model: model.into(),
            stop_reason: None,
            meta: None,
        }
    }
}

setters!(CreateMessageResult {
    set content: Vec<SamplingContent>,
    some stop_reason: StopReason,
    some meta: Meta,
});

object! {
    /// Which model the server would like. The client decides.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ModelPreferences {
        /// Names, best first.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        pub hints: Vec<ModelHint>,
        /// How much a low price matters, from 0 to 1.
        #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        pub cost_priority: Option<f64>,
        /// How much a quick answer matters, from 0 to 1.
        #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        pub speed_priority: Option<f64>,
        /// How much a clever answer matters, from 0 to 1.
        #[serde(default, serialize_with = "optional_number", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
        pub intelligence_priority: Option<f64>,
    }
}

setters!(ModelPreferences {
    set hints: Vec<ModelHint>,
    some cost_priority: f64,
    some speed_priority: f64,
    some intelligence_priority: f64,
});

object! {
    /// A model, or a family of them, by a part of its name.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct ModelHint {
        /// The part of the name.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
    }
}

impl ModelHint {
    /// Models with that in their name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()) }
    }
}

object! {
    /// Whether the model must use a tool. Since 2025-11-25.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub struct ToolChoice {
        /// Absent means `auto`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mode: Option<ToolChoiceMode>,
    }
}

setters!(ToolChoice {
    some mode: ToolChoiceMode,
});

open_enum! {
    /// Whether the model must use a tool.
    pub enum ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// None.
        None = "none",
    }
}

open_enum! {
    /// What else the client should show the model.
    pub enum IncludeContext {
        /// Nothing.
        None = "none",
        /// What came from the server that asks.
        ThisServer = "thisServer",
        /// What came from any server.
        AllServers = "allServers",
    }
}

open_enum! {
    /// Why the model stopped. Providers have reasons of their own, too.
    pub enum StopReason as string {
        /// It had said what it had to say.
        EndTurn = "endTurn",
        /// It came to one of the texts at which to stop.
        StopSequence = "stopSequence",
        /// It came to the most tokens it may use.
        MaxTokens = "maxTokens",
        /// It wants a tool to be used. Since 2025-11-25.
        ToolUse = "toolUse",
    }
}

has_meta!(CreateMessageRequest, SamplingMessage, CreateMessageResult);

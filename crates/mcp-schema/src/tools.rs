use serde::Serialize;

use crate::wire::null_as_default;
use crate::{Icon, JsonSchema, Meta};

object! {
    /// A function that the server offers to the model.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/tools>.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct Tool {
        /// The name it is called by: 1 to 128 of `A-Z a-z 0-9 _ - .`, unique in its server.
        pub name: String,
        /// The name for people. Since 2025-06-18; before, [`ToolAnnotations::title`].
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// What it does, in words for the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// What its arguments must look like.
        pub input_schema: JsonSchema,
        /// What its structured answer looks like. Since 2025-06-18.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub output_schema: Option<JsonSchema>,
        /// Hints on what calling it does. Since 2025-03-26.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub annotations: Option<ToolAnnotations>,
        /// How it wants to be run. Only 2025-11-25.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub execution: Option<ToolExecution>,
        /// Pictures to show it by. Since 2025-11-25.
        #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
        pub icons: Vec<Icon>,
        /// Attachments. Since 2025-06-18.
        #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
        pub meta: Option<Meta>,
    }
}

impl Tool {
    /// A tool of that name for such arguments.
    pub fn new(name: impl Into<String>, input_schema: impl Into<JsonSchema>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema: input_schema.into(),
            output_schema: None,
            annotations: None,
            execution: None,
            icons: Vec::new(),
            meta: None,
        }
    }

    /// The name for people, wherever it is, or else the name.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }
}

setters!(Tool {
    some title: String,
    some description: String,
    some output_schema: JsonSchema,
    some annotations: ToolAnnotations,
    some execution: ToolExecution,
    set icons: Vec<Icon>,
    some meta: Meta,
});

object! {
    /// Hints on what calling a tool does. They may be false: never decide on those of a server you do not trust.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ToolAnnotations {
        /// The name for people, where the tool itself has none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// It changes nothing. Absent means false.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub read_only_hint: Option<bool>,
        /// It may destroy something; says something only of a tool that is not read-only. Absent means true.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub destructive_hint: Option<bool>,
        /// A second call with the same arguments changes nothing more. Absent means false.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub idempotent_hint: Option<bool>,
        /// It reaches things outside, such as the web. Absent means true.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub open_world_hint: Option<bool>,
    }
}

setters!(ToolAnnotations {
    some title: String,
    some read_only_hint: bool,
    some destructive_hint: bool,
    some idempotent_hint: bool,
    some open_world_hint: bool,
});

object! {
    /// How a tool wants to be run. Only 2025-11-25.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    pub struct ToolExecution {
        /// Whether it can run as a task. Absent means `forbidden`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub task_support: Option<TaskSupport>,
    }
}

setters!(ToolExecution {
    some task_support: TaskSupport,
});

open_enum! {
    /// Whether a tool can run as a task.
    pub enum TaskSupport {
        /// It cannot.
        Forbidden = "forbidden",
        /// The client may choose.
        Optional = "optional",
        /// It runs no other way.
        Required = "required",
    }
}

list_method! {
    /// Asks for the server's tools.
    ListToolsRequest,
    /// A page of the server's tools.
    ListToolsResult {
        /// The tools.
        tools = "tools": Tool
    }
}

bare_notification! {
    /// The server's tools are others now: whoever listed them should do so again.
    ToolListChangedNotification;
}

has_meta!(Tool);

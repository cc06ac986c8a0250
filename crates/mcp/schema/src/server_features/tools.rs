//! The `Tool` type with its annotations, the params and result of `tools/list`, and `notifications/tools/list_changed`.

use agentwire_mcp_wire::{HeaderMark, InvalidHeaderMark};
use agentwire_wire_derive::Wire;

use crate::{Icon, JsonSchema, Meta};

/// A function that the server offers to the model.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/server/tools>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct Tool {
    /// The name it is called by: 1 to 128 of `A-Z a-z 0-9 _ - .`, unique in its server.
    #[wire(required)]
    pub name: String,
    /// The name for people. Since 2025-06-18; before, [`ToolAnnotations::title`].
    #[wire(optional)]
    pub title: Option<String>,
    /// The purpose of the tool, in words for the model.
    #[wire(optional)]
    pub description: Option<String>,
    /// The schema of its arguments.
    #[wire(required)]
    pub input_schema: JsonSchema,
    /// The schema of its structured answer. Since 2025-06-18.
    #[wire(optional)]
    pub output_schema: Option<JsonSchema>,
    /// Hints on what calling it does. Since 2025-03-26.
    #[wire(optional)]
    pub annotations: Option<ToolAnnotations>,
    /// How it wants to be run. Only 2025-11-25.
    #[wire(optional)]
    pub execution: Option<ToolExecution>,
    /// Icons to show for it. Since 2025-11-25.
    #[wire(plain_list)]
    pub icons: Vec<Icon>,
    /// Extension metadata. Since 2025-06-18.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
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

    /// The name for people, from the tool or its annotations, or else the name.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// The arguments that a call over HTTP repeats in headers.
    ///
    /// ```
    /// use agentwire_mcp_schema::{JsonSchema, Tool};
    /// use serde_json::json;
    ///
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": { "region": { "type": "string", "x-mcp-header": "Region" }, "query": { "type": "string" } },
    /// });
    /// let tool = Tool::new("execute_sql", JsonSchema::try_from(schema).unwrap());
    /// let marks = tool.header_marks().unwrap();
    /// assert_eq!((marks[0].header(), marks[0].path()), ("Mcp-Param-Region", &["region".to_owned()][..]));
    /// ```
    ///
    /// # Errors
    ///
    /// The first mark that is wrong. Over HTTP clients leave a tool out that has one.
    pub fn header_marks(&self) -> Result<Vec<HeaderMark>, InvalidHeaderMark> {
        // Most schemas have none, which their text shows without a tree.
        if self.input_schema.may_have(HeaderMark::KEYWORD) {
            HeaderMark::all_in(self.input_schema.as_map())
        } else {
            Ok(Vec::new())
        }
    }
}

setters!(Tool {
    some title: String,
    some description: String,
    some output_schema: JsonSchema,
    some annotations: ToolAnnotations,
    some execution: ToolExecution,
    list icons: Icon,
    some meta: Meta,
});

/// Hints on what calling a tool does. They may be false: never decide on those of a server you do not trust.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The name for people, if the tool itself has none.
    #[wire(optional)]
    pub title: Option<String>,
    /// It changes nothing. Absent means false.
    #[wire(optional)]
    pub read_only_hint: Option<bool>,
    /// It may destroy something; has a meaning only for a tool that is not read-only. Absent means true.
    #[wire(optional)]
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more. Absent means false.
    #[wire(optional)]
    pub idempotent_hint: Option<bool>,
    /// It reaches things outside, such as the web. Absent means true.
    #[wire(optional)]
    pub open_world_hint: Option<bool>,
}

empty!(ToolAnnotations);
setters!(ToolAnnotations {
    some title: String,
    some read_only_hint: bool,
    some destructive_hint: bool,
    some idempotent_hint: bool,
    some open_world_hint: bool,
});

/// How a tool wants to be run. Only 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Its support of tasks. Absent means `forbidden`.
    #[wire(optional)]
    pub task_support: Option<TaskSupport>,
}

empty!(ToolExecution);
setters!(ToolExecution {
    some task_support: TaskSupport,
});

/// A tool's support of tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum TaskSupport {
    /// It does not run as a task.
    #[wire("forbidden")]
    Forbidden,
    /// It runs as a task if the client asks for one.
    #[wire("optional")]
    Optional,
    /// It runs only as a task.
    #[wire("required")]
    Required,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
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
    /// The server's tools have changed: a client that has listed them should list them again.
    ToolListChangedNotification;
}

has_meta!(Tool);

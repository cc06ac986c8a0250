//! `ServerTool`: a tool's definition, its function and its layers.

use std::future::Future;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use agentwire_mcp_schema::{
    CallToolRequest, CallToolResult, HeaderMark, Icon, JsonSchema, TaskSupport, Tool, ToolAnnotations,
};

use crate::decode::checks::Checks;
use crate::define::function::{Argument, kind};
use crate::define::layers::RawCall;
use crate::define::names::check_name;
use crate::define::registered::{Registered, RegisteredKind};
use crate::define::tool_error::answer_of;
use crate::request::request_future::HandlerFuture;
use crate::{BoxError, Context, Function, IntoToolResult};

/// A tool: its definition, which clients see, its function, and the layers around that.
///
/// [`Server::tool`](crate::Server::tool) makes one of a name, a description and a function. A `ServerTool` has
/// further properties:
///
/// ```
/// # use agentwire_mcp_server::{Context, NoArguments, Server, ServerTool, schema::ToolAnnotations};
/// # async fn now(_: NoArguments, _cx: Context) -> &'static str { "12:00" }
/// let tool = ServerTool::new("now", "The time of day", now)
///     .title("Clock")
///     .annotations(ToolAnnotations::new().read_only_hint(true));
/// let server = Server::new("clock", "1.0.0").with_tool(tool);
/// ```
///
/// # Arguments in headers
///
/// Since 2026-07-28 an argument that is a string, an integer or a boolean can be marked, so that clients repeat it in
/// a header of the HTTP request, `Mcp-Param-Region` here, for proxies that route by it. A call whose header
/// differs from its argument is refused before it gets here. Headers are seen by many, so secrets do not belong there.
///
/// ```
/// # use agentwire_mcp_server::{Context, Server};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Query {
///     #[schemars(extend("x-mcp-header" = "Region"))]
///     region: String,
///     sql: String,
/// }
///
/// # async fn run(query: Query, _cx: Context) -> String { query.region + &query.sql }
/// let server = Server::new("database", "1.0.0").tool("execute_sql", "Run a query", run);
/// ```
///
/// # What the schemas promise
///
/// Arguments that cannot be decoded into the function's type never reach it. A keyword of a schema beyond the type, such as a
/// `pattern`, is checked by a server that [validates](crate::Server), in which case nothing that the schema forbids does.
///
/// A tool with an output schema must return structured content. A result without it that is not an error is answered as an
/// internal error. On a server that validates, so is content that does not match the schema.
pub type ServerTool = Registered<kind::Tool>;

/// The data of a tool that calls need, computed when it is registered.
#[derive(Default)]
pub(crate) struct ToolExtra {
    /// The arguments that are repeated in headers.
    marks: Vec<HeaderMark>,
    /// Shared with the running calls.
    checks: Arc<Checks>,
}

impl ServerTool {
    /// Creates a tool from its name, a description for the model, and its function.
    ///
    /// The schemas of its arguments and its result come from the function's types.
    ///
    /// # Panics
    ///
    /// When the name is not 1 to 128 of `A-Z a-z 0-9 _ - .`, or the argument type is not one whose JSON is an object.
    #[track_caller]
    pub fn new<F: Function<kind::Tool, M, Future: Future<Output: IntoToolResult> + Send>, M>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self {
        let name = name.into();
        check_name("tool", &name);
        let input = match F::Argument::schema() {
            Ok(input) => input,
            Err(wrong) => panic!("the tool `{name}`: {wrong}"),
        };
        let mut tool = Tool::new(name, input).description(description);
        tool.output_schema = <F::Future as Future>::Output::output_schema();
        Self::with_function(tool, ToolExtra::default(), |state| {
            move |tool, arguments, context| {
                // The type may hold trees of values. Only its author knows.
                context.hold_values(arguments.as_str())?;
                let future = function.call(state.get(), F::Argument::read(arguments)?, context.clone());
                Ok(answer(future, tool.extra.checks.clone(), context))
            }
        })
    }

    /// Creates a tool from a definition that is only known at run time, for example that of a tool at another server. The
    /// function gets the arguments as they are, an object; nothing but [`Server::validate`](crate::Server) checks them.
    /// Before a definition of another author is offered, [`Tool::header_marks`] checks it.
    pub fn from_definition<
        F: Function<kind::RawTool, M, Future: Future<Output: IntoToolResult> + Send>,
        M,
    >(
        definition: Tool,
        function: F,
    ) -> Self {
        Self::with_function(definition, ToolExtra::default(), |state| {
            move |tool, arguments, context| {
                let future = function.call(state.get(), F::Argument::read(arguments)?, context.clone());
                Ok(answer(future, tool.extra.checks.clone(), context))
            }
        })
    }

    /// Sets its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.edit(|tool| tool.title = Some(title.into()))
    }

    /// Sets hints on what calling it does.
    #[must_use]
    pub fn annotations(self, annotations: ToolAnnotations) -> Self {
        self.edit(|tool| tool.annotations = Some(annotations))
    }

    /// Marks it as changing nothing: the hint `readOnlyHint`.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint(|hints| hints.read_only_hint = Some(true))
    }

    /// Marks it as possibly destructive, which a host may ask about first: the hint `destructiveHint`.
    #[must_use]
    pub fn destructive(self) -> Self {
        self.hint(|hints| hints.destructive_hint = Some(true))
    }

    fn hint(self, change: impl FnOnce(&mut ToolAnnotations)) -> Self {
        self.edit(|tool| change(tool.annotations.get_or_insert_default()))
    }

    /// Sets pictures to show it by. Since 2025-11-25.
    #[must_use]
    pub fn icons(self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.edit(|tool| tool.icons = icons.into_iter().collect())
    }

    /// Sets the schema of its arguments in place of the one that their type has. Every keyword reaches the client.
    ///
    /// ```
    /// # use agentwire_mcp_server::{Context, Server, ServerTool, schema::JsonSchema};
    /// # use serde_json::json;
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Contact {
    ///     phone: Option<String>,
    ///     email: Option<String>,
    /// }
    ///
    /// # async fn contact(Contact { phone, email }: Contact, _cx: Context) -> String { phone.or(email).unwrap_or_default() }
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": { "phone": { "type": "string" }, "email": { "type": "string", "format": "email" } },
    ///     "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }],
    /// });
    /// let schema = JsonSchema::try_from(schema).expect("the schema is an object");
    /// let tool = ServerTool::new("contact", "Call or write", contact).input_schema(schema);
    /// let server = Server::new("directory", "1.0.0").with_tool(tool);
    /// ```
    ///
    /// # Panics
    ///
    /// When its `type` is not `object`: arguments always are one.
    #[must_use]
    #[track_caller]
    pub fn input_schema(self, schema: JsonSchema) -> Self {
        let name = &self.definition().name;
        let is_object = schema.as_map().get("type").is_some_and(|kind| kind == "object");
        assert!(is_object, "the tool `{name}`: the `type` of its input schema is not `object`");
        self.edit(|tool| tool.input_schema = schema)
    }

    /// Sets the schema of its structured content in place of the one that the function's type has.
    #[must_use]
    pub fn output_schema(self, schema: JsonSchema) -> Self {
        self.edit(|tool| tool.output_schema = Some(schema))
    }

    /// Sets whether it can run as a task (default: it cannot), on a server that [runs tasks](crate::Server::tasks). The
    /// function needs no change; [`Context::status`] reports its progress.
    ///
    /// - In a session of 2025-11-25 the client asks for a task with each call. A tool that requires one refuses calls without it,
    ///   and so all calls in sessions of older revisions, which have no tasks.
    /// - Since 2026-07-28 the server decides, and the client declares that it supports tasks. A tool that requires a task creates
    ///   one at once, and refuses other clients. If a task is optional, the call runs as any other for
    ///   [some time](crate::Tasks::grace), and then goes on as a task; for other clients it goes on as a call.
    ///
    /// A question is asked wherever the function is. Since 2026-07-28 a function that asks *before* its call is a task is
    /// dropped and runs again when the answer comes, as always; after that, and in every task, it waits for the answer.
    /// Progress of a task, and its log, reach sessions only.
    #[must_use]
    pub fn task(self, support: TaskSupport) -> Self {
        self.edit(|tool| tool.execution.get_or_insert_default().task_support = Some(support))
    }

    /// The tool's support of tasks.
    pub(crate) fn task_support(&self) -> &TaskSupport {
        let said = self.definition().execution.as_ref().and_then(|execution| execution.task_support.as_ref());
        said.unwrap_or(&TaskSupport::Forbidden)
    }

    pub(crate) fn header_marks(&self) -> &[HeaderMark] {
        &self.extra.marks
    }
}

/// Wraps the function's future in one that returns the text to send.
fn answer<O>(future: O, checks: Arc<Checks>, context: Context) -> HandlerFuture
where
    O: Future<Output: IntoToolResult> + Send + 'static,
{
    Box::pin(async move { give(future.await.into_tool_result()?, &checks, &context) })
}

/// Returns the text of a result. Not generic, so that a program has the code once and not for each tool.
fn give(result: CallToolResult, checks: &Checks, context: &Context) -> Result<RawJson, ErrorObject> {
    checks.output(&result, context.settings().validate)?;
    context.encode(result)
}

impl RegisteredKind for kind::Tool {
    type Extra = ToolExtra;
    type Params = RawJson;

    const NOUN: &'static str = "tool";
    const METHOD: &'static str = CallToolRequest::NAME;

    fn key(tool: &Tool) -> &str {
        &tool.name
    }

    #[track_caller]
    fn prepare(tool: &Tool, extra: &mut ToolExtra) {
        extra.checks = Arc::new(Checks::new(tool));
        match tool.header_marks() {
            Ok(marks) => extra.marks = marks,
            Err(wrong) => panic!("the tool `{}`: {wrong}", tool.name),
        }
    }

    /// A copy, so that the message need not stay in memory until the layers are done.
    fn encode(arguments: &RawJson) -> Result<RawJson, String> {
        RawJson::parse(arguments.as_str().into()).map_err(|error| error.to_string())
    }

    fn start_call(tool: &ServerTool, call: &RawCall) -> Result<HandlerFuture, String> {
        tool.start_function(call.arguments(), call.context().clone())
    }

    #[cfg(feature = "validate")]
    fn check(
        extra: &ToolExtra,
        arguments: &RawJson,
        context: &Context,
    ) -> Result<Result<(), ErrorObject>, String> {
        if context.settings().validate {
            extra.checks.input(arguments.as_str(), context.settings().value_limit)
        } else {
            Ok(Ok(()))
        }
    }

    /// Since 2025-11-25 the model sees its mistake.
    fn wrong_arguments(name: &str, why: &str, context: &Context) -> Result<RawJson, ErrorObject> {
        if context.revision().has_argument_errors_in_results() {
            let text = format!("wrong arguments for the tool `{name}`: {why}");
            context.encode(CallToolResult::from_error(text))
        } else {
            Err(ErrorObject::invalid_params(format_args!("arguments of the tool `{name}`: {why}")))
        }
    }

    /// The model reads what went wrong, as with any failure of the tool.
    fn layer_failed(name: &str, context: &Context, error: BoxError) -> Result<RawJson, ErrorObject> {
        let text = || format!("the tool `{name}` failed: {}", error.message());
        let result = answer_of(&error).unwrap_or_else(|| Ok(CallToolResult::from_error(text())))?;
        context.encode(result)
    }
}

use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use agentwire_mcp_schema::{
    CallToolRequest, CallToolResult, HeaderMark, Icon, JsonSchema, Revision, TaskSupport, Tool,
    ToolAnnotations,
};
use serde_json::value::RawValue;

use crate::CallLayer;
use crate::decode::checks::Checks;
use crate::define::function::{Argument, kind};
use crate::define::layers;
use crate::define::layers::{Layers, Next, RawCall, Target};
use crate::define::names::check_name;
use crate::define::registry::{Definition, Entry};
use crate::define::state_slots::{StateSlots, States};
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
/// a header of the HTTP request, `Mcp-Param-Region` here, for whoever routes by it. A call whose header does not say
/// what its argument says is refused before it gets here. Headers are seen by many, so secrets do not belong there.
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
/// Arguments that the function's type cannot be read from never reach it. What a schema says beyond the type, such as a
/// `pattern`, is checked by a server that [validates](crate::Server), in which case nothing that the schema forbids does.
///
/// A tool with an output schema gives structured content; one that gives none, without being an error, is answered as an
/// internal error. Where it validates, so is content that is not what the schema says.
pub struct ServerTool {
    definition: Definition<Tool>,
    /// Which arguments are repeated in headers. Known when it is registered.
    marks: Vec<HeaderMark>,
    /// The same, for the function.
    checks: Arc<Checks>,
    layers: Layers,
    states: StateSlots,
    run: Box<Run>,
}

/// A function of any type. It takes its arguments as text and decodes them before it gives its future, so that
/// the message they came in can be dropped before the function runs.
type Run = dyn Fn(&RawJson, &Arc<Checks>, Context) -> Result<HandlerFuture, String> + Send + Sync;

impl ServerTool {
    /// A tool of that name, with a description for the model, and the function that does it.
    ///
    /// The schemas of what it takes and gives come from the function's types.
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
        let mut states = StateSlots::default();
        let state = states.add();
        let run = move |arguments: &RawJson, checks: &Arc<Checks>, context: Context| {
            // The type may hold trees of values. Only its author knows.
            context.hold_values(arguments.as_str())?;
            let future = function.call(state.get(), F::Argument::read(arguments)?, context.clone());
            Ok(answer(future, checks.clone(), context))
        };
        let output = <F::Future as Future>::Output::output_schema();
        Self::of_function(name, description.into(), input, output, states, Box::new(run))
    }

    fn of_function(
        name: String,
        description: String,
        input: JsonSchema,
        output: Option<JsonSchema>,
        states: StateSlots,
        run: Box<Run>,
    ) -> Self {
        let mut tool = Tool::new(name, input).description(description);
        tool.output_schema = output;
        Self::from_parts(tool, states, run)
    }

    /// A tool whose definition is only known at run time, such as one that stands for a tool elsewhere. The function
    /// gets the arguments as they are, an object; nothing but [`Server::validate`](crate::Server) checks them. Before a
    /// definition that somebody else wrote is offered, [`Tool::header_marks`] says whether it can be.
    pub fn from_definition<
        F: Function<kind::RawTool, M, Future: Future<Output: IntoToolResult> + Send>,
        M,
    >(
        definition: Tool,
        function: F,
    ) -> Self {
        let mut states = StateSlots::default();
        let state = states.add();
        let run = move |arguments: &RawJson, checks: &Arc<Checks>, context: Context| {
            let future = function.call(state.get(), F::Argument::read(arguments)?, context.clone());
            Ok(answer(future, checks.clone(), context))
        };
        Self::from_parts(definition, states, Box::new(run))
    }

    fn from_parts(definition: Tool, states: StateSlots, run: Box<Run>) -> Self {
        let (marks, checks, layers) = (Vec::new(), Arc::default(), Layers::default());
        Self { definition: Definition::new(definition), marks, checks, layers, states, run }
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

    /// Says that it changes nothing: the hint `readOnlyHint`.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.hint(|hints| hints.read_only_hint = Some(true))
    }

    /// Says that it may destroy something, which a host may ask about first: the hint `destructiveHint`.
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
    /// function is written as any other; [`Context::status`] says how it stands.
    ///
    /// - In a session of 2025-11-25 the client asks for a task with each call. One that is required is refused to a client
    ///   that does not; so it is in sessions of older revisions, which have no tasks.
    /// - Since 2026-07-28 the server decides, and the client says that it takes tasks. A tool that requires a task gives one
    ///   at once, and is refused to clients that take none. Where it is optional, the call runs as any other for
    ///   [some time](crate::Tasks::grace), and then goes on as a task; for a client that takes none, it goes on as a call.
    ///
    /// A question is asked wherever the function is. Since 2026-07-28 a function that asks *before* its call is a task is
    /// dropped and runs anew when the answer comes, as always; after that, and in every task, it waits for the answer.
    /// Progress of a task, and its log, reach sessions only.
    #[must_use]
    pub fn task(self, support: TaskSupport) -> Self {
        self.edit(|tool| tool.execution.get_or_insert_default().task_support = Some(support))
    }

    /// Adds a layer around this tool, below those of the [server](crate::Server::layer), which says what layers do.
    ///
    /// ```
    /// # use agentwire_mcp_server::{Context, NoArguments, ServerTool};
    /// use std::time::Duration;
    ///
    /// use tower::timeout::TimeoutLayer;
    ///
    /// # async fn import(_: NoArguments, _cx: Context) -> &'static str { "done" }
    /// let tool = ServerTool::new("import", "Import the books", import)
    ///     .layer(TimeoutLayer::new(Duration::from_secs(30)));
    /// # let _ = tool;
    /// ```
    #[must_use]
    pub fn layer<L: CallLayer<RawCall>>(mut self, layer: L) -> Self {
        self.layers.add_to_target(layer);
        self
    }

    /// Changes any other part of the definition.
    #[must_use]
    pub fn edit(mut self, change: impl FnOnce(&mut Tool)) -> Self {
        self.definition.edit(change);
        self
    }

    /// The definition that clients see.
    pub fn definition(&self) -> &Tool {
        self.definition.value()
    }

    /// Finds the function's state, and reads what the schemas mean for calls.
    ///
    /// # Panics
    ///
    /// When there is no such state, or a mark in the schema is wrong.
    #[track_caller]
    pub(crate) fn prepare(&mut self, states: &States) {
        self.states.bind(states, "tool", &self.definition().name);
        self.checks = Arc::new(Checks::new(self.definition()));
        match self.definition().header_marks() {
            Ok(marks) => self.marks = marks,
            Err(wrong) => panic!("the tool `{}`: {wrong}", self.definition().name),
        }
    }

    /// Whether it can run as a task.
    pub(crate) fn task_support(&self) -> &TaskSupport {
        let said = self.definition().execution.as_ref().and_then(|execution| execution.task_support.as_ref());
        said.unwrap_or(&TaskSupport::Forbidden)
    }

    pub(crate) fn header_marks(&self) -> &[HeaderMark] {
        &self.marks
    }

    /// Starts a call within the layers, of which `outer` is the server's first one.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments. Where there are layers, the call itself finds that out.
    pub(crate) fn run(
        self: &Arc<Self>,
        outer: Option<&Next>,
        arguments: &RawJson,
        context: Context,
    ) -> Result<HandlerFuture, String> {
        let Some(next) = outer.or(self.layers.first()) else {
            return self.start_function(arguments, context);
        };
        // A copy, so that the message need not wait in memory for the layers.
        let arguments = RawJson::parse(arguments.as_str().into()).map_err(|error| error.to_string())?;
        Ok(layers::run(next, RawCall::new(self, &self.definition().name, arguments, context)))
    }

    fn start_function(&self, arguments: &RawJson, context: Context) -> Result<HandlerFuture, String> {
        #[cfg(feature = "validate")]
        if context.settings().validate
            && let Err(fault) = self.checks.input(arguments.as_str(), context.settings().value_limit)?
        {
            return Ok(Box::pin(ready(Err(fault))));
        }
        (self.run)(arguments, &self.checks, context)
    }
}

/// Makes the function's future one that gives the text to send.
fn answer<O>(future: O, checks: Arc<Checks>, context: Context) -> HandlerFuture
where
    O: Future<Output: IntoToolResult> + Send + 'static,
{
    Box::pin(async move { give(future.await.into_tool_result()?, &checks, &context) })
}

/// Gives the text of a result. Not part of the above, so that a program has it once and not for each of its tools.
fn give(result: CallToolResult, checks: &Checks, context: &Context) -> Result<RawJson, ErrorObject> {
    checks.output(&result, context.settings().validate)?;
    context.encode(result)
}

/// What a model's mistake in the arguments is answered with: since 2025-11-25 something that the model sees.
pub(crate) fn wrong_arguments(name: &str, why: &str, context: &Context) -> Result<RawJson, ErrorObject> {
    if context.revision().has_argument_errors_in_results() {
        let text = format!("wrong arguments for the tool `{name}`: {why}");
        context.encode(CallToolResult::from_error(text))
    } else {
        Err(ErrorObject::invalid_params(format_args!("arguments of the tool `{name}`: {why}")))
    }
}

impl Target for ServerTool {
    fn method(&self) -> &'static str {
        CallToolRequest::NAME
    }

    fn layers(&self) -> &Layers {
        &self.layers
    }

    fn start(&self, call: &RawCall) -> Result<HandlerFuture, ErrorObject> {
        self.start_function(call.arguments(), call.context().clone()).or_else(|why| {
            let answer = wrong_arguments(call.name(), &why, call.context())?;
            Ok(Box::pin(ready(Ok(answer))))
        })
    }

    /// The model reads what went wrong, as with any failure of the tool.
    fn layer_failed(&self, context: &Context, error: BoxError) -> Result<RawJson, ErrorObject> {
        let name = &self.definition().name;
        let text = || format!("the tool `{name}` failed: {}", error.message());
        let result = answer_of(&error).unwrap_or_else(|| Ok(CallToolResult::from_error(text())))?;
        context.encode(result)
    }
}

impl Entry for ServerTool {
    fn key(&self) -> &str {
        &self.definition().name
    }

    fn listed(&self, revision: Revision) -> &RawValue {
        self.definition.text(revision)
    }
}

impl fmt::Debug for ServerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTool").field("definition", self.definition()).finish_non_exhaustive()
    }
}

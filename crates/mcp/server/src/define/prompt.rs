use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, RawJson, RawObject, RequestMethod};
use agentwire_mcp_schema::{
    GetPromptRequest, GetPromptResult, Icon, JsonSchema, Prompt, PromptArgument, PromptMessage, Revision,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::CallLayer;
use crate::define::completion::{Completable, Completers};
use crate::define::function::{Argument, kind};
use crate::define::layers;
use crate::define::layers::{Layers, Next, RawCall, Target};
use crate::define::names::check_name;
use crate::define::registry::{Definition, Entry};
use crate::define::state_slots::{StateSlots, States};
use crate::request::request_future::HandlerFuture;
use crate::{BoxError, Context, Function, IntoCompletion};

/// A prompt: its definition, which clients see, the function that fills it in, and the layers around that.
///
/// The members of the function's argument type are the prompt's arguments. They arrive as strings, so each is
/// a `String`, or something else that is parsed from a string: a number, a `bool`, an enum of strings, or an `Option` of
/// these where it may be left out.
///
/// ```
/// # use agentwire_mcp_server::{Context, Server};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The file to look at.
///     path: String,
/// }
///
/// async fn review(Review { path }: Review, _cx: Context) -> String {
///     format!("Please review {path}.")
/// }
///
/// let server = Server::new("reviewer", "1.0.0").prompt("review", "Review a file", review);
/// ```
pub struct ServerPrompt {
    definition: Definition<Prompt>,
    completers: Completers,
    layers: Layers,
    states: StateSlots,
    run: Box<Run>,
}

type Run = dyn Fn(&BTreeMap<String, String>, Context) -> Result<HandlerFuture, String> + Send + Sync;

impl ServerPrompt {
    /// A prompt of that name, with a sentence on what it is for, and the function that fills it in.
    ///
    /// # Panics
    ///
    /// When the name is not 1 to 128 of `A-Z a-z 0-9 _ - .`, the argument type is not one whose JSON is an object, or a
    /// member of it cannot be read from text, such as a `Vec`.
    #[track_caller]
    pub fn new<F: Function<kind::Prompt, M, Future: Future<Output: IntoPromptResult> + Send>, M>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self {
        let name = name.into();
        check_name("prompt", &name);
        let schema = F::Argument::schema().and_then(|schema| F::Argument::check(&[]).map(|()| schema));
        let arguments = match schema {
            Ok(schema) => arguments(&schema),
            Err(wrong) => panic!("the prompt `{name}`: {wrong}"),
        };
        let prompt = Prompt::new(name).description(description).arguments(arguments);
        let mut states = StateSlots::default();
        let state = states.add();
        let run =
            move |arguments: &BTreeMap<String, String>, context: Context| -> Result<HandlerFuture, String> {
                let future = function.call(state.get(), F::Argument::read(arguments)?, context.clone());
                Ok(Box::pin(async move {
                    let result = future.await.into_prompt_result()?;
                    context.encode(result)
                }))
            };
        let (completers, layers) = (Completers::default(), Layers::default());
        Self { definition: Definition::new(prompt), completers, layers, states, run: Box::new(run) }
    }

    /// Sets its name for people.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.edit(|prompt| prompt.title = Some(title.into()))
    }

    /// Sets pictures to show it by. Since 2025-11-25.
    #[must_use]
    pub fn icons(self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.edit(|prompt| prompt.icons = icons.into_iter().collect())
    }

    /// Completes an argument that a user types.
    ///
    /// ```
    /// # use agentwire_mcp_server::{Context, PartialArgument, Server, ServerPrompt};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Review { language: String }
    /// # async fn review(Review { language }: Review, _cx: Context) -> String { language }
    /// async fn languages(typed: PartialArgument, _cx: Context) -> Vec<String> {
    ///     typed.among(["python", "rust", "ruby"])
    /// }
    ///
    /// let review = ServerPrompt::new("review", "Review a file", review).complete("language", languages);
    /// let server = Server::new("reviewer", "1.0.0").with_prompt(review);
    /// ```
    ///
    /// # Panics
    ///
    /// When the prompt has no such argument.
    #[must_use]
    #[track_caller]
    pub fn complete<F: Function<kind::Completion, M, Future: Future<Output: IntoCompletion> + Send>, M>(
        mut self,
        argument: impl Into<String>,
        function: F,
    ) -> Self {
        let argument = argument.into();
        let name = &self.definition().name;
        assert!(self.has_argument(&argument), "the prompt `{name}` has no argument `{argument}`");
        self.completers.add(argument, function, &mut self.states);
        self
    }

    /// Adds a layer around this prompt, below those of the [server](crate::Server::layer), which says what layers do.
    #[must_use]
    pub fn layer<L: CallLayer<RawCall>>(mut self, layer: L) -> Self {
        self.layers.add_to_target(layer);
        self
    }

    /// Changes any other part of the definition.
    #[must_use]
    pub fn edit(mut self, change: impl FnOnce(&mut Prompt)) -> Self {
        self.definition.edit(change);
        self
    }

    /// The definition that clients see.
    pub fn definition(&self) -> &Prompt {
        self.definition.value()
    }

    /// Finds the state of its functions.
    ///
    /// # Panics
    ///
    /// When there is no such state.
    #[track_caller]
    pub(crate) fn prepare(&self, states: &States) {
        self.states.bind(states, "prompt", &self.definition().name);
    }

    /// Fills the prompt in within the layers, of which `outer` is the server's first one.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments.
    pub(crate) fn run(
        self: &Arc<Self>,
        outer: Option<&Next>,
        arguments: &BTreeMap<String, String>,
        context: Context,
    ) -> Result<HandlerFuture, ErrorObject> {
        let Some(next) = outer.or(self.layers.first()) else {
            return self.start_function(arguments, context);
        };
        let arguments = RawJson::encode(arguments).map_err(ErrorObject::internal_error)?;
        Ok(layers::run(next, RawCall::new(self, &self.definition().name, arguments, context)))
    }

    fn start_function(
        &self,
        arguments: &BTreeMap<String, String>,
        context: Context,
    ) -> Result<HandlerFuture, ErrorObject> {
        (self.run)(arguments, context).map_err(|why| {
            let name = &self.definition().name;
            ErrorObject::invalid_params(format_args!("arguments of the prompt `{name}`: {why}"))
        })
    }
}

/// The members of an argument type, in their order.
fn arguments(schema: &JsonSchema) -> Vec<PromptArgument> {
    let required = schema.as_map().get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let schema = RawJson::encode(schema).unwrap_or(RawJson::EMPTY_OBJECT);
    let properties: Option<RawObject> = schema.member("properties").and_then(|found| found.try_into().ok());
    let properties = properties.unwrap_or_default();
    properties
        .iter()
        .map(|(name, property)| {
            let text = |keyword| property.member(keyword)?.decode::<String>().ok();
            let mut argument = PromptArgument::new(&*name).required(is_required(&name));
            argument.title = text("title");
            argument.description = text("description");
            argument
        })
        .collect()
}

impl Target for ServerPrompt {
    fn method(&self) -> &'static str {
        GetPromptRequest::NAME
    }

    fn layers(&self) -> &Layers {
        &self.layers
    }

    fn start(&self, call: &RawCall) -> Result<HandlerFuture, ErrorObject> {
        let arguments = call.arguments().decode().map_err(ErrorObject::internal_error)?;
        self.start_function(&arguments, call.context().clone())
    }
}

impl Entry for ServerPrompt {
    fn key(&self) -> &str {
        &self.definition().name
    }

    fn listed(&self, revision: Revision) -> &RawValue {
        self.definition.text(revision)
    }
}

impl Completable for ServerPrompt {
    fn completers(&self) -> &Completers {
        &self.completers
    }

    fn has_argument(&self, name: &str) -> bool {
        self.definition().arguments.iter().any(|argument| argument.name == name)
    }
}

impl fmt::Debug for ServerPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerPrompt").field("definition", self.definition()).finish_non_exhaustive()
    }
}

/// What a prompt may give: text that the user says, one or more messages, a whole [`GetPromptResult`], or a
/// `Result` of these and any error. An [`ErrorObject`] is the answer, also as the source of an error; any other error is answered
/// as an internal error with its text.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot give `{Self}`",
    note = "give a `String`, `Vec<PromptMessage>`, `GetPromptResult`, or a `Result` of one of them and an error: `BoxError`, or what implements `std::error::Error`"
)]
pub trait IntoPromptResult {
    /// The prompt, filled in.
    ///
    /// # Errors
    ///
    /// Why it cannot be.
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject>;
}

#[diagnostic::do_not_recommend]
impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        Ok(GetPromptResult::new(self))
    }
}

#[diagnostic::do_not_recommend]
impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        Ok(GetPromptResult::new(vec![self]))
    }
}

#[diagnostic::do_not_recommend]
impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        PromptMessage::user(self).into_prompt_result()
    }
}

#[diagnostic::do_not_recommend]
impl IntoPromptResult for &str {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        PromptMessage::user(self).into_prompt_result()
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoPromptResult, E: Into<BoxError>> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult, ErrorObject> {
        self.map_err(Into::into)?.into_prompt_result()
    }
}

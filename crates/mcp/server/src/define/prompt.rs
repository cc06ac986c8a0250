//! `ServerPrompt`: a prompt's definition, its function and its layers.

use std::collections::BTreeMap;
use std::future::Future;

use agentwire_jsonrpc::{ErrorObject, RawJson, RawObject, RequestMethod};
use agentwire_mcp_schema::{
    GetPromptRequest, GetPromptResult, Icon, JsonSchema, Prompt, PromptArgument, PromptMessage,
};
use serde_json::Value;

use crate::define::function::{Argument, kind};
use crate::define::layers::RawCall;
use crate::define::names::check_name;
use crate::define::registered::{Completable, Registered, RegisteredKind};
use crate::request::request_future::HandlerFuture;
use crate::{BoxError, Context, Function};

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
pub type ServerPrompt = Registered<kind::Prompt>;

impl ServerPrompt {
    /// Creates a prompt from its name, a sentence that describes its purpose, and the function that fills it in.
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
        Self::with_function(prompt, (), |state| {
            move |_, arguments, context| {
                let future = function.call(state.get(), F::Argument::read(arguments)?, context.clone());
                Ok(Box::pin(async move { context.encode(future.await.into_prompt_result()?) }))
            }
        })
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

impl RegisteredKind for kind::Prompt {
    type Extra = ();
    type Params = BTreeMap<String, String>;

    const NOUN: &'static str = "prompt";
    const METHOD: &'static str = GetPromptRequest::NAME;

    fn key(prompt: &Prompt) -> &str {
        &prompt.name
    }

    fn encode(arguments: &BTreeMap<String, String>) -> Result<RawJson, String> {
        RawJson::encode(arguments).map_err(|error| error.to_string())
    }

    fn start_call(prompt: &ServerPrompt, call: &RawCall) -> Result<HandlerFuture, String> {
        let arguments = call.arguments().decode().map_err(|error| error.to_string())?;
        prompt.start_function(&arguments, call.context().clone())
    }

    fn wrong_arguments(name: &str, why: &str, _context: &Context) -> Result<RawJson, ErrorObject> {
        Err(ErrorObject::invalid_params(format_args!("arguments of the prompt `{name}`: {why}")))
    }
}

impl Completable for kind::Prompt {
    fn has_argument(prompt: &ServerPrompt, name: &str) -> bool {
        prompt.definition().arguments.iter().any(|argument| argument.name == name)
    }

    fn no_argument(prompt: &str, name: &str) -> String {
        format!("the prompt `{prompt}` has no argument `{name}`")
    }
}

/// The result of a prompt: text of the user, one or more messages, a whole [`GetPromptResult`], or a
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

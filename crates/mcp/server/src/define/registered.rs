//! The parts that tools, resources, resource templates and prompts have in common.
#![allow(private_bounds, reason = "the kinds are a closed set")]

use std::fmt;
use std::future::{Future, ready};
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::{Downgrade, Revision};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::define::completion::Completers;
use crate::define::function::{Kind, kind};
use crate::define::layers::{self, Layers, Next, RawCall, Target};
use crate::define::state_slots::{StateSlot, StateSlots, States};
use crate::request::request_future::HandlerFuture;
use crate::{BoxError, CallLayer, Context, Function, IntoCompletion};

/// A definition, with its text for each revision made when it is first asked for.
struct Definition<T> {
    value: T,
    texts: [OnceLock<Box<RawValue>>; Revision::ALL.len()],
}

impl<T: Serialize + Downgrade + Clone> Definition<T> {
    fn new(value: T) -> Self {
        Self { value, texts: Default::default() }
    }

    fn value(&self) -> &T {
        &self.value
    }

    /// Changes the definition before it is registered.
    fn edit(&mut self, change: impl FnOnce(&mut T)) {
        change(&mut self.value);
        self.texts = Default::default();
    }

    fn text(&self, revision: Revision) -> &RawValue {
        let place = Revision::ALL.iter().position(|known| *known == revision);
        let place = &self.texts[place.expect("every revision is among all revisions")];
        place.get_or_init(|| {
            let mut value = self.value.clone();
            value.downgrade(revision);
            to_raw_value(&value).expect("the keys of a definition are strings")
        })
    }
}

/// The definition of something that a server offers, which clients see, its function, and the layers around that:
/// a [`ServerTool`](crate::ServerTool), [`ServerResource`](crate::ServerResource),
/// [`ServerResourceTemplate`](crate::ServerResourceTemplate) or [`ServerPrompt`](crate::ServerPrompt).
pub struct Registered<K: RegisteredKind> {
    definition: Definition<K::Definition>,
    pub(super) extra: K::Extra,
    completers: Completers,
    layers: Layers,
    states: StateSlots,
    run: Box<Run<K>>,
}

/// A function of any type. It decodes its arguments before it returns its future, so that the message they came in can be
/// dropped before the function runs.
type Run<K> = dyn Fn(&Registered<K>, &<K as RegisteredKind>::Params, Context) -> Result<HandlerFuture, String>
    + Send
    + Sync;

/// The differences between tools, resources, resource templates and prompts.
pub(crate) trait RegisteredKind:
    Kind<Definition: Clone + fmt::Debug + Downgrade + Send + Serialize + Sync> + Sized
{
    /// Data beside the definition that only this kind has.
    type Extra: Send + Sync;
    /// The arguments of a request.
    type Params: ?Sized;

    const NOUN: &'static str;
    /// The method that runs the function.
    const METHOD: &'static str;

    /// The name or URI in a definition, unique in its registry.
    fn key(definition: &Self::Definition) -> &str;

    /// Updates the data for a changed definition.
    ///
    /// # Panics
    ///
    /// When the definition is invalid.
    #[track_caller]
    fn edited(_definition: &Self::Definition, _extra: &mut Self::Extra) {}

    /// Computes the data that calls need, when the definition is complete.
    ///
    /// # Panics
    ///
    /// When the definition is invalid.
    #[track_caller]
    fn prepare(_definition: &Self::Definition, _extra: &mut Self::Extra) {}

    /// The arguments as JSON, for layers.
    fn encode(params: &Self::Params) -> Result<RawJson, String>;

    /// The name of a call, for layers.
    fn call_name<'a>(definition: &'a Self::Definition, _params: &'a Self::Params) -> &'a str {
        Self::key(definition)
    }

    /// Starts the function of a call that has passed the layers.
    ///
    /// # Errors
    ///
    /// The fault of the arguments.
    fn start_call(item: &Registered<Self>, call: &RawCall) -> Result<HandlerFuture, String>;

    /// Checks the arguments before the function reads them.
    ///
    /// # Errors
    ///
    /// The fault of the arguments, or inside the answer to a server's own fault.
    fn check(
        _extra: &Self::Extra,
        _params: &Self::Params,
        _context: &Context,
    ) -> Result<Result<(), ErrorObject>, String> {
        Ok(Ok(()))
    }

    /// The answer to arguments that the function cannot read.
    fn wrong_arguments(key: &str, why: &str, context: &Context) -> Result<RawJson, ErrorObject>;

    /// The answer when a layer, or the function below it, failed.
    fn layer_failed(_key: &str, _context: &Context, error: BoxError) -> Result<RawJson, ErrorObject> {
        Err(error.into())
    }
}

/// A kind with arguments that can be completed.
pub(crate) trait Completable: RegisteredKind {
    fn has_argument(item: &Registered<Self>, name: &str) -> bool;

    /// The message of a panic: the item has no such argument.
    fn no_argument(key: &str, name: &str) -> String;
}

impl<K: RegisteredKind> Registered<K> {
    /// Adds a function, which `run` makes from the place of its state.
    pub(super) fn with_function<S, R>(
        definition: K::Definition,
        extra: K::Extra,
        run: impl FnOnce(Arc<StateSlot<S>>) -> R,
    ) -> Self
    where
        S: Clone + Send + Sync + 'static,
        R: Fn(&Self, &K::Params, Context) -> Result<HandlerFuture, String> + Send + Sync + 'static,
    {
        let mut states = StateSlots::default();
        let run = Box::new(run(states.add()));
        let (completers, layers) = (Completers::default(), Layers::default());
        Self { definition: Definition::new(definition), extra, completers, layers, states, run }
    }

    /// Adds a layer around this tool, resource, template or prompt, below those of the server.
    /// [`Server::layer`](crate::Server::layer) explains layers.
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

    /// Changes any other part of the definition, such as the size of a resource.
    ///
    /// # Panics
    ///
    /// When the URI template of a [`ServerResourceTemplate`](crate::ServerResourceTemplate) is changed to one that its
    /// `new` refuses.
    #[must_use]
    #[track_caller]
    pub fn edit(mut self, change: impl FnOnce(&mut K::Definition)) -> Self {
        self.definition.edit(change);
        K::edited(self.definition.value(), &mut self.extra);
        self
    }

    /// The definition that clients see.
    pub fn definition(&self) -> &K::Definition {
        self.definition.value()
    }

    /// The name, URI or URI template.
    pub(crate) fn key(&self) -> &str {
        K::key(self.definition())
    }

    /// The definition as it appears in a list.
    pub(crate) fn listed(&self, revision: Revision) -> &RawValue {
        self.definition.text(revision)
    }

    /// Finds the state of its functions, and computes the data that calls need.
    ///
    /// # Panics
    ///
    /// When there is no such state, or a mark in the schema of a tool is wrong.
    #[track_caller]
    pub(crate) fn prepare(&mut self, states: &States) {
        self.states.bind(states, K::NOUN, self.key());
        K::prepare(self.definition.value(), &mut self.extra);
    }

    /// Starts the function within the layers, of which `outer` is the server's first one.
    ///
    /// # Errors
    ///
    /// The fault of the arguments. If there are layers, the call itself finds it.
    pub(crate) fn run(
        self: &Arc<Self>,
        outer: Option<&Next>,
        params: &K::Params,
        context: Context,
    ) -> Result<HandlerFuture, String> {
        let Some(next) = outer.or(self.layers.first()) else {
            return self.start_function(params, context);
        };
        let name = K::call_name(self.definition(), params);
        Ok(layers::run(next, RawCall::new(self, name, K::encode(params)?, context)))
    }

    pub(super) fn start_function(
        &self,
        params: &K::Params,
        context: Context,
    ) -> Result<HandlerFuture, String> {
        match K::check(&self.extra, params, &context)? {
            Ok(()) => (self.run)(self, params, context),
            Err(fault) => Ok(Box::pin(ready(Err(fault)))),
        }
    }

    /// The answer to arguments that the function cannot read.
    pub(crate) fn wrong_arguments(&self, why: &str, context: &Context) -> Result<RawJson, ErrorObject> {
        K::wrong_arguments(self.key(), why, context)
    }
}

impl<K: RegisteredKind + Completable> Registered<K> {
    /// Completes an argument of a prompt, or a variable of a template, that a user types.
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
    /// When there is no such argument or variable.
    #[must_use]
    #[track_caller]
    pub fn complete<F: Function<kind::Completion, M, Future: Future<Output: IntoCompletion> + Send>, M>(
        mut self,
        argument: impl Into<String>,
        function: F,
    ) -> Self {
        let argument = argument.into();
        assert!(K::has_argument(&self, &argument), "{}", K::no_argument(self.key(), &argument));
        self.completers.add(argument, function, &mut self.states);
        self
    }

    pub(crate) fn completers(&self) -> &Completers {
        &self.completers
    }
}

impl<K: RegisteredKind> Target for Registered<K> {
    fn method(&self) -> &'static str {
        K::METHOD
    }

    fn layers(&self) -> &Layers {
        &self.layers
    }

    fn start(&self, call: &RawCall) -> Result<HandlerFuture, ErrorObject> {
        K::start_call(self, call).or_else(|why| {
            let answer = self.wrong_arguments(&why, call.context())?;
            Ok(Box::pin(ready(Ok(answer))) as _)
        })
    }

    fn layer_failed(&self, context: &Context, error: BoxError) -> Result<RawJson, ErrorObject> {
        K::layer_failed(self.key(), context, error)
    }
}

impl<K: RegisteredKind> fmt::Debug for Registered<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("definition", self.definition()).finish_non_exhaustive()
    }
}

//! The trait of functions that a server calls, and the parameters that they may take.

use std::collections::BTreeMap;
use std::ops::Deref;

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_schema::{JsonSchema, Prompt, Resource, ResourceTemplate, Tool};
use serde::de::DeserializeOwned;

use crate::Context;
use crate::decode::arguments::{NoArguments, decode, input_schema};
use crate::decode::string_args::{decode_string_args, decode_strings};
use crate::decode::text_members;

/// A parameter that receives a value given to [`Server::state`](crate::Server::state): a database, a client, a counter.
///
/// Each call gets a clone, so state is shared by what a clone shares, such as an `Arc`.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agentwire_mcp_server::{Server, State};
///
/// #[derive(Clone, Default)]
/// struct Notes(Arc<Mutex<Vec<String>>>);
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Note {
///     text: String,
/// }
///
/// async fn note(State(notes): State<Notes>, Note { text }: Note) -> &'static str {
///     notes.0.lock().unwrap().push(text);
///     "Noted."
/// }
///
/// let server = Server::new("notes", "1.0.0").state(Notes::default()).tool("note", "Write a note", note);
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it is taken apart in parameter lists")]
pub struct State<S>(pub S);

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// A function of a tool, resource, resource template, prompt or completion.
///
/// It is implemented for async functions, and closures that return futures, of these parameters. Each may be left out, and
/// their order is fixed:
///
/// 1. [`State<S>`](State), where [`Server::state`](crate::Server::state) was given an `S`
/// 2. the arguments: for a tool or a prompt any type that derives `Deserialize` and `JsonSchema`; for a resource template any
///    that derives `Deserialize`; for a resource a `String`, its URI; for a completion a [`PartialArgument`](crate::PartialArgument)
/// 3. [`Context`]
///
/// A closure names the types of its parameters. It runs many times, so it clones what it captures before its `async move`
/// block; state need not be captured.
///
/// ```
/// use agentwire_mcp_server::{Context, Server, State};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// async fn ping() {}
/// async fn add(Add { a, b }: Add) -> String { (a + b).to_string() }
/// async fn revision(cx: Context) -> String { cx.revision().to_string() }
/// async fn unit(unit: State<&'static str>, Add { a, b }: Add, _cx: Context) -> String {
///     format!("{} {}", a + b, *unit)
/// }
///
/// let server = Server::new("calculator", "1.0.0")
///     .state("kg")
///     .tool("ping", "Answer", ping)
///     .tool("add", "Add two numbers", add)
///     .tool("revision", "The protocol's revision", revision)
///     .tool("weigh", "Add two weights", unit);
/// # let _ = server;
/// ```
#[diagnostic::on_unimplemented(
    message = "this function does not fit `{K}`: it takes `State<S>`, the arguments, `Context`, in this order, and may leave each out",
    note = "the arguments derive `serde::Deserialize` and `schemars::JsonSchema`; a closure clones what it captures, before its `async move` block"
)]
pub trait Function<K: Kind, M>: Send + Sync + 'static {
    /// The state that it takes; `()` if it takes none.
    #[doc(hidden)]
    type State: Clone + Send + Sync + 'static;
    /// The type of its arguments.
    #[doc(hidden)]
    type Argument: Argument<K>;
    /// The future of its result.
    #[doc(hidden)]
    type Future: 'static;

    #[doc(hidden)]
    fn call(&self, state: Self::State, argument: Self::Argument, context: Context) -> Self::Future;
}

/// The kind of item that a function is registered as. It decides the form of the arguments.
pub trait Kind: 'static {
    /// The source of the arguments.
    #[doc(hidden)]
    type Input: ?Sized;
    /// The arguments of a function without any.
    #[doc(hidden)]
    type Absent: Argument<Self>;
    /// The definition that clients see.
    #[doc(hidden)]
    type Definition;
}

/// The type of the arguments of a function of that kind.
pub trait Argument<K: Kind + ?Sized>: Send + Sized + 'static {
    #[doc(hidden)]
    fn read(input: &K::Input) -> Result<Self, String>;

    /// The schema that clients see, or why there is none.
    #[doc(hidden)]
    fn schema() -> Result<JsonSchema, String> {
        Ok(JsonSchema::any_object())
    }

    /// Fails with the reason if the type cannot be read from texts. A template gives only the texts of its variables.
    #[doc(hidden)]
    fn check(variables: &[&str]) -> Result<(), String> {
        let _ = variables;
        Ok(())
    }
}

/// The kinds of functions.
pub mod kind {
    /// A tool.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum Tool {}
    /// A tool from a definition, whose arguments are JSON text.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum RawTool {}
    /// A prompt.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum Prompt {}
    /// A resource.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum Resource {}
    /// A template of resources.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum ResourceTemplate {}
    /// A completion of an argument.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum Completion {}
}

type Texts = BTreeMap<String, String>;

macro_rules! kinds {
    ($($kind:ident: $input:ty, $absent:ty, $definition:ty;)+) => {
        $(impl Kind for kind::$kind {
            type Input = $input;
            type Absent = $absent;
            type Definition = $definition;
        })+
    };
}

kinds! {
    Tool: RawJson, NoArguments, Tool;
    RawTool: RawJson, RawJson, Tool;
    Prompt: Texts, NoArguments, Prompt;
    Resource: String, String, Resource;
    ResourceTemplate: Texts, NoArguments, ResourceTemplate;
}

impl<A: DeserializeOwned + schemars::JsonSchema + Send + 'static> Argument<kind::Tool> for A {
    fn read(input: &RawJson) -> Result<Self, String> {
        decode(input)
    }

    fn schema() -> Result<JsonSchema, String> {
        input_schema::<A>()
    }
}

impl<A: DeserializeOwned + schemars::JsonSchema + Send + 'static> Argument<kind::Prompt> for A {
    fn read(input: &Texts) -> Result<Self, String> {
        decode_string_args(input)
    }

    fn schema() -> Result<JsonSchema, String> {
        input_schema::<A>()
    }

    fn check(_: &[&str]) -> Result<(), String> {
        text_members::check::<A>(None)
    }
}

impl<A: DeserializeOwned + Send + 'static> Argument<kind::ResourceTemplate> for A {
    fn read(input: &Texts) -> Result<Self, String> {
        decode_strings(input).map_err(|error| error.to_string())
    }

    fn check(variables: &[&str]) -> Result<(), String> {
        text_members::check::<A>(Some(variables))
    }
}

impl Argument<kind::RawTool> for RawJson {
    /// A copy, so that the message they came in can be dropped.
    fn read(input: &RawJson) -> Result<Self, String> {
        RawJson::parse(input.as_str().into()).map_err(|error| error.to_string())
    }
}

impl Argument<kind::Resource> for String {
    fn read(uri: &Self) -> Result<Self, String> {
        Ok(uri.clone())
    }
}

macro_rules! functions {
    ($([$($state:ident)?] [$($argument:ident)?] [$($context:ident)?])+) => {
        $(#[diagnostic::do_not_recommend]
        impl<K, F, O $(, $state)? $(, $argument)?>
            Function<K, (functions!(@marker $($state)?), ($($argument,)?), functions!(@context $($context)?))> for F
        where
            K: Kind,
            F: Fn($(State<$state>,)? $($argument,)? $(functions!(@context $context))?) -> O + Send + Sync + 'static,
            O: 'static,
            $($argument: Argument<K>,)?
            $($state: Clone + Send + Sync + 'static,)?
        {
            type State = functions!(@state $($state)?);
            type Argument = functions!(@argument $($argument)?);
            type Future = O;

            #[allow(unused_variables, non_snake_case, reason = "most functions take only some of them")]
            fn call(&self, state: Self::State, argument: Self::Argument, context: Context) -> O {
                $(let $state = State(state);)?
                $(let $argument = argument;)?
                $(let $context = context;)?
                self($($state,)? $($argument,)? $($context)?)
            }
        })+
    };
    (@marker $state:ident) => { State<$state> };
    (@marker) => { () };
    (@context $context:ident) => { Context };
    (@context) => { () };
    (@state $state:ident) => { $state };
    (@state) => { () };
    (@argument $argument:ident) => { $argument };
    (@argument) => { K::Absent };
}

functions! {
    [] [] []
    [] [] [cx]
    [] [A] []
    [] [A] [cx]
    [S] [] []
    [S] [] [cx]
    [S] [A] []
    [S] [A] [cx]
}

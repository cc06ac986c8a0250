//! Completion of arguments that a user types.

use std::collections::BTreeMap;
use std::future::{Future, ready};

use agentwire_jsonrpc::ErrorObject;
use agentwire_mcp_schema::{CompleteRequest, CompleteResult, Completion};

use crate::define::function::{Argument, Kind, kind};
use crate::define::state_slots::StateSlots;
use crate::request::request_future::HandlerFuture;
use crate::{BoxError, Context, Function};

/// An argument of a prompt, or a variable of a resource template, that a user is typing.
///
/// ```
/// use agentwire_mcp_server::PartialArgument;
///
/// async fn file(typed: PartialArgument) -> Vec<String> {
///     match typed.others.get("language").map(String::as_str) {
///         Some("rust") => typed.among(["lib.rs", "main.rs"]),
///         _ => Vec::new(),
///     }
/// }
/// # let _ = file;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartialArgument {
    /// The value so far; empty at first.
    pub value: String,
    /// The other arguments that have a value already, by their names. They are unchecked. Since 2025-06-18.
    pub others: BTreeMap<String, String>,
}

impl PartialArgument {
    /// The candidates that begin with [`value`](Self::value), in their order.
    pub fn among<S: AsRef<str>>(&self, words: impl IntoIterator<Item = S>) -> Vec<String> {
        let begins = |word: &S| word.as_ref().starts_with(&self.value);
        words.into_iter().filter(begins).map(|word| word.as_ref().to_owned()).collect()
    }
}

impl Kind for kind::Completion {
    type Input = PartialArgument;
    type Absent = PartialArgument;
    type Definition = ();
}

impl Argument<kind::Completion> for PartialArgument {
    fn read(input: &Self) -> Result<Self, String> {
        Ok(input.clone())
    }
}

/// The return types of a function that completes: strings, best first, a whole [`Completion`], or a `Result` of these and any
/// error. An [`ErrorObject`] is the answer, also as the source of an error; any other error is answered as an internal error with
/// its text.
///
/// No more than [`Completion::MAX_VALUES`] are sent. Where there are more, the result has their number.
#[diagnostic::on_unimplemented(
    message = "an argument cannot be completed by `{Self}`",
    note = "give a `Vec<String>`, `Completion`, or a `Result` of one of them and an error: `BoxError`, or what implements `std::error::Error`"
)]
pub trait IntoCompletion {
    /// The proposals.
    ///
    /// # Errors
    ///
    /// Why completing failed.
    fn into_completion(self) -> Result<Completion, ErrorObject>;
}

#[diagnostic::do_not_recommend]
impl IntoCompletion for Completion {
    fn into_completion(mut self) -> Result<Completion, ErrorObject> {
        let all = self.values.len();
        if all > Self::MAX_VALUES {
            self.values.truncate(Self::MAX_VALUES);
            self.total.get_or_insert(all as u64);
            self.has_more = true;
        }
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<S: Into<String>> IntoCompletion for Vec<S> {
    fn into_completion(self) -> Result<Completion, ErrorObject> {
        Ok(Completion::new(self.into_iter().map(Into::into).collect()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoCompletion, E: Into<BoxError>> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion, ErrorObject> {
        self.map_err(Into::into)?.into_completion()
    }
}

/// The functions that complete the arguments of one prompt or template, by the names of the arguments.
#[derive(Default)]
pub(crate) struct Completers(BTreeMap<String, Box<Complete>>);

type Complete = dyn Fn(PartialArgument, Context) -> HandlerFuture + Send + Sync;

impl Completers {
    pub(crate) fn add<F, M>(&mut self, argument: String, function: F, states: &mut StateSlots)
    where
        F: Function<kind::Completion, M>,
        F::Future: Future<Output: IntoCompletion> + Send,
    {
        let state = states.add();
        let run = move |partial: PartialArgument, context: Context| -> HandlerFuture {
            let argument = match F::Argument::read(&partial) {
                Ok(argument) => argument,
                Err(why) => return Box::pin(ready(Err(ErrorObject::internal_error(why)))),
            };
            let future = function.call(state.get(), argument, context.clone());
            Box::pin(async move { context.encode(CompleteResult::new(future.await.into_completion()?)) })
        };
        self.0.insert(argument, Box::new(run));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Starts the completion. `None` for an argument without a completer, which is not an error.
    pub(crate) fn run(&self, asked: CompleteRequest, context: Context) -> Option<HandlerFuture> {
        let complete = self.0.get(&asked.argument.name)?;
        let others = asked.context.map(|context| context.arguments).unwrap_or_default();
        Some(complete(PartialArgument { value: asked.argument.value, others }, context))
    }
}

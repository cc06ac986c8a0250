//! The client's answers to a server's questions, which arrive as requests or in results.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agentwire_jsonrpc::wire::{MapAs, ReadAs, Strict};
use agentwire_jsonrpc::{ErrorObject, RawJson, RequestMethod};
use agentwire_mcp_schema::{
    CreateMessageRequest, Downgrade, ElicitAction, ElicitFormRequest, ElicitRequest, ElicitResult,
    ElicitSchema, ElicitUrlRequest, Revision,
};
use agentwire_peer::{Clock, TokioClock};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use serde::{Deserialize, Deserializer, Serialize};

use crate::handler::hooks::contained;
use crate::result::{DEFAULT_VALUE_LIMIT, check};

/// The agreed revision, once the handshake has set it.
pub(crate) type Agreed = Arc<OnceLock<Revision>>;

pub(crate) type Outcome = Result<RawJson, ErrorObject>;

/// A future for the answer, or the error for a question that is refused.
pub(crate) type AnswerFuture = Result<BoxFuture<'static, Outcome>, ErrorObject>;

/// Answers a request of the server, in the form of the agreed revision.
type Answer = Arc<dyn Fn(Option<&RawJson>, &Agreed) -> AnswerFuture + Send + Sync>;

/// Asks the user.
type Elicit<M> = Arc<dyn Fn(M) -> BoxFuture<'static, Result<ElicitResult, ErrorObject>> + Send + Sync>;

/// A question of the server that came as part of a result.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct Question {
    pub(crate) method: String,
    pub(crate) params: Option<RawJson>,
}

/// Reads questions by their keys. PHP writes an empty map as an empty array. A null member is skipped.
pub(crate) fn questions<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, Question>>, D::Error> {
    let questions: Option<BTreeMap<String, Option<Question>>> = MapAs::<Strict>::read(deserializer)?;
    Ok(questions.map(|all| all.into_iter().filter_map(|(key, question)| Some((key, question?))).collect()))
}

/// How long the answer to a question may take by default: 1 h, as long as `agentwire-mcp-server` waits for one.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

/// The functions that answer the server's questions, and their limits.
#[derive(Clone)]
pub(crate) struct Answers {
    by_method: BTreeMap<&'static str, Answer>,
    form: Option<Elicit<ElicitFormRequest>>,
    url: Option<Elicit<ElicitUrlRequest>>,
    /// How often a call is made again with answers.
    pub(crate) round_limit: usize,
    /// How many questions a server may ask at once.
    pub(crate) request_limit: usize,
    /// How long the answer to a question may take; `None` for ever.
    pub(crate) time_limit: Option<Duration>,
    /// The questions of one connection that wait for their answers.
    open: OpenQuestions,
    /// Whether the client declares `sampling.tools`.
    pub(crate) samples_with_tools: bool,
    /// How many bytes of memory one decoded message of the server may take.
    pub(crate) value_limit: usize,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            by_method: BTreeMap::new(),
            form: None,
            url: None,
            round_limit: 10,
            request_limit: 100,
            time_limit: Some(TIME_LIMIT),
            open: OpenQuestions::default(),
            samples_with_tools: false,
            value_limit: DEFAULT_VALUE_LIMIT,
        }
    }
}

impl Answers {
    /// Sets the async function that answers a method.
    pub(crate) fn set<M, F, O>(&mut self, function: F)
    where
        M: RequestMethod,
        F: Fn(M) -> O + Send + Sync + 'static,
        O: Future<Output = Result<M::Response, ErrorObject>> + Send + 'static,
        M::Response: Serialize + Downgrade,
    {
        let answer = move |params: Option<&RawJson>, agreed: &Agreed| {
            let request = params.map_or_else(|| RawJson::EMPTY_OBJECT.decode(), RawJson::decode);
            let request = request.map_err(ErrorObject::invalid_params)?;
            let (result, agreed) = (function(request), agreed.clone());
            Ok(async move { encode_in(result.await?, &agreed) }.boxed())
        };
        self.by_method.insert(M::NAME, Arc::new(answer));
    }

    /// Sets the async function that answers forms. Their defaults are filled in.
    pub(crate) fn set_form<F, O>(&mut self, function: F)
    where
        F: Fn(ElicitFormRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        let elicit = move |form: ElicitFormRequest| {
            let schema = form.requested_schema.clone();
            let result = function(form);
            async move { Ok(with_defaults(result.await?, &schema)) }.boxed()
        };
        self.form = Some(Arc::new(elicit));
        self.set_elicitation();
    }

    /// Sets the async function that answers requests to open a web page.
    pub(crate) fn set_url<F, O>(&mut self, function: F)
    where
        F: Fn(ElicitUrlRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.url = Some(Arc::new(move |request| function(request).boxed()));
        self.set_elicitation();
    }

    /// Sets the function for `elicitation/create`, the method of both forms and URLs. It refuses the kind that the client does
    /// not advertise.
    fn set_elicitation(&mut self) {
        let (form, url) = (self.form.clone(), self.url.clone());
        let refuse = |mode| async move { Err(ErrorObject::invalid_params(unknown_mode(mode))) }.boxed();
        self.set(move |request: ElicitRequest| match (request, &form, &url) {
            (ElicitRequest::Form(request), Some(elicit), _) => elicit(request),
            (ElicitRequest::Url(request), _, Some(elicit)) => elicit(request),
            (ElicitRequest::Url(_), ..) => refuse("url"),
            _ => refuse("form"),
        });
    }

    /// Whether the client has a function for a method.
    pub(crate) fn has(&self, method: &str) -> bool {
        self.by_method.contains_key(method)
    }

    /// Answers a request; `None` if the client has no function for the method.
    pub(crate) fn answer(
        &self,
        method: &str,
        params: Option<&RawJson>,
        agreed: &Agreed,
    ) -> Option<AnswerFuture> {
        let answer = self.by_method.get(method)?;
        Some(self.check_declared(method, params, agreed).and_then(|()| self.begin(answer, params, agreed)))
    }

    /// Refuses tools in a request for sampling unless the client has declared `sampling.tools`: it must return an error. See
    /// <https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams-tools>.
    pub(crate) fn check_declared(
        &self,
        method: &str,
        params: Option<&RawJson>,
        agreed: &Agreed,
    ) -> Result<(), ErrorObject> {
        let revision = agreed.get().copied().unwrap_or(Revision::LATEST_LEGACY);
        if method != CreateMessageRequest::NAME || self.samples_with_tools || !revision.has_sampling_tools() {
            return Ok(());
        }
        let has =
            |name: &&str| params.and_then(|params| params.member(name)).is_some_and(|value| !value.is_null());
        match ["tools", "toolChoice"].iter().find(|name| has(name)) {
            None => Ok(()),
            Some(name) => Err(ErrorObject::invalid_params(format_args!(
                "this client does not have `sampling.tools`, which `{name}` needs"
            ))),
        }
    }

    fn begin(&self, answer: &Answer, params: Option<&RawJson>, agreed: &Agreed) -> AnswerFuture {
        let open = self.open.add(self.request_limit)?;
        let checked = params.map_or(Ok(()), |params| check(params, self.value_limit));
        checked.map_err(ErrorObject::invalid_params)?;
        let limit = self.time_limit;
        // Without a session the function runs within the caller's future, which a panic must not reach.
        let panicked = || ErrorObject::internal_error("the function that answers this request panicked");
        let answer = contained(|| answer(params, agreed)).unwrap_or_else(|| Err(panicked()))?;
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answer = answer.map(move |outcome| outcome.unwrap_or_else(|_| Err(panicked())));
        let answer = async move {
            let _open = open;
            match limit {
                Some(limit) => within(limit, answer).await,
                None => answer.await,
            }
        };
        Ok(answer.boxed())
    }

    /// Replaces the parts that belong to one connection. Clones of a client must not share these.
    pub(crate) fn for_connection(&mut self) {
        self.open = OpenQuestions::default();
    }
}

/// Drops an answer that takes too long.
async fn within(limit: Duration, answer: impl Future<Output = Outcome> + Unpin) -> Outcome {
    match select(answer, TokioClock::default().sleep(limit)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => {
            Err(ErrorObject::internal_error(format_args!("there was no answer within {limit:?}, the limit")))
        }
    }
}

/// Counts the questions that wait for their answers. Clones share the count.
#[derive(Clone, Debug, Default)]
struct OpenQuestions(Arc<AtomicUsize>);

impl OpenQuestions {
    fn add(&self, limit: usize) -> Result<OpenQuestion, ErrorObject> {
        let question = OpenQuestion(self.0.clone());
        if question.0.fetch_add(1, Ordering::Relaxed) < limit {
            return Ok(question);
        }
        Err(ErrorObject::internal_error(format_args!(
            "the server asks more than {limit} questions at once, which is the limit"
        )))
    }
}

/// Counts one question until it is dropped.
struct OpenQuestion(Arc<AtomicUsize>);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn unknown_mode(mode: &str) -> String {
    format!("this client does not have the mode `{mode}` of elicitation")
}

/// Fills the fields that an accepted form leaves out with their defaults.
fn with_defaults(mut result: ElicitResult, schema: &ElicitSchema) -> ElicitResult {
    if result.action != ElicitAction::Accept {
        return result;
    }
    let content = result.content.get_or_insert_default();
    for (name, field) in &schema.properties {
        if content.contains_key(name) {
            continue;
        }
        // Every kind of field has its default in the same place, also a kind that this library does not know.
        let default =
            serde_json::to_value(field).ok().and_then(|mut field| Some(field.get_mut("default")?.take()));
        content.extend(default.map(|default| (name.clone(), default)));
    }
    result
}

/// Encodes an answer in the terms of the server's revision. A server that asks before it has answered the handshake gets the
/// offered revision.
fn encode_in<T: Serialize + Downgrade>(mut value: T, agreed: &OnceLock<Revision>) -> Outcome {
    let revision = agreed.get().copied().unwrap_or(Revision::LATEST_LEGACY);
    value.downgrade(revision);
    value.fits(revision).map_err(ErrorObject::internal_error)?;
    encode(&value)
}

pub(crate) fn encode<T: Serialize>(value: &T) -> Outcome {
    RawJson::encode(value).map_err(ErrorObject::internal_error)
}

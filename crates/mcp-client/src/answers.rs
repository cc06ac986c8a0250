//! What the client answers a server that asks, whether it asks by a request or by a result.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use agentwire_jsonrpc::{ErrorObject, Method, RawJson};
use agentwire_mcp_schema::{
    ElicitAction, ElicitFormRequest, ElicitRequest, ElicitResult, ElicitSchema, ElicitUrlRequest, Narrow,
    Revision,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Serialize;

use crate::result::{DEFAULT_VALUE_LIMIT, check};

/// The revision that was agreed on, once it is.
pub(crate) type Agreed = Arc<OnceLock<Revision>>;

pub(crate) type Outcome = Result<RawJson, ErrorObject>;

/// An answer on its way, or what is wrong with the question.
pub(crate) type Answering = Result<BoxFuture<'static, Outcome>, ErrorObject>;

/// Answers a request of the server's, in the terms of the revision that was agreed on.
type Answer = Arc<dyn Fn(Option<&RawJson>, &Agreed) -> Answering + Send + Sync>;

/// Asks the user.
type Elicit<M> = Arc<dyn Fn(M) -> BoxFuture<'static, Result<ElicitResult, ErrorObject>> + Send + Sync>;

/// Everything that a client was given to answer with.
#[derive(Clone)]
pub(crate) struct Answers {
    by_method: BTreeMap<&'static str, Answer>,
    form: Option<Elicit<ElicitFormRequest>>,
    url: Option<Elicit<ElicitUrlRequest>>,
    /// How often one call is made again with answers.
    pub(crate) round_limit: usize,
    /// How many questions there may be at once in a result.
    pub(crate) request_limit: usize,
    /// How much memory what one message of the server's says may take.
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
            value_limit: DEFAULT_VALUE_LIMIT,
        }
    }
}

impl Answers {
    /// Answers a method by an async function.
    pub(crate) fn set<M, F, O>(&mut self, function: F)
    where
        M: Method,
        F: Fn(M) -> O + Send + Sync + 'static,
        O: Future<Output = Result<M::Response, ErrorObject>> + Send + 'static,
        M::Response: Serialize + Narrow,
    {
        let answer = move |params: Option<&RawJson>, agreed: &Agreed| {
            let request = params.map_or_else(|| RawJson::EMPTY_OBJECT.decode(), RawJson::decode);
            let request = request.map_err(ErrorObject::invalid_params)?;
            let (result, agreed) = (function(request), agreed.clone());
            Ok(async move { encode_in(result.await?, &agreed) }.boxed())
        };
        self.by_method.insert(M::NAME, Arc::new(answer));
    }

    /// Answers forms by an async function, and fills in their defaults.
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

    /// Answers by an async function what sends the user to a web page.
    pub(crate) fn set_url<F, O>(&mut self, function: F)
    where
        F: Fn(ElicitUrlRequest) -> O + Send + Sync + 'static,
        O: Future<Output = Result<ElicitResult, ErrorObject>> + Send + 'static,
    {
        self.url = Some(Arc::new(move |request| function(request).boxed()));
        self.set_elicitation();
    }

    /// Both kinds of questions to the user are one method. The kind that is not advertised is refused.
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

    /// Whether a method is answered.
    pub(crate) fn has(&self, method: &str) -> bool {
        self.by_method.contains_key(method)
    }

    /// Answers a request; none if there is nothing to answer it with.
    pub(crate) fn answer(
        &self,
        method: &str,
        params: Option<&RawJson>,
        agreed: &Agreed,
    ) -> Option<Answering> {
        let answer = self.by_method.get(method)?;
        let checked = params.map_or(Ok(()), |params| check(params, self.value_limit));
        Some(checked.map_err(ErrorObject::invalid_params).and_then(|()| answer(params, agreed)))
    }
}

fn unknown_mode(mode: &str) -> String {
    format!("this client does not have the mode `{mode}` of elicitation")
}

/// What the user left as it was in an accepted form is what the form had there at first.
fn with_defaults(mut result: ElicitResult, schema: &ElicitSchema) -> ElicitResult {
    if result.action != ElicitAction::Accept {
        return result;
    }
    let content = result.content.get_or_insert_default();
    for (name, field) in &schema.properties {
        if content.contains_key(name) {
            continue;
        }
        // Every kind of field has it in the same place on the wire, also one that we do not know.
        let default =
            serde_json::to_value(field).ok().and_then(|mut field| Some(field.get_mut("default")?.take()));
        content.extend(default.map(|default| (name.clone(), default)));
    }
    result
}

/// In the terms of the server's revision. One that asks before it has answered the handshake gets those offered.
fn encode_in<T: Serialize + Narrow>(mut value: T, agreed: &OnceLock<Revision>) -> Outcome {
    let revision = agreed.get().copied().unwrap_or(Revision::LATEST_SESSION);
    value.narrow(revision);
    value.fits(revision).map_err(ErrorObject::internal_error)?;
    encode(&value)
}

pub(crate) fn encode<T: Serialize>(value: &T) -> Outcome {
    RawJson::encode(value).map_err(ErrorObject::internal_error)
}

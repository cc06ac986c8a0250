//! What the server asks, and what it says by itself.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agentwire_jsonrpc::{ErrorObject, Method, Notice, Notification, RawJson, Request};
use agentwire_mcp_schema::{
    EmptyResult, LoggingMessageNotification, Narrow, PingRequest, PromptListChangedNotification,
    ResourceListChangedNotification, ResourceUpdatedNotification, Revision,
    SubscriptionsAcknowledgedNotification, ToolListChangedNotification,
};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Serialize;

use crate::Warning;
use crate::subscription::Subscriptions;

/// Answers a request of the server's, in the terms of the revision that was agreed on.
pub(crate) type Answer =
    Arc<dyn Fn(Option<&RawJson>, &Agreed) -> Result<BoxFuture<'static, Outcome>, ErrorObject> + Send + Sync>;

/// The revision that was agreed on, once it is.
pub(crate) type Agreed = Arc<OnceLock<Revision>>;

pub(crate) type Outcome = Result<RawJson, ErrorObject>;

/// Hears something, one at a time, from all connections of a client.
pub(crate) type Hook<T> = Option<Arc<Mutex<Box<dyn FnMut(T) + Send>>>>;

/// What the driver of a connection calls.
#[derive(Clone, Default)]
pub(crate) struct Front {
    pub(crate) agreed: Agreed,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) answers: BTreeMap<&'static str, Answer>,
    pub(crate) on_log: Hook<LoggingMessageNotification>,
    pub(crate) on_tools_changed: Hook<()>,
    pub(crate) on_resources_changed: Hook<()>,
    pub(crate) on_prompts_changed: Hook<()>,
    pub(crate) on_resource_updated: Hook<String>,
    pub(crate) on_other: Hook<Notification>,
    pub(crate) on_warning: Hook<Warning>,
}

impl Front {
    /// Without what belongs to a connection, which clones must not share.
    pub(crate) fn fresh(mut self) -> Self {
        self.agreed = Agreed::default();
        self.subscriptions = Subscriptions::default();
        self
    }

    fn is_stateless(&self) -> bool {
        self.agreed.get().copied().is_some_and(Revision::is_stateless)
    }

    /// Whether a stateless server's word is for the client, and not about a subscription itself or one that has
    /// ended.
    fn is_heard(&self, notification: &Notification) -> bool {
        let params = notification.params.as_ref();
        if notification.method == SubscriptionsAcknowledgedNotification::NAME {
            self.subscriptions.acknowledge(params);
            return false;
        }
        self.subscriptions.wants(params)
    }

    /// Answers a method by an async function.
    pub(crate) fn answer<M, F, O>(&mut self, function: F)
    where
        M: Method,
        F: Fn(M) -> O + Send + Sync + 'static,
        O: Future<Output = Result<M::Response, ErrorObject>> + Send + 'static,
        M::Response: Serialize + Narrow,
    {
        let answer = move |params: Option<&RawJson>, agreed: &Agreed| {
            let text = params.map_or("{}", RawJson::as_str);
            let request = serde_json::from_str(text).map_err(ErrorObject::invalid_params)?;
            let (result, agreed) = (function(request), agreed.clone());
            Ok(async move { encode_in(result.await?, &agreed) }.boxed())
        };
        self.answers.insert(M::NAME, Arc::new(answer));
    }
}

impl Handler for Front {
    fn request(&self, request: Request, context: RequestContext) -> impl Future<Output = Outcome> {
        let params = request.params.as_ref();
        let answer = match &*request.method {
            method if self.is_stateless() => Err(Err(ErrorObject::method_not_found(method))),
            PingRequest::NAME => Err(encode(&EmptyResult::default())),
            method => match self.answers.get(method).map(|answer| answer(params, &self.agreed)) {
                Some(Ok(answer)) => Ok(answer),
                Some(Err(error)) => Err(Err(error)),
                None => Err(Err(ErrorObject::method_not_found(method))),
            },
        };
        async move {
            match answer {
                Ok(answer) => {
                    // A request that the server takes back is dropped where it waits.
                    let mut cancelled = context.cancelled().fuse();
                    futures::select_biased! {
                        outcome = answer.fuse() => outcome,
                        () = cancelled => Err(ErrorObject::request_cancelled()),
                    }
                }
                Err(outcome) => outcome,
            }
        }
    }

    fn notification(&self, notification: Notification, _peer: &Peer) {
        if self.is_stateless() && !self.is_heard(&notification) {
            return;
        }
        match &*notification.method {
            LoggingMessageNotification::NAME => {
                let message = notification.params.and_then(|params| params.decode().ok());
                tell(&self.on_log, message);
            }
            ResourceUpdatedNotification::NAME => {
                let update = |params: RawJson| params.decode::<ResourceUpdatedNotification>().ok();
                let uri = notification.params.and_then(update).map(|update| update.uri);
                tell(&self.on_resource_updated, uri);
            }
            ToolListChangedNotification::NAME => tell(&self.on_tools_changed, Some(())),
            ResourceListChangedNotification::NAME => tell(&self.on_resources_changed, Some(())),
            PromptListChangedNotification::NAME => tell(&self.on_prompts_changed, Some(())),
            _ => tell(&self.on_other, Some(notification)),
        }
    }
}

/// What cannot be read is nothing: a notification has no answer in which to complain. What panics in a hook has been
/// reported by the panic hook, and concerns neither the connection nor whoever had something to tell.
pub(crate) fn tell<T>(hook: &Hook<T>, what: Option<T>) {
    if let (Some(hook), Some(what)) = (hook, what) {
        let call = || hook.lock().unwrap_or_else(PoisonError::into_inner)(what);
        let _panicked = catch_unwind(AssertUnwindSafe(call));
    }
}

/// In the terms of the server's revision. One that asks before it has answered the handshake gets those offered.
fn encode_in<T: Serialize + Narrow>(mut value: T, agreed: &OnceLock<Revision>) -> Outcome {
    let revision = agreed.get().copied().unwrap_or(Revision::LATEST_SESSION);
    value.narrow(revision);
    value.fits(revision).map_err(ErrorObject::internal_error)?;
    encode(&value)
}

fn encode<T: Serialize>(value: &T) -> Outcome {
    RawJson::encode(value).map_err(ErrorObject::internal_error)
}

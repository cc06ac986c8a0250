//! What the server asks, and what it says by itself.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use agentwire_jsonrpc::{ErrorObject, Method, Notice, Notification, RawJson, Request};
use agentwire_mcp_schema::core_tasks::{self, RELATED_TASK, RelatedTaskMetadata};
use agentwire_mcp_schema::task_extension;
use agentwire_mcp_schema::{
    EmptyResult, JsonObject, ListPromptsRequest, ListToolsRequest, LoggingMessageNotification, Meta,
    PingRequest, ProgressNotification, PromptListChangedNotification, ResourceListChangedNotification,
    ResourceUpdatedNotification, Revision, SubscriptionsAcknowledgedNotification,
    ToolListChangedNotification,
};
use agentwire_peer::{Handler, Peer, RequestContext};
use futures::FutureExt;

use crate::Warning;
use crate::answers::{Agreed, Answers, Outcome, encode};
use crate::cache::{Cache, Connected, RESOURCES};
use crate::result::check;
use crate::subscription::Subscriptions;
use crate::tasks::{Leave, ProgressHooks, Supports, TaskState, Tasks, read_state};

/// Hears something, one at a time, from all connections of a client.
pub(crate) type Hook<T> = Option<Arc<Mutex<Box<dyn FnMut(T) + Send>>>>;

pub(crate) fn set<T>(hook: impl FnMut(T) + Send + 'static) -> Hook<T> {
    Some(Arc::new(Mutex::new(Box::new(hook))))
}

/// What the driver of a connection calls.
#[derive(Clone, Default)]
pub(crate) struct Front {
    pub(crate) agreed: Agreed,
    pub(crate) subscriptions: Subscriptions,
    pub(crate) answers: Answers,
    pub(crate) cache: Option<Cache>,
    /// What this connection has of it.
    pub(crate) connected: Option<Arc<Connected>>,
    /// How tasks are followed, if they are.
    pub(crate) tasks: Option<Tasks>,
    pub(crate) supports: Arc<Supports>,
    pub(crate) progress_hooks: ProgressHooks,
    pub(crate) leave: Leave,
    #[cfg(feature = "validate")]
    pub(crate) checks_output: bool,
    pub(crate) on_log: Hook<LoggingMessageNotification>,
    pub(crate) on_tools_changed: Hook<()>,
    pub(crate) on_resources_changed: Hook<()>,
    pub(crate) on_prompts_changed: Hook<()>,
    pub(crate) on_resource_updated: Hook<String>,
    pub(crate) on_notification: Hook<Notification>,
    pub(crate) on_task_changed: Hook<TaskState>,
    pub(crate) on_other: Hook<Notification>,
    pub(crate) on_warning: Hook<Warning>,
}

impl Front {
    /// Without what belongs to a connection, which clones must not share.
    pub(crate) fn fresh(mut self) -> Self {
        self.agreed = Agreed::default();
        self.subscriptions = Subscriptions::default();
        self.supports = Arc::default();
        self.progress_hooks = ProgressHooks::default();
        self.leave = Leave::default();
        self.connected = self.cache.clone().map(|cache| Arc::new(Connected::new(cache)));
        self
    }

    /// The server's tools are others now, or may be.
    pub(crate) fn tools_changed(&self) {
        self.forget(&[ListToolsRequest::NAME]);
        self.supports.forget();
        tell(&self.on_tools_changed, Some(()));
    }

    /// The server's resources are others now, or may be.
    pub(crate) fn resources_changed(&self) {
        self.forget(RESOURCES);
        tell(&self.on_resources_changed, Some(()));
    }

    /// The server's prompts are others now, or may be.
    pub(crate) fn prompts_changed(&self) {
        self.forget(&[ListPromptsRequest::NAME]);
        tell(&self.on_prompts_changed, Some(()));
    }

    fn resource_updated(&self, uri: String) {
        if let Some(cache) = &self.connected {
            cache.forget_resource(&uri);
        }
        tell(&self.on_resource_updated, Some(uri));
    }

    fn forget(&self, methods: &[&str]) {
        if let Some(cache) = &self.connected {
            cache.forget(methods);
        }
    }

    fn is_stateless(&self) -> bool {
        self.agreed.get().copied().is_some_and(Revision::is_stateless)
    }

    /// The task in whose course the server asks, in 2025-11-25: the answer must name it, too.
    fn related_task(&self, params: Option<&RawJson>) -> Option<RelatedTaskMetadata> {
        #[derive(serde::Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Option<Meta>,
        }

        let params = params.filter(|params| params.as_str().contains(RELATED_TASK))?;
        self.agreed.get().filter(|revision| revision.has_core_tasks())?;
        RelatedTaskMetadata::read(params.decode::<Params>().ok()?.meta.as_ref())
    }

    /// Whether a stateless server's word is for the client, and not about a subscription itself or one that has
    /// ended.
    fn is_heard(&self, notification: &Notification) -> bool {
        if notification.method == SubscriptionsAcknowledgedNotification::NAME {
            self.subscriptions.acknowledge(notification.params.as_ref());
            return false;
        }
        self.subscriptions.hear(notification)
    }
}

impl Handler for Front {
    fn request(&self, request: Request, context: RequestContext) -> impl Future<Output = Outcome> {
        let params = request.params.as_ref();
        let answer = match &*request.method {
            method if self.is_stateless() => Err(Err(ErrorObject::method_not_found(method))),
            PingRequest::NAME => Err(encode(&EmptyResult::default())),
            method => match self.answers.answer(method, params, &self.agreed) {
                Some(Ok(answer)) => Ok(answer),
                Some(Err(error)) => Err(Err(error)),
                None => Err(Err(ErrorObject::method_not_found(method))),
            },
        };
        let related = self.related_task(params);
        async move {
            let outcome = match answer {
                Ok(answer) => {
                    // A request that the server takes back is dropped where it waits.
                    let mut cancelled = context.cancelled().fuse();
                    futures::select_biased! {
                        outcome = answer.fuse() => outcome,
                        () = cancelled => Err(ErrorObject::request_cancelled()),
                    }
                }
                Err(outcome) => outcome,
            };
            match related {
                Some(related) => outcome.and_then(|result| relate(&result, &related)),
                None => outcome,
            }
        }
    }

    fn notification(&self, notification: Notification, _peer: &Peer) {
        let is_too_large = |params: &RawJson| check(params, self.answers.value_limit).is_err();
        if notification.params.as_ref().is_some_and(is_too_large) {
            return;
        }
        if self.is_stateless() && !self.is_heard(&notification) {
            return;
        }
        // That of calls has been told. A word stands for a task, or for nothing that is known any more.
        if notification.method == ProgressNotification::NAME {
            return self.progress_hooks.tell(notification.params.as_ref());
        }
        if self.on_notification.is_some() {
            tell(&self.on_notification, Some(notification.clone()));
        }
        match &*notification.method {
            LoggingMessageNotification::NAME => {
                let message = notification.params.and_then(|params| params.decode().ok());
                tell(&self.on_log, message);
            }
            ResourceUpdatedNotification::NAME => {
                let update = |params: RawJson| params.decode::<ResourceUpdatedNotification>().ok();
                if let Some(update) = notification.params.and_then(update) {
                    self.resource_updated(update.uri);
                }
            }
            ToolListChangedNotification::NAME => self.tools_changed(),
            ResourceListChangedNotification::NAME => self.resources_changed(),
            PromptListChangedNotification::NAME => self.prompts_changed(),
            task_extension::TaskStatusNotification::NAME | core_tasks::TaskStatusNotification::NAME
                if self.on_task_changed.is_some() =>
            {
                tell(&self.on_task_changed, notification.params.as_ref().and_then(read_state));
            }
            _ => tell(&self.on_other, Some(notification)),
        }
    }
}

/// Writes into an answer which task it belongs to.
fn relate(result: &RawJson, related: &RelatedTaskMetadata) -> Outcome {
    let mut result: JsonObject = result.decode().map_err(ErrorObject::internal_error)?;
    let mut meta = match result.remove("_meta") {
        Some(serde_json::Value::Object(meta)) => Some(meta),
        _ => None,
    };
    related.write_to(&mut meta);
    result.extend(meta.map(|meta| ("_meta".to_owned(), meta.into())));
    encode(&result)
}

/// What cannot be read is nothing: a notification has no answer in which to complain. What panics in a hook has been
/// reported by the panic hook, and concerns neither the connection nor whoever had something to tell.
pub(crate) fn tell<T>(hook: &Hook<T>, what: Option<T>) {
    if let (Some(hook), Some(what)) = (hook, what) {
        let call = || hook.lock().unwrap_or_else(PoisonError::into_inner)(what);
        let _panicked = catch_unwind(AssertUnwindSafe(call));
    }
}

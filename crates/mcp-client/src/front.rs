//! What the server asks, and what it says by itself.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Method, Notice, Notification, RawJson, RawObject, Request};
use agentwire_mcp_schema::core_tasks::{self, RELATED_TASK, RelatedTaskMetadata};
use agentwire_mcp_schema::task_extension;
use agentwire_mcp_schema::{
    EmptyResult, ListPromptsRequest, ListToolsRequest, LoggingMessageNotification, Meta, PingRequest,
    ProgressNotification, PromptListChangedNotification, ResourceListChangedNotification,
    ResourceUpdatedNotification, Revision, SubscriptionsAcknowledgedNotification,
    ToolListChangedNotification,
};
use agentwire_peer::{Handler, Peer, RequestContext};
use agentwire_sync::Mutex;
use futures::FutureExt;
use serde::de::DeserializeOwned;

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

    fn warn(&self, warning: Warning) {
        tell(&self.on_warning, Some(warning));
    }

    /// What a notification says. None with a warning where it cannot be decoded.
    fn decode<N: Notice + DeserializeOwned>(&self, notification: &Notification) -> Option<N> {
        match notification.params.as_ref().map_or_else(|| RawJson::EMPTY_OBJECT.decode(), RawJson::decode) {
            Ok(decoded) => Some(decoded),
            Err(why) => {
                self.warn(Warning::notification_left_out(&notification.method, &why));
                None
            }
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
        let limit = self.answers.value_limit;
        let checked = notification.params.as_ref().map_or(Ok(()), |params| check(params, limit));
        if let Err(why) = checked {
            return self.warn(Warning::notification_left_out(&notification.method, &why));
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
                tell(&self.on_log, self.decode(&notification));
            }
            ResourceUpdatedNotification::NAME => {
                if let Some(ResourceUpdatedNotification { uri, .. }) = self.decode(&notification) {
                    self.resource_updated(uri);
                }
            }
            ToolListChangedNotification::NAME => self.tools_changed(),
            ResourceListChangedNotification::NAME => self.resources_changed(),
            PromptListChangedNotification::NAME => self.prompts_changed(),
            task_extension::TaskStatusNotification::NAME | core_tasks::TaskStatusNotification::NAME
                if self.on_task_changed.is_some() =>
            {
                let state = notification.params.as_ref().and_then(read_state);
                if state.is_none() {
                    let why = "this is no state of a task";
                    self.warn(Warning::notification_left_out(&notification.method, &why));
                }
                tell(&self.on_task_changed, state);
            }
            _ => tell(&self.on_other, Some(notification)),
        }
    }

    fn unreadable(&self, error: ErrorObject) {
        self.warn(Warning::message_left_out(&error.message));
    }
}

/// Writes into an answer which task it belongs to.
fn relate(result: &RawJson, related: &RelatedTaskMetadata) -> Outcome {
    let mut result = RawObject::try_from(result.clone()).map_err(ErrorObject::internal_error)?;
    let mut meta = result.get("_meta").and_then(|meta| meta.try_into().ok());
    related.write_to(&mut meta);
    result.extend(meta.map(|meta| ("_meta", meta)));
    Ok(result.into())
}

/// What panics in a hook has been reported by the panic hook, and concerns neither the connection nor whoever had something
/// to tell.
pub(crate) fn tell<T>(hook: &Hook<T>, what: Option<T>) {
    if let (Some(hook), Some(what)) = (hook, what) {
        let call = || hook.lock()(what);
        let _panicked = catch_unwind(AssertUnwindSafe(call));
    }
}

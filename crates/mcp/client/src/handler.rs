//! The server's requests and notifications.

pub(crate) mod answers;
pub(crate) mod hooks;

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use agentwire_jsonrpc::{
    ErrorObject, Notification, NotificationMethod, RawJson, RawObject, Request, RequestMethod, Response,
    Skipped, collect_skipped,
};
use agentwire_mcp_schema::core_tasks::{self, RELATED_TASK, RelatedTaskMetadata};
use agentwire_mcp_schema::task_extension;
use agentwire_mcp_schema::{
    EmptyResult, ListPromptsRequest, ListToolsRequest, LoggingMessageNotification, Meta, PingRequest,
    ProgressNotification, PromptListChangedNotification, ResourceListChangedNotification,
    ResourceUpdatedNotification, Revision, SubscriptionsAcknowledgedNotification,
    ToolListChangedNotification,
};
use agentwire_peer::layers::Layers;
use agentwire_peer::runtime::describe_unmatched;
use agentwire_peer::{Handler, Peer, RequestContext};
use agentwire_transport::TransportError;
use futures_util::FutureExt;
use serde::de::DeserializeOwned;

use crate::Warning;
use crate::cache::{Cache, ConnectionCache, RESOURCES};
use crate::changes::SessionQueues;
use crate::changes::subscription::Subscriptions;
use crate::connection::cleanup::Cleanup;
use crate::handler::answers::{Agreed, Answers, Outcome, encode};
use crate::handler::hooks::{Hook, ProgressHooks, call_hook};
use crate::raw::RawCall;
use crate::result::check;
use crate::tasks::deadline::now;
use crate::tasks::report::{TaskState, read_state};
use crate::tasks::settings::Tasks;
use crate::tools::Tools;

/// Handles the server's messages on one connection by the client's hooks and answer functions.
#[derive(Clone, Default)]
pub(crate) struct ClientHandler {
    pub(crate) agreed: Agreed,
    /// The time of the server's first message that is not a response: a sign that the server is up.
    pub(crate) first_message: Arc<OnceLock<Instant>>,
    /// The open `subscriptions/listen` requests, at a modern server.
    pub(crate) subscriptions: Subscriptions,
    /// Serve [`RemoteServer::changes`](crate::RemoteServer::changes) in a session.
    pub(crate) session_queues: SessionQueues,
    pub(crate) answers: Answers,
    pub(crate) cache: Option<Cache>,
    /// The view of the cache that belongs to this connection.
    pub(crate) connection_cache: Option<Arc<ConnectionCache>>,
    /// How tasks are followed; `None` if they are not.
    pub(crate) tasks: Option<Tasks>,
    pub(crate) tools: Arc<Tools>,
    pub(crate) progress_hooks: ProgressHooks,
    pub(crate) cleanup: Cleanup,
    /// The user's layers.
    pub(crate) layers: Layers<RawCall>,
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

impl ClientHandler {
    /// Replaces the parts that belong to one connection. Clones of a client must not share these.
    pub(crate) fn for_connection(mut self) -> Self {
        self.agreed = Agreed::default();
        self.first_message = Arc::default();
        self.answers.for_connection();
        self.subscriptions = Subscriptions::default();
        self.session_queues = SessionQueues::default();
        self.tools = Arc::default();
        self.progress_hooks = ProgressHooks::default();
        self.cleanup = Cleanup::default();
        self.connection_cache = self.cache.clone().map(|cache| Arc::new(ConnectionCache::new(cache)));
        self
    }

    /// Forgets the facts and cached lists of tools, and calls the hook.
    pub(crate) fn tools_changed(&self) {
        self.forget(&[ListToolsRequest::NAME]);
        self.tools.forget();
        call_hook(&self.on_tools_changed, Some(()));
    }

    /// Forgets the cached resources, and calls the hook.
    pub(crate) fn resources_changed(&self) {
        self.forget(RESOURCES);
        call_hook(&self.on_resources_changed, Some(()));
    }

    /// Forgets the cached prompts, and calls the hook.
    pub(crate) fn prompts_changed(&self) {
        self.forget(&[ListPromptsRequest::NAME]);
        call_hook(&self.on_prompts_changed, Some(()));
    }

    fn resource_updated(&self, uri: String) {
        if let Some(cache) = &self.connection_cache {
            cache.forget_resource(&uri);
        }
        call_hook(&self.on_resource_updated, Some(uri));
    }

    fn forget(&self, methods: &[&str]) {
        if let Some(cache) = &self.connection_cache {
            cache.forget(methods);
        }
    }

    fn note_message(&self) {
        self.first_message.get_or_init(now);
    }

    fn warn(&self, warning: Warning) {
        call_hook(&self.on_warning, Some(warning));
    }

    /// Decodes a notification. Returns `None` after a warning if decoding fails.
    fn decode<N: NotificationMethod + DeserializeOwned>(&self, notification: &Notification) -> Option<N> {
        let empty = RawJson::EMPTY_OBJECT;
        let params = notification.params.as_ref().unwrap_or(&empty);
        let (decoded, skipped) = collect_skipped(|| params.decode_leniently());
        match decoded {
            Ok(decoded) => {
                if !skipped.is_empty() {
                    self.skipped(&notification.method, skipped);
                }
                Some(decoded)
            }
            Err(why) => {
                self.warn(Warning::notification_left_out(&notification.method, &why));
                None
            }
        }
    }

    fn is_modern(&self) -> bool {
        self.agreed.get().copied().is_some_and(Revision::is_modern)
    }

    /// The task that a request belongs to, in 2025-11-25: the answer must name it, too.
    fn related_task(&self, params: Option<&RawJson>) -> Option<RelatedTaskMetadata> {
        #[derive(serde::Deserialize)]
        #[serde(expecting = "an object")]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Option<Meta>,
        }

        let params = params.filter(|params| params.as_str().contains(RELATED_TASK))?;
        self.agreed.get().filter(|revision| revision.has_core_tasks())?;
        RelatedTaskMetadata::read(params.decode::<Params>().ok()?.meta.as_ref())
    }

    /// Whether a modern server's notification goes to the client's hooks. A notification about a subscription itself, or on
    /// a subscription that has ended, does not.
    fn is_dispatched(&self, notification: &Notification) -> bool {
        if notification.method == SubscriptionsAcknowledgedNotification::NAME {
            self.subscriptions.acknowledge(notification.params.as_ref());
            return false;
        }
        self.subscriptions.dispatch(notification)
    }
}

impl Handler for ClientHandler {
    fn request(&self, request: Request, context: RequestContext) -> impl Future<Output = Outcome> {
        self.note_message();
        let params = request.params.as_ref();
        let answer = match &*request.method {
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
                    // Cancelling the request drops its answer.
                    let mut cancelled = context.cancelled().fuse();
                    futures_util::select_biased! {
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
        self.note_message();
        let limit = self.answers.value_limit;
        let checked = notification.params.as_ref().map_or(Ok(()), |params| check(params, limit));
        if let Err(why) = checked {
            return self.warn(Warning::notification_left_out(&notification.method, &why));
        }
        if self.is_modern() && !self.is_dispatched(&notification) {
            return;
        }
        // The peer has passed on the progress of calls. The rest belongs to a task, or has no hook.
        if notification.method == ProgressNotification::NAME {
            return self.progress_hooks.report(notification.params.as_ref());
        }
        if !self.is_modern() {
            self.session_queues.add(&notification);
        }
        if self.on_notification.is_some() {
            call_hook(&self.on_notification, Some(notification.clone()));
        }
        match &*notification.method {
            LoggingMessageNotification::NAME => {
                call_hook(&self.on_log, self.decode(&notification));
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
                    let why = "it is not the state of a task";
                    self.warn(Warning::notification_left_out(&notification.method, &why));
                }
                call_hook(&self.on_task_changed, state);
            }
            _ => call_hook(&self.on_other, Some(notification)),
        }
    }

    fn unmatched_response(&self, response: Response) {
        self.warn(Warning::answer_left_out(&describe_unmatched(&response)));
    }

    fn skipped(&self, method: &str, skipped: Skipped) {
        self.warn(Warning::PartsLeftOut { method: method.to_owned(), skipped });
    }

    fn unreadable(&self, error: ErrorObject) {
        self.note_message();
        self.warn(Warning::message_left_out(&error.message));
    }

    fn gap(&self, end: Option<Arc<TransportError>>) {
        // `listening` calls the hooks, because it knows what the server offers.
        if end.is_none() {
            self.tools.forget();
        }
        self.session_queues.gap(end);
        call_hook(&self.on_warning, self.session_queues.take_warning());
    }
}

/// Writes into an answer the task that it belongs to.
fn relate(result: &RawJson, related: &RelatedTaskMetadata) -> Outcome {
    let mut result = RawObject::try_from(result.clone()).map_err(ErrorObject::internal_error)?;
    let mut meta = result.get("_meta").and_then(|meta| meta.try_into().ok());
    related.write_to(&mut meta);
    result.extend(meta.map(|meta| ("_meta", meta)));
    Ok(result.into())
}

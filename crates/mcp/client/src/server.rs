//! `RemoteServer`: the handle on a server after the handshake.

use std::fmt;
use std::sync::Arc;

use agentwire_jsonrpc::{Notification, RawJson, RawObject, RequestMethod};
use agentwire_mcp_schema::core_tasks::ListTasksRequest;
use agentwire_mcp_schema::{
    CallToolRequest, CompleteRequest, Downgrade, GetPromptRequest, HasMeta, Implementation,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, LoggingLevel,
    PingRequest, ReadResourceRequest, Revision, ServerCapabilities, SetLevelRequest, SubscribeRequest,
    SubscriptionFilter, SubscriptionsListenRequest, UnsubscribeRequest,
};
use agentwire_peer::{CallError, Closed, Peer};
use bytestring::ByteString;
use serde::Serialize;

use crate::connection::{Connection, HandshakeResult};
use crate::handler::ClientHandler;
use crate::handler::hooks::{Hook, hook};
#[cfg(feature = "validate")]
use crate::output::Outputs;
use crate::stack::downgrade::downgrade;
use crate::stack::{self, CallStack};
use crate::tasks::handle;
use crate::{Call, Next, Pages, RawCall, RawCallFuture, Subscription, Task};

/// A handle on the server, after the handshake. Cloning is cheap.
///
/// A method that sends one request returns a [`Call`] to be awaited. Lists are [`Pages`]; `watch` and `listen` are async.
///
/// ```
/// use agentwire_mcp_client::{BoxError, RemoteServer};
/// use futures_util::TryStreamExt;
/// use serde_json::json;
///
/// async fn sum(server: &RemoteServer) -> Result<String, BoxError> {
///     let mut tools = server.tools(); // a stream, which requests a page when it needs one
///     while let Some(tool) = tools.try_next().await? {
///         println!("{}", tool.name);
///     }
///     let result = server.call_tool("add", json!({ "a": 2, "b": 3 })).await?;
///     Ok(result.text().into_owned())
/// }
/// # let _ = sum;
/// ```
#[derive(Clone)]
pub struct RemoteServer {
    stack: CallStack,
}

impl RemoteServer {
    pub(crate) fn new(peer: Peer, server: HandshakeResult, handler: &ClientHandler) -> Self {
        let is_modern = server.stamp.is_some();
        let needs_tools =
            !handler.layers.is_empty() || (handler.tasks.is_some() && server.revision.has_core_tasks());
        let connection = Arc::new(Connection {
            peer,
            server,
            on_warning: handler.on_warning.clone(),
            subscriptions: handler.subscriptions.clone(),
            session_queues: handler.session_queues.clone(),
            answers: handler.answers.clone(),
            agreed: handler.agreed.clone(),
            cache: handler.connection_cache.clone().filter(|_| is_modern),
            tasks: handler.tasks.clone(),
            tools: needs_tools.then(|| handler.tools.clone()),
            progress_hooks: handler.progress_hooks.clone(),
            cleanup: handler.cleanup.clone(),
            #[cfg(feature = "validate")]
            outputs: handler.checks_output.then(Outputs::default),
        });
        let built_in = connection.clone();
        let innermost = move || Next::innermost(move |call| stack::start(&built_in, call));
        let layers = handler.layers.on(innermost);
        Self { stack: CallStack::new(connection, layers) }
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.stack.connection
    }

    /// The server's name and version. A modern server need not name itself: then the name is empty.
    pub fn info(&self) -> &Implementation {
        &self.connection().server.info
    }

    /// The capabilities of the server.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.connection().server.capabilities
    }

    /// The server's instructions for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.connection().server.instructions.as_deref()
    }

    /// The agreed revision of the protocol.
    pub fn revision(&self) -> Revision {
        self.connection().server.revision
    }

    /// The server's tools.
    ///
    /// Since 2026-07-28, a tool whose schema asks for HTTP headers in a way that the protocol forbids is left out, on any
    /// transport, and [`Client::on_warning`](crate::Client::on_warning) is called.
    pub fn tools(&self) -> Pages<ListToolsRequest> {
        Pages::new(self.stack.clone()).keeping(Connection::keeps_tool)
    }

    /// The server's resources.
    pub fn resources(&self) -> Pages<ListResourcesRequest> {
        Pages::new(self.stack.clone())
    }

    /// The URI templates of resources that the server does not list one by one.
    pub fn resource_templates(&self) -> Pages<ListResourceTemplatesRequest> {
        Pages::new(self.stack.clone())
    }

    /// The server's prompts.
    pub fn prompts(&self) -> Pages<ListPromptsRequest> {
        Pages::new(self.stack.clone())
    }

    /// Calls a tool. The arguments are anything whose JSON is an object, or `()` for none.
    ///
    /// A tool that failed returns a result with `is_error`, for the model to read, and not an error. If the server runs the
    /// call as a task, and the client [follows tasks](crate::Client::tasks), this returns the task's result.
    pub fn call_tool<A: Serialize>(&self, name: impl Into<String>, arguments: A) -> Call<CallToolRequest> {
        let request = CallToolRequest::new(name);
        let encoded = match RawJson::encode(&arguments) {
            Ok(none) if none.is_null() => Ok(request),
            Ok(object) if object.as_str().starts_with('{') => Ok(request.arguments(object)),
            Ok(_) => Err("the arguments are not an object".into()),
            Err(error) => Err(format!("the arguments cannot be sent: {error}")),
        };
        match encoded {
            Ok(request) => self.call(request),
            Err(why) => Call::refused(self.stack.clone(), CallError::not_allowed(CallToolRequest::NAME, why)),
        }
    }

    /// Returns a handle on a task that was started before, perhaps on another connection, by its [id](Task::id). Sends
    /// nothing: the first request of the handle fails where there is no such task.
    ///
    /// # Errors
    ///
    /// [`CallError::NotAllowed`] where the client has no [`Tasks`](crate::Client::tasks), or the server does not have tasks.
    pub fn task(&self, id: impl Into<String>) -> Result<Task, CallError> {
        handle::may_ask(self.connection())?;
        Ok(Task::known(self.connection().clone(), id.into()))
    }

    /// This client's tasks. Only in 2025-11-25, where the server offers to list them.
    pub fn tasks(&self) -> Pages<ListTasksRequest> {
        Pages::new(self.stack.clone())
    }

    /// Reads a resource.
    pub fn read_resource(&self, uri: impl Into<String>) -> Call<ReadResourceRequest> {
        self.call(ReadResourceRequest::new(uri))
    }

    /// Watches a resource, in every revision. Its changes go to
    /// [`Client::on_resource_updated`](crate::Client::on_resource_updated).
    ///
    /// # Errors
    ///
    /// When the server refuses it, or does not answer within the client's [time limit](crate::Client::timeout).
    pub async fn watch(&self, uri: impl Into<String>) -> Result<Subscription, CallError> {
        let uri = uri.into();
        if self.revision().is_modern() {
            return self.listen(SubscriptionFilter::new().resource_subscriptions([uri])).await;
        }
        self.subscribe(&uri).await?;
        Ok(Subscription::in_session(self.connection().peer.clone(), uri))
    }

    /// Subscribes to a resource. Until 2025-11-25; [`watch`](Self::watch) works in every revision.
    pub fn subscribe(&self, uri: impl Into<String>) -> Call<SubscribeRequest> {
        self.call(SubscribeRequest::new(uri))
    }

    /// Ends the subscription to a resource.
    pub fn unsubscribe(&self, uri: impl Into<String>) -> Call<UnsubscribeRequest> {
        self.call(UnsubscribeRequest::new(uri))
    }

    /// Gets a prompt with its arguments filled in.
    pub fn get_prompt(&self, request: GetPromptRequest) -> Call<GetPromptRequest> {
        self.call(request)
    }

    /// Requests completions of an argument.
    pub fn complete(&self, request: CompleteRequest) -> Call<CompleteRequest> {
        self.call(request)
    }

    /// Requests log messages from this level upwards; see [`Client::on_log`](crate::Client::on_log). Until 2025-11-25;
    /// [`Client::log_level`](crate::Client::log_level) works in every revision.
    pub fn set_logging_level(&self, level: LoggingLevel) -> Call<SetLevelRequest> {
        self.call(SetLevelRequest::new(level))
    }

    /// Pings the server. Until 2025-11-25.
    pub fn ping(&self) -> Call<PingRequest> {
        self.call(PingRequest::default())
    }

    /// Subscribes to changes, until the subscription is dropped. Since 2026-07-28.
    ///
    /// The notifications go to the client's hooks, such as
    /// [`Client::on_resource_updated`](crate::Client::on_resource_updated). A client with hooks for changes of lists
    /// subscribes to these by itself.
    ///
    /// # Errors
    ///
    /// When the server refuses it, or does not acknowledge it within the client's [time limit](crate::Client::timeout).
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, CallError> {
        self.subscribe_to(filter, None).await
    }

    /// Subscribes as [`listen`](Self::listen) does. The function gets each notification of this subscription, in order,
    /// before the client's hooks.
    ///
    /// # Errors
    ///
    /// As [`listen`](Self::listen).
    pub async fn listen_with(
        &self,
        filter: SubscriptionFilter,
        function: impl FnMut(Notification) + Send + 'static,
    ) -> Result<Subscription, CallError> {
        self.subscribe_to(filter, hook(function)).await
    }

    async fn subscribe_to(
        &self,
        filter: SubscriptionFilter,
        hook: Hook<Notification>,
    ) -> Result<Subscription, CallError> {
        let Connection { peer, server, subscriptions, .. } = &**self.connection();
        let mut request = downgrade(server, SubscriptionsListenRequest::new(filter))?;
        if let Some(stamp) = &server.stamp {
            stamp.write_to(&mut request);
        }
        subscriptions.open(peer, &request, server.waits.timeout, hook).await
    }

    /// Makes any request that the protocol has.
    ///
    /// A request that the server does not offer is not sent: the call fails with [`CallError::NotAllowed`]. Members that its
    /// revision does not have are left out. If the request has no form in the revision, the call fails likewise.
    pub fn call<M: RequestMethod + Downgrade + HasMeta>(&self, request: M) -> Call<M> {
        Call::new(self.stack.clone(), request)
    }

    /// Makes a request of any method, known to the protocol or not, with these parameters as they are.
    ///
    /// Unlike [`call`](Self::call), this also sends methods that the server does not offer or that its revision does not
    /// have. A modern request still gets its `_meta`, and the call passes the layers.
    pub fn call_raw(&self, method: impl Into<ByteString>, params: RawObject) -> RawCallFuture {
        self.stack.start(RawCall::new(self.connection(), method.into(), params))
    }

    /// Completes when the server has closed its side or the connection has failed, with the reason where there is one.
    pub async fn closed(&self) -> Closed {
        self.connection().peer.closed().await
    }
}

impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServer")
            .field("info", self.info())
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

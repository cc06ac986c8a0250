//! The hooks of a client.

use agentwire_jsonrpc::Notification;
use agentwire_mcp_schema::LoggingMessageNotification;

use super::Client;
use crate::handler::hooks::hook;
use crate::{TaskState, Warning};

impl Client {
    /// Sets a hook for the server's log. Without a [level](Self::log_level) a modern server is asked for `info` and above,
    /// and a server with sessions decides.
    #[must_use]
    pub fn on_log(mut self, function: impl FnMut(LoggingMessageNotification) + Send + 'static) -> Self {
        self.handler.on_log = hook(function);
        self.handshake.has_log_hook = true;
        self
    }

    /// Sets a hook that is called when the server's tool list has changed, or may have; see [above](Self#changes).
    #[must_use]
    pub fn on_tools_changed(mut self, mut function: impl FnMut() + Send + 'static) -> Self {
        self.handler.on_tools_changed = hook(move |()| function());
        self
    }

    /// Sets a hook that is called when the server's resource list has changed, or may have; see [above](Self#changes).
    #[must_use]
    pub fn on_resources_changed(mut self, mut function: impl FnMut() + Send + 'static) -> Self {
        self.handler.on_resources_changed = hook(move |()| function());
        self
    }

    /// Sets a hook that is called when the server's prompt list has changed, or may have; see [above](Self#changes).
    #[must_use]
    pub fn on_prompts_changed(mut self, mut function: impl FnMut() + Send + 'static) -> Self {
        self.handler.on_prompts_changed = hook(move |()| function());
        self
    }

    /// Sets a hook that gets the URI of each changed resource, after
    /// [`RemoteServer::subscribe`](crate::RemoteServer::subscribe) or
    /// [`RemoteServer::listen`](crate::RemoteServer::listen). It is not called for changes that were missed; see [above](Self#changes).
    #[must_use]
    pub fn on_resource_updated(mut self, function: impl FnMut(String) + Send + 'static) -> Self {
        self.handler.on_resource_updated = hook(function);
        self
    }

    /// Sets a hook that gets every notification except progress, before the other hooks. It opens no subscription.
    ///
    /// On a modern connection, notifications about a subscription itself or on one that has ended do not reach it. Nor do
    /// those over [`Client::value_limit`].
    #[must_use]
    pub fn on_notification(mut self, function: impl FnMut(Notification) + Send + 'static) -> Self {
        self.handler.on_notification = hook(function);
        self
    }

    /// Sets a hook that gets the states of tasks that the server reports: in 2025-11-25 unasked, later on a
    /// [subscription](crate::RemoteServer::listen) with a [`TaskSubscription`](agentwire_mcp_schema::task_extension::TaskSubscription). A server need not
    /// report them, and following a task does not depend on it.
    #[must_use]
    pub fn on_task_changed(mut self, function: impl FnMut(TaskState) + Send + 'static) -> Self {
        self.handler.on_task_changed = hook(function);
        self
    }

    /// Sets a hook that gets the notifications of methods without a hook here.
    #[must_use]
    pub fn on_other(mut self, function: impl FnMut(Notification) + Send + 'static) -> Self {
        self.handler.on_other = hook(function);
        self
    }

    /// Sets a hook that gets faults that fail no call. It must be quick, and must not list tools.
    #[must_use]
    pub fn on_warning(mut self, function: impl FnMut(Warning) + Send + 'static) -> Self {
        self.handler.on_warning = hook(function);
        self
    }
}
